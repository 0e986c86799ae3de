"""A tab of a browser session."""

from __future__ import annotations

import msgspec
from msgspec import Struct


class BrowserTab(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A tab, by its number in the session; `title` is the web's."""

    tab: int = msgspec.field(name="id")
    url: str
    title: str = ""
