"""Builds the applications if need be, and has what else npm brings for the tests: `python -m tests.site.apps`."""

from __future__ import annotations

import sys

from tests.site.apps.building import NotBuiltError, build_apps
from tests.site.vectors import public_vectors

if __name__ == "__main__":
    try:
        build_apps()
        public_vectors()
    except NotBuiltError as error:
        sys.exit(str(error))
