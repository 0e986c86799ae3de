"""The tools that act in a browser: the operations of 002, and the forms that 003 proposes them in."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any, Final

from msgspec import NODEFAULT, UNSET, Meta, Struct, UnsetType, defstruct, structs

from protocol.access import Scope
from protocol.browsers import gestures
from protocol.browsers import operations as do
from protocol.documents import NonEmpty
from protocol.tools.tool import ArgumentForm, Risk, Surface, Tool, ToolArguments, WithoutArguments, by_name

PLAYWRIGHT: Final = "fetchers-playwright"
"""Who runs them, as its subject names it."""

HANDLE_PREFIX: Final = "laika-"
"""What a handle of 003 is before the id of the element (003 "Tool call item shape")."""

Handle = NonEmpty
Count = Annotated[int, Meta(ge=1, le=1_000_000)] | UnsetType


def handle_of(element_id: str) -> str:
    """Return the handle that 003 knows an element by."""
    return HANDLE_PREFIX + element_id


def element_of(handle: str) -> str:
    """Return the id of the element that a handle stands for."""
    return handle.removeprefix(HANDLE_PREFIX)


class ObservePage(ToolArguments, frozen=True, kw_only=True):
    """Read the page that is shown."""

    max_chars: Count = UNSET
    max_elements: Count = UNSET
    max_blocks: Count = UNSET
    max_primary_chars: Count = UNSET
    max_outline: Count = UNSET
    max_outline_chars: Count = UNSET
    max_items: Count = UNSET
    max_item_chars: Count = UNSET
    max_comments: Count = UNSET
    max_comment_chars: Count = UNSET
    root_handle_id: Handle | UnsetType = UNSET


class ReadSelectionLinks(ToolArguments, frozen=True, kw_only=True):
    """Read the links of what is selected."""

    max_links: Count = UNSET


class ClickHandle(ToolArguments, frozen=True, kw_only=True):
    """Click an element."""

    handle_id: Handle


class TypeIntoHandle(ToolArguments, frozen=True, kw_only=True):
    """Type into a field."""

    handle_id: Handle
    text: str


class SelectOfHandle(ToolArguments, frozen=True, kw_only=True):
    """Choose an option of a list."""

    handle_id: Handle
    value: str


class ScrollPage(ToolArguments, frozen=True, kw_only=True):
    """Scroll down, or up by less than 0, in CSS pixels."""

    delta_y: float


class GoTo(ToolArguments, frozen=True, kw_only=True):
    """Go to an address."""

    url: NonEmpty


_FILLED_IN: Final = frozenset({"stored", "sealed", "fresh", "marks"})
"""What no client gives: the gateway does, or another actor."""

_SEALED: Final = frozenset({do.TypeText})
"""What the actions of a task put in that its user has given for it alone: it travels sealed."""


def _given(kind: type[Struct], filled_in: frozenset[str] = _FILLED_IN) -> ArgumentForm[Any]:
    """Return what clients give of an operation: without its tag, and without what is filled in for them."""
    given = [field for field in structs.fields(kind) if field.name not in filled_in]
    fields = [
        (field.name, field.type) if field.default is NODEFAULT else (field.name, field.type, field.default)
        for field in given
    ]
    arguments = defstruct(
        f"{kind.__name__}Arguments",
        fields,
        rename={field.name: field.encode_name for field in given},
        frozen=True,
        kw_only=True,
        omit_defaults=True,
        forbid_unknown_fields=True,
    )
    return ArgumentForm(arguments, lambda arguments: kind(**structs.asdict(arguments)))


def _own(
    kind: type[Struct],
    risk: Risk,
    description: str,
    form: ArgumentForm[Any] | None = None,
    *,
    local_only: bool = False,
    **names: str,
) -> Tool[Any]:
    """Return the row of an operation, which 002 calls by its tag, and other surfaces by the names that differ."""
    name = str(kind.__struct_config__.tag)
    aliases = {Surface.ROUTING: f"browser_{name}"} | {Surface(surface): alias for surface, alias in names.items()}
    forms = dict.fromkeys(Surface, _given(kind)) | ({Surface.LLMCP: form} if form is not None else {})
    if kind in _SEALED:
        forms[Surface.INTERACT] = _given(kind, _FILLED_IN - {"sealed"})
    return Tool(
        name=name,
        arguments=kind,
        risk=risk,
        description=description,
        scope=Scope.BROWSER,
        actor=PLAYWRIGHT,
        aliases=MappingProxyType(aliases),
        forms=MappingProxyType(forms),
        local_only=local_only,
        proposable=Surface.LLMCP in aliases,
    )


def _limits(given: ObservePage) -> dict[str, Any]:
    names = (name for name in given.__struct_fields__ if name != "root_handle_id")
    return {name: value for name in names if (value := getattr(given, name)) is not UNSET}


def _observe(given: ObservePage) -> do.ObserveDom:
    root = given.root_handle_id
    within = None if isinstance(root, UnsetType) else element_of(root)
    return do.ObserveDom(**_limits(given), root=within, include_markdown=True, capture_links=True)


def _selection(given: ReadSelectionLinks) -> do.GetSelectionLinks:
    return (
        do.GetSelectionLinks()
        if isinstance(given.max_links, UnsetType)
        else do.GetSelectionLinks(max_links=given.max_links)
    )


_GO_TO: Final = ArgumentForm(GoTo, lambda given: do.Navigate(url=given.url))
_OPEN_TAB: Final = ArgumentForm(GoTo, lambda given: do.CreateTab(url=given.url))
_CLICK: Final = ArgumentForm(ClickHandle, lambda given: do.Click(element_id=element_of(given.handle_id)))
_TYPE: Final = ArgumentForm(
    TypeIntoHandle, lambda given: do.TypeText(element_id=element_of(given.handle_id), text=given.text)
)
_SELECT: Final = ArgumentForm(
    SelectOfHandle, lambda given: do.SelectOption(element_id=element_of(given.handle_id), value=given.value)
)
_SCROLL: Final = ArgumentForm(ScrollPage, lambda given: do.ScrollBy(delta_y=given.delta_y))


def _bare(kind: type[Struct]) -> ArgumentForm[Any]:
    """Return the form of a tool that takes nothing."""
    return ArgumentForm(WithoutArguments, lambda _: kind())


BROWSER_TOOLS: Final[Mapping[str, Tool[Any]]] = by_name(
    _own(do.CreateSession, Risk.ACT, "Open a further browser session."),
    _own(do.CloseSession, Risk.ACT, "End a browser session."),
    _own(
        do.CreateTab,
        Risk.ACT,
        "Open a tab, which becomes active.",
        interact="createTab",
        llmcp="browser.open_tab",
        routing="browser_tab_create",
        form=_OPEN_TAB,
    ),
    _own(do.ListTabs, Risk.OBSERVE, "List the tabs of the session.", interact="getTabs", routing="browser_tab_list"),
    _own(do.SwitchTab, Risk.ACT, "Make a tab the active one.", interact="switch", routing="browser_tab_switch"),
    _own(do.CloseTab, Risk.ACT, "Close a tab.", interact="close", routing="browser_tab_close"),
    _own(do.Navigate, Risk.ACT, "Go to an address in the browser.", llmcp="browser.navigate", form=_GO_TO),
    _own(
        do.GoBack,
        Risk.ACT,
        "Go back to the page before.",
        interact="goBack",
        llmcp="browser.back",
        form=_bare(do.GoBack),
    ),
    _own(
        do.GoForward,
        Risk.ACT,
        "Go forward to where the tab was before it went back.",
        interact="goForward",
        llmcp="browser.forward",
        form=_bare(do.GoForward),
    ),
    _own(do.Refresh, Risk.ACT, "Load the page again.", llmcp="browser.refresh", form=_bare(do.Refresh)),
    _own(do.Scroll, Risk.ACT, "Scroll by most of a window.", routing="browser_scroll_down"),
    _own(
        do.ScrollBy, Risk.ACT, "Scroll down, or up by less than 0, in CSS pixels.", llmcp="browser.scroll", form=_SCROLL
    ),
    _own(do.Wait, Risk.OBSERVE, "Wait for a time or a condition."),
    _own(do.WaitForStable, Risk.OBSERVE, "Wait until nothing moves in the page."),
    _own(
        do.ObserveDom,
        Risk.OBSERVE,
        "Read the page as it stands: blocks, outline, items, comments and elements with handles, within limits.",
        llmcp="browser.observe_dom",
        routing="browser_snapshot",
        form=ArgumentForm(ObservePage, _observe),
    ),
    _own(
        do.GetSelectionLinks,
        Risk.LINKS,
        "Read the links of what is selected in the page.",
        llmcp="browser.get_selection_links",
        form=ArgumentForm(ReadSelectionLinks, _selection),
    ),
    _own(
        do.GetPageInfo,
        Risk.OBSERVE,
        "List what can be acted on in the page, with ids that last.",
        routing="browser_get_interactive_elements",
    ),
    _own(do.GetPageContent, Risk.OBSERVE, "Read the words of the page as it stands."),
    _own(
        do.FindElement,
        Risk.OBSERVE,
        "Find elements by words of their label or kind, or by css=SELECTOR.",
    ),
    _own(do.TakeScreenshot, Risk.OBSERVE, "Take a picture of the page.", routing="browser_get_screenshot"),
    _own(
        do.ExecuteJavascript, Risk.ACT, "Evaluate JavaScript; for local clients.", interact="evaluate", local_only=True
    ),
    _own(do.GetNetworkLogs, Risk.OBSERVE, "List the requests that the page made."),
    _own(do.GetConsoleLogs, Risk.OBSERVE, "List what the page wrote to its console."),
    _own(do.GetDialogInfo, Risk.OBSERVE, "Return the dialog that waits, and past ones."),
    _own(do.GetDownloads, Risk.OBSERVE, "List the files that were downloaded."),
    _own(
        do.Click,
        Risk.ACT,
        "Click an element. `element_id`: of get_page_info or find_element.",
        llmcp="browser.click",
        form=_CLICK,
    ),
    _own(
        do.TypeText,
        Risk.ACT,
        "Type in place of what a field holds; `submit` presses Enter.",
        llmcp="browser.type",
        routing="browser_fill",
        form=_TYPE,
    ),
    _own(do.Hover, Risk.ACT, "Move the pointer over an element."),
    _own(
        do.SelectOption,
        Risk.ACT,
        "Choose from a list by value or text.",
        interact="selectDropdown",
        llmcp="browser.select",
        form=_SELECT,
    ),
    _own(do.SetValue, Risk.ACT, "Set what a field or editor holds at once.", interact="setValue"),
    _own(do.PressKey, Risk.ACT, "Press a key, such as Enter or ArrowDown.", interact="press"),
    _own(do.HandleDialog, Risk.ACT, "Accept or dismiss the dialog that waits.", interact="acceptDialog"),
    _own(do.UploadFile, Risk.ACT, "Put a local file into a field; for local clients.", local_only=True),
    _own(do.ReadTree, Risk.OBSERVE, "Read the page as short nodes with ids, the words beside them, and a legend."),
    _own(gestures.DoubleClick, Risk.ACT, "Click an element twice.", interact="doubleClick"),
    _own(gestures.RightClick, Risk.ACT, "Click an element with the right button.", interact="rightClick"),
    _own(gestures.ClickAt, Risk.ACT, "Click a point of the window.", interact="clickAt"),
    _own(gestures.Drag, Risk.ACT, "Drag an element or a point to another.", interact="dragAndDrop"),
    _own(gestures.ScrollElement, Risk.ACT, "Scroll an element.", interact="scroll_container"),
    _own(gestures.SelectText, Risk.ACT, "Select an element's text, or words of it.", interact="selectText"),
    _own(gestures.Focus, Risk.ACT, "Give an element the focus."),
    _own(gestures.Blur, Risk.ACT, "Take the focus from an element."),
    _own(gestures.SetChecked, Risk.ACT, "Put a checkbox or switch on or off.", interact="check"),
    _own(gestures.TypeKeys, Risk.ACT, "Type into what has the focus.", interact="type"),
    _own(gestures.FindText, Risk.ACT, "Scroll to where words stand on the page.", interact="findText"),
    _own(gestures.AwaitElement, Risk.OBSERVE, "Wait until an element is shown.", interact="waitForElement"),
    _own(gestures.ReadRows, Risk.ACT, "Read a list's rows by scrolling, each once."),
    _own(gestures.ReadElement, Risk.OBSERVE, "Read an element's text, states, options.", interact="getText"),
)
"""Every tool of a browser by its name."""
