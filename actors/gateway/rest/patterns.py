"""The endpoints of learned patterns: list, show, verify, forget, exchange and judge them, and call their APIs."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct
from starlette.responses import Response

from actors.gateway import patterns
from actors.gateway.access.caller import Scope
from actors.gateway.app_context import AppContext
from actors.gateway.http import answer
from actors.gateway.patterns import PatternsRequest
from actors.gateway.request import RequestContext
from actors.gateway.rest.browse import HOST, PAGE_ERRORS
from actors.gateway.rest.routing import Addressed, Endpoint, Tag
from actors.gateway.rest.through_gate import naming
from protocol.pages import Url
from protocol.patterns.listing import (
    MAX_LISTED,
    MAX_PARAMETERS,
    ApiCalled,
    ForgottenPattern,
    ImportedPatterns,
    PatternFile,
    PatternJudged,
    PatternList,
    PatternVerdict,
    PatternView,
    Template,
)
from protocol.tools.patterns import AiFeedback, ApiValue, ExecuteApiCall
from protocol.tools.tool import Surface

HostName = Annotated[str, Meta(min_length=1, max_length=253, pattern=HOST, description="Host, with its port.")]


class PatternListRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which patterns are listed; `cursor` is the `nextCursor` of another answer."""

    domain: HostName | None = None
    cursor: Annotated[str, Meta(max_length=400)] = ""
    limit: Annotated[int, Meta(ge=1, le=MAX_LISTED)] = 50


class ExportRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Of which domain patterns are exported; of all without one."""

    domain: HostName | None = None


class PatternPath(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which pattern is meant."""

    id: Annotated[str, Meta(min_length=1, max_length=64, description="Id of the pattern.")]


class VerifyRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The page that is rendered; may be left out for a pattern of one page."""

    url: Url | None = None


class CallRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the API is asked with: values by the names of the pattern's parameters."""

    parameters: Annotated[dict[str, ApiValue], Meta(max_length=MAX_PARAMETERS)] = {}


