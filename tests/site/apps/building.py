"""Builds a folder of applications when what it has built is older than its sources."""

from __future__ import annotations

import fcntl
import hashlib
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
_LOCK_FILE = ".building"
_INSTALLED = ".weft"
_TIMEOUT_S = 600
_CURE = (
    "needs Node.js >= 20 and npm, and once a package registry that npm reaches (`npm config set registry` names one)"
)


class NotBuiltError(RuntimeError):
    """The applications cannot be built here; the text says why and what helps."""


@dataclass(frozen=True)
class Workshop:
    """A folder with package.json, a lock of it, and the sources of pages; `dist` is what is made of them.

    `prefix` is where the site serves it. The builder itself lies beside this file and has its packages there.
    """

    folder: Path
    sources: str
    prefix: str

    @property
    def dist(self) -> Path:
        """Where the built pages lie."""
        return self.folder / "dist"


APPS = Workshop(HERE, "src", "/apps")


def build_apps() -> Path:
    """Build the applications if need be, and give the folder of the built ones.

    Safe to be called by many processes at once: one builds, the others wait for it.

    Raises:
        NotBuiltError: Node.js, npm or a package is missing, or a source is wrong.
    """
    return build(APPS)


def build(workshop: Workshop) -> Path:
    """Build a workshop if need be, as build_apps does."""
    with (workshop.folder / _LOCK_FILE).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        install(HERE)
        install(workshop.folder)
        stamp = workshop.dist / ".weft"
        wanted = _fingerprint(_sources(workshop))
        if _read(stamp) != wanted:
            shutil.rmtree(workshop.dist, ignore_errors=True)
            _bundle(workshop)
            stamp.write_text(wanted)
    return workshop.dist


def install(folder: Path) -> None:
    """Install the packages of a folder as its lock names them, unless they are there; the caller keeps others off.

    Raises:
        NotBuiltError: npm or a package is missing.
    """
    lock = folder / "package-lock.json"
    stamp = folder / "node_modules" / _INSTALLED
    wanted = _fingerprint([lock])
    if _read(stamp) != wanted:
        _run(["npm", "ci", "--prefer-offline", "--no-progress", "--loglevel=error"], folder, "its packages")
        stamp.write_text(wanted)


def _bundle(workshop: Workshop) -> None:
    workshop.dist.mkdir()
    builder = str(HERE / "build.mjs")
    command = ["node", builder, str(workshop.folder / workshop.sources), str(workshop.dist), workshop.prefix]
    try:
        _run(command, workshop.folder, "its bundles")
    except NotBuiltError:
        shutil.rmtree(workshop.dist)
        raise


def _run(command: list[str], folder: Path, what: str) -> None:
    try:
        subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True, timeout=_TIMEOUT_S)
    except FileNotFoundError as error:
        raise NotBuiltError(f"{folder} {_CURE}: {command[0]} was not found") from error
    except subprocess.CalledProcessError as error:
        raise NotBuiltError(f"{folder} could not make {what}; it {_CURE}\n{error.stderr[-2_000:]}") from error
    except subprocess.TimeoutExpired as error:
        raise NotBuiltError(f"{folder} did not make {what} within {_TIMEOUT_S} s; it {_CURE}") from error


def _sources(workshop: Workshop) -> Iterator[Path]:
    yield from (HERE / "build.mjs", HERE / "plugins.mjs", HERE / "package-lock.json")
    yield workshop.folder / "package-lock.json"
    yield from sorted(path for path in (workshop.folder / workshop.sources).rglob("*") if path.is_file())


def _fingerprint(paths: Iterator[Path] | list[Path]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        digest.update(f"{path.name}\0{path.stat().st_size}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _read(path: Path) -> str:
    return path.read_text() if path.is_file() else ""
