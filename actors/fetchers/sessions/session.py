"""A login in the hands of one fetch."""

from __future__ import annotations

from dataclasses import dataclass, field

from actors.fetchers.web.cookies import Jar
from protocol.sessions import OriginStorage, SavedSession, SessionState


@dataclass
class Session:
    """A login in use: a tier changes `cookies` and `origins` (by origin) as the page does, and they are kept.

    `profile` is None for a fetch without a saved login, whose cookies nobody else ever sees.
    """

    profile: str | None = None
    cookies: Jar = field(default_factory=Jar)
    origins: dict[str, OriginStorage] = field(default_factory=dict[str, OriginStorage])

    @property
    def state(self) -> SessionState:
        """Everything that it holds at the moment, without what has expired."""
        return SessionState(cookies=self.cookies.export(), origins=tuple(self.origins.values()))

    def take(self, state: SessionState) -> None:
        """Hold this, and nothing of what was held before."""
        self.cookies.clear()
        self.cookies.load(state.cookies)
        self.origins = {origin.origin: origin for origin in state.origins}


@dataclass
class Loan:
    """A session that was lent: what was `saved` of it, and how it stood when it was kept last."""

    session: Session
    saved: SavedSession
    before: SessionState
