"""The official programs that try an MCP server: the conformance suite in two versions, and the Inspector."""

from __future__ import annotations

import fcntl
from pathlib import Path

from tests.site.apps.building import NotBuiltError, install

__all__ = ["HERE", "NotBuiltError", "programs"]

HERE = Path(__file__).parent


def programs() -> Path:
    """Install the programs if need be, and give their folder: `.bin/node .bin/conformance` runs one of them.

    Safe to be called by many processes at once: one installs, the others wait for it.

    Raises:
        NotBuiltError: npm or a package is missing.
    """
    with (HERE / ".building").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        install(HERE)
    return HERE / "node_modules"
