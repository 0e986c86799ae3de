"""The tools that act in a browser: the operations of 002, and the forms that 003 proposes them in."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any, Final

from msgspec import UNSET, Meta, Struct, UnsetType

from protocol.access import Scope
from protocol.browsers import operations as do
from protocol.documents import NonEmpty
from protocol.tools.tool import Form, Risk, Surface, Tool, ToolArguments, WithoutArguments, by_name

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


def _own(
    kind: type[Struct], risk: Risk, form: Form[Any] | None = None, *, local_only: bool = False, **names: str
) -> Tool[Any]:
    """Return the row of an operation, which 002 calls by its tag, and other surfaces by the names that differ."""
    name = str(kind.__struct_config__.tag)
    aliases = {Surface.ROUTING: f"browser_{name}"} | {Surface(surface): alias for surface, alias in names.items()}
    description = (kind.__doc__ or "").partition("\n")[0]
    return Tool(
        name=name,
        arguments=kind,
        risk=risk,
        description=description,
        scope=Scope.BROWSER,
        actor=PLAYWRIGHT,
        aliases=MappingProxyType(aliases),
        forms=MappingProxyType({Surface.LLMCP: form} if form is not None else {}),
        local_only=local_only,
        proposable=Surface.LLMCP in aliases,
    )


def _limits(given: ObservePage) -> dict[str, Any]:
    names = (name for name in given.__struct_fields__ if name != "root_handle_id")
    return {name: value for name in names if (value := getattr(given, name)) is not UNSET}


def _observe(given: ObservePage) -> do.ObserveDom:
    root = given.root_handle_id
    return do.ObserveDom(**_limits(given), root=None if isinstance(root, UnsetType) else element_of(root))


def _selection(given: ReadSelectionLinks) -> do.GetSelectionLinks:
    return (
        do.GetSelectionLinks()
        if isinstance(given.max_links, UnsetType)
        else do.GetSelectionLinks(max_links=given.max_links)
    )


_GO_TO: Final = Form(GoTo, lambda given: do.Navigate(url=given.url))
_OPEN_TAB: Final = Form(GoTo, lambda given: do.CreateTab(url=given.url))
_CLICK: Final = Form(ClickHandle, lambda given: do.Click(element_id=element_of(given.handle_id)))
_TYPE: Final = Form(TypeIntoHandle, lambda given: do.TypeText(element_id=element_of(given.handle_id), text=given.text))
_SELECT: Final = Form(
    SelectOfHandle, lambda given: do.SelectOption(element_id=element_of(given.handle_id), value=given.value)
)
_SCROLL: Final = Form(ScrollPage, lambda given: do.ScrollBy(delta_y=given.delta_y))


def _bare(kind: type[Struct]) -> Form[Any]:
    """Return the form of a tool that takes nothing."""
    return Form(WithoutArguments, lambda _: kind())


BROWSER_TOOLS: Final[Mapping[str, Tool[Any]]] = by_name(
    _own(do.CreateSession, Risk.ACT),
    _own(do.CloseSession, Risk.ACT),
    _own(
        do.CreateTab,
        Risk.ACT,
        interact="createTab",
        llmcp="browser.open_tab",
        routing="browser_tab_create",
        form=_OPEN_TAB,
    ),
    _own(do.ListTabs, Risk.OBSERVE, interact="getTabs", routing="browser_tab_list"),
    _own(do.SwitchTab, Risk.ACT, interact="switch", routing="browser_tab_switch"),
    _own(do.CloseTab, Risk.ACT, interact="close", routing="browser_tab_close"),
    _own(do.Navigate, Risk.ACT, llmcp="browser.navigate", form=_GO_TO),
    _own(do.GoBack, Risk.ACT, interact="goBack", llmcp="browser.back", form=_bare(do.GoBack)),
    _own(do.GoForward, Risk.ACT, interact="goForward", llmcp="browser.forward", form=_bare(do.GoForward)),
    _own(do.Refresh, Risk.ACT, llmcp="browser.refresh", form=_bare(do.Refresh)),
    _own(do.Scroll, Risk.ACT, routing="browser_scroll_down"),
    _own(do.ScrollBy, Risk.ACT, llmcp="browser.scroll", form=_SCROLL),
    _own(do.Wait, Risk.OBSERVE),
    _own(do.WaitForStable, Risk.OBSERVE),
    _own(
        do.ObserveDom,
        Risk.OBSERVE,
        llmcp="browser.observe_dom",
        routing="browser_snapshot",
        form=Form(ObservePage, _observe),
    ),
    _own(
        do.GetSelectionLinks,
        Risk.LINKS,
        llmcp="browser.get_selection_links",
        form=Form(ReadSelectionLinks, _selection),
    ),
    _own(do.GetPageInfo, Risk.OBSERVE, routing="browser_get_interactive_elements"),
    _own(do.GetPageContent, Risk.OBSERVE),
    _own(do.FindElement, Risk.OBSERVE, interact="findText"),
    _own(do.TakeScreenshot, Risk.OBSERVE, routing="browser_get_screenshot"),
    _own(do.ExecuteJavascript, Risk.ACT, interact="evaluate", local_only=True),
    _own(do.GetNetworkLogs, Risk.OBSERVE),
    _own(do.GetConsoleLogs, Risk.OBSERVE),
    _own(do.GetDialogInfo, Risk.OBSERVE),
    _own(do.GetDownloads, Risk.OBSERVE),
    _own(do.Click, Risk.ACT, llmcp="browser.click", form=_CLICK),
    _own(do.TypeText, Risk.ACT, interact="type", llmcp="browser.type", routing="browser_fill", form=_TYPE),
    _own(do.Hover, Risk.ACT),
    _own(do.SelectOption, Risk.ACT, interact="selectDropdown", llmcp="browser.select", form=_SELECT),
    _own(do.SetValue, Risk.ACT, interact="setValue"),
    _own(do.PressKey, Risk.ACT, interact="press"),
    _own(do.HandleDialog, Risk.ACT),
    _own(do.UploadFile, Risk.ACT, local_only=True),
)
"""Every tool of a browser by its name."""
