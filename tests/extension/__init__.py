"""What the tests of the browser extension need beside it: pages, axe-core, and a gateway that can be cut off."""

from __future__ import annotations

import fcntl
from pathlib import Path
from typing import Final

from tests.site.apps.building import install

HERE: Final = Path(__file__).parent
_LOCK_FILE: Final = ".building"


def axe_source() -> str:
    """Return axe-core, installed by npm where it is not there.

    Raises:
        NotBuiltError: npm or the package is missing.
    """
    with (HERE / _LOCK_FILE).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        install(HERE)
    return (HERE / "node_modules" / "axe-core" / "axe.min.js").read_text(encoding="utf-8")
