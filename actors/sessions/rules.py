"""How a saved login stands, and how a page that was browsed changes it: pure, times in ms since the epoch."""

from __future__ import annotations

import re
from typing import TypeGuard
from urllib.parse import urlsplit

from msgspec.structs import replace

from protocol.faults import Code
from protocol.pages import PageBrowsed
from protocol.sessions import Cookie, SavedSession, SessionHealth, SessionState, SessionStatus, origin_of

EXPIRING_MS = 24 * 3_600_000
"""A login whose first cookie ends sooner than this is expiring soon (000, sessions)."""

STALE_MS = 30 * 24 * 3_600_000
"""A login that nobody has used for so long is stale (000, sessions)."""

_AUTH = re.compile(
    r"auth|sess|sso|saml|oidc|jwt|token|login|logged|signin|identity|credential|remember|passport"
    r"|(?:^|[^a-z])(?:sid|uid|user|account|member|connect)(?:$|[^a-z])|sid$|^li_at$|^(?:c_user|xs)$"
)
_NOT_AUTH = re.compile(
    r"csrf|xsrf|consent|captcha|visitor|analytics|tracking|(?:^|[^a-z])(?:ab|ads?)(?:$|[^a-z])|^(?:_ga|_gid|_gcl|_hj|_pk"
    r"|amp_|ajs_|optimizely|mp_|__cf|cf_|datadome|_abck|bm_|ak_|incap|visid|awsalb)"
)


def looks_like_login(name: str) -> bool:
    """Return whether a cookie is part of a login, by its name."""
    name = name.lower()
    return _AUTH.search(name) is not None and _NOT_AUTH.search(name) is None


def known(saved: SavedSession | None) -> TypeGuard[SavedSession]:
    """Return whether there is a login: one that was deleted leaves its names behind."""
    return saved is not None and saved.created > 0


def health(saved: SavedSession | None, now: int) -> SessionHealth:
    """Return the health of a login, by its cookies that look like one and by when it was used last."""
    if not known(saved):
        return SessionHealth.NOT_FOUND
    cookies = _auth_cookies(saved)
    living = [cookie for cookie in cookies if not _is_over(cookie, now)]
    if saved.expired or (cookies and not living):
        return SessionHealth.EXPIRED
    first = _first_end(living)
    if first is not None and first - now < EXPIRING_MS:
        return SessionHealth.EXPIRING_SOON
    if now - saved.used >= STALE_MS:
        return SessionHealth.STALE
    return SessionHealth.HEALTHY


def status(saved: SavedSession, now: int) -> SessionStatus:
    """Return how a login stands: names, counts and times, never a value."""
    if not known(saved):
        return SessionStatus(domain=saved.domain, profile=saved.profile, health=SessionHealth.NOT_FOUND)
    cookies = _auth_cookies(saved)
    return SessionStatus(
        domain=saved.domain,
        profile=saved.profile,
        health=health(saved, now),
        cookies=len(saved.state.cookies),
        auth_cookies=tuple(sorted({cookie.name for cookie in cookies})),
        origins=len(saved.state.origins),
        expires=_first_end([cookie for cookie in cookies if not _is_over(cookie, now)]),
        address=saved.address,
        created=saved.created,
        updated=saved.updated,
        used=saved.used,
        verified=saved.verified,
    )


def after_browse(saved: SavedSession, event: PageBrowsed, now: int) -> SavedSession:
    """Return a login as it stands after a page was browsed with it.

    A login wall says that it has expired; the page where the wall stood, or the one that is known to show whether one
    is logged in, says that it has not. Any other page says no more than where the site is: it may be public.
    """
    if event.code is Code.AUTH_SESSION_EXPIRED:
        return replace(saved, expired=saved.expired or now, wall=event.url)
    if event.code is not None:
        return saved
    saved = replace(saved, origin=origin_of(event.url) or saved.origin)
    if _page(event.url) in {_page(saved.wall), _page(saved.address)}:
        return replace(saved, expired=0, wall="", verified=now)
    return saved


def to_visit(saved: SavedSession) -> tuple[str, ...]:
    """Return the page that shows best whether one is logged in.

    Where nothing is known but the name of the site, there are two: the second is for a site that has no TLS, and there
    is none where that would give away a cookie that is for TLS alone.
    """
    known = [saved.address, saved.wall, *(f"{origin}/" for origin in _origins(saved))]
    if page := next(filter(None, known), ""):
        return (page,)
    plain = () if any(cookie.secure for cookie in saved.state.cookies) else (f"http://{saved.domain}/",)
    return (f"https://{saved.domain}/", *plain)


def _origins(saved: SavedSession) -> list[str]:
    kept = (origin.origin for origin in saved.state.origins)
    return [one for one in (saved.origin, *kept) if one and _within(urlsplit(one).hostname or "", saved.domain)]


def origin_named(domain: str, state: SessionState) -> str:
    """Return the origin that was named as the domain of a login, where it says more than the name of the site."""
    if "://" in domain:
        return origin_of(domain)
    if urlsplit(f"//{domain}").port is None:
        return ""
    return origin_of(f"{'https' if any(cookie.secure for cookie in state.cookies) else 'http'}://{domain}")


def belongs(state: SessionState, domain: str) -> bool:
    """Return whether anything of a state is of use at a site."""
    hosts = [cookie.domain for cookie in state.cookies]
    hosts += [urlsplit(origin.origin).hostname or "" for origin in state.origins]
    return any(_within(host, domain) for host in hosts)


def _auth_cookies(saved: SavedSession) -> list[Cookie]:
    """Find the cookies of a login: those of other sites that took part in it say nothing of how long it lasts."""
    return [
        cookie
        for cookie in saved.state.cookies
        if looks_like_login(cookie.name) and _within(cookie.domain, saved.domain)
    ]


def _within(host: str, domain: str) -> bool:
    return host == domain or host.endswith(f".{domain}")


def _is_over(cookie: Cookie, now: int) -> bool:
    return cookie.expires is not None and cookie.expires * 1000 <= now


def _first_end(cookies: list[Cookie]) -> int | None:
    ends = [int(cookie.expires * 1000) for cookie in cookies if cookie.expires is not None]
    return min(ends, default=None)


def _page(url: str) -> str:
    """Cut an address down to what the event of a browse has of it."""
    return re.split(r"[?#]", url, maxsplit=1)[0]
