"""Saved logins as the tiers use them, shared by all replicas: a fetch begins with the state that the last has left."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio
import structlog
from msgspec.structs import replace

from actors.fetchers.login_merge import fitting, merged
from actors.fetchers.web.cookies import Jar
from actors.sites import key_of, site_of
from bus import Tables, TransportError
from bus.memory.stores import HeldKeys, MemoryKeys
from bus.stores import KeyTable
from protocol.faults import FaultError
from protocol.sessions import OriginStorage, SavedSession, SessionState
from protocol.subjects import SESSIONS

log = structlog.stdlib.get_logger()

NOT_SAVED = "session_not_saved"
CUT = "session_state_cut"

SAVE_S = 2.0
"""How long saving may take, even after a fetch that was cancelled."""

TRIES = 20
"""How often a save is tried: so many fetches of the same login may end at the same moment."""

USED_MS = 3_600_000
"""How exact `used` is: a login is stale after 30 days, so it need not be written at every fetch."""


@dataclass
class Login:
    """A login in use: a tier changes `cookies` and `origins` (by origin) as the page does, and they are saved.

    `profile` is None for a fetch without a saved login, whose cookies nobody else ever sees.
    """

    profile: str | None = None
    cookies: Jar = field(default_factory=Jar)
    origins: dict[str, OriginStorage] = field(default_factory=dict[str, OriginStorage])

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
    """A login on lease: what was `saved` of it, and its state when it was last saved (`before`)."""

    login: Login
    saved: SavedSession
    before: SessionState


class Logins:
    """The saved logins, one per profile and site; without a bus they last as long as this object."""

    def __init__(self, bus: Tables | None = None) -> None:
        self._bus = bus
        self._opened: KeyTable[SavedSession] | None = None

    @asynccontextmanager
    async def use(self, profile: str | None, url: str) -> AsyncGenerator[Login]:
        """Hold the login of a profile for the site of `url`, and save its changes at the end.

        They are merged with what others have changed meanwhile. Nothing is saved of a login that was deleted or
        imported anew while it was in use.
        """
        lease = await self.lease(profile, url)
        if lease is None:
            yield Login()
            return
        try:
            yield lease.login
        finally:
            await self.keep(lease)

    async def lease(self, profile: str | None, url: str) -> LoginLease | None:
        """Lease the login of a profile for the site of `url`, to be saved by `keep`; None without a profile or site."""
        site = _site(url)
        if profile is None or site is None:
            return None
        table = await self._table()
        change = await table.get(key_of(profile, site))
        saved = change.value if change and change.value else SavedSession(profile=profile, domain=site)
        login = Login(profile)
        login.take(saved.state)
        return LoginLease(login, saved, login.state)

    async def keep(self, lease: LoginLease) -> None:
        """Save the changes of a login so far; a failure is logged, and does not fail the page."""
        after, now = lease.login.state, time.time_ns() // 1_000_000
        if lease.before == after and (not lease.saved.created or now - lease.saved.used < USED_MS):
            return
        table = await self._table()
        try:
            with anyio.fail_after(SAVE_S, shield=True):
                await _merge(table, lease, after, now)
        except (TransportError, TimeoutError) as error:
            log.warning(NOT_SAVED, site=lease.saved.domain, reason=repr(error))

    async def _table(self) -> KeyTable[SavedSession]:
        if self._opened is None:
            in_memory = KeyTable(SESSIONS, MemoryKeys(HeldKeys(ttl_ms=None), _nothing))
            self._opened = await self._bus.table(SESSIONS) if self._bus else in_memory
        return self._opened


async def _merge(table: KeyTable[SavedSession], lease: LoginLease, after: SessionState, now: int) -> None:
    saved, before, unreadable = lease.saved, lease.before, False
    key = key_of(saved.profile, saved.domain)
    for _ in range(TRIES):
        change = await table.get(key)
        latest = change.value if change and change.value else replace(saved, state=SessionState(), created=0)
        if saved.created and latest.created != saved.created:
            return
        kept = replace(
            latest,
            state=_cut(merged(before, after, latest.state), saved.domain),
            created=latest.created or now,
            updated=latest.updated if before == after else now,
            used=now,
        )
        try:
            await table.put(key, kept, revision=change.revision if change else None if unreadable else 0)
        except ValueError:
            unreadable = change is None  # unless it can be read next time: sealed with a key that is lost
            continue
        lease.saved, lease.before = kept, after
        return
    log.warning(NOT_SAVED, site=saved.domain, reason="too many at once")


def _cut(state: SessionState, site: str) -> SessionState:
    fits = fitting(state)
    if fits is not state:
        log.warning(CUT, site=site, origins=len(state.origins), kept=len(fits.origins))
    return fits


def _site(url: str) -> str | None:
    """Return the site of an address; one that has none is refused by whoever fetches it."""
    try:
        return site_of(url)
    except FaultError:
        return None


def _nothing() -> None:
    """Check no connection: there is none."""
