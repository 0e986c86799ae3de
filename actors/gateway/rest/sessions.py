"""The endpoints of the saved logins."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from http import HTTPStatus
from typing import Annotated

from msgspec import Meta, Struct, field, structs
from starlette.responses import Response

from actors.gateway.access.caller import Scope
from actors.gateway.app_context import AppContext
from actors.gateway.errors import http_status
from actors.gateway.http import HttpStatusError, answer
from actors.gateway.request import RequestContext
from actors.gateway.rest.browse import SITE, DomainRequest
from actors.gateway.rest.routing import Endpoint, Tag
from actors.gateway.sessions import (
    ListRequest,
    SaveRequest,
    SessionAnswer,
    SessionsAnswer,
    ShareRequest,
    answer_of,
    ask,
    list_all,
    save,
    share,
)
from protocol import subjects
from protocol.faults import Code, FaultError, fault
from protocol.sessions import DEFAULT_PROFILE, NamedSession, Profile, SessionStatus, StorageState
from protocol.subject_kinds import Call


class LoginRequest(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """A login to be kept: `state` is a storage state as Playwright writes it, with something of the site in it.

    `address` is a page that only who is logged in gets to see.
    """

    domain: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=255,
            pattern=SITE,
            description="Host or address of the site, in letters of any kind.",
        ),
    ]
    state: StorageState
    profile: Profile = DEFAULT_PROFILE
    address: Annotated[str, Meta(max_length=8_192)] = ""


class SiteRequest(DomainRequest, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which login is meant."""

    profile: Annotated[Profile, Meta(description="Name of the saved login.")] = DEFAULT_PROFILE


class GrantRequest(SiteRequest, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """With whom a login is shared: a key by its name or id, or `owner`."""

    with_key: Annotated[
        str, Meta(min_length=1, max_length=200, pattern=r"^[!-~]+$(?!\n)", description="Name or id of a key.")
    ] = field(name="with")
    read_only: Annotated[bool, Meta(description="Nothing that pages change of the login is saved.")] = field(
        name="readOnly", default=False
    )


async def _save(app: AppContext, request: RequestContext, arguments: LoginRequest) -> Response:
    return answer(answer_of(await save(app, request, SaveRequest(**structs.asdict(arguments)))))


async def _list(app: AppContext, request: RequestContext, arguments: ListRequest) -> Response:
    return answer(await list_all(app, request, arguments.profile))


async def _health(app: AppContext, request: RequestContext, arguments: SiteRequest) -> Response:
    return answer(await ask(app, request, subjects.SESSION_HEALTH, arguments.domain, arguments.profile))


async def _delete(app: AppContext, request: RequestContext, arguments: SiteRequest) -> Response:
    return answer(await _there(app, request, subjects.SESSION_DELETE, arguments))


async def _refresh(app: AppContext, request: RequestContext, arguments: SiteRequest) -> Response:
    return answer(await _there(app, request, subjects.SESSION_REFRESH, arguments))


async def _share(app: AppContext, request: RequestContext, arguments: GrantRequest) -> Response:
    return answer(await _granted(app, request, arguments, remove=False))


async def _unshare(app: AppContext, request: RequestContext, arguments: GrantRequest) -> Response:
    return answer(await _granted(app, request, arguments, remove=True))


async def _granted(app: AppContext, request: RequestContext, arguments: GrantRequest, *, remove: bool) -> SessionAnswer:
    order = ShareRequest(**structs.asdict(arguments))
    with _missing_as_404():
        return await share(app, request, order, remove=remove)


async def _there(
    app: AppContext, request: RequestContext, call: Call[NamedSession, SessionStatus], arguments: SiteRequest
) -> SessionAnswer:
    with _missing_as_404():
        return await ask(app, request, call, arguments.domain, arguments.profile)


@contextmanager
def _missing_as_404() -> Generator[None]:
    """Answer 404 where the path names a login that there is not."""
    try:
        yield
    except FaultError as error:
        if error.fault.code is Code.AUTH_MISSING_SESSION:
            raise HttpStatusError(error.fault, HTTPStatus.NOT_FOUND) from None
        raise


_EXAMPLE = {
    "domain": "example.com",
    "profile": "work",
    "state": {"cookies": [{"name": "sid", "value": "...", "domain": ".example.com"}], "origins": []},
}
_INSIDE = frozenset({500, 503, 504})
_ONE = "/api/sessions/{domain}"
ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint(
        method="GET",
        path="/api/sessions",
        name="listSessions",
        summary="List the saved logins, and how each stands.",
        run=_list,
        answer=SessionsAnswer,
        params=ListRequest,
        scope=Scope.SESSIONS,
        tag=Tag.SESSIONS,
        errors=_INSIDE,
    ),
    Endpoint(
        method="POST",
        path="/api/sessions",
        name="saveSession",
        summary="Keep a login, from a storage state as Playwright writes it.",
        run=_save,
        answer=SessionAnswer,
        body=LoginRequest,
        example=_EXAMPLE,
        scope=Scope.SESSIONS,
        tag=Tag.SESSIONS,
        errors=_INSIDE | {507},
    ),
    Endpoint(
        method="GET",
        path=_ONE,
        name="getSession",
        summary="Tell how a saved login stands.",
        run=_health,
        answer=SessionAnswer,
        params=SiteRequest,
        scope=Scope.SESSIONS,
        tag=Tag.SESSIONS,
        errors=_INSIDE,
    ),
    Endpoint(
        method="DELETE",
        path=_ONE,
        name="deleteSession",
        summary="Forget a saved login.",
        run=_delete,
        answer=SessionAnswer,
        params=SiteRequest,
        scope=Scope.SESSIONS,
        tag=Tag.SESSIONS,
        errors=_INSIDE | {404},
    ),
    Endpoint(
        method="POST",
        path=f"{_ONE}/refresh",
        name="refreshSession",
        summary="Visit the site with a saved login, so that it is renewed, and tell how it stands then.",
        run=_refresh,
        answer=SessionAnswer,
        params=SiteRequest,
        scope=Scope.SESSIONS,
        tag=Tag.SESSIONS,
        errors=frozenset(http_status(fault(code)) for code in Code) | {404},
    ),
    Endpoint(
        method="POST",
        path=f"{_ONE}/share",
        name="shareSession",
        summary="Share a saved login of yours with another key, which may use it like its own, or only read with it.",
        run=_share,
        answer=SessionAnswer,
        params=GrantRequest,
        scope=Scope.SESSIONS,
        tag=Tag.SESSIONS,
        errors=_INSIDE | {404},
    ),
    Endpoint(
        method="DELETE",
        path=f"{_ONE}/share",
        name="unshareSession",
        summary="Share a saved login of yours with that key no longer.",
        run=_unshare,
        answer=SessionAnswer,
        params=GrantRequest,
        scope=Scope.SESSIONS,
        tag=Tag.SESSIONS,
        errors=_INSIDE | {404},
    ),
)
