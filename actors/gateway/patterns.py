"""Learned patterns at the edge: list, show, verify, forget, exchange and judge them, and call their APIs.

What was learned with a saved login is its owner's alone, and only with a key for logins: to all others there is no such
pattern.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec
from msgspec import UNSET, Struct, structs

from actors.gateway.access.caller import Scope
from actors.gateway.app_context import AppContext
from actors.gateway.request import RequestContext
from actors.gateway.tool_calls import ClientCall, decide, tool_request, waiting
from actors.logins import PAGE_MS, login_pass
from bus.clock import now_ms
from protocol import subjects
from protocol.faults import Code, FaultError, fault
from protocol.patterns.listing import (
    MAX_LISTED,
    ApiCalled,
    AskPattern,
    CallApi,
    ExportPatterns,
    ForgottenPattern,
    ImportedPatterns,
    ImportPatterns,
    JudgePattern,
    ListPatterns,
    PatternFile,
    PatternId,
    PatternInfo,
    PatternJudged,
    PatternList,
    PatternVerdict,
    PatternView,
    VerifyPattern,
)
from protocol.policy import ToolContext, Verb
from protocol.tools.patterns import AiFeedback, ApiValue, ExecuteApiCall
from protocol.tools.tool import Surface

CALL_TOOL: Final = "execute_api_call"
FEEDBACK_TOOL: Final = "ai_feedback"


class PatternsRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which patterns are listed."""

    domain: str | None = None
    cursor: str = ""
    limit: int = 50


async def list_patterns(app: AppContext, request: RequestContext, wanted: PatternsRequest) -> PatternList:
    """List patterns that the caller may know of, by domain."""
    order = ListPatterns(domain=wanted.domain, cursor=wanted.cursor, limit=wanted.limit, **_asker(request))
    return await app.bus.call(subjects.PATTERN_LIST, order, wait_ms=app.grace_ms)


async def of_domain(app: AppContext, request: RequestContext, domain: str) -> tuple[PatternInfo, ...]:
    """Return what was learned of a domain, as much of it as one answer has; nothing where nobody can say."""
    order = ListPatterns(domain=domain, limit=MAX_LISTED, **_asker(request))
    try:
        listed = await app.bus.call(subjects.PATTERN_LIST, order)
    except FaultError:
        return ()
    return listed.patterns


async def show(app: AppContext, request: RequestContext, name: str) -> PatternView:
    """Return one pattern.

    Raises:
        FaultError: VALIDATION_UNKNOWN_PATTERN, also for one of somebody else's login.
    """
    order = AskPattern(pattern_id=known_id(name), **_asker(request))
    return await app.bus.call(subjects.PATTERN_SHOW, order, wait_ms=app.grace_ms)


async def verify(app: AppContext, request: RequestContext, name: str, url: str | None) -> PatternVerdict:
    """Have a page rendered and made by its pattern, and return whether both say the same.

    Raises:
        FaultError: VALIDATION_UNKNOWN_PATTERN; why the page or its API was not to be had.
    """
    pattern = (await show(app, request, name)).pattern
    order = VerifyPattern(
        pattern_id=pattern.pattern_id, url=url, login=_login(app, request, pattern), **_asker(request)
    )
    return await app.bus.call(subjects.PATTERN_VERIFY, order, wait_ms=app.grace_ms)


async def forget(app: AppContext, request: RequestContext, name: str) -> ForgottenPattern:
    """Forget a pattern.

    Raises:
        FaultError: VALIDATION_UNKNOWN_PATTERN.
    """
    order = AskPattern(pattern_id=known_id(name), **_asker(request))
    return await app.bus.call(subjects.PATTERN_FORGET, order, wait_ms=app.grace_ms)


async def export(app: AppContext, domain: str | None) -> PatternFile:
    """Return what others may have of patterns."""
    return await app.bus.call(subjects.PATTERN_EXPORT, ExportPatterns(domain=domain), wait_ms=app.grace_ms)


async def import_file(app: AppContext, file: PatternFile) -> ImportedPatterns:
    """Keep the patterns of a file as hints."""
    return await app.bus.call(subjects.PATTERN_IMPORT, ImportPatterns(file=file), wait_ms=app.grace_ms)


async def feedback(app: AppContext, request: RequestContext, given: AiFeedback, surface: Surface) -> PatternJudged:
    """Take in what a caller says of a pattern.

    Raises:
        FaultError: VALIDATION_UNKNOWN_PATTERN; RATE_LIMIT_EXCEEDED; what the gate says against it.
    """
    await _permitted(app, request, _call(FEEDBACK_TOOL, given, surface))
    order = JudgePattern(
        pattern_id=given.pattern_id, helpful=given.helpful, correct_url=given.correct_url, **_asker(request)
    )
    return await app.bus.call(subjects.PATTERN_FEEDBACK, order, wait_ms=app.grace_ms)


async def call_api(app: AppContext, request: RequestContext, given: ExecuteApiCall, surface: Surface) -> ApiCalled:
    """Ask the API of a pattern, where the gate allows it for its host.

    Raises:
        FaultError: VALIDATION_UNKNOWN_PATTERN; what the gate says against it; why there is no answer.
    """
    pattern = (await show(app, request, given.pattern_id)).pattern
    await _permitted(app, request, _call(CALL_TOOL, given, surface), pattern.requests[0].url)
    order = CallApi(
        pattern_id=pattern.pattern_id,
        parameters={name: _parameter_text(value) for name, value in given.parameters.items()},
        login=_login(app, request, pattern),
        **_asker(request),
    )
    return await app.bus.call(subjects.API_CALL, order, wait_ms=app.grace_ms)


def known_id(name: str) -> str:
    """Return an id that may be one.

    Raises:
        FaultError: VALIDATION_UNKNOWN_PATTERN: what has another form is nobody's.
    """
    try:
        return msgspec.convert(name, PatternId)
    except msgspec.ValidationError:
        raise FaultError(fault(Code.VALIDATION_UNKNOWN_PATTERN, field="id")) from None


async def _permitted(app: AppContext, request: RequestContext, call: ClientCall, url: str = "") -> None:
    """Ask the gate about a call, and where it goes; what a person has to allow cannot wait here."""
    question = tool_request(app, request, call)
    question = structs.replace(question, context=ToolContext(origin=url.partition("{")[0]))
    decision = await decide(app, question)
    if decision.decision is Verb.ASK:
        raise FaultError(waiting(call.name, decision, None))


def _call(tool: str, given: Struct, surface: Surface) -> ClientCall:
    return ClientCall(name=tool, arguments=msgspec.to_builtins(given), surface=surface)


def _asker(request: RequestContext) -> dict[str, Any]:
    scopes = request.caller.scopes
    return {
        "caller": request.caller.name,
        "with_logins": Scope.SESSIONS in scopes,
        "with_single_pages": Scope.OPERATE in scopes,
    }


def _login(app: AppContext, request: RequestContext, pattern: PatternInfo) -> bytes:
    """Return the right to the login that a pattern was learned with."""
    if pattern.profile is UNSET:
        return b""
    until = now_ms() + PAGE_MS
    address = pattern.page if pattern.page is not UNSET else pattern.requests[0].url
    return login_pass(app.bus.seal, request.caller.name, pattern.profile, address.partition("{")[0], until)


def _parameter_text(value: ApiValue) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
