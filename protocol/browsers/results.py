"""What comes of an operation in a browser session: an answer for each of the 28 browser tools of 002.

Every word of a page in it is the web's: evidence, never instructions.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Literal

import msgspec
from msgspec import Struct

from protocol.acting.tree import PageTree
from protocol.browse import ConsoleMessage, NetworkRequest
from protocol.browsers.observation import PageObservation
from protocol.browsers.pageinfo import (
    Candidate,
    ContentImage,
    ContentLink,
    Element,
    Intent,
    PageRef,
    PageSummary,
    PastDialog,
    Region,
    Section,
    Stability,
)
from protocol.browsers.watching import WindowSize
from protocol.documents import WebObservationSummary
from protocol.faults import Code
from protocol.flows import FlowDraft
from protocol.pages import Captured
from protocol.policy import FieldFacts


class BrowserTab(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A tab, by its number in the session; `title` is the web's."""

    tab: int = msgspec.field(name="id")
    url: str
    title: str = ""


class _OperationResult(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, tag_field="done"):
    """Where it was done."""

    session_id: str = ""
    tab_id: int | None = None


class SessionCreated(_OperationResult, frozen=True, kw_only=True, tag="session_created"):
    """A session is open; `page` is where it begins."""

    page: PageRef | None = None


class SessionClosed(_OperationResult, frozen=True, kw_only=True, tag="session_closed"):
    """A session was ended, or kept for the `reason`; one that there is not counts as ended."""

    success: bool
    kept: bool = False
    reason: str = ""


class Navigated(_OperationResult, frozen=True, kw_only=True, tag="navigated"):
    """The tab is there; `partial` where the page did not come to rest in time. `status_code` is the site's.

    `dialog` is one that the page called up and that waits for an answer. `changed` says what else came of it.
    """

    success: bool
    partial: bool = False
    status_code: int | None = None
    page: PageRef
    dialog: PastDialog | None = None
    changed: str = ""


class TabCreated(_OperationResult, frozen=True, kw_only=True, tag="tab_created"):
    """A tab is open, and active."""

    url: str
    partial: bool = False


class Tabs(_OperationResult, frozen=True, kw_only=True, tag="tabs"):
    """The tabs of a session, and how many cookies it has."""

    active_tab_id: int | None = None
    # `omit_defaults` would leave out a plain ().
    tabs: tuple[BrowserTab, ...] = msgspec.field(default_factory=lambda: ())
    cookies: int = 0


class Acted(_OperationResult, frozen=True, kw_only=True, tag="acted"):
    """It was done, and the page came to rest after it; `page` is where the tab is now.

    `new_tab_created` is the tab that it opened, `dialog` one that it called up and that waits for an answer.
    `changed` says in a sentence what is different now.
    """

    success: bool
    page: PageRef | None = None
    new_tab_created: int | None = None
    dialog: PastDialog | None = None
    changed: str = ""


class PageInfo(_OperationResult, frozen=True, kw_only=True, tag="page_info"):
    """What there is to act on; `next_cursor` goes on where `has_more`."""

    page: PageSummary
    elements: tuple[Element, ...]
    total_elements: int
    truncated: bool = False
    regions: tuple[Region, ...] = ()
    intents: tuple[str, ...] = ()
    recommended_by_intent: tuple[Intent, ...] = ()
    stability: Stability | None = None
    pending_dialog: PastDialog | None = None
    has_more: bool = False
    next_cursor: str | None = None


class PageContent(_OperationResult, frozen=True, kw_only=True, tag="page_content"):
    """The words of the page, in document order."""

    title: str
    sections: tuple[Section, ...]
    links: tuple[ContentLink, ...] = ()
    images: tuple[ContentImage, ...] = ()
    metadata: dict[str, str] = {}
    truncated: bool = False


class Found(_OperationResult, frozen=True, kw_only=True, tag="found"):
    """The elements that fit best, best first; five at most."""

    query: str
    candidates: tuple[Candidate, ...]


class ScreenshotTaken(_OperationResult, frozen=True, kw_only=True, tag="screenshot_taken"):
    """A picture, by its name in CAPTURES; sizes in pixels."""

    image: Captured
    width: int
    height: int
    page: PageRef


class Evaluated(_OperationResult, frozen=True, kw_only=True, tag="evaluated"):
    """What a script came to, as JSON; cut to text where it is longer than 4,000 characters."""

    result: Any = None
    truncated: bool = False


class Stable(_OperationResult, frozen=True, kw_only=True, tag="stable"):
    """Whether the page came to rest."""

    stable: bool
    dom_stable: bool
    network_pending: int
    load_state: Literal["loading", "interactive", "complete"]


class Dialogs(_OperationResult, frozen=True, kw_only=True, tag="dialogs"):
    """The dialog that waits, and those before it, newest last."""

    pending_dialog: PastDialog | None = None
    dialog_history: tuple[PastDialog, ...] = ()


class NetworkLogs(_OperationResult, frozen=True, kw_only=True, tag="network_logs"):
    """Requests, newest last, without credentials; `top_issues` in sentences of ours."""

    logs: tuple[NetworkRequest, ...]
    total_count: int
    truncated: bool = False
    top_issues: tuple[str, ...] = ()
    has_more: bool = False
    next_cursor: str | None = None


