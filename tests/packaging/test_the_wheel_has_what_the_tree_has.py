"""Every module and SQL file of the tree is in the wheel, and nothing else is."""

from __future__ import annotations

import tarfile
import tomllib
from zipfile import ZipFile

from tests.packaging.conftest import Distributions
from tests.shared import ROOT

FOLDERS = {
    "tracestore": "tracestore",
    "cli": "tracestore/cli",
    "sql": "tracestore/sql",
    "migrations": "tracestore/migrations",
}


def files_of_the_tree() -> set[str]:
    """Return what has to be in the wheel, by the names it has there."""
    return {
        f"{packaged}/{path.relative_to(ROOT / folder).as_posix()}"
        for folder, packaged in FOLDERS.items()
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def test_the_wheel_has_every_file_of_the_packages_and_no_other(distributions: Distributions) -> None:
    with ZipFile(distributions.wheel) as wheel:
        packed = {name for name in wheel.namelist() if ".dist-info/" not in name}
    expected = files_of_the_tree()
    assert {"tracestore/py.typed", "tracestore/cli/app.py", "tracestore/sql/functions/search.sql"} <= expected
    assert {"tracestore/migrations/env.py", "tracestore/migrations/versions/0001_foundation.sql"} <= expected
    assert packed == expected


def test_the_files_are_the_same_byte_for_byte(distributions: Distributions) -> None:
    with ZipFile(distributions.wheel) as wheel:
        for folder, packaged in FOLDERS.items():
            for path in (ROOT / folder).rglob("*.sql"):
                name = f"{packaged}/{path.relative_to(ROOT / folder).as_posix()}"
                assert wheel.read(name) == path.read_bytes(), name


def test_pyproject_lists_every_package() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]
    packages = {
        f"{packaged}/{path.parent.relative_to(ROOT / folder).as_posix()}".replace("/.", "").replace("/", ".")
        for folder, packaged in FOLDERS.items()
        for path in (ROOT / folder).rglob("__init__.py")
    }
    assert set(settings["packages"]) == packages
    assert len(settings["packages"]) == len(packages)


def test_wheel_and_sdist_carry_the_licence(distributions: Distributions) -> None:
    with ZipFile(distributions.wheel) as wheel:
        assert any(name.endswith(".dist-info/licenses/LICENSE") for name in wheel.namelist())
    with tarfile.open(distributions.sdist) as sdist:
        assert any(name.count("/") == 1 and name.endswith("/LICENSE") for name in sdist.getnames())
