"""Makes the private folders of processes, and removes those that a replica left behind when it was killed."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import time
from pathlib import Path
from typing import Final

_PREFIX: Final = "weft-light-"
_SHORT: Final = 80
"""The path of a socket has room for 108 bytes."""

_YOUNG_SECONDS: Final = 60.0
"""Whoever made a folder has locked it by then."""


class Folder:
    """A folder that is locked while its maker lives."""

    def __init__(self) -> None:
        """Make it; only this user gets in."""
        self.path = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=_parent()))
        self._lock = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def remove(self) -> None:
        """Remove it with all that is in it; a second time does nothing."""
        if self._lock >= 0:
            shutil.rmtree(self.path, ignore_errors=True)
            os.close(self._lock)
            self._lock = -1


def sweep() -> None:
    """Remove the folders whose makers have died."""
    for path in _parent().glob(f"{_PREFIX}*"):
        try:
            _remove_if_deserted(path)
        except OSError:  # another user's, or another replica removes it just now
            continue


def _remove_if_deserted(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        if time.time() - os.fstat(descriptor).st_mtime > _YOUNG_SECONDS:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(path, ignore_errors=True)
    finally:
        os.close(descriptor)


def _parent() -> Path:
    usual = tempfile.gettempdir()
    return Path(usual if len(usual) <= _SHORT else "/tmp")  # noqa: S108 - mkdtemp makes a folder of our own there
