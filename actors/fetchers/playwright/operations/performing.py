"""Performs an operation: finds its tab, waits for its turn, and never longer than it may."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import Any, TypeVar

import anyio
from msgspec import structs

from actors.fetchers import answering
from actors.fetchers.playwright import view
from actors.fetchers.playwright.held import Held
from actors.fetchers.playwright.operations import about, acting, asking, filling, logs, tabs, taking, waiting
from actors.fetchers.playwright.operations.opening import at_page, check
from actors.fetchers.playwright.operations.place import Means, Place
from actors.fetchers.playwright.operations.refusing import dialog_waits, hung, invalid, not_done
from bus import remaining_ms
from protocol.browsers.operations import (
    Click,
    CloseTab,
    CreateTab,
    ExecuteJavascript,
    FindElement,
    GetConsoleLogs,
    GetDialogInfo,
    GetDownloads,
    GetNetworkLogs,
    GetPageContent,
    GetPageInfo,
    GoBack,
    HandleDialog,
    Hover,
    ListTabs,
    Navigate,
    PressKey,
    Scroll,
    SelectOption,
    SetValue,
    SwitchTab,
    TakeScreenshot,
    TypeText,
    UploadFile,
    Wait,
    WaitForStable,
)
from protocol.browsers.results import Done
from protocol.browsers.sessions import AskBrowser
from protocol.faults import Code, FaultError

D = TypeVar("D")

_RESERVE_MS = 4_000
"""A tenth of the time, so much at most, is kept for keeping the session and for the answer."""

_GRACE_S = 1.0
"""What is beyond the time of an operation until it is cut off: most end by themselves."""

_IN_SESSION: Mapping[type, Callable[[Means, Held, Any], Awaitable[Done]]] = MappingProxyType(
    {
        ListTabs: tabs.list_tabs,
        SwitchTab: tabs.switch_tab,
        CloseTab: tabs.close_tab,
        GetDownloads: logs.downloads,
        GetDialogInfo: asking.dialog_info,
        GetNetworkLogs: logs.network,
        GetConsoleLogs: logs.console,
    }
)
"""What asks no page anything, and waits for no turn."""

_READING: Mapping[type, Callable[[Place, Any], Awaitable[Done]]] = MappingProxyType(
    {
        GetPageInfo: lambda at, do: view.describe(at.tab, do),
        GetPageContent: lambda at, do: view.read(at.tab, do),
        FindElement: lambda at, do: view.find(at.tab, do),
        TakeScreenshot: taking.screenshot,
        ExecuteJavascript: taking.execute_javascript,
        Wait: waiting.wait,
        WaitForStable: waiting.wait_for_stable,
        Scroll: about.scroll,
    }
)
"""What a dialog that opens meanwhile takes the place of."""

_ACTING: Mapping[type, Callable[[Place, Any], Awaitable[Done]]] = MappingProxyType(
    {
        GoBack: about.go_back,
        Click: acting.click,
        Hover: acting.hover,
        PressKey: acting.press_key,
        TypeText: filling.type_text,
        SetValue: filling.set_value,
        SelectOption: filling.select_option,
        UploadFile: filling.upload_file,
    }
)
"""What tells of a dialog that it has called up."""


async def perform(means: Means, held: Held, asked: AskBrowser) -> Done:
    """Do what is asked in a session.

    Raises:
        FaultError: what it failed with.
        playwright.async_api.Error: the browser is gone.
    """
    do, deadline_s = asked.do, _deadline_s()
    await held.tidy()
    in_session = _IN_SESSION.get(type(do))
    if in_session is not None:
        return await in_session(means, held, do)
    if isinstance(do, CreateTab):
        tabs.check(do)
        before, number = held.record.active_tab, held.add()
        opening = tabs.Opening(means, held, number, before, deadline_s, asked.local)
        return await _in_turn(held, number, deadline_s, lambda: opening.opened(do))
    if isinstance(do, HandleDialog):
        number = held.number(do.tab_id) if held.tabs else 0
        return await _in_turn(
            held, number, deadline_s, lambda: asking.handle_dialog(means, held, number, do, deadline_s)
        )
    number = held.number(getattr(do, "tab_id", None))
    if isinstance(do, Navigate):
        return await _in_turn(held, number, deadline_s, lambda: about.navigate(means, held, number, do, deadline_s))
    return await _in_turn(held, number, deadline_s, lambda: _on_page(means, held, number, asked, deadline_s))


async def _on_page(means: Means, held: Held, number: int, asked: AskBrowser, deadline_s: float) -> Done:
    known = held.awake(number)
    if known is not None and known.stuck and known.dialogs.pending is None and not isinstance(asked.do, WaitForStable):
        await known.probe()
        if known.stuck:
            raise hung()
    at = await at_page(means, held, number, deadline_s, local=asked.local)
    kind = type(asked.do)
    if kind in _ACTING:
        return await _ACTING[kind](at, asked.do)
    done: Done | None = None
    with at.awake.dialogs.cutting():
        done = await _READING[kind](at, asked.do)
    if done is None:
        check(at.awake)
        await held.tidy()
        if not held.has(number):
            raise _closed(number)
        raise not_done("A dialog opened meanwhile, and was closed: ask again.")
    return structs.replace(done, tab_id=number)


async def _in_turn(held: Held, number: int, deadline_s: float, work: Callable[[], Awaitable[D]]) -> D:
    """Do something in a tab, after whatever else is done in it; a page that crashed is given up."""
    try:
        with anyio.fail_after(max(deadline_s - time.monotonic(), 0) + _GRACE_S):
            async with held.turn(number):
                if number and not held.has(number):
                    raise _closed(number)
                return await work()
    except TimeoutError as error:
        raise await _why_late(held, number) from error
    except FaultError as error:
        if error.fault.code is Code.PAGE_CRASHED:
            await held.tidy()
            if number and not held.has(number) and held.lives:
                raise _closed(number) from error
            await held.lay_down(number)
        if error.fault.code is Code.BROWSER_PAGE_HUNG and (awake := held.awake(number)) is not None:
            awake.stuck = True
            raise hung() from error
        raise


def _closed(number: int) -> FaultError:
    return invalid("tabId", f"tab {number} was closed meanwhile")


async def _why_late(held: Held, number: int) -> FaultError:
    awake = held.awake(number)
    if awake is not None and awake.dialogs.pending is not None:
        return dialog_waits(awake.dialogs.pending)
    if awake is not None:
        await awake.probe()
        if awake.stuck:
            return hung()
    return not_done("It did not come to an end in the time that there was.")


def _deadline_s() -> float:
    return time.monotonic() + answering.time_for_site(remaining_ms(), _RESERVE_MS) / 1000
