"""Saved logins as the tiers use them: each is opened for one fetch, and what that changes goes back.

A tier has no key of logins. It asks the actor that keeps them, by the pass that came with its request, and gets
that one login, sealed for this answer.
"""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

import anyio
import msgspec
import structlog

from actors.login_merge import fitting, merged
from actors.sites import site_of
from actors.web.cookies import Jar
from bus import Requester, TransportError
from bus.seal import KeyPair, Seal, UnsealError
from protocol.codec import encode
from protocol.faults import Code, FaultError, fault
from protocol.sessions import (
    CHANGE,
    OPENED,
    KeepLogin,
    LoginChange,
    LoginContent,
    OpenLogin,
    OriginStorage,
    SessionState,
    origin_of,
)
from protocol.subjects import SESSION_KEEP, SESSION_OPEN

log = structlog.stdlib.get_logger()

NOT_SAVED = "session_not_saved"

SAVE_S = 2.0
"""How long saving may take, even after a fetch that was cancelled."""

USED_MS = 3_600_000
"""How exact `used` is: a login is stale after 30 days, so it need not be written at every fetch."""

LOGIN_CALLS: Final = (SESSION_OPEN, SESSION_KEEP)
"""What an actor publishes that opens logins."""

_read = msgspec.json.Decoder(LoginContent).decode


@dataclass
class Login:
    """A login in use: a tier changes `cookies` and `origins` (by origin) as the page does, and they are saved.

    `profile` is None for a fetch without a saved login, whose cookies nobody else ever sees. `partition` is where the
    answers that are got with it are cached.
    """

    profile: str | None = None
    cookies: Jar = field(default_factory=Jar)
    origins: dict[str, OriginStorage] = field(default_factory=dict[str, OriginStorage])
    partition: str = ""

    @property
    def state(self) -> SessionState:
        """The cookies and origins at the moment, without what has expired."""
        return SessionState(cookies=self.cookies.export(), origins=tuple(self.origins.values()))

    def take(self, state: SessionState) -> None:
        """Replace cookies and origins by those of a state."""
        self.cookies.clear()
        self.cookies.load(state.cookies)
        self.origins = {origin.origin: origin for origin in state.origins}


@dataclass
class LoginLease:
    """A login on lease: what was `opened`, and its state when it was last saved (`before`); `origin` is the page's."""

    login: Login
    opened: LoginContent
    before: SessionState
    origin: str


class Logins:
    """The saved logins as a tier reaches them; without a bus they last as long as this object."""

    def __init__(self, bus: Requester | None = None) -> None:
        self._bus = bus
        self._alone: dict[tuple[str, str], SessionState] = {}

    @asynccontextmanager
    async def use(self, profile: str | None, url: str, login: bytes = b"") -> AsyncGenerator[Login]:
        """Hold the login of a profile for the site of `url`, which `login` opens, and save its changes at the end.

        They are merged with what others have changed meanwhile. Nothing is saved of a login that was deleted or
        imported anew while it was in use.

        Raises:
            FaultError: AUTH_MISSING_SESSION.
        """
        lease = await self.lease(profile, url, login)
        if lease is None:
            yield Login()
            return
        try:
            yield lease.login
        finally:
            await self.keep(lease)

    async def lease(self, profile: str | None, url: str, login: bytes = b"") -> LoginLease | None:
        """Lease the login of a profile for the site of `url`, to be saved by `keep`.

        None without a profile or site, or for another site than that of the login.

        Raises:
            FaultError: AUTH_MISSING_SESSION.
        """
        if profile is None or (site := _site(url)) is None:
            return None
        content = self._lone(profile, site) if self._bus is None else await _open(self._bus, login)
        if content.site != site:
            return None
        held = Login(profile, partition=content.partition)
        held.take(content.state)
        return LoginLease(held, content, held.state, origin_of(url))

    async def keep(self, lease: LoginLease) -> None:
        """Save the changes of a login so far; a failure is logged, and does not fail the page."""
        after, now = lease.login.state, time.time_ns() // 1_000_000
        if lease.before == after and (not lease.opened.created or now - lease.opened.used < USED_MS):
            return
        if self._bus is None:
            place = (lease.opened.profile, lease.opened.site)
            self._alone[place] = merged(lease.before, after, self._alone.get(place, SessionState()))
            lease.before = after
            return
        change = LoginChange(before=lease.before, after=fitting(after), origin=lease.origin)
        sealed = Seal({CHANGE: lease.opened.key}).seal(encode(change), CHANGE)
        try:
            with anyio.fail_after(SAVE_S, shield=True):
                kept = await self._bus.call(SESSION_KEEP, KeepLogin(lease=lease.opened.lease, sealed=sealed))
        except (FaultError, TransportError, TimeoutError) as error:
            log.warning(NOT_SAVED, site=lease.opened.site, reason=repr(error))
            return
        if kept.saved:
            lease.before = after
            created = lease.opened.created or now
            lease.opened = msgspec.structs.replace(lease.opened, lease=kept.lease, created=created, used=now)

    def _lone(self, profile: str, site: str) -> LoginContent:
        state = self._alone.get((profile, site), SessionState())
        return LoginContent(
            profile=profile, site=site, state=state, partition=profile, created=0, used=0, key=b"", lease=b""
        )


async def _open(bus: Requester, login: bytes) -> LoginContent:
    pair = KeyPair()
    answer = await bus.call(SESSION_OPEN, OpenLogin(login=login, public=pair.public))
    try:
        return _read(pair.unseal(answer.sealed, OPENED))
    except (UnsealError, msgspec.MsgspecError):
        raise FaultError(fault(Code.INTERNAL_ERROR)) from None


def _site(url: str) -> str | None:
    """Return the site of an address; one that has none is refused by whoever fetches it."""
    try:
        return site_of(url)
    except FaultError:
        return None
