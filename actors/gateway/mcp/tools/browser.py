"""The tools that drive a browser: the 28 of 002, and what 003 has besides; what each takes, the registry says."""

from __future__ import annotations

import os
import re
import secrets
import stat
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from types import MappingProxyType
from typing import Any

import anyio
import msgspec
from anyio import to_thread
from mcp.types import ToolAnnotations
from msgspec import Struct

from actors.gateway import browsers
from actors.gateway.access.caller import Caller, Scope
from actors.gateway.app_context import AppContext
from actors.gateway.captures import captured_file
from actors.gateway.errors import ToolError, to_tool_error, tool_error_text
from actors.gateway.mcp.resources import capture_link
from actors.gateway.mcp.tool import BuiltinTool, ToolAnswer, ToolImage, ToolLink, by_name
from actors.gateway.mcp.tools.collections import outcome_answer
from actors.gateway.mcp.toolsets import Toolset
from actors.gateway.request import RequestContext
from actors.gateway.tool_calls import ClientCall, call_or_ask, decide, default_session, tool_request, waiting
from actors.gateway.translate import framed
from actors.logins import BROWSER_MS, login_pass
from bus.clock import now_ms
from bus.stores import FileStore
from protocol.actions import Action
from protocol.browsers import gestures, results
from protocol.browsers import operations as do
from protocol.browsers.sessions import AskBrowser
from protocol.faults import Code, Fault, FaultError, fault
from protocol.policy import Decision, ToolRequest, Verb
from protocol.subjects import BROWSER, CAPTURES
from protocol.tools import browser as registered
from protocol.tools.tool import Surface

MAX_IMAGE_BYTES = 1_000_000
"""A larger picture comes as a link: it would cost a model more than it shows."""

BOUNDARY_BYTES = 8

_WORDS_OF_PAGE = re.compile("“[^“”]*”")
"""What the fault of an operation has in such quotes, which no page can write into it."""
ORDER_BYTES = 12

MAX_FILE_BYTES = 10_000_000
"""The largest file that is uploaded."""

_LOOK = ToolAnnotations(read_only_hint=True)
_MOVE = ToolAnnotations(destructive_hint=False)
_ACT = ToolAnnotations(destructive_hint=True)


class _Row(Struct, frozen=True):
    title: str
    hints: ToolAnnotations
    answer: type[Struct] | None
    toolset: Toolset = Toolset.BROWSER


