"""What the tests of the browser extension need beside it: pages, what reads them and its code, a gateway to cut off."""

from __future__ import annotations

import fcntl
import json
import subprocess
from collections.abc import Mapping
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
    return (_packages() / "axe-core" / "axe.min.js").read_text(encoding="utf-8")


def other_tokens(pairs: Mapping[str, tuple[str, str]]) -> list[str]:
    """Return the names of the pairs of scripts that are not the same, token by token.

    Raises:
        NotBuiltError: npm or the package is missing.
    """
    _packages()
    command = ["/usr/bin/env", "node", "tokens.mjs"]
    done = subprocess.run(command, cwd=HERE, input=json.dumps(pairs).encode(), stdout=subprocess.PIPE, check=True)
    names: list[str] = json.loads(done.stdout)
    return names


def _packages() -> Path:
    with (HERE / _LOCK_FILE).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        install(HERE)
    return HERE / "node_modules"
