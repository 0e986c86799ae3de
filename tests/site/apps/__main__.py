"""Builds the applications if need be: `python -m tests.site.apps`."""

from __future__ import annotations

import sys

from tests.site.apps.building import NotBuiltError, build_apps

if __name__ == "__main__":
    try:
        build_apps()
    except NotBuiltError as error:
        sys.exit(str(error))