_ROWS: Mapping[type[Struct], _Row] = MappingProxyType(
    {
        do.CreateSession: _Row("Open a session", _MOVE, results.SessionCreated),
        do.CloseSession: _Row("Close a session", _ACT, results.SessionClosed),
        do.Navigate: _Row("Go to an address", _MOVE, results.Navigated),
        do.GetPageInfo: _Row("See elements", _LOOK, results.PageInfo),
        do.GetPageContent: _Row("Read the page", _LOOK, results.PageContent),
        do.FindElement: _Row("Find an element", _LOOK, results.Found),
        do.TakeScreenshot: _Row("Take a screenshot", _LOOK, results.ScreenshotTaken),
        do.ExecuteJavascript: _Row("Run a script", _ACT, results.Evaluated),
        do.Click: _Row("Click", _ACT, results.Acted),
        do.TypeText: _Row("Type text", _ACT, results.Acted),
        do.Hover: _Row("Hover", _MOVE, results.Acted),
        do.SelectOption: _Row("Choose", _ACT, results.Acted),
        do.SetValue: _Row("Set a value", _ACT, results.Acted),
        do.PressKey: _Row("Press a key", _ACT, results.Acted),
        do.Scroll: _Row("Scroll", _MOVE, results.Acted),
        do.GoBack: _Row("Go back", _MOVE, results.Navigated),
        do.Wait: _Row("Wait", _LOOK, results.Acted),
        do.WaitForStable: _Row("Wait for rest", _LOOK, results.Stable),
        do.CreateTab: _Row("Open a tab", _MOVE, results.TabCreated),
        do.ListTabs: _Row("List tabs", _LOOK, results.Tabs),
        do.SwitchTab: _Row("Switch tabs", _MOVE, results.Acted),
        do.CloseTab: _Row("Close a tab", _ACT, results.Acted),
        do.HandleDialog: _Row("Answer a dialog", _ACT, results.Acted),
        do.GetDialogInfo: _Row("See dialogs", _LOOK, results.Dialogs),
        do.GetNetworkLogs: _Row("See requests", _LOOK, results.NetworkLogs),
        do.GetConsoleLogs: _Row("See the console", _LOOK, results.ConsoleLogs),
        do.UploadFile: _Row("Upload a file", _ACT, results.Acted),
        do.GetDownloads: _Row("See downloads", _LOOK, results.Downloads),
        do.ObserveDom: _Row("Observe the page", _LOOK, None, Toolset.COLLECTIONS),
        do.GetSelectionLinks: _Row("See selected links", _LOOK, None, Toolset.COLLECTIONS),
        do.ScrollBy: _Row("Scroll by pixels", _MOVE, results.Acted, Toolset.COLLECTIONS),
        do.GoForward: _Row("Go forward", _MOVE, results.Navigated, Toolset.COLLECTIONS),
        do.Refresh: _Row("Load again", _MOVE, results.Navigated, Toolset.COLLECTIONS),
        do.ReadTree: _Row("Observe", _LOOK, results.TreeRead, Toolset.ACTING),
        gestures.DoubleClick: _Row("Click twice", _ACT, results.Acted, Toolset.ACTING),
        gestures.RightClick: _Row("Click right", _ACT, results.Acted, Toolset.ACTING),
        gestures.ClickAt: _Row("Click a point", _ACT, results.Acted, Toolset.ACTING),
        gestures.Drag: _Row("Drag", _ACT, results.Acted, Toolset.ACTING),
        gestures.ScrollElement: _Row("Scroll an element", _MOVE, results.Acted, Toolset.ACTING),
        gestures.SelectText: _Row("Select text", _MOVE, results.Acted, Toolset.ACTING),
        gestures.Focus: _Row("Focus", _MOVE, results.Acted, Toolset.ACTING),
        gestures.Blur: _Row("Take the focus away", _MOVE, results.Acted, Toolset.ACTING),
        gestures.SetChecked: _Row("Switch", _ACT, results.Acted, Toolset.ACTING),
        gestures.TypeKeys: _Row("Type keys", _ACT, results.Acted, Toolset.ACTING),
        gestures.FindText: _Row("Scroll to words", _MOVE, results.Acted, Toolset.ACTING),
        gestures.AwaitElement: _Row("Wait for an element", _LOOK, results.Acted, Toolset.ACTING),
        gestures.ReadRows: _Row("Read rows", _MOVE, results.RowsRead, Toolset.ACTING),
        gestures.ReadElement: _Row("Read an element", _LOOK, results.ElementRead, Toolset.ACTING),
    }
)


def tool_of(operation: type[Struct]) -> str:
    """Return the name of an operation's tool."""
    return str(operation.__struct_config__.tag)


_PLAIN = frozenset({"quality", "filePath", "timeout"})
"""Arguments whose names say all."""

_LOCAL = frozenset({do.ExecuteJavascript, do.UploadFile})
"""What is done for local callers alone."""


