"""The cookies of one login, bounded, in the form that is stored and in the form that is sent."""

from __future__ import annotations

from collections.abc import Iterable
from http import cookiejar
from typing import Literal, cast

import httpx2

from protocol.sessions import Cookie

_MAX_COOKIES = 300
_SAME_SITE = "SameSite"
_HTTP_ONLY = "HttpOnly"


class Jar(httpx2.Cookies):
    """Cookies that answers set and requests send; `export` and `load` convert them to and from the stored form."""

    def __init__(self) -> None:
        # strict_domain: no cookie for the whole of co.uk.
        super().__init__(_BoundedJar(cookiejar.DefaultCookiePolicy(strict_domain=True)))

    def set_cookie_header(self, request: httpx2.Request) -> None:
        """Add the cookies that a request carries; most jars are empty."""
        if self:
            super().set_cookie_header(request)

    def load(self, cookies: Iterable[Cookie]) -> None:
        """Add these cookies to the others; one of the same name, domain and path is replaced."""
        for cookie in cookies:
            cookiejar.CookieJar.set_cookie(self.jar, _stored(cookie))
        _bound(self.jar)

    def export(self, url: str | None = None) -> tuple[Cookie, ...]:
        """Return every cookie that has not expired, or only those that a request for `url` would carry."""
        if url is None:
            return tuple(_cookie(cookie) for cookie in self.jar if not cookie.is_expired())
        request = httpx2.Request("GET", url)
        self.set_cookie_header(request)
        sent = {pair.partition("=")[0].strip() for pair in request.headers.get("cookie", "").split(";")}
        return tuple(cookie for cookie in self.export() if cookie.name in sent and _reaches(cookie, request.url))


def refusing_jar() -> cookiejar.CookieJar:
    """Return a jar that accepts no cookie: httpx's own is shared by every fetch."""
    return cookiejar.CookieJar(cookiejar.DefaultCookiePolicy(allowed_domains=()))


class _BoundedJar(cookiejar.CookieJar):
    """A jar that evicts its oldest cookie rather than grow past a bound."""

    def set_cookie(self, cookie: cookiejar.Cookie) -> None:
        super().set_cookie(cookie)
        _bound(self)


def _bound(jar: cookiejar.CookieJar) -> None:
    for oldest in list(jar)[:-_MAX_COOKIES]:
        jar.clear(oldest.domain, oldest.path, oldest.name)


def _reaches(cookie: Cookie, url: httpx2.URL) -> bool:
    host = url.raw_host.decode("ascii")
    within = host == cookie.domain or (not cookie.host_only and host.endswith(f".{cookie.domain}"))
    return within and _path_matches(url.path or "/", cookie.path)


def _path_matches(path: str, cookie_path: str) -> bool:
    """Compare as RFC 6265 §5.1.4 does: /a is no part of /ab."""
    return path == cookie_path or path.startswith(cookie_path if cookie_path.endswith("/") else f"{cookie_path}/")


def _cookie(stored: cookiejar.Cookie) -> Cookie:
    same_site = stored.get_nonstandard_attr(_SAME_SITE) or stored.get_nonstandard_attr(_SAME_SITE.lower()) or ""
    # http.cookiejar calls a host without a dot `host.local`.
    domain = stored.domain.removeprefix(".").removesuffix(".local")
    return Cookie(
        name=stored.name,
        value=stored.value or "",
        domain=domain,
        path=stored.path,
        expires=None if stored.expires is None else float(stored.expires),
        secure=stored.secure,
        http_only=stored.has_nonstandard_attr(_HTTP_ONLY) or stored.has_nonstandard_attr(_HTTP_ONLY.lower()),
        host_only=not stored.domain_specified,
        same_site=cast("Literal['Strict', 'Lax', 'None']", same_site.title())
        if same_site.title() in ("Strict", "Lax", "None")
        else None,
    )


def _stored(cookie: Cookie) -> cookiejar.Cookie:
    domain = cookie.domain if "." in cookie.domain or ":" in cookie.domain else f"{cookie.domain}.local"
    rest = {_HTTP_ONLY: ""} if cookie.http_only else {}
    if cookie.same_site:
        rest[_SAME_SITE] = cookie.same_site
    return cookiejar.Cookie(
        version=0,
        name=cookie.name,
        value=cookie.value,
        port=None,
        port_specified=False,
        domain=domain if cookie.host_only else f".{domain}",
        domain_specified=not cookie.host_only,
        domain_initial_dot=not cookie.host_only,
        path=cookie.path,
        path_specified=True,
        secure=cookie.secure,
        expires=None if cookie.expires is None else int(cookie.expires),
        discard=cookie.expires is None,
        comment=None,
        comment_url=None,
        rest=rest,
    )
