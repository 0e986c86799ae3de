"""Says what one look at a page tells of it."""

from __future__ import annotations

from msgspec import Struct

from actors.fetchers.playwright.pointing import Way
from protocol.browsers.pageinfo import Box, ContentImage, ContentLink, ElementKind


class Spot(Struct, frozen=True, kw_only=True, rename="camel"):
    """One thing to act on; `input` is the type of a field, or the tag, `marks` what else it is known by."""

    id: str
    type: ElementKind
    label: str
    region: str
    value: str = ""
    href: str = ""
    placeholder: str = ""
    options: tuple[str, ...] = ()
    states: tuple[str, ...] = ()
    in_view: bool = True
    box: Box | None = None
    input: str = ""
    marks: tuple[str, ...] = ()


class Within(Struct, frozen=True, kw_only=True, rename="camel"):
    """A frame in a document: the way to it, and where what it shows begins."""

    id: str
    way: Way
    box: Box
    in_view: bool
    covered: bool


class Signs(Struct, frozen=True, kw_only=True):
    """What hints at the purpose of a page.

    `prose` counts the characters of its paragraphs, `rows` those of its longest list; `words` is another
    number where its words are others.
    """

    heading: str = ""
    kinds: tuple[str, ...] = ()
    prose: int = 0
    rows: int = 0
    prices: int = 0
    tables: int = 0
    media: bool = False
    dialogs: int = 0
    notices: tuple[str, ...] = ()
    words: int = 0


class Look(Struct, frozen=True, kw_only=True):
    """What one look saw: `page` tells documents apart, `total` counts, `cut` says that there may be more.

    `fresh` are signatures of ids that are new or stand for something that looks otherwise than before.
    """

    page: str
    url: str
    title: str
    ready: str
    elements: tuple[Spot, ...]
    total: int
    cut: bool
    signs: Signs
    width: int
    height: int
    frames: tuple[Within, ...]
    fresh: tuple[tuple[str, dict[str, str]], ...]


class Where(Struct, frozen=True, kw_only=True):
    """The way to an element; without one it is gone, and `elements` are those that there are."""

    url: str
    way: Way | None
    elements: tuple[Spot, ...]
    fresh: tuple[tuple[str, dict[str, str]], ...]


class Text(Struct, frozen=True, kw_only=True):
    """A block of the page's words, with what tells its weight: shares from 0 to 1."""

    tag: str
    text: str
    heading: str
    position: float
    area: float
    font: float
    semantics: float
    main: float
    length: float


class Words(Struct, frozen=True, kw_only=True):
    """The words of a document as the script reads them, and how many frames it has."""

    title: str
    blocks: tuple[Text, ...]
    links: tuple[ContentLink, ...]
    images: tuple[ContentImage, ...]
    metadata: dict[str, str]
    frames: int
    cut: bool
