"""What else can be done to the elements of a page and at its points, for the actions of 001."""

from __future__ import annotations

from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from protocol.browsers.operation_bases import Coordinate, ElementName, InTab, OnElement

MAX_PAGES: Final = 50.0
MAX_FIND_CHARS: Final = 1_000
MAX_APPEAR_MS: Final = 30_000
MAX_TYPED_CHARS: Final = 100_000
MAX_ROWS: Final = 2_000
MAX_ROWS_MS: Final = 30_000


class DoubleClick(OnElement, frozen=True, kw_only=True, tag="double_click"):
    """Click an element twice."""


class RightClick(OnElement, frozen=True, kw_only=True, tag="right_click"):
    """Click an element with the right button."""


class ClickAt(InTab, frozen=True, kw_only=True, tag="click_at"):
    """Click a point of the window."""

    x: Coordinate
    y: Coordinate


class Drag(InTab, frozen=True, kw_only=True, tag="drag"):
    """Drag an element, or what lies at a point, onto another element or to another point."""

    element_id: ElementName | None = msgspec.field(default=None, name="element_id")
    x: Coordinate | None = None
    y: Coordinate | None = None
    to_element_id: ElementName | None = msgspec.field(default=None, name="to_element_id")
    to_x: Coordinate | None = None
    to_y: Coordinate | None = None


class ScrollElement(OnElement, frozen=True, kw_only=True, tag="scroll_element"):
    """Scroll an element, or the nearest one around it that scrolls, by most of its size times `pages`."""

    direction: Literal["up", "down", "left", "right"] = "down"
    pages: Annotated[float, Meta(gt=0, le=MAX_PAGES)] = 1.0


class SelectText(OnElement, frozen=True, kw_only=True, tag="select_text"):
    """Select the text of an element, or these words of it."""

    text: Annotated[str, Meta(max_length=10_000)] = ""


class Focus(OnElement, frozen=True, kw_only=True, tag="focus"):
    """Move the focus to an element."""


class Blur(OnElement, frozen=True, kw_only=True, tag="blur"):
    """Take the focus from an element."""


class SetChecked(OnElement, frozen=True, kw_only=True, tag="set_checked"):
    """Put a checkbox, switch or option on or off: it is clicked only where it stands otherwise."""

    checked: bool


class TypeKeys(InTab, frozen=True, kw_only=True, tag="type_keys"):
    """Type into what has the focus, after what it holds."""

    text: Annotated[str, Meta(max_length=MAX_TYPED_CHARS)]


class FindText(InTab, frozen=True, kw_only=True, tag="find_text"):
    """Scroll to where these words stand on the page."""

    text: Annotated[str, Meta(min_length=1, max_length=MAX_FIND_CHARS)]


class AwaitElement(OnElement, frozen=True, kw_only=True, tag="wait_for_element"):
    """Wait until an element is shown."""

    milliseconds: Annotated[int, Meta(ge=1, le=MAX_APPEAR_MS)] = 10_000


class ReadElement(OnElement, frozen=True, kw_only=True, tag="read_element"):
    """Read an element: its text, value, states and options, and one attribute where that is named."""

    attribute: Annotated[str, Meta(min_length=1, max_length=100)] | None = None


class ReadRows(InTab, frozen=True, kw_only=True, tag="read_rows"):
    """Read the rows of a list by scrolling through it, each once; without an element those of the longest list."""

    element_id: ElementName | None = msgspec.field(default=None, name="element_id")
    max_rows: Annotated[int, Meta(ge=1, le=MAX_ROWS)] = 200
    milliseconds: Annotated[int, Meta(ge=1, le=MAX_ROWS_MS)] = 10_000


Gesture = (
    DoubleClick
    | RightClick
    | ClickAt
    | Drag
    | ScrollElement
    | SelectText
    | Focus
    | Blur
    | SetChecked
    | TypeKeys
    | FindText
    | AwaitElement
    | ReadElement
    | ReadRows
)
"""All of them."""
