"""Cookies of a page: which requests carry those of its own site, and their sync between the jar and the engine."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

import anyio
from msgspec import Struct

from actors.fetchers.lightweight import origins
from actors.fetchers.lightweight.cdp import CdpCalls
from actors.fetchers.lightweight.origins import Frames, of_site
from actors.fetchers.lightweight.page_requests import PausedRequest
from actors.fetchers.lightweight.rendering import Counters
from actors.web.cookies import Jar
from protocol.sessions import Cookie

_Key = tuple[str, str, str]


_COOKIES_SECONDS: Final = 0.3
"""An engine that is busy with scripts returns its cookies later, or not at all."""


class SyncedCookies:
    """The cookies of the site `own` in a context of the engine, kept equal to the jar; other sites have none there."""

    def __init__(self, jar: Jar, own: str, context: str) -> None:
        """Store them; the context is empty still."""
        self._jar = jar
        self._own = own
        self._context = context
        self._given: dict[_Key, str] = {}

    def explains(self, url: str, header: str) -> bool:
        """Return whether the Cookie header of the engine, which lacks its last character, is that of the jar."""
        ours = {f"{cookie.name}={cookie.value}" for cookie in self._jar.export(url)}
        theirs = header.split("; ") if header else []
        *whole, last = theirs or [""]
        rest = ours.difference(whole)
        return len(theirs) == len(ours) and ours.issuperset(whole) and all(pair[:-1] == last for pair in rest)

    async def hand_over(self, engine: CdpCalls, session: str) -> None:
        """Set in the engine what has changed in the jar."""
        now = {_key(cookie): cookie for cookie in self._jar.export() if of_site(cookie.domain, self._own)}
        changed = [_to_cdp(cookie) for key, cookie in now.items() if self._given.get(key) != cookie.value]
        gone = [key for key in self._given if key not in now]
        if changed:
            await engine.call("Network.setCookies", {"cookies": changed}, session=session)
        for domain, path, name in gone:
            params = {"name": name, "domain": domain, "path": path}
            await engine.call("Network.deleteCookies", params, session=session)
        self._given = {key: cookie.value for key, cookie in now.items()}

    async def take_back(self, engine: CdpCalls) -> None:
        """Set in the jar what scripts have changed; what is hidden from them they have not."""
        answer = await engine.call("Storage.getCookies", {"browserContextId": self._context})
        present: set[_Key] = set()
        for entry in answer.get("cookies", ()):
            cdp_cookie = _CdpCookie(
                name=entry["name"],
                value=entry["value"],
                domain=entry["domain"],
                path=entry.get("path", "/"),
                expires=entry.get("expires", -1),
                http_only=entry.get("httpOnly", False),
                secure=entry.get("secure", False),
            )
            cookie = _from_cdp(cdp_cookie)
            key = _key(cookie)
            present.add(key)
            if not cookie.http_only and of_site(cookie.domain, self._own) and self._given.get(key) != cookie.value:
                self._jar.load((cookie,))
                self._given[key] = cookie.value
        self._forget_missing(present)

    def _forget_missing(self, present: set[_Key]) -> None:
        hidden = {_key(cookie) for cookie in self._jar.export() if cookie.http_only}
        for stored in tuple(self._jar.jar):
            key = (stored.domain.removeprefix(".").removesuffix(".local"), stored.path, stored.name)
            if key in self._given and key not in present and key not in hidden:
                self._jar.jar.clear(stored.domain, stored.path, stored.name)
                del self._given[key]


@dataclass(frozen=True)
class PageCookies:
    """The cookies of a page of the site `own`; `cookies` are those that its scripts see."""

    frames: Frames
    jar: Jar
    cookies: SyncedCookies
    own: str
    counters: Counters
    _others: Jar = field(default_factory=Jar, init=False)

    def of_request(self, request: PausedRequest) -> RequestCookies:
        """Return the cookies of a request, which may lead from site to site."""
        return RequestCookies(self, request)

    async def catch_up(self, request: PausedRequest, engine: CdpCalls) -> None:
        """Take back the cookies that scripts have set, where the engine would send others than the jar."""
        if self.trusts(request, request.url) and not self.cookies.explains(request.url, request.cookies):
            with anyio.move_on_after(_COOKIES_SECONDS):
                await self.cookies.take_back(engine)

    def trusts(self, request: PausedRequest, url: str) -> bool:
        """Return whether a request carries the cookies of the page's own site: it goes there, and comes from there."""
        if not origins.of_site(origins.site(url), self.own):
            return False
        navigates = request.resource_type == "Document" and request.frame_id == self.frames.main
        return self.frames.within(request.frame_id, self.own) or (navigates and request.request.method == "GET")

    def choose(self, *, trusted: bool) -> Jar:
        """Return the jar for one hop; what others set lasts as long as the page."""
        return self.jar if trusted else self._others

    def withhold(self, url: str) -> None:
        """Count cookies of the own site that did not go to another of its origins: a browser might send them."""
        if origins.of_site(origins.site(url), self.own) and self.jar.export(url):
            self.counters.withheld += 1


class RequestCookies:
    """The cookies of each hop of a request; `own` says whether one had those of the page's own site."""

    def __init__(self, page: PageCookies, request: PausedRequest) -> None:
        self.own = False
        self._page, self._request = page, request

    def none(self, url: str) -> Jar:
        """Return an empty jar for one hop to another origin."""
        self._page.withhold(url)
        return Jar()

    def jar(self, url: str) -> Jar:
        """Return the jar for one hop."""
        trusted = self._page.trusts(self._request, url)
        self.own = self.own or trusted
        return self._page.choose(trusted=trusted)


class _CdpCookie(Struct, frozen=True, rename="camel"):
    """A cookie as the engine has it."""

    name: str
    value: str
    domain: str
    path: str = "/"
    expires: float = -1
    http_only: bool = False
    secure: bool = False


def _key(cookie: Cookie) -> _Key:
    return cookie.domain, cookie.path, cookie.name


def _from_cdp(shown: _CdpCookie) -> Cookie:
    return Cookie(
        name=shown.name,
        value=shown.value,
        domain=shown.domain.removeprefix("."),
        path=shown.path,
        expires=shown.expires if shown.expires > 0 else None,
        secure=shown.secure,
        http_only=shown.http_only,
        host_only=not shown.domain.startswith("."),
    )


def _to_cdp(cookie: Cookie) -> dict[str, Any]:
    scheme = "https" if cookie.secure else "http"
    shown: dict[str, Any] = {
        "name": cookie.name,
        "value": cookie.value,
        "path": cookie.path,
        "secure": cookie.secure,
        "httpOnly": cookie.http_only,
        "url": f"{scheme}://{cookie.domain}{cookie.path}",
    }
    if not cookie.host_only:
        shown["domain"] = f".{cookie.domain}"
    if cookie.expires is not None:
        shown["expires"] = cookie.expires
    if cookie.same_site:
        shown["sameSite"] = cookie.same_site
    return shown