class ConsoleLogs(_OperationResult, frozen=True, kw_only=True, tag="console_logs"):
    """Lines of the console, newest last."""

    logs: tuple[ConsoleMessage, ...]


class Downloads(_OperationResult, frozen=True, kw_only=True, tag="downloads"):
    """Files, by their names in CAPTURES."""

    downloads: tuple[Captured, ...] = msgspec.field(default_factory=lambda: ())


class FieldDescribed(_OperationResult, frozen=True, kw_only=True, tag="field_described"):
    """What an element is, for the gate."""

    facts: FieldFacts


class TreeRead(_OperationResult, frozen=True, kw_only=True, tag="tree_read"):
    """The page as short nodes (001)."""

    tree: PageTree


class ElementRead(_OperationResult, frozen=True, kw_only=True, tag="element_read"):
    """What an element is now; nothing of a secret. `attribute` is the one that was asked for, None where it has none.

    `checked` is None where it is nothing that is on or off.
    """

    text: str = ""
    value: str = ""
    attribute: str | None = None
    visible: bool = False
    enabled: bool = True
    checked: bool | None = None
    options: tuple[str, ...] = ()


class ListRow(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A row of a list: its words, and the ids of what can be acted on in it once it is scrolled to."""

    text: str
    ids: tuple[str, ...] = ()


class RowsRead(_OperationResult, frozen=True, kw_only=True, tag="rows_read"):
    """The rows of a list, each once; `complete` where there are no others."""

    rows: tuple[ListRow, ...] = ()
    complete: bool = False


class PageObserved(_OperationResult, frozen=True, kw_only=True, tag="page_observed"):
    """The page as it stands, within limits (003): see `PageObservation`; the document has it for a model."""

    observation: PageObservation
    document: WebObservationSummary


class SelectionLinks(_OperationResult, frozen=True, kw_only=True, tag="selection_links"):
    """The links of what is selected; addresses without credentials."""

    links: tuple[ContentLink, ...] = msgspec.field(default_factory=lambda: ())


class StepsRecorded(_OperationResult, frozen=True, kw_only=True, tag="steps_recorded"):
    """What was recorded of a session, without anything secret; None where nothing is recorded any more."""

    draft: FlowDraft | None = None


class WindowShown(_OperationResult, frozen=True, kw_only=True, tag="window_shown"):
    """The window of a tab as it is now: a JPEG; `dialog` is one that waits, and that no picture has."""

    picture: bytes
    window: WindowSize
    page: PageRef
    dialog: PastDialog | None = None


class SessionHeld(_OperationResult, frozen=True, kw_only=True, tag="session_held"):
    """Until when a person has the session in hand (ms since the epoch); 0: nobody has."""

    held_until: int = 0


Done = (
    SessionCreated
    | SessionClosed
    | Navigated
    | TabCreated
    | Tabs
    | Acted
    | PageInfo
    | PageContent
    | Found
    | ScreenshotTaken
    | Evaluated
    | Stable
    | Dialogs
    | NetworkLogs
    | ConsoleLogs
    | Downloads
    | FieldDescribed
    | TreeRead
    | ElementRead
    | RowsRead
    | PageObserved
    | SelectionLinks
    | StepsRecorded
    | WindowShown
    | SessionHeld
)
"""Whatever an operation can come to."""


class ErrorCode(StrEnum):
    """The codes of the tool layer (002 §7.1)."""

    ELEMENT_NOT_FOUND = "ELEMENT_NOT_FOUND"
    NAVIGATION_TIMEOUT = "NAVIGATION_TIMEOUT"
    SESSION_NOT_FOUND = "SESSION_NOT_FOUND"
    PAGE_CRASHED = "PAGE_CRASHED"
    INVALID_PARAMETER = "INVALID_PARAMETER"
    EXECUTION_ERROR = "EXECUTION_ERROR"


ERROR_CODES: Mapping[Code, ErrorCode] = MappingProxyType(
    {
        Code.ELEMENT_NOT_FOUND: ErrorCode.ELEMENT_NOT_FOUND,
        Code.NETWORK_TIMEOUT: ErrorCode.NAVIGATION_TIMEOUT,
        Code.INTERNAL_DEADLINE: ErrorCode.NAVIGATION_TIMEOUT,
        Code.BROWSER_PAGE_HUNG: ErrorCode.NAVIGATION_TIMEOUT,
        Code.SESSION_NOT_FOUND: ErrorCode.SESSION_NOT_FOUND,
        Code.PAGE_CRASHED: ErrorCode.PAGE_CRASHED,
        Code.VALIDATION_INVALID_REQUEST: ErrorCode.INVALID_PARAMETER,
        Code.SECURITY_URL_BLOCKED: ErrorCode.INVALID_PARAMETER,
        Code.SECURITY_ADDRESS_BLOCKED: ErrorCode.INVALID_PARAMETER,
    }
)
"""The code of the tool layer for a code of ours; every other one is an EXECUTION_ERROR."""
