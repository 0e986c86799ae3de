"""What can be done in a browser session: an operation for each of the 28 browser tools of 002, with its arguments.

The name of an operation is the tag of its Struct, and the name of the tool. Field names are those of the tools.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from protocol.browse import MAX_URL_CHARS
from protocol.browsers import operation_bases
from protocol.browsers.gestures import Gesture, TypeKeys
from protocol.browsers.operation_bases import InSession, InTab, OnElement
from protocol.browsers.watching import Watching
from protocol.collections import CaptureMode
from protocol.sessions import Profile

CSS = "css="
"""What a query begins with that is a selector."""

SESSION_PREFIX = "sess_"
SESSION_BYTES = 16
"""Random bytes of an id: nobody guesses one (128 bits)."""

MAX_ELEMENTS = 1_000
MAX_CONTENT_CHARS = 50_000
MAX_SCRIPT_CHARS = 50_000
MAX_TEXT_CHARS = 100_000
MAX_RESULT_CHARS = 4_000
MAX_WAIT_MS = 30_000
MAX_LOG_ENTRIES = 500

MAX_TREE_TOKENS: Final = 1_500
"""What a tree of a page may take unless its reader says otherwise; a token is four characters of JSON."""

SessionId = operation_bases.BrowserSessionId
TabId = operation_bases.TabNumber
ElementId = operation_bases.ElementName
Cursor = Annotated[str, Meta(min_length=1, max_length=256)]
Selector = Annotated[str, Meta(min_length=1, max_length=500, description="CSS.")]
Key = Annotated[str, Meta(min_length=1, max_length=32)]
Address = Annotated[str, Meta(min_length=1, max_length=MAX_URL_CHARS)]
"""One of blanks alone is refused where it is gone to, by a code of its own (MISSING_URL)."""


# -- sessions and tabs -------------------------------------------------------------------------------------------------


class CreateSession(InSession, frozen=True, kw_only=True, tag="create_session"):
    """Open a session; with `url` it begins there, with `profile` it has that saved login of the site, and keeps it.

    Who names the session may ask again without opening a second one. A `fresh` one begins without what was saved, for
    whoever logs in anew: what comes of that is kept all the same.
    """

    session_id: Annotated[SessionId | None, Meta(description="Any name.")] = None
    url: Address | None = None
    profile: Annotated[Profile | None, Meta(description="Saved login; needs url.")] = None
    fresh: bool = False


class CloseSession(InSession, frozen=True, kw_only=True, tag="close_session"):
    """End a session; one whose window a person sees stays open unless it is forced."""

    force: bool = False


class CreateTab(InSession, frozen=True, kw_only=True, tag="create_tab"):
    """Open a tab, which becomes the active one."""

    url: Address | None = None


class ListTabs(InSession, frozen=True, kw_only=True, tag="list_tabs"):
    """List the tabs of a session."""


class SwitchTab(InSession, frozen=True, kw_only=True, tag="switch_tab"):
    """Make a tab the active one."""

    tab_id: TabId


class CloseTab(InSession, frozen=True, kw_only=True, tag="close_tab"):
    """Close a tab; the session stays, even without any."""

    tab_id: TabId


# -- getting about -----------------------------------------------------------------------------------------------------


class Navigate(InTab, frozen=True, kw_only=True, tag="navigate"):
    """Go to an address."""

    url: Address


class GoBack(InTab, frozen=True, kw_only=True, tag="go_back"):
    """Go back to where the tab was before."""


class Scroll(InTab, frozen=True, kw_only=True, tag="scroll"):
    """Scroll by most of a window."""

    direction: Literal["up", "down"]


class Wait(InTab, frozen=True, kw_only=True, tag="wait"):
    """Wait for a time (1 s), or for a condition (10 s at most unless `milliseconds` says otherwise)."""

    condition: Literal["time", "selector", "networkidle", "element_hidden"] | None = None
    milliseconds: Annotated[int, Meta(ge=1, le=MAX_WAIT_MS)] | None = None
    selector: Selector | None = None


class WaitForStable(InTab, frozen=True, kw_only=True, tag="wait_for_stable"):
    """Wait until nothing moves in the page."""

    timeout: Annotated[int, Meta(ge=1, le=MAX_WAIT_MS, description="ms")] = 5_000
    quiet_ms: Annotated[int, Meta(ge=1, le=10_000)] = 500


# -- reading -----------------------------------------------------------------------------------------------------------


class GetPageInfo(InTab, frozen=True, kw_only=True, tag="get_page_info"):
    """Return what there is to act on; without `max_elements` as many as suit the page."""

    max_elements: Annotated[int, Meta(ge=1, le=MAX_ELEMENTS)] | None = None
    visible_only: bool = True
    cursor: Cursor | None = None


class GetPageContent(InTab, frozen=True, kw_only=True, tag="get_page_content"):
    """Read the words of the page as it stands, `max_length` characters at most."""

    max_length: Annotated[int, Meta(ge=1, le=MAX_CONTENT_CHARS)] = 8_000


class FindElement(InTab, frozen=True, kw_only=True, tag="find_element"):
    """Find elements by words of what they say or are, or by a CSS selector after `css=`."""

    query: Annotated[str, Meta(min_length=1, max_length=300)]


class TakeScreenshot(InTab, frozen=True, kw_only=True, tag="screenshot"):
    """Take a picture of the window, of the whole page or of one element."""

    full_page: bool = False
    element_id: ElementId | None = msgspec.field(default=None, name="element_id")
    format: Literal["png", "jpeg", "webp"] = "png"
    quality: Annotated[int, Meta(ge=1, le=100, description="Of jpeg and webp.")] = 80


class ExecuteJavascript(InTab, frozen=True, kw_only=True, tag="execute_javascript"):
    """Evaluate a script in the page; for local callers alone, where the operator allows it."""

    script: Annotated[str, Meta(min_length=1, max_length=MAX_SCRIPT_CHARS)]


class GetNetworkLogs(InTab, frozen=True, kw_only=True, tag="get_network_logs"):
    """List the requests that the page made; slow ones took more than a second."""

    filter: Literal["all", "xhr", "failed", "slow"] = "all"
    max_entries: Annotated[int, Meta(ge=1, le=MAX_LOG_ENTRIES)] = 50
    include_headers: bool = False
    url_pattern: (
        Annotated[str, Meta(min_length=1, max_length=300, description="Text in the URL, * for any.")] | None
    ) = None
    cursor: Cursor | None = None


class GetConsoleLogs(InTab, frozen=True, kw_only=True, tag="get_console_logs"):
    """Return what the page wrote to its console."""

    level: Literal["all", "log", "debug", "info", "warning", "error"] = "all"
    max_entries: Annotated[int, Meta(ge=1, le=MAX_LOG_ENTRIES)] = 50


class GetDialogInfo(InTab, frozen=True, kw_only=True, tag="get_dialog_info"):
    """Return the dialog that waits for an answer, and those before it."""


class GetDownloads(InSession, frozen=True, kw_only=True, tag="get_downloads"):
    """List the files that the pages of a session had the browser download."""


# -- acting ------------------------------------------------------------------------------------------------------------


class Click(OnElement, frozen=True, kw_only=True, tag="click"):
    """Click an element."""


class TypeText(OnElement, frozen=True, kw_only=True, tag="type_text"):
    """Type into a field, key by key, after what it holds is taken out; `submit` presses Enter then.

    `sealed` stands in place of `text` for what is secret: encrypted by the vault key for `typed_in(session)`. The field
    is told as one that holds a secret from then on.
    """

    text: Annotated[str, Meta(max_length=MAX_TEXT_CHARS)]
    submit: bool = False
    sealed: bytes | None = msgspec.field(default=None, name="sealed")


class Hover(OnElement, frozen=True, kw_only=True, tag="hover"):
    """Move the pointer over an element."""


class SelectOption(OnElement, frozen=True, kw_only=True, tag="select_option"):
    """Choose an option of a list, by its value or by what it says."""

    value: Annotated[str, Meta(max_length=1_000)]


class SetValue(OnElement, frozen=True, kw_only=True, tag="set_value"):
    """Set what a field or an editor holds at once."""

    value: Annotated[str, Meta(max_length=MAX_TEXT_CHARS)]
    is_html: bool = False


class PressKey(InTab, frozen=True, kw_only=True, tag="press_key"):
    """Press a key, with modifiers if any."""

    key: Key
    modifiers: Annotated[tuple[Literal["Control", "Shift", "Alt", "Meta"], ...], Meta(max_length=4)] = ()


class HandleDialog(InTab, frozen=True, kw_only=True, tag="handle_dialog"):
    """Answer the dialog that waits; `text` is for a prompt."""

    action: Literal["accept", "dismiss"]
    text: Annotated[str, Meta(max_length=10_000)] | None = None


class UploadFile(OnElement, frozen=True, kw_only=True, tag="upload_file"):
    """Put a file into a file field; for local callers alone.

    `file_path` is read by the gateway, who keeps the file in CAPTURES and tells here under which name.
    """

    file_path: Annotated[str, Meta(min_length=1, max_length=4_096, description="Full path.")]
    stored: str | None = msgspec.field(default=None, name="stored")


# -- what 003 has and 002 does not -------------------------------------------------------------------------------------

Limit = Annotated[int, Meta(ge=1, le=1_000_000)] | None


class ObserveDom(InTab, frozen=True, kw_only=True, tag="observe_dom"):
    """Read the page as it stands: blocks, outline, items, comments and elements with handles, within limits (003).

    Without a limit that of 003's heuristics counts. `include_markdown` adds its Markdown as `capture_mode` has it.
    """

    max_chars: Limit = None
    max_elements: Limit = None
    max_blocks: Limit = None
    max_primary_chars: Limit = None
    max_outline: Limit = None
    max_outline_chars: Limit = None
    max_items: Limit = None
    max_item_chars: Limit = None
    max_comments: Limit = None
    max_comment_chars: Limit = None
    root: ElementId | None = None
    include_markdown: bool = False
    capture_mode: CaptureMode = "auto"
    capture_max_chars: Annotated[int, Meta(ge=100, le=200_000)] = 24_000
    capture_links: bool = False


class GetSelectionLinks(InTab, frozen=True, kw_only=True, tag="get_selection_links"):
    """Read the links of what is selected in the page."""

    max_links: Annotated[int, Meta(ge=1, le=200)] = 50


class ScrollBy(InTab, frozen=True, kw_only=True, tag="scroll_by"):
    """Scroll down, or up by less than 0, in CSS pixels."""

    delta_y: Annotated[float, Meta(ge=-1_000_000.0, le=1_000_000.0)]


class GoForward(InTab, frozen=True, kw_only=True, tag="go_forward"):
    """Go forward to where the tab was before it went back."""


class Refresh(InTab, frozen=True, kw_only=True, tag="refresh"):
    """Load the page again."""


class DescribeField(InTab, frozen=True, kw_only=True, tag="describe_field"):
    """Say what an element is, what lies at a point, or what has the focus; no tool: the gate asks it."""

    element_id: ElementId | None = msgspec.field(default=None, name="element_id")
    at: tuple[float, float] | None = None


class ReadTree(InTab, frozen=True, kw_only=True, tag="observe"):
    """Read the page as short nodes (001, V3); `AskTree` says what the fields mean."""

    query: Annotated[str, Meta(max_length=10_000)] = ""
    max_tokens: Annotated[int, Meta(ge=50, le=100_000)] | None = MAX_TREE_TOKENS
    everywhere: bool = False
    text: bool = True
    colours: bool = False
    boxes: bool = False
    selectors: bool = False
    marks: bool = False
    after: Annotated[str, Meta(max_length=64)] = ""
    known: Annotated[str, Meta(max_length=256)] = ""


class RecordSteps(InSession, frozen=True, kw_only=True, tag="record_steps"):
    """Begin to record what is done in a session, end it, or forget what was recorded; no tool: the runner asks it."""

    what: Literal["begin", "end", "forget"]


TYPING: Final = "browser.type"
"""The purpose that words on their way into a field are sealed for."""

Operation = (
    CreateSession
    | CloseSession
    | CreateTab
    | ListTabs
    | SwitchTab
    | CloseTab
    | Navigate
    | GoBack
    | Scroll
    | Wait
    | WaitForStable
    | GetPageInfo
    | GetPageContent
    | FindElement
    | TakeScreenshot
    | ExecuteJavascript
    | GetNetworkLogs
    | GetConsoleLogs
    | GetDialogInfo
    | GetDownloads
    | Click
    | TypeText
    | Hover
    | SelectOption
    | SetValue
    | PressKey
    | HandleDialog
    | UploadFile
    | ObserveDom
    | GetSelectionLinks
    | ScrollBy
    | GoForward
    | Refresh
    | DescribeField
    | ReadTree
    | RecordSteps
    | Gesture
    | Watching
)
"""Everything that a tool does in a browser session."""


def words_of(operation: Operation) -> str:
    """Return the words that an operation puts into a field; "" where it has none."""
    match operation:
        case TypeText(text=words) | TypeKeys(text=words) | SetValue(value=words) | SelectOption(value=words):
            return words
        case HandleDialog(text=answer):
            return answer or ""
        case _:
            return ""


def with_words(operation: Operation, words: str) -> Operation:
    """Return an operation with other words."""
    match operation:
        case TypeText() | TypeKeys() | HandleDialog():
            return replace(operation, text=words)
        case SetValue() | SelectOption():
            return replace(operation, value=words)
        case _:
            return operation


def typed_in(session_id: str) -> str:
    """Name the place that a secret on its way into a field of a session is sealed for."""
    return f"{TYPING} {session_id}"
