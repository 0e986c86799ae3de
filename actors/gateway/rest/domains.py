"""The endpoint that tells what is known of a domain."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct, structs
from starlette.responses import Response

from actors.gateway.access.caller import Scope
from actors.gateway.app_context import AppContext
from actors.gateway.http.answers import answer
from actors.gateway.request import RequestContext
from actors.gateway.rest.contract import Endpoint, Tag
from actors.sites import site_of
from protocol.domains import AskDomain, DomainKnowledge
from protocol.sessions import ListSessions
from protocol.subjects import DOMAIN, SESSION_LIST

_LABEL = r"[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?"
_NAME = rf"(?:{_LABEL}\.){{0,8}}[A-Za-z](?:[A-Za-z0-9-]{{0,61}}[A-Za-z0-9])?"
_BYTE = r"(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
_PORT = r"(?::(?:6553[0-5]|655[0-2][0-9]|65[0-4][0-9]{2}|6[0-4][0-9]{3}|[1-5][0-9]{4}|[1-9][0-9]{0,3}))?"
_HOST = rf"(?:{_NAME}|{_BYTE}(?:\.{_BYTE}){{3}}){_PORT}"
HOST = rf"^{_HOST}$(?!\n)"
"""A host name in ASCII or an IPv4 address, perhaps with a port."""

SITE = rf"^(?:https?://)?{_HOST}(?:[/?#][!-~]*)?$(?!\n)"
"""The same, or an address there."""

ERRORS = frozenset({500, 503, 504})


class DomainRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which domain is meant."""

    domain: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=253,
            pattern=HOST,
            description="Host name (an international one as xn--...), with its port where that is not the usual one.",
        ),
    ]


async def know(app: AppContext, request: RequestContext, arguments: DomainRequest) -> DomainKnowledge:
    """Return what is known of a domain; logins are counted for whoever may look after them."""
    known = await app.bus.call(DOMAIN, AskDomain(domain=arguments.domain), wait_ms=app.grace_ms)
    if Scope.SESSIONS not in request.caller.scopes:
        return known
    logins = await app.bus.call(SESSION_LIST, ListSessions(), wait_ms=app.grace_ms)
    site = site_of(arguments.domain)
    return structs.replace(known, saved_logins=sum(one.domain == site for one in logins.sessions))


async def _domain(app: AppContext, request: RequestContext, arguments: DomainRequest) -> Response:
    return answer(await know(app, request, arguments))


ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint(
        method="GET",
        path="/api/domains/{domain}",
        name="getDomain",
        summary="Tell what is known of a domain.",
        about="The tiers that worked there, how often and when, where a visit would begin and why, the pace at which "
        "it is asked, its robots.txt as far as it is known, the APIs found behind its pages, and how many logins are "
        "saved for it (for keys with the scope `sessions`). `known` is false where nobody has visited it.",
        run=_domain,
        params=DomainRequest,
        answer=DomainKnowledge,
        errors=ERRORS,
        tag=Tag.DOMAINS,
        example={"domain": "example.com"},
    ),
)