def _tool(operation: type[Any], row: _Row) -> BuiltinTool[Any]:
    async def run(app: AppContext, request: RequestContext, arguments: Struct) -> ToolAnswer:
        fields = msgspec.structs.asdict(arguments)
        at_need = fields["session_id"] is None and operation is not do.CreateSession
        if at_need:
            fields["session_id"] = default_session(app, request)
        if fields.get("profile") is not None:
            request.caller.require(Scope.SESSIONS)
        if operation in _LOCAL:
            _check_local(request.caller, tool_of(operation))
        wanted = operation(**fields)
        decision = await decide(app, _question(app, request, wanted))
        if decision.decision is Verb.ASK:
            return await _run_by_gate(app, request, wanted, decision)
        begun = _Begun(at_need=at_need, expects=decision.expects)
        if operation is do.UploadFile:
            async with uploaded(await app.bus.objects(CAPTURES), fields["file_path"]) as name:
                return await _perform(app, request, operation(**fields, stored=name), begun)
        return await _perform(app, request, wanted, begun)

    return BuiltinTool(
        title=row.title,
        tool=registered.BROWSER_TOOLS[tool_of(operation)],
        run=run,
        answer=row.answer,
        plain=_PLAIN,
        annotations=row.hints,
        toolset=row.toolset,
        render_error=_render_error,
    )


class _Begun(Struct, frozen=True):
    """How an operation is begun: `at_need` in a session that is opened for it, on the element decided about."""

    at_need: bool
    expects: str


def _question(app: AppContext, request: RequestContext, operation: do.Operation) -> ToolRequest:
    """Return what the gate is asked: about the field, not about the words that go into it, which stay here."""
    arguments = _given(do.with_words(operation, "") if do.words_of(operation) else operation)
    return tool_request(
        app, request, ClientCall(name=tool_of(type(operation)), arguments=arguments, surface=Surface.MCP)
    )


def _given(operation: do.Operation) -> dict[str, Any]:
    written: dict[str, Any] = msgspec.to_builtins(operation)
    del written["tool"]
    return written


async def _run_by_gate(
    app: AppContext, request: RequestContext, operation: do.Operation, decision: Decision
) -> ToolAnswer:
    """Have the gate itself run what a person has to allow; what needs this gateway for it cannot wait."""
    name = tool_of(type(operation))
    if isinstance(operation, do.UploadFile) or getattr(operation, "profile", None) is not None:
        raise FaultError(waiting(name, decision, None))
    call = ClientCall(name=name, arguments=_given(operation), surface=Surface.MCP)
    return outcome_answer(await call_or_ask(app, request, call))


async def _perform(app: AppContext, request: RequestContext, operation: do.Operation, begun: _Begun) -> ToolAnswer:
    who = request.caller
    order = secrets.token_urlsafe(ORDER_BYTES)
    operation, typed = _sealed(app, operation)
    question = AskBrowser(
        do=operation,
        caller=who.name,
        at_need=begun.at_need,
        expects=begun.expects,
        local=who.local,
        order=order,
        typed=typed,
        login=_login(app, who, operation),
    )
    result = (await app.bus.call(BROWSER, question, wait_ms=app.grace_ms)).done
    images, links = await _captured(app, result)
    text = browsers.text_of(result, secrets.token_hex(BOUNDARY_BYTES))
    return ToolAnswer(text, result, images, links, browsers.next_actions(result))


def _login(app: AppContext, caller: Caller, operation: do.Operation) -> bytes:
    """Return the right to the login that a session begins with, if it does."""
    if not isinstance(operation, do.CreateSession) or operation.profile is None or not operation.url:
        return b""
    return login_pass(app.bus.seal, caller.name, operation.profile, operation.url, now_ms() + BROWSER_MS)


def _sealed(app: AppContext, operation: do.Operation) -> tuple[do.Operation, bytes]:
    """Take out the words that go into a field, and encrypt them before they leave this process."""
    words, session_id = do.words_of(operation), operation.session_id
    if not words or session_id is None:
        return operation, b""
    if app.bus.seal is None:
        raise FaultError(fault(Code.CONFIG_INVALID, "This gateway has no key to seal what is typed with."))
    return do.with_words(operation, ""), app.bus.seal.seal(words.encode(), do.typed_in(session_id))


