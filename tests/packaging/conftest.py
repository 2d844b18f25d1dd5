"""The distributions of this tree, built once, and a fresh environment that has the wheel and no repository."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

from tests.shared import ROOT

SOURCES = ("tracestore", "cli", "sql", "migrations", "pyproject.toml", "README.md", "LICENSE")


@dataclass(frozen=True, slots=True)
class Distributions:
    """The files that a release uploads."""

    sdist: Path
    wheel: Path


@dataclass(frozen=True, slots=True)
class Installed:
    """An environment with the wheel, and an empty folder to run it from."""

    bin: Path
    elsewhere: Path

    def run(self, *command: str) -> str:
        """Run a program of the environment from the empty folder; return what it printed."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        done = subprocess.run(
            [self.bin / command[0], *command[1:]],
            cwd=self.elsewhere,
            env=environment,
            check=False,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture(scope="session")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> Distributions:
    """Return the sdist of this tree, and the wheel built from that sdist."""
    folder = tmp_path_factory.mktemp("packaging")
    tree, dist = folder / "tree", folder / "dist"
    tree.mkdir()
    # A copy of the sources alone: setuptools would also pack what an earlier build left in build/ or *.egg-info.
    for name in SOURCES:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, tree)
    isolation = ["--no-isolation"] if _setuptools_is_new_enough() else []
    command = [sys.executable, "-m", "build", *isolation, "--outdir", str(dist), str(tree)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (sdist,), (wheel,) = dist.glob("*.tar.gz"), dist.glob("*.whl")
    return Distributions(sdist, wheel)


@pytest.fixture(scope="session")
def installed(distributions: Distributions, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """Return a new environment into which only the wheel is installed; dependencies are borrowed from ours."""
    folder = tmp_path_factory.mktemp("installed")
    environment, elsewhere = folder / "venv", folder / "elsewhere"
    elsewhere.mkdir()
    venv.create(environment, with_pip=False, symlinks=True)
    command = [sys.executable, "-m", "pip", "--python", str(environment / "bin" / "python"), "install"]
    command += ["--quiet", "--no-deps", "--no-index", str(distributions.wheel)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (site,) = environment.glob("lib/python*/site-packages")
    ours = [path for path in sys.path if Path(path).name in ("site-packages", "dist-packages")]
    # Behind the environment's own packages, and without our .pth files: an editable install is not borrowed.
    (site / "borrowed.pth").write_text("".join(f"{path}\n" for path in ours), "utf-8")
    return Installed(environment / "bin", elsewhere)


def _setuptools_is_new_enough() -> bool:
    """Whether the build can use our setuptools, without a download; pyproject.toml asks for 77."""
    try:
        return int(version("setuptools").split(".")[0]) >= 77
    except PackageNotFoundError:
        return False
