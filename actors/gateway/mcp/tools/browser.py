"""The 28 tools that drive a browser (002): one table, from whose rows and the operations' Structs they are made."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import msgspec
from mcp.types import ToolAnnotations
from msgspec import NODEFAULT, Struct

from actors.gateway import browsers
from actors.gateway.access.caller import Caller, Scope
from actors.gateway.app_context import AppContext
from actors.gateway.errors import ToolError, to_tool_error, tool_error_text
from actors.gateway.mcp.resources import capture_link
from actors.gateway.mcp.tool import Answer, Image, ToolEntry
from actors.gateway.mcp.tools.uploads import stored
from actors.gateway.mcp.toolsets import Toolset
from actors.gateway.request import RequestContext
from protocol.browsers import operations as do
from protocol.browsers import results as came
from protocol.browsers.sessions import AskBrowser
from protocol.faults import Action, Code, Fault, FaultError, fault
from protocol.subjects import BROWSER, CAPTURES

MAX_IMAGE_BYTES = 1_000_000
"""A larger picture comes as a link: it would cost a model more than it shows."""

BOUNDARY_BYTES = 8
ORDER_BYTES = 12

_LOOK = ToolAnnotations(read_only_hint=True)
_OWN = ToolAnnotations(read_only_hint=True, open_world_hint=False)
_MOVE = ToolAnnotations(destructive_hint=False)
_AGAIN = ToolAnnotations(destructive_hint=True, idempotent_hint=True)
_ACT = ToolAnnotations(destructive_hint=True)

_ELEMENT = " `element_id`: as get_page_info or find_element told."


@dataclass(frozen=True)
class _Row:
    title: str
    description: str
    hints: ToolAnnotations
    answer: type[Struct]


_ROWS: Mapping[type[Struct], _Row] = MappingProxyType(
    {
        do.CreateSession: _Row(
            "Open a browser session",
            "Open a browser session of your own; without one, all tools work in your default session.",
            _MOVE,
            came.SessionCreated,
        ),
        do.CloseSession: _Row("Close a browser session", "End a browser session.", _AGAIN, came.SessionClosed),
        do.Navigate: _Row("Go to an address", "Go to an address in the browser.", _MOVE, came.Navigated),
        do.GetPageInfo: _Row(
            "See what to act on",
            "List what can be acted on in the page, with ids that last, and what the page is for.",
            _LOOK,
            came.PageInfo,
        ),
        do.GetPageContent: _Row("Read the page", "Read the words of the page as it stands.", _LOOK, came.PageContent),
        do.FindElement: _Row(
            "Find an element", "Find elements by words of their label or kind, or by css=SELECTOR.", _LOOK, came.Found
        ),
        do.TakeScreenshot: _Row("Take a screenshot", "Take a picture of the page.", _LOOK, came.ScreenshotTaken),
        do.ExecuteJavascript: _Row(
            "Run a script", "Evaluate JavaScript in the page; for local clients only.", _ACT, came.Evaluated
        ),
        do.Click: _Row("Click", "Click an element." + _ELEMENT, _ACT, came.Acted),
        do.TypeText: _Row(
            "Type text", "Type into a field, in place of what it holds; `submit` presses Enter.", _ACT, came.Acted
        ),
        do.Hover: _Row("Hover", "Move the pointer over an element.", _MOVE, came.Acted),
        do.SelectOption: _Row("Choose an option", "Choose from a list by value or text.", _AGAIN, came.Acted),
        do.SetValue: _Row("Set a value", "Set what a field or editor holds at once.", _AGAIN, came.Acted),
        do.PressKey: _Row("Press a key", "Press a key, such as Enter or ArrowDown.", _ACT, came.Acted),
        do.Scroll: _Row("Scroll", "Scroll by most of a window.", _MOVE, came.Acted),
        do.GoBack: _Row("Go back", "Go back to the page before.", _MOVE, came.Navigated),
        do.Wait: _Row("Wait", "Wait for a time or a condition.", _LOOK, came.Acted),
        do.WaitForStable: _Row("Wait for rest", "Wait until nothing moves in the page.", _LOOK, came.Stable),
        do.CreateTab: _Row("Open a tab", "Open a tab, which becomes active.", _MOVE, came.TabCreated),
        do.ListTabs: _Row("List tabs", "List the tabs of the session.", _OWN, came.Tabs),
        do.SwitchTab: _Row("Switch tabs", "Make a tab the active one.", _MOVE, came.Acted),
        do.CloseTab: _Row("Close a tab", "Close a tab.", _AGAIN, came.Acted),
        do.HandleDialog: _Row("Answer a dialog", "Accept or dismiss the dialog that waits.", _ACT, came.Acted),
        do.GetDialogInfo: _Row("See dialogs", "Tell the dialog that waits, and past ones.", _OWN, came.Dialogs),
        do.GetNetworkLogs: _Row("See requests", "List the requests that the page made.", _OWN, came.NetworkLogs),
        do.GetConsoleLogs: _Row("See the console", "List what the page wrote to its console.", _OWN, came.ConsoleLogs),
        do.UploadFile: _Row(
            "Upload a file", "Put a local file into a file field; for local clients only.", _ACT, came.Acted
        ),
        do.GetDownloads: _Row("See downloads", "List the files that were downloaded.", _OWN, came.Downloads),
    }
)


def tool_of(operation: type[Struct]) -> str:
    """Name the tool of an operation."""
    return str(operation.__struct_config__.tag)


def arguments_of(operation: type[Struct]) -> type[Struct]:
    """Make the Struct of a tool's arguments: the operation's, without its tag and without what the gateway fills in."""
    told = [field for field in msgspec.structs.fields(operation) if field.name not in _FILLED_IN]
    fields = [
        (field.name, field.type) if field.default is NODEFAULT else (field.name, field.type, field.default)
        for field in told
    ]
    return msgspec.defstruct(
        f"{operation.__name__}Arguments",
        fields,
        rename={field.name: field.encode_name for field in told},
        frozen=True,
        kw_only=True,
        forbid_unknown_fields=True,
    )


_FILLED_IN = frozenset({"stored", "sealed", "fresh"})
"""What no client says: the gateway does, or another actor."""


def default_session(app: AppContext, request: RequestContext) -> str:
    """Name the session of whoever asks, who names none: in every replica the same, and for nobody else to guess."""
    who = request.caller
    words = "\n".join(("browser session", who.name, "local" if who.local else "remote", request.client_id))
    digest = hmac.digest(app.naming, words.encode(), hashlib.sha256)
    return do.SESSION_PREFIX + base64.urlsafe_b64encode(digest).decode().rstrip("=")


def _entry(operation: type[Any], row: _Row) -> ToolEntry[Any]:
    async def run(app: AppContext, request: RequestContext, arguments: Struct) -> Answer:
        given = msgspec.structs.asdict(arguments)
        at_need = given["session_id"] is None and operation is not do.CreateSession
        if at_need:
            given["session_id"] = default_session(app, request)
        if given.get("profile") is not None:
            request.caller.require(Scope.SESSIONS)
        if operation in _LOCAL:
            _check_local(request.caller, tool_of(operation))
        if operation is do.UploadFile:
            async with stored(await app.bus.objects(CAPTURES), given["file_path"]) as name:
                return await _ask(app, request, operation(**given, stored=name), at_need=at_need)
        return await _ask(app, request, operation(**given), at_need=at_need)

    return ToolEntry(
        title=row.title,
        description=row.description,
        arguments=arguments_of(operation),
        run=run,
        answer=row.answer,
        by_type=None,
        annotations=row.hints,
        toolset=Toolset.BROWSER,
        scope=Scope.BROWSER,
        fail=_failed,
    )


_LOCAL = frozenset({do.ExecuteJavascript, do.UploadFile})
"""What is done for local callers alone."""


async def _ask(app: AppContext, request: RequestContext, operation: do.Operation, *, at_need: bool) -> Answer:
    who = request.caller
    order = secrets.token_urlsafe(ORDER_BYTES)
    question = AskBrowser(do=operation, caller=who.name, at_need=at_need, local=who.local, order=order)
    told = (await app.bus.call(BROWSER, question, wait_ms=app.grace_ms)).done
    images, links = await _captured(app, told)
    text = browsers.text_of(told, secrets.token_hex(BOUNDARY_BYTES))
    return Answer(text, told, images, links, browsers.next_actions(told))


async def _captured(app: AppContext, told: came.Done) -> tuple[tuple[Image, ...], tuple[Any, ...]]:
    """Show a picture that is small enough, and link to everything else."""
    links = tuple(capture_link(one) for one in browsers.captures(told))
    if not isinstance(told, came.ScreenshotTaken) or told.image.size > MAX_IMAGE_BYTES:
        return (), links
    try:
        data = await (await app.bus.objects(CAPTURES)).get(told.image.name)
    except KeyError:
        return (), links
    return (Image(told.image.media_type, data),), ()


def _check_local(caller: Caller, tool: str) -> None:
    if caller.local:
        return
    message = f"{tool} is for local clients only, which speak over stdio (`weft mcp`)."
    way_out = Action(
        action="use_other_tools", description="Use the other tools, or have the user start `weft mcp` on their machine."
    )
    raise FaultError(fault(Code.VALIDATION_INVALID_REQUEST, message, actions=(way_out,)))


def _failed(told: Fault, tool: str, arguments: Mapping[str, Any]) -> tuple[str, ToolError]:
    error = to_tool_error(told, tool, arguments)
    return tool_error_text(error), error


BROWSER_TOOLS: Mapping[str, ToolEntry[Any]] = MappingProxyType(
    {tool_of(operation): _entry(operation, row) for operation, row in _ROWS.items()}
)
"""The tools, by name."""
