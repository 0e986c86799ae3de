"""Saved logins at the edge: keep, list, renew and forget them, in requests and answers of the clients."""

from __future__ import annotations

from datetime import UTC, datetime
from http import HTTPStatus
from typing import Annotated

import msgspec
from msgspec import Meta, Struct, structs

from actors.gateway.access.keys import named_key
from actors.gateway.app_context import AppContext
from actors.gateway.http import HttpStatusError
from actors.gateway.request import RequestContext
from protocol import subjects
from protocol.access import caller_key, is_callers_name, is_key_caller, key_caller
from protocol.browse import SCHEMA_VERSION, stated_version
from protocol.codec import encode
from protocol.faults import Code, FaultError, fault
from protocol.sessions import (
    DEFAULT_PROFILE,
    Domain,
    ListSessions,
    NamedSession,
    Profile,
    SaveSession,
    SessionHealth,
    SessionStatus,
    ShareSession,
    StorageState,
    from_storage_state,
    sealed_for,
)
from protocol.subject_kinds import Call
from protocol.tools.web import SessionRequest

_DOMAIN = Meta(description="Host or address of the site.")
_PROFILE = Meta(description="Name of the saved login.")


class SessionAnswer(SessionStatus, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """How one saved login stands."""

    schema_version: str = stated_version()


class SessionsAnswer(Struct, frozen=True, kw_only=True, rename="camel"):
    """How the saved logins stand; `more` are those that were left out."""

    sessions: tuple[SessionStatus, ...]
    more: int = 0
    schema_version: str = SCHEMA_VERSION


class SaveRequest(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """A login to be kept: `state` is a storage state as Playwright writes it.

    `address` is a page that only who is logged in gets to see.
    """

    domain: Domain
    state: StorageState
    profile: Profile = DEFAULT_PROFILE
    address: Annotated[str, Meta(max_length=8_192)] = ""


class ListRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which logins to list: those of one profile, or all."""

    profile: Profile | None = None


class ShareRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which login is shared with which key (its name, or its id), and whether nothing may be changed of it then."""

    domain: Annotated[Domain, _DOMAIN]
    with_key: Annotated[str, Meta(min_length=1, max_length=200)] = msgspec.field(name="with")
    profile: Annotated[Profile, _PROFILE] = DEFAULT_PROFILE
    read_only: bool = msgspec.field(name="readOnly", default=False)


async def save(app: AppContext, request: RequestContext, arguments: SaveRequest) -> SessionStatus:
    """Keep a login of the caller; it is sealed before it leaves this process."""
    seal = app.bus.seal
    if seal is None:
        raise FaultError(fault(Code.CONFIG_INVALID, "This gateway has no key to seal a login with."))
    sealed = seal.seal(encode(from_storage_state(arguments.state)), sealed_for(arguments.profile, arguments.domain))
    order = SaveSession(
        domain=arguments.domain,
        profile=arguments.profile,
        address=arguments.address,
        sealed=sealed,
        caller=request.caller.name,
    )
    return await app.bus.call(subjects.SESSION_SAVE, order, wait_ms=app.grace_ms)


async def list_all(app: AppContext, request: RequestContext, profile: str | None) -> SessionsAnswer:
    """List the logins that the caller owns, and those that are shared with them."""
    order = ListSessions(profile=profile, caller=request.caller.name)
    logins = await app.bus.call(subjects.SESSION_LIST, order, wait_ms=app.grace_ms)
    return SessionsAnswer(sessions=logins.sessions, more=logins.more)


async def ask(
    app: AppContext,
    request: RequestContext,
    call: Call[NamedSession, SessionStatus],
    domain: str,
    profile: str = DEFAULT_PROFILE,
) -> SessionAnswer:
    """Ask for something that is done to one login of the caller."""
    named = NamedSession(domain=domain, profile=profile, caller=request.caller.name)
    return answer_of(await app.bus.call(call, named, wait_ms=app.grace_ms))


async def share(app: AppContext, request: RequestContext, arguments: ShareRequest, *, remove: bool) -> SessionAnswer:
    """Share a login of the caller with another key, or no longer.

    Raises:
        FaultError: AUTH_MISSING_SESSION, or VALIDATION_INVALID_REQUEST (404) where there is no such key.
    """
    order = ShareSession(
        domain=arguments.domain,
        profile=arguments.profile,
        caller=request.caller.name,
        key=_named_caller(app, arguments.with_key, remove=remove),
        read_only=arguments.read_only,
        remove=remove,
    )
    return answer_of(await app.bus.call(subjects.SESSION_SHARE, order, wait_ms=app.grace_ms))


def _named_caller(app: AppContext, name: str, *, remove: bool) -> str:
    """Return the caller that a key stands for, by its id or name; a caller's own name is taken as it is."""
    if is_callers_name(name) and not is_key_caller(name):
        return name
    if (record := named_key(app.keys, caller_key(name) or name)) is not None:
        return key_caller(record.id)
    if remove and is_key_caller(name):
        return name  # one that was revoked
    message = "with: there is no such key; `weft keys list` has their names"
    raise HttpStatusError(fault(Code.VALIDATION_INVALID_REQUEST, message, field="with"), HTTPStatus.NOT_FOUND)


async def manage(app: AppContext, request: RequestContext, arguments: SessionRequest) -> SessionsAnswer:
    """Do what a client of the tools asks for."""
    if arguments.operation == "list":
        return await list_all(app, request, arguments.profile)
    if arguments.domain is None:
        message = f"domain: {arguments.operation} needs one"
        raise FaultError(fault(Code.VALIDATION_INVALID_REQUEST, message, field="domain"))
    call = subjects.SESSION_HEALTH if arguments.operation == "health" else subjects.SESSION_DELETE
    profile = arguments.profile or DEFAULT_PROFILE
    return SessionsAnswer(sessions=(await ask(app, request, call, arguments.domain, profile),))


def answer_of(status: SessionStatus) -> SessionAnswer:
    """Return a status as an answer of its own."""
    return SessionAnswer(**structs.asdict(status))


def text_of(status: SessionStatus) -> str:
    """Write for a model how a login stands; the names of cookies are the site's, and are left to the data."""
    facts = [f"{status.domain} (profile {status.profile}): {status.health.replace('_', ' ')}"]
    if status.health is not SessionHealth.NOT_FOUND:
        facts.append(f"{status.cookies} cookies, {len(status.auth_cookies)} of a login")
    for word, when in (("ends", status.expires), ("last used", status.used), ("last verified", status.verified)):
        if when:
            facts.append(f"{word} {datetime.fromtimestamp(when / 1000, UTC):%Y-%m-%d %H:%M} UTC")
    return "; ".join(facts)


def list_text(answer: SessionsAnswer) -> str:
    """Write for a model how several logins stand."""
    lines = [text_of(status) for status in answer.sessions] or ["No session is saved."]
    return "\n".join([*lines, *([f"And {answer.more} more."] if answer.more else [])])
