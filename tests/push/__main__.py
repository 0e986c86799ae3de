"""Installs the clients if need be: `python -m tests.push`."""

from __future__ import annotations

import sys

from tests.push import NotBuiltError, clients

if __name__ == "__main__":
    try:
        clients()
    except NotBuiltError as error:
        sys.exit(str(error))
