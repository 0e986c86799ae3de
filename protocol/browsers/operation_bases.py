"""Where an operation is done: in a session, in a tab of it, on an element there."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta, Struct

BrowserSessionId = Annotated[str, Meta(pattern=r"^sess_[A-Za-z0-9_-]{22,86}$(?!\n)")]
TabNumber = Annotated[int, Meta(ge=1)]
ElementName = Annotated[str, Meta(min_length=1, max_length=200)]
Coordinate = Annotated[float, Meta(ge=0, le=100_000, description="CSS pixels of the window.")]


class InSession(
    Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="tool", rename="camel", forbid_unknown_fields=True
):
    """Where it is done: without a session in the caller's own, which is opened at need."""

    session_id: BrowserSessionId | None = None


class InTab(InSession, frozen=True, kw_only=True):
    """Something that is done in one tab: without an id in the active one."""

    tab_id: TabNumber | None = None


class OnElement(InTab, frozen=True, kw_only=True):
    """Something that is done to one element, by the id that get_page_info or find_element told."""

    element_id: ElementName = msgspec.field(name="element_id")