class FeedbackRequest(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """Whether the pattern was right, and the address that would be."""

    helpful: bool
    correct_url: Template | None = None


async def _list(app: AppContext, request: RequestContext, arguments: PatternListRequest) -> Response:
    wanted = PatternsRequest(domain=arguments.domain, cursor=arguments.cursor, limit=arguments.limit)
    return answer(await patterns.list_patterns(app, request, wanted))


async def _show(app: AppContext, request: RequestContext, arguments: PatternPath) -> Response:
    return answer(await patterns.show(app, request, arguments.id))


async def _verify(
    app: AppContext, request: RequestContext, arguments: Addressed[PatternPath, VerifyRequest]
) -> Response:
    return answer(await patterns.verify(app, request, arguments.params.id, arguments.body.url))


async def _forget(app: AppContext, request: RequestContext, arguments: PatternPath) -> Response:
    return answer(await patterns.forget(app, request, arguments.id))


async def _export(app: AppContext, _request: RequestContext, arguments: ExportRequest) -> Response:
    return answer(await patterns.export(app, arguments.domain))


async def _import(app: AppContext, _request: RequestContext, arguments: PatternFile) -> Response:
    return answer(await patterns.import_file(app, arguments))


async def _call(app: AppContext, request: RequestContext, arguments: Addressed[PatternPath, CallRequest]) -> Response:
    name = patterns.known_id(arguments.params.id)
    given = ExecuteApiCall(pattern_id=name, parameters=arguments.body.parameters)
    return answer(await patterns.call_api(app, request, given, Surface.REST))


async def _feedback(
    app: AppContext, request: RequestContext, arguments: Addressed[PatternPath, FeedbackRequest]
) -> Response:
    name = patterns.known_id(arguments.params.id)
    given = AiFeedback(pattern_id=name, helpful=arguments.body.helpful, correct_url=arguments.body.correct_url)
    return answer(await patterns.feedback(app, request, given, Surface.REST))


_INSIDE = frozenset({500, 503, 504})
_KNOWN = _INSIDE | {404}
_GATE = frozenset({403, 404})
_NAMES = {"patternId": "id"}
_ID = {"id": "pat_0123456789abcdef0123"}
_OF: dict[str, Any] = {"tag": Tag.DOMAINS, "params": PatternPath}

ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint(
        method="GET",
        path="/api/patterns",
        name="listPatterns",
        summary="List what was learned of the APIs behind pages, by domain.",
        about="With how far each is trusted, when it was last verified and its last decays. What was learned with a "
        "saved login is listed for its owner alone, and only for keys with the scope `sessions`.",
        run=_list,
        params=PatternListRequest,
        answer=PatternList,
        errors=_INSIDE,
        tag=Tag.DOMAINS,
        example={"domain": "example.com", "limit": 20},
    ),
    Endpoint(
        method="GET",
        path="/api/patterns/export",
        name="exportPatterns",
        summary="Return patterns in a file that another Weft can import; none was learned with a login.",
        run=_export,
        params=ExportRequest,
        answer=PatternFile,
        errors=_INSIDE,
        tag=Tag.DOMAINS,
        scope=Scope.OPERATE,
        example={"domain": "example.com"},
    ),
    Endpoint(
        method="POST",
        path="/api/patterns/import",
        name="importPatterns",
        summary="Keep the patterns of a file as hints: none is trusted before pages were reproduced with it.",
        run=_import,
        body=PatternFile,
        answer=ImportedPatterns,
        errors=_INSIDE,
        tag=Tag.DOMAINS,
        scope=Scope.OPERATE,
        example={
            "format": "weft-patterns",
            "version": 1,
            "patterns": [{"url": "https://example.com/api/posts/{id}", "page": "https://example.com/posts/{id}"}],
        },
    ),
    Endpoint(
        method="GET",
        path="/api/patterns/{id}",
        name="getPattern",
        summary="Return one pattern, with the JSON Schemas of what its requests are answered.",
        run=naming(_show, _NAMES),
        answer=PatternView,
        errors=_KNOWN,
        example=_ID,
        **_OF,
    ),
    Endpoint(
        method="DELETE",
        path="/api/patterns/{id}",
        name="forgetPattern",
        summary="Forget a pattern; it may be learned again.",
        run=naming(_forget, _NAMES),
        answer=ForgottenPattern,
        errors=_KNOWN,
        scope=Scope.OPERATE,
        example=_ID,
        **_OF,
    ),
    Endpoint(
        method="POST",
        path="/api/patterns/{id}/verify",
        name="verifyPattern",
        summary="Render a page, have the pattern make it, and tell whether both say the same.",
        about="Of a hint, which makes no page, its API alone is asked.",
        run=naming(_verify, _NAMES),
        body=VerifyRequest,
        optional=True,
        answer=PatternVerdict,
        errors=PAGE_ERRORS | _KNOWN,
        where=_ID,
        example={"url": "https://example.com/posts/1"},
        **_OF,
    ),
    Endpoint(
        method="POST",
        path="/api/patterns/{id}/call",
        name="callPattern",
        summary="Ask the API of a pattern; it reads only.",
        about="This is the tool `execute_api_call`, which the policy decides about. What the API answers is untrusted.",
        run=naming(_call, _NAMES),
        body=CallRequest,
        optional=True,
        answer=ApiCalled,
        errors=PAGE_ERRORS | _KNOWN | _GATE,
        where=_ID,
        example={"parameters": {"id": "1"}},
        **_OF,
    ),
    Endpoint(
        method="POST",
        path="/api/patterns/{id}/feedback",
        name="judgePattern",
        summary="Say whether a pattern was right: its score shifts by 5 % at most.",
        about="This is the tool `ai_feedback`. A caller may say so ten times a minute. The address that is right, "
        "where it is told, becomes a hint.",
        run=naming(_feedback, _NAMES),
        body=FeedbackRequest,
        answer=PatternJudged,
        errors=_KNOWN | _GATE,
        where=_ID,
        example={"helpful": True},
        **_OF,
    ),
)
