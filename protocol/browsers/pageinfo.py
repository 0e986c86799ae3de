"""A page as whoever acts on it sees it: elements with ids that last, its sections, what it is for (002)."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from msgspec import Struct

MASK = "********"
"""What stands for the value of a password, a token or another secret."""

MAX_SECTION_CHARS = 500


class ElementKind(StrEnum):
    """What one does with an element."""

    BUTTON = "button"
    LINK = "link"
    INPUT = "input"
    SELECT = "select"
    CHECKBOX = "checkbox"
    RADIO = "radio"
    TAB = "tab"
    MENU_ITEM = "menuitem"
    OPTION = "option"
    FILE = "file"
    EDITOR = "editor"
    OTHER = "other"


class ViewType(StrEnum):
    """What a page is for whoever acts on it."""

    LOGIN = "login"
    REGISTRATION = "registration"
    SEARCH = "search"
    SEARCH_RESULTS = "search_results"
    LIST = "list"
    PRODUCT = "product"
    CHECKOUT = "checkout"
    FORM = "form"
    ARTICLE = "article"
    DASHBOARD = "dashboard"
    MEDIA = "media"
    ERROR = "error"
    OTHER = "other"


class Box(Struct, frozen=True, kw_only=True):
    """Where an element is in the window, in CSS pixels; `y` may lie beyond what the window shows."""

    x: int
    y: int
    width: int
    height: int


class Element(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Something to act on. `id` stays the same while the page draws it again; `label` and `value` are the web's words.

    `value` is what it holds (of a secret, eight asterisks), `states` are words like `disabled`, `checked`, `required`,
    `expanded`, `invalid`.
    """

    id: str
    type: ElementKind
    label: str
    region: str = ""
    value: str = ""
    href: str = ""
    placeholder: str = ""
    options: tuple[str, ...] = ()
    states: tuple[str, ...] = ()
    in_view: bool = True
    box: Box | None = None


class Region(Struct, frozen=True, kw_only=True, rename="camel"):
    """A part of the page (`main`, `navigation`, `form:login`, `dialog`), and how many elements it has."""

    name: str
    elements: int


class Intent(Struct, frozen=True, kw_only=True, rename="camel"):
    """Something that a visitor may want here (`login`, `search`, `add_to_cart`, …), and by which elements."""

    intent: str
    suggested_element_ids: tuple[str, ...]


class Stability(Struct, frozen=True, kw_only=True, rename="camel"):
    """Whether the page has come to rest."""

    stable: bool
    dom_stable: bool
    network_pending: int
    load_state: Literal["loading", "interactive", "complete"]


class PageRef(Struct, frozen=True, kw_only=True):
    """Where a tab is."""

    url: str
    title: str


class PageSummary(Struct, frozen=True, kw_only=True):
    """Where a tab is, and what is there: `summary` in one sentence of ours."""

    url: str
    title: str
    type: ViewType
    summary: str


class Section(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A part of the page's words; `attention` from 0 to 1 says how likely it is what the page is about."""

    tag: str
    text: str
    attention: float
    heading: str = ""


class ContentLink(Struct, frozen=True, kw_only=True):
    """A link of the content."""

    text: str
    url: str


class ContentImage(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A picture of the content."""

    url: str
    alt: str = ""


class Candidate(Struct, frozen=True, kw_only=True, rename="camel"):
    """An element that may be the one that was looked for; `score` from 0 to 1."""

    id: str
    label: str
    type: ElementKind
    score: float
    match_reason: str


class PastDialog(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A dialog, and what became of it; `message` and `default_value` are the web's."""

    type: Literal["alert", "confirm", "prompt", "beforeunload"]
    message: str
    default_value: str = ""
    response: Literal["", "accepted", "dismissed"] = ""
    timestamp: int = 0