async def _captured(app: AppContext, result: results.Done) -> tuple[tuple[ToolImage, ...], tuple[ToolLink, ...]]:
    """Return a picture that is small enough as it is, and links to everything else."""
    links = tuple(capture_link(one) for one in browsers.captures(result))
    if not isinstance(result, results.ScreenshotTaken) or result.image.size > MAX_IMAGE_BYTES:
        return (), links
    try:
        data = await captured_file(app, result.image.name)
    except FaultError:
        return (), links
    return (ToolImage(result.image.media_type, data),), ()


def _check_local(caller: Caller, tool: str) -> None:
    if caller.local:
        return
    message = f"{tool} is for local clients only, which speak over stdio (`weft mcp`)."
    way_out = Action(
        action="use_other_tools", description="Use the other tools, or have the user start `weft mcp` on their machine."
    )
    raise FaultError(fault(Code.VALIDATION_INVALID_REQUEST, message, actions=(way_out,)))


def _render_error(error: Fault, tool: str, arguments: Mapping[str, Any]) -> tuple[str, ToolError]:
    tool_error = to_tool_error(error, tool, arguments)
    text = tool_error_text(tool_error)
    words = _WORDS_OF_PAGE.findall(text)
    if not words:
        return text, tool_error
    place = count(1)
    text = _WORDS_OF_PAGE.sub(lambda _: f"[{next(place)}]", text)
    listed = "\n".join(f"[{number}] {each}" for number, each in enumerate(words, 1))
    return f"{text}\n{framed(listed, secrets.token_hex(BOUNDARY_BYTES))}", tool_error


_ALL = tuple(_tool(operation, row) for operation, row in _ROWS.items())
BROWSER_TOOLS: Mapping[str, BuiltinTool[Any]] = by_name(*(one for one in _ALL if one.toolset is Toolset.BROWSER))
"""The tools of 002, by name."""

FURTHER_TOOLS: Mapping[str, BuiltinTool[Any]] = by_name(*(one for one in _ALL if one.toolset is not Toolset.BROWSER))
"""What 003 and 001 have besides, by name."""


# -- upload_file -------------------------------------------------------------------------------------------------------


@asynccontextmanager
async def uploaded(store: FileStore, path: str) -> AsyncGenerator[str]:
    """Keep a file of the user's own machine in the store while the block lasts; yields its name there.

    Raises:
        FaultError: VALIDATION_INVALID_REQUEST: it is no file that may be uploaded.
    """
    data = await to_thread.run_sync(read_file, path)
    name = f"upload-{secrets.token_hex(_UPLOAD_NAME_BYTES)}"
    await store.put(name, data)
    try:
        yield name
    finally:
        with anyio.move_on_after(_DELETE_S, shield=True):
            await store.delete(name)


def read_file(path: str) -> bytes:
    """Read a regular file by its full path, without a symlink on the way and without anything hidden.

    What is hidden holds keys and passwords more often than what a site should get.

    Raises:
        FaultError: VALIDATION_INVALID_REQUEST: it is none, or larger than MAX_FILE_BYTES.
    """
    file_path = Path(path)
    if not file_path.is_absolute() or ".." in file_path.parts:
        raise _refused("it takes the full path of a file")
    if any(part.startswith(".") for part in file_path.parts):
        raise _refused("hidden files and folders are not uploaded")
    if any(one.is_symlink() for one in (file_path, *file_path.parents)):
        raise _refused("there is a symlink in the path")
    try:
        descriptor = os.open(file_path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except (OSError, ValueError):
        raise _refused("there is no such file, or it may not be read") from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise _refused("that is no regular file")
    with open(descriptor, "rb") as file:  # noqa: PTH123 - of a descriptor, which Path.open does not take
        data = file.read(MAX_FILE_BYTES + 1)
    if len(data) > MAX_FILE_BYTES:
        raise _refused(f"the file is larger than {MAX_FILE_BYTES:,} bytes")
    return data


def _refused(why: str) -> FaultError:
    return FaultError(fault(Code.VALIDATION_INVALID_REQUEST, f"{_FIELD}: {why}", field=_FIELD))


_UPLOAD_NAME_BYTES = 16
_DELETE_S = 2.0
_FIELD = "filePath"
