"""Saved logins as the tiers use them: what a fetch begins with, and what it leaves behind."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from actors.fetchers.web.cookies import Jar
from protocol.sessions import OriginStorage

_MAX_SESSIONS = 256


@dataclass
class Session:
    """A login in use: a tier changes `cookies` and `origins` (by origin) as the page does, and they are kept.

    `profile` is None for a fetch without a saved login, whose cookies nobody else ever sees.
    """

    profile: str | None = None
    cookies: Jar = field(default_factory=Jar)
    origins: dict[str, OriginStorage] = field(default_factory=dict[str, OriginStorage])


class Sessions:
    """The saved logins, one per profile and site."""

    def __init__(self) -> None:
        """Begin with none."""
        self._used: OrderedDict[str, Session] = OrderedDict()

    @asynccontextmanager
    async def use(self, profile: str | None, url: str) -> AsyncGenerator[Session]:
        """Give the login of a profile for the site of `url`, and keep what has become of it at the end."""
        del url
        if profile is None:
            yield Session()
            return
        session = self._used.setdefault(profile, Session(profile))
        self._used.move_to_end(profile)
        if len(self._used) > _MAX_SESSIONS:
            self._used.popitem(last=False)
        yield session
