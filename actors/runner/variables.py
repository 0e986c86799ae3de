"""The variables that the runner alone is to have: keys of search engines, secrets of integrations."""

from __future__ import annotations

from typing import Final

from protocol.integrations import SECRET_FAMILY
from protocol.search import KEY_FAMILY, KEY_VARIABLES

VARIABLES: Final = (*KEY_VARIABLES, f"{KEY_FAMILY}*", f"{SECRET_FAMILY}*")
