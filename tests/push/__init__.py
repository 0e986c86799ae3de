"""Push by real clients: pusher-js in Node, a page and the worker of an extension, Pysher, and those that trigger."""

from __future__ import annotations

import fcntl
from pathlib import Path

from tests.site.apps.building import NotBuiltError, install

__all__ = ["HERE", "NotBuiltError", "clients"]

HERE = Path(__file__).parent


def clients() -> Path:
    """Install the clients of Node if need be, and return their folder; many processes may call this at once.

    Raises:
        NotBuiltError: npm or a package is missing.
    """
    with (HERE / ".building").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        install(HERE)
    return HERE / "node_modules"
