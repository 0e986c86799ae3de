"""Gathers what the rules go by: the element that a call acts on, where it leads, what is in its words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec
from anyio import to_thread
from msgspec import Struct

from actors.addresses import Network
from actors.fields.field_kinds import field_kind
from actors.policy.queries import sensitive_query
from actors.policy.rules import GateEvidence
from actors.policy.taint import is_permitted, tainted
from actors.policy.targets import CallTarget, host_of, targets_of
from actors.sites import site_of
from bus import Bus
from protocol.browsers.gestures import ClickAt, Drag
from protocol.browsers.operations import HandleDialog
from protocol.faults import Code, FaultError
from protocol.policy import AskField, FieldFacts, FieldKind, ToolRequest
from protocol.subjects import BROWSER_FIELD
from protocol.tools.app import InvokeIntegration, SearchWeb
from protocol.tools.browser import PLAYWRIGHT
from protocol.tools.tool import Risk, Tool

ON_FOCUS: Final = frozenset({"press_key", "type_keys", "handle_dialog"})
"""The tools that act on what has the focus."""

MANY_CHARS: Final = 4_000
"""From how much that was read on the loop is not to wait for it being looked through."""


class GateCall(Struct, frozen=True, kw_only=True):
    """A call that has been understood: `given` are its arguments in the form that all surfaces share."""

    tool: Tool[Any]
    request: ToolRequest
    given: Struct
    arguments: Mapping[str, Any]

    @classmethod
    def of(cls, tool: Tool[Any], request: ToolRequest, given: Struct) -> GateCall:
        """Take the arguments as they travel."""
        return cls(tool=tool, request=request, given=given, arguments=msgspec.to_builtins(given))

    @property
    def session(self) -> str | None:
        """The browser session that it works in, if it is known."""
        return getattr(self.given, "session_id", None) or self.request.context.session

    @property
    def tab(self) -> int | None:
        """The tab that it works in; None: the active one."""
        own: int | None = getattr(self.given, "tab_id", None)
        return own if own is not None else self.request.context.tab


class Gathered(Struct, frozen=True, kw_only=True):
    """What was found out about a call; `site` is that of the page which it acts on, or that it goes to."""

    evidence: GateEvidence
    site: str


async def element_of(bus: Bus, call: GateCall) -> FieldFacts | None:
    """Ask the browser for the element that a call acts on; None where it acts on none, or no session is known.

    Raises:
        FaultError: there is no such element, no such session, or no browser.
    """
    tool, element = call.tool, getattr(call.given, "element_id", None)
    if tool.actor != PLAYWRIGHT or tool.risk is not Risk.ACT:
        return None
    if call.session is None:
        return call.request.context.field
    point = _point(call.given) if element is None else None
    if element is None and point is None and tool.name not in ON_FOCUS:
        return None
    ask = AskField(caller=call.request.caller, session=call.session, tab=call.tab, element_id=element, at=point)
    return await bus.call(BROWSER_FIELD, ask)


async def page_of(bus: Bus, call: GateCall) -> str:
    """Ask the browser for the address of the page that a call acts on, where the caller does not say it; "" without.

    Raises:
        FaultError: there is a page, and nobody can say which.
    """
    if call.request.context.origin or call.tool.actor != PLAYWRIGHT or call.session is None:
        return call.request.context.origin
    if not hasattr(call.given, "tab_id"):
        return ""
    try:
        ask = AskField(caller=call.request.caller, session=call.session, tab=call.tab)
        return (await bus.call(BROWSER_FIELD, ask)).page_url
    except FaultError as error:
        if error.fault.code is Code.SESSION_NOT_FOUND:
            return ""  # where there is no page, none has to be kept from anybody
        raise


async def gather(call: GateCall, element: FieldFacts | None, page: str, networks: tuple[Network, ...]) -> Gathered:
    """Look through a call; in a thread where that is much."""
    if sum(_chars(one.content) for one in call.request.context.documents) < MANY_CHARS:
        return gather_now(call, element, page, networks)
    return await to_thread.run_sync(gather_now, call, element, page, networks)


def gather_now(call: GateCall, element: FieldFacts | None, page: str, networks: tuple[Network, ...]) -> Gathered:
    """Look through a call."""
    context = call.request.context
    kind, why = (FieldKind.ORDINARY, "") if element is None or _wordless(call.given) else field_kind(element)
    targets = targets_of(call.arguments, element, networks)
    evidence = GateEvidence(
        element=element,
        kind=kind,
        kind_why=why,
        query=_private_query(call.given),
        taints=tainted(call.given, context, call.tool, page),
        unwanted=call.request.proposed and not is_permitted(call.tool, context),
        hosts=frozenset(host for host in (host_of(page), *(one.host for one in targets)) if host),
        targets=targets,
    )
    return Gathered(evidence=evidence, site=_site(call, page, targets))


def _point(given: Struct) -> tuple[float, float] | None:
    """Return the point of the window that a call begins at, if it is about one."""
    match given:
        case ClickAt(x=x, y=y):
            return x, y
        case Drag(x=float() | int() as x, y=float() | int() as y):
            return x, y
        case _:
            return None


def _wordless(given: Struct) -> bool:
    """Return whether a dialog is answered without words: whatever it asks for, it does not get it."""
    return isinstance(given, HandleDialog) and given.text is None


def _private_query(given: Struct) -> str:
    return sensitive_query(given.query) or "" if isinstance(given, SearchWeb) else ""


def _site(call: GateCall, page: str, targets: tuple[CallTarget, ...]) -> str:
    """Return what an answer for a site is about: where a call goes; else the page; an integration is its own site.

    A call that leads from one site to another has none.
    """
    if isinstance(call.given, InvokeIntegration):
        return f"integration:{call.given.integration}"
    led = {_site_of(one.host) for one in targets}
    if isinstance(call.arguments.get("url"), str):
        return next(iter(led)) if len(led) == 1 else ""
    own = _site_of(host_of(page))
    return own if led <= {own} else ""


def _site_of(host: str) -> str:
    try:
        return site_of(host) if host else ""
    except FaultError:
        return ""


def _chars(content: Struct) -> int:
    return len(getattr(content, "markdown", ""))
