"""Gives each request of a page its cookies: those of the page's own site, or none that last."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import anyio

from actors.fetchers.lightweight import origins
from actors.fetchers.lightweight.asked import Asked
from actors.fetchers.lightweight.frames import Frames
from actors.fetchers.lightweight.keeping import Engine, OwnCookies
from actors.fetchers.lightweight.tally import Tally
from actors.fetchers.web.cookies import Jar

_COOKIES_SECONDS: Final = 0.3
"""An engine that is busy with scripts tells its cookies later, or not at all."""


@dataclass(frozen=True)
class Jars:
    """The cookies of a page of the site `own`; `cookies` are those that its scripts see."""

    frames: Frames
    jar: Jar
    cookies: OwnCookies
    own: str
    tally: Tally
    _others: Jar = field(default_factory=Jar, init=False)

    def trip(self, request: Asked) -> Trip:
        """Begin a request, which may lead from site to site."""
        return Trip(self, request)

    async def catch_up(self, request: Asked, engine: Engine) -> None:
        """Take the cookies that scripts have set, where the engine would send others than we would."""
        if self.trusts(request, request.url) and not self.cookies.explains(request.url, request.cookies):
            with anyio.move_on_after(_COOKIES_SECONDS):
                await self.cookies.take_back(engine)

    def trusts(self, request: Asked, url: str) -> bool:
        """Whether a request carries the cookies of the page's own site: it goes there, and comes from there."""
        if not origins.of_site(origins.site(url), self.own):
            return False
        visit = request.resource_type == "Document" and request.frame_id == self.frames.main
        return self.frames.within(request.frame_id, self.own) or (visit and request.request.method == "GET")

    def choose(self, *, trusted: bool) -> Jar:
        """Return the jar for one hop; what others set lasts as long as the page."""
        return self.jar if trusted else self._others

    def withhold(self, url: str) -> None:
        """Note cookies of the page's own site that did not go to another of its origins: a browser might send them."""
        if origins.of_site(origins.site(url), self.own) and self.jar.export(url):
            self.tally.withheld += 1


class Trip:
    """The hops of one request; `own` tells whether one of them had the cookies of the page's own site."""

    def __init__(self, jars: Jars, request: Asked) -> None:
        self.own = False
        self._jars, self._request = jars, request

    def none(self, url: str) -> Jar:
        """Return an empty jar for one hop to another origin."""
        self._jars.withhold(url)
        return Jar()

    def jar(self, url: str) -> Jar:
        """Return the jar for one hop."""
        trusted = self._jars.trusts(self._request, url)
        self.own = self.own or trusted
        return self._jars.choose(trusted=trusted)
