"""Installs the programs if need be: `python -m tests.conformance`."""

from __future__ import annotations

import sys

from tests.conformance import NotBuiltError, programs

if __name__ == "__main__":
    try:
        programs()
    except NotBuiltError as error:
        sys.exit(str(error))
