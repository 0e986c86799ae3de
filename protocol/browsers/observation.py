"""What `browser.observe_dom` says of a page: archetype, main root, blocks, outline, items, comments, elements (003).

The limits are those of 003's heuristics. Handles are the ids of elements behind a prefix (`protocol/tools/browser.py`).
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from msgspec import Struct

MAX_CHARS: Final = 12_000
MAX_ELEMENTS: Final = 160
MAX_BLOCKS: Final = 40
MAX_PRIMARY_CHARS: Final = 1_600
MAX_OUTLINE: Final = 80
MAX_OUTLINE_CHARS: Final = 180
MAX_ITEMS: Final = 30
MAX_ITEM_CHARS: Final = 240
MAX_COMMENTS: Final = 28
MAX_COMMENT_CHARS: Final = 360


class Archetype(StrEnum):
    """What a page is by its build (003, heuristics)."""

    FEED = "feed"
    ARTICLE = "article"
    DOCS = "docs"
    THREAD = "thread"
    SEARCH = "search"
    PRODUCT = "product"
    TABLE = "table"


class ObservedBlock(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A piece of the page's words: what it is, its words, and the share of them that are links."""

    tag: str
    text: str
    link_density: float = 0.0
    handle_id: str = ""


class ObservedElement(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Something to act on, by its handle."""

    handle_id: str
    role: str
    label: str
    value: str = ""
    href: str = ""
    states: tuple[str, ...] = ()


class ObservedRow(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A heading of the outline, an entry of a list, or a comment; `level` is how deep it stands."""

    text: str
    level: int = 0
    url: str = ""


class PageObservation(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A page as it stands, within limits; `primary` is the text of its main root. All of it is the web's."""

    url: str
    title: str
    archetype: Archetype | None = None
    primary: str = ""
    text: str = ""
    blocks: tuple[ObservedBlock, ...] = ()
    outline: tuple[ObservedRow, ...] = ()
    items: tuple[ObservedRow, ...] = ()
    comments: tuple[ObservedRow, ...] = ()
    elements: tuple[ObservedElement, ...] = ()
    truncated: bool = False
