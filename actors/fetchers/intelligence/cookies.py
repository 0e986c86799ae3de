"""Keeps the cookies of each session apart, bounded."""

from __future__ import annotations

from collections import OrderedDict
from http.cookiejar import CookieJar, DefaultCookiePolicy

import httpx2

_MAX_SESSIONS = 256
_MAX_COOKIES = 300


class Jars:
    """The jars of the sessions used last; a fetch without a session has one that nobody else ever sees."""

    def __init__(self, max_sessions: int = _MAX_SESSIONS) -> None:
        self._max_sessions = max_sessions
        self._jars: OrderedDict[str, httpx2.Cookies] = OrderedDict()

    def of(self, session: str | None) -> httpx2.Cookies:
        """Give the cookies of a session."""
        if session is None:
            return _cookies()
        jar = self._jars.setdefault(session, _cookies())
        self._jars.move_to_end(session)
        if len(self._jars) > self._max_sessions:
            self._jars.popitem(last=False)
        return jar


class BoundedJar(CookieJar):
    """A jar that forgets its oldest cookie rather than grow past a bound."""

    def extract_cookies(self, response: object, request: object) -> None:
        """Take the cookies of a response."""
        super().extract_cookies(response, request)  # type: ignore[arg-type]  # httpx2 hands in look-alikes
        for cookie in list(self)[:-_MAX_COOKIES]:
            self.clear(cookie.domain, cookie.path, cookie.name)


def refusing_jar() -> CookieJar:
    """Make a jar that takes no cookie: httpx's own is shared by every fetch."""
    return CookieJar(DefaultCookiePolicy(allowed_domains=()))


def _cookies() -> httpx2.Cookies:
    # strict_domain: no cookie for the whole of co.uk.
    return httpx2.Cookies(BoundedJar(DefaultCookiePolicy(strict_domain=True)))
