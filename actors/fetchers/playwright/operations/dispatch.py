"""Dispatches an operation to its function: in its tab, after those before it there, and within its deadline."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, TypeVar

import anyio
from msgspec import structs

from actors import redact
from actors.fetchers import page_answer
from actors.fetchers.playwright import faults, view
from actors.fetchers.playwright.open_session import OpenSession
from actors.fetchers.playwright.operations import (
    acting,
    capture,
    filling,
    gestures,
    logs,
    navigation,
    step_recording,
    tabs,
    waiting,
    watching,
)
from actors.fetchers.playwright.operations.context import OperationContext, OperationDependencies, TabContext
from actors.flows.recording import is_recorded
from actors.web import guard
from bus import remaining_ms
from bus.seal import UnsealError
from protocol.acting.tree import PageTree
from protocol.browsers.operations import (
    Click,
    CloseTab,
    CreateTab,
    DescribeField,
    ExecuteJavascript,
    FindElement,
    GetConsoleLogs,
    GetDialogInfo,
    GetDownloads,
    GetNetworkLogs,
    GetPageContent,
    GetPageInfo,
    GetSelectionLinks,
    GoBack,
    GoForward,
    HandleDialog,
    Hover,
    ListTabs,
    Navigate,
    ObserveDom,
    Operation,
    PressKey,
    ReadTree,
    RecordSteps,
    Refresh,
    Scroll,
    ScrollBy,
    SelectOption,
    SetValue,
    SwitchTab,
    TakeScreenshot,
    TypeText,
    UploadFile,
    Wait,
    WaitForStable,
    typed_in,
    with_words,
)
from protocol.browsers.results import Done, FieldDescribed, TreeRead
from protocol.browsers.sessions import AskBrowser
from protocol.browsers.watching import HoldSession, ShowWindow
from protocol.faults import Code, FaultError

D = TypeVar("D")

_RESERVE_MS = 4_000
"""A tenth of the time, so much at most, is kept for writing the session and for the answer."""

_GRACE_S = 1.0
"""How long after its deadline an operation is cancelled: most end by themselves."""

_IN_SESSION: Mapping[type, Callable[[OperationContext, Any], Awaitable[Done]]] = MappingProxyType(
    {
        ListTabs: tabs.list_tabs,
        SwitchTab: tabs.switch_tab,
        CloseTab: tabs.close_tab,
        GetDownloads: logs.downloads,
        GetDialogInfo: tabs.dialog_info,
        GetNetworkLogs: logs.network,
        GetConsoleLogs: logs.console,
    }
)
"""Operations on the session itself: they wait for no tab."""


async def _tree(op: TabContext, do: ReadTree) -> TreeRead:
    read = await view.read_tree(op.tab, do)
    return structs.replace(read, tree=structs.replace(read.tree, tabs=len(op.session.tabs)))


_READING: Mapping[type, Callable[[TabContext, Any], Awaitable[Done]]] = MappingProxyType(
    {
        GetPageInfo: lambda op, do: view.describe(op.tab, do),
        GetPageContent: lambda op, do: view.read(op.tab, do),
        FindElement: lambda op, do: view.find(op.tab, do),
        TakeScreenshot: capture.screenshot,
        ExecuteJavascript: capture.execute_javascript,
        Wait: waiting.wait,
        WaitForStable: waiting.wait_for_stable,
        Scroll: navigation.scroll,
        ScrollBy: navigation.scroll_by,
        ObserveDom: lambda op, do: view.observe(op.tab, do),
        GetSelectionLinks: lambda op, do: view.selection_links(op.tab, do),
        DescribeField: lambda op, do: view.describe_field(op.tab, do),
        ReadTree: _tree,
        **gestures.READING,
    }
)
"""Operations that a dialog which opens meanwhile interrupts."""

_ACTING: Mapping[type, Callable[[TabContext, Any], Awaitable[Done]]] = MappingProxyType(
    {
        GoBack: navigation.go_back,
        GoForward: navigation.go_forward,
        Refresh: navigation.refresh,
        Click: acting.click,
        Hover: acting.hover,
        PressKey: acting.press_key,
        TypeText: filling.type_text,
        SetValue: filling.set_value,
        SelectOption: filling.select_option,
        UploadFile: filling.upload_file,
        **gestures.ACTING,
    }
)
"""Operations that report a dialog which they open."""


async def perform(dependencies: OperationDependencies, session: OpenSession, request: AskBrowser) -> Done:
    """Perform an operation in a session.

    Raises:
        FaultError: what it failed with.
        playwright.async_api.Error: the browser is gone.
    """
    request = _with_typed(dependencies, session, request)
    op = OperationContext(dependencies, session, _deadline_s(), request.local, request.expects, request.brisk)
    await session.prune_tabs()
    if isinstance(request.do, RecordSteps):
        return step_recording.steer(session, request.do)
    if isinstance(request.do, HoldSession):
        return watching.hold(session, request.do)
    if isinstance(request.do, ShowWindow):
        return await _window(op, watching.shown_tab(session, request.do))
    if request.by_hand:
        watching.hold(session, HoldSession(hold=True))
    if session.record.recording is not None and is_recorded(request.do):
        return await step_recording.observed(op, request.do, partial(_dispatched, op))
    return await _dispatched(op, request.do)


async def _window(op: OperationContext, number: int) -> Done:
    """Show the window of a tab, whatever is under way in it; one that is not open is opened in its turn."""
    if op.session.open_tab(number) is None:
        await _in_turn(op, number, lambda: navigation.at_page(op, number))
    return await watching.show_window(op, number)


async def _dispatched(op: OperationContext, wanted: Operation) -> Done:
    """Perform an operation, in its tab and turn if it has one."""
    session = op.session
    match wanted:
        case do if in_session := _IN_SESSION.get(type(do)):
            return await in_session(op, do)
        case CreateTab() as creation:
            if creation.url is not None:
                guard.check_url(creation.url)
            former, number = session.record.active_tab, session.add_tab()
            return await _in_turn(op, number, lambda: tabs.create_tab(op, number, former, creation))
        case HandleDialog() as answer:
            number = session.tab_number(answer.tab_id) if session.tabs else 0
            return await _in_turn(op, number, lambda: tabs.handle_dialog(op, number, answer))
        case Navigate() as navigate:
            number = session.tab_number(navigate.tab_id)
            return await _in_turn(op, number, lambda: navigation.navigate(op, number, navigate))
        case (DescribeField(element_id=None) | ReadTree()) as look:
            number = session.tab_number(look.tab_id)
            return await _in_turn(op, number, lambda: _look(op, number, look))
        case do:
            number = session.tab_number(getattr(do, "tab_id", None))
            return await _in_turn(op, number, lambda: _on_page(op, number, do))


def _with_typed(dependencies: OperationDependencies, session: OpenSession, request: AskBrowser) -> AskBrowser:
    """Put back the words that travelled sealed."""
    if not request.typed:
        return request
    try:
        words = dependencies.unseal(request.typed, typed_in(session.record.session))
    except UnsealError:
        raise faults.invalid("typed", "it was not sealed for this session") from None
    return structs.replace(request, do=with_words(request.do, words), typed=b"")


async def _look(op: OperationContext, number: int, do: DescribeField | ReadTree) -> Done:
    """Say what has the focus, or read the tree: of a page that a dialog holds up the dialog, for it can say nothing."""
    open_tab = op.session.open_tab(number)
    if open_tab is None or (dialog := open_tab.dialogs.pending) is None:
        return await _on_page(op, number, do)
    if isinstance(do, DescribeField):
        return FieldDescribed(tab_id=number, facts=view.dialog_facts(dialog, open_tab.page.url))
    tree = PageTree(url=redact.url(open_tab.page.url), dialog=dialog.message, tabs=len(op.session.tabs))
    return TreeRead(tab_id=number, tree=tree)


async def _on_page(op: OperationContext, number: int, do: Operation) -> Done:
    open_tab = op.session.open_tab(number)
    if (
        open_tab is not None
        and open_tab.stuck
        and open_tab.dialogs.pending is None
        and not isinstance(do, WaitForStable)
    ):
        await open_tab.probe()
        if open_tab.stuck:
            raise faults.hung()
    tab = await navigation.at_page(op, number)
    kind = type(do)
    if kind in _ACTING:
        return await _ACTING[kind](tab, do)
    done: Done | None = None
    with tab.open_tab.dialogs.interrupting():
        done = await _READING[kind](tab, do)
    if done is None:
        tab.open_tab.check_no_dialog()
        await op.session.prune_tabs()
        if not op.session.has_tab(number):
            raise _closed(number)
        raise faults.not_done("A dialog opened meanwhile, and was closed: ask again.")
    return structs.replace(done, tab_id=number)


async def _in_turn(op: OperationContext, number: int, work: Callable[[], Awaitable[D]]) -> D:
    """Run an operation in a tab, after those before it; a page that crashed is closed, to be opened again."""
    session = op.session
    try:
        with anyio.fail_after(max(op.deadline_s - time.monotonic(), 0) + _GRACE_S):
            async with session.tab_lock(number):
                if number and not session.has_tab(number):
                    raise _closed(number)
                return await work()
    except TimeoutError as error:
        raise await _late(session, number) from error
    except FaultError as error:
        if error.fault.code is Code.PAGE_CRASHED:
            await session.prune_tabs()
            if number and not session.has_tab(number) and session.is_alive:
                raise _closed(number) from error
            await session.suspend_tab(number)
        if error.fault.code is Code.BROWSER_PAGE_HUNG and (open_tab := session.open_tab(number)) is not None:
            open_tab.stuck = True
            raise faults.hung() from error
        if error.fault.code is Code.NETWORK_TIMEOUT:
            raise faults.late(error.fault) from error
        raise


def _closed(number: int) -> FaultError:
    return faults.invalid("tabId", f"tab {number} was closed meanwhile")


async def _late(session: OpenSession, number: int) -> FaultError:
    """Explain why an operation met its deadline."""
    open_tab = session.open_tab(number)
    if open_tab is not None and open_tab.dialogs.pending is not None:
        return faults.dialog_waits(open_tab.dialogs.pending)
    if open_tab is not None:
        await open_tab.probe()
        if open_tab.stuck:
            return faults.hung()
    return faults.not_done("It did not come to an end in the time that there was.")


def _deadline_s() -> float:
    return time.monotonic() + page_answer.time_for_site(remaining_ms(), _RESERVE_MS) / 1000
