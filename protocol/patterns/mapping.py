"""How the JSON answers of an API become a page."""

from __future__ import annotations

from msgspec import Struct


class PageMapping(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a page is made of."""
