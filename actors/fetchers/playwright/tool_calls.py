"""Runs the tools of a browser that the gate has allowed: operations in a session, with outcomes in the form of 003."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

import anyio
import msgspec
from msgspec import structs

from actors.fetchers.playwright.operations import pointer
from actors.fetchers.playwright.session_router import SessionRouter
from actors.fetchers.playwright.view.facts import ANOTHER
from protocol.acting.tree import AskTree, PageTree
from protocol.browsers import operations as do
from protocol.browsers.results import Done, FieldDescribed, PageObserved, TreeRead
from protocol.browsers.sessions import AskBrowser
from protocol.documents import Content, Document, Origin, untrusted
from protocol.faults import Code, Fault, FaultError, fault
from protocol.policy import AskField, FieldFacts, RunTool, ToolErrorCode, ToolResult, ToolStatus

BROWSER: Final = "chromium"
"""What a document says that it was captured in (003 "Request schema")."""

MAX_REMEMBERED: Final = 256
"""Calls whose results a replica remembers, the newest: a call is repeated within seconds, or not at all."""

_FAILED: Final[Mapping[type, ToolErrorCode]] = MappingProxyType(
    {
        do.CreateTab: ToolErrorCode.OPEN_TAB_FAILED,
        do.Navigate: ToolErrorCode.NAVIGATION_FAILED,
        do.GoBack: ToolErrorCode.BACK_FAILED,
        do.GoForward: ToolErrorCode.FORWARD_FAILED,
        do.Refresh: ToolErrorCode.REFRESH_FAILED,
    }
)
"""The code of an operation that came to nothing for a reason of its own."""

_OBSTRUCTIONS: Final[Mapping[str, ToolErrorCode]] = MappingProxyType(
    {
        ANOTHER: ToolErrorCode.STALE_HANDLE,
        pointer.COVERED: ToolErrorCode.BLOCKED_BY_OVERLAY,
        pointer.DISABLED: ToolErrorCode.DISABLED,
        pointer.HIDDEN: ToolErrorCode.NOT_INTERACTABLE,
        pointer.MOVING: ToolErrorCode.NOT_INTERACTABLE,
        "The list has no such option": ToolErrorCode.NOT_FOUND,
        "The option is disabled": ToolErrorCode.DISABLED,
    }
)
"""What the message of a fault begins with, and its code."""

_CODES: Final[Mapping[Code, ToolErrorCode]] = MappingProxyType(
    {
        Code.ELEMENT_NOT_FOUND: ToolErrorCode.STALE_HANDLE,
        Code.SESSION_NOT_FOUND: ToolErrorCode.NO_ACTIVE_TAB,
        Code.VALIDATION_INVALID_REQUEST: ToolErrorCode.INVALID_ARGUMENTS,
        Code.EXECUTION_ERROR: ToolErrorCode.NOT_INTERACTABLE,
    }
)
_WITHOUT_TAB: Final = (do.CreateSession, do.CreateTab, do.ListTabs, do.Navigate)
_TREE_FIELDS: Final = tuple(name for name in AskTree.__struct_fields__ if name in do.ReadTree.__struct_fields__)
_INTERNAL: Final = frozenset({"document", "done"})


@dataclass(eq=False)
class ToolCalls:
    """Runs tools in the sessions of all replicas, each call once."""

    router: SessionRouter
    _results: OrderedDict[str, ToolResult] = field(default_factory=OrderedDict[str, ToolResult])
    _running: dict[str, anyio.Event] = field(default_factory=dict[str, anyio.Event])

    async def run(self, request: RunTool) -> ToolResult:
        """Run a tool of a browser; a call that comes again is answered as before, and does nothing.

        Raises:
            FaultError: VALIDATION_INVALID_REQUEST, when it is no tool of a browser.
        """
        if (event := self._running.get(request.id)) is not None:
            await event.wait()
        if (known := self._results.get(request.id)) is not None:
            return known
        event = self._running[request.id] = anyio.Event()
        try:
            result = await self._run(request)
            self._results[request.id] = result
            while len(self._results) > MAX_REMEMBERED:
                self._results.popitem(last=False)
            return result
        finally:
            event.set()
            del self._running[request.id]

    async def describe(self, request: AskField) -> FieldFacts:
        """Say what an element is, or that which has the focus.

        Raises:
            FaultError: ELEMENT_NOT_FOUND; SESSION_NOT_FOUND.
        """
        ask = do.DescribeField(
            session_id=request.session, tab_id=request.tab, element_id=request.element_id, at=request.at
        )
        answer = await self.router.perform(AskBrowser(do=ask, caller=request.caller))
        if not isinstance(answer.done, FieldDescribed):
            raise FaultError(fault(Code.INTERNAL_ERROR))
        return answer.done.facts

    async def read_tree(self, request: AskTree) -> PageTree:
        """Return what there is to act on in a page.

        Raises:
            FaultError: SESSION_NOT_FOUND; BROWSER_PAGE_HUNG.
        """
        options = {name: getattr(request, name) for name in _TREE_FIELDS}
        ask = do.ReadTree(session_id=request.session, tab_id=request.tab, **options)
        answer = await self.router.perform(AskBrowser(do=ask, caller=request.caller))
        if not isinstance(answer.done, TreeRead):
            raise FaultError(fault(Code.INTERNAL_ERROR))
        return answer.done.tree

    async def _run(self, request: RunTool) -> ToolResult:
        operation = _operation(request)
        if operation.session_id is None and not isinstance(operation, do.CreateSession):
            return _error(request, ToolErrorCode.NO_ACTIVE_TAB, fault(Code.SESSION_NOT_FOUND))
        ask = AskBrowser(
            do=operation,
            caller=request.caller,
            at_need=isinstance(operation, _WITHOUT_TAB),
            local=request.local,
            order=request.id,
            expects=request.expects,
            brisk=request.brisk,
            by_hand=request.by_hand,
        )
        try:
            if not isinstance(operation, _WITHOUT_TAB) and not await self._has_tab(request, operation):
                return _error(request, ToolErrorCode.NO_ACTIVE_TAB, fault(Code.SESSION_NOT_FOUND))
            answer = await self.router.perform(ask)
        except FaultError as error:
            return _error(request, _code_of(operation, error.fault), error.fault)
        return ToolResult(
            tool_call_id=request.id,
            status=ToolStatus.OK,
            payload=_payload(answer.done),
            documents=_documents(request, answer.done),
        )

    async def _has_tab(self, request: RunTool, operation: do.Operation) -> bool:
        """Whether the session has a tab with a page to do something on."""
        ask = AskBrowser(do=do.ListTabs(session_id=operation.session_id), caller=request.caller)
        tabs = (await self.router.perform(ask)).done
        return bool(getattr(tabs, "tabs", ()))


def _operation(request: RunTool) -> do.Operation:
    """Return the operation that a call is, in the session and tab that it names.

    Raises:
        FaultError: VALIDATION_INVALID_REQUEST, when it is none.
    """
    try:
        named: do.Operation = msgspec.convert({**request.arguments, "tool": request.name}, do.Operation)
    except msgspec.ValidationError:
        message = f"{request.name} is no tool of the browser, or its arguments are others."
        raise FaultError(fault(Code.VALIDATION_INVALID_REQUEST, message, field="arguments")) from None
    if named.session_id is None:
        named = structs.replace(named, session_id=request.session)
    if request.tab is None or "tab_id" not in named.__struct_fields__ or getattr(named, "tab_id", None) is not None:
        return named
    in_tab: do.Operation = structs.replace(named, tab_id=request.tab)
    return in_tab


def _code_of(operation: do.Operation, problem: Fault) -> ToolErrorCode:
    """Return the code of 003 for what an operation failed with."""
    obstruction = next((code for start, code in _OBSTRUCTIONS.items() if problem.message.startswith(start)), None)
    if obstruction is not None:
        return obstruction
    if problem.field == "tabId" and problem.code is Code.VALIDATION_INVALID_REQUEST:
        return ToolErrorCode.NO_TARGET_TAB
    if problem.code is Code.SESSION_NOT_FOUND:
        return ToolErrorCode.NO_ACTIVE_TAB
    if problem.field == "url":
        given = str(getattr(operation, "url", None) or "").strip()
        return ToolErrorCode.INVALID_URL if given else ToolErrorCode.MISSING_URL
    failed = _FAILED.get(type(operation))
    return failed or _CODES.get(problem.code, ToolErrorCode.RUNTIME_UNAVAILABLE)


def _error(request: RunTool, code: ToolErrorCode, problem: Fault) -> ToolResult:
    return ToolResult(tool_call_id=request.id, status=ToolStatus.ERROR, code=code, fault=problem)


def _payload(done: Done) -> dict[str, Any]:
    """Return what a tool answers: of an observation the observation."""
    answered = done.observation if isinstance(done, PageObserved) else done
    built: dict[str, Any] = msgspec.to_builtins(answered)
    return {name: value for name, value in built.items() if name not in _INTERNAL}


def _documents(request: RunTool, done: Done) -> tuple[Document[Content], ...]:
    if not isinstance(done, PageObserved):
        return ()
    tab = None if done.tab_id is None else str(done.tab_id)
    return (untrusted(f"doc:{request.id}", done.document, Origin(browser=BROWSER, tab_id=tab)),)
