"""What the scripts of `scripts/view/` return of a page: its elements, frames, markers and text."""

from __future__ import annotations

from msgspec import Struct

from actors.fetchers.playwright.devtools import Way
from protocol.browsers.pageinfo import Box, ContentImage, ContentLink, ElementKind


class PageElement(Struct, frozen=True, kw_only=True, rename="camel"):
    """An element to act on; `input` is the type of a field, or the tag, `marks` are further names of it."""

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


class EmbeddedFrame(Struct, frozen=True, kw_only=True, rename="camel"):
    """A frame in a document: the way to it, and the box of its content."""

    id: str
    number: int = 0
    way: Way
    box: Box
    in_view: bool
    covered: bool


class PageMarkers(Struct, frozen=True, kw_only=True):
    """What hints at the purpose of a page.

    `prose` counts the characters of its paragraphs, `rows` those of its longest list; `words` is a hash of
    its text.
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


class PageNews(Struct, frozen=True, kw_only=True):
    """Words that came in a document, which `page` identifies; later ones have a higher `number`.

    `announced` are those of a status or an alert. With a `field` they are why the browser does not accept it. Of the
    kind `File` there are none: a link to a file was clicked.
    """

    page: str
    number: int
    kind: str
    words: str
    announced: bool = False
    field: str = ""


class PageSnapshot(Struct, frozen=True, kw_only=True):
    """The elements of a page at one time: `page` identifies the document, `cut` says that there may be more.

    `fresh` are signatures of ids that are new, or whose element has changed its features.
    """

    page: str
    url: str
    title: str
    ready: str
    elements: tuple[PageElement, ...]
    total: int
    cut: bool
    markers: PageMarkers
    width: int
    height: int
    frames: tuple[EmbeddedFrame, ...]
    fresh: tuple[tuple[str, dict[str, str]], ...]
    news: tuple[PageNews, ...] = ()


class HealedElement(Struct, frozen=True, kw_only=True):
    """The element that stands in the place of one that is gone, and how sure that is, from 0 to 1."""

    id: str
    label: str
    score: float


class ElementLocation(Struct, frozen=True, kw_only=True):
    """The way to an element; None where it is gone, and `elements` are those that exist."""

    url: str
    way: Way | None
    elements: tuple[PageElement, ...]
    fresh: tuple[tuple[str, dict[str, str]], ...]
    healed: HealedElement | None = None


class TextBlock(Struct, frozen=True, kw_only=True):
    """A block of the page's text, with the parts of its weight: shares from 0 to 1."""

    tag: str
    text: str
    heading: str
    position: float
    area: float
    font: float
    semantics: float
    main: float
    length: float


class PageText(Struct, frozen=True, kw_only=True):
    """The text of a document, and how many frames it has."""

    title: str
    blocks: tuple[TextBlock, ...]
    links: tuple[ContentLink, ...]
    images: tuple[ContentImage, ...]
    metadata: dict[str, str]
    frames: int
    cut: bool
