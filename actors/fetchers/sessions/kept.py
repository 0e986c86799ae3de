"""The saved logins, shared by every replica of every tier: each fetch begins with the last that any of them left."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
import structlog
from msgspec.structs import replace

from actors.fetchers.sessions.merging import fitting, merged
from actors.fetchers.sessions.session import Loan, Session
from actors.sites import key_of, site_of
from bus import Tables, TransportError
from bus.memory.stores import HeldKeys, MemoryKeys
from bus.stores import KeyTable
from protocol.faults import FaultError
from protocol.sessions import SavedSession, SessionState
from protocol.subjects import SESSIONS

log = structlog.stdlib.get_logger()

NOT_SAVED = "session_not_saved"
CUT = "session_state_cut"

SAVE_S = 2.0
"""How long it may take to keep what a fetch has left, even of one that is cut off."""

TRIES = 20
"""Fetches of the same login that may end at the same moment."""

USED_MS = 3_600_000
"""How exact `used` is: a login is stale after 30 days, so it need not be written at every fetch."""


class Sessions:
    """The saved logins, one per profile and site; without a bus they last as long as this object."""

    def __init__(self, bus: Tables | None = None) -> None:
        self._bus = bus
        self._opened: KeyTable[SavedSession] | None = None

    @asynccontextmanager
    async def use(self, profile: str | None, url: str) -> AsyncGenerator[Session]:
        """Return the login of a profile for the site of `url`, and keep what has become of it at the end.

        What others have changed meanwhile is kept, too. Nothing is kept of a login that was deleted or saved anew
        while it was in use.
        """
        loan = await self.lend(profile, url)
        if loan is None:
            yield Session()
            return
        try:
            yield loan.session
        finally:
            await self.keep(loan)

    async def lend(self, profile: str | None, url: str) -> Loan | None:
        """Return the login of a profile for the site of `url`, to be kept by `keep`; None where none is meant."""
        site = _site(url)
        if profile is None or site is None:
            return None
        table = await self._table()
        found = await table.get(key_of(profile, site))
        saved = found.value if found and found.value else SavedSession(profile=profile, domain=site)
        session = Session(profile)
        session.take(saved.state)
        return Loan(session, saved, session.state)

    async def keep(self, loan: Loan) -> None:
        """Keep what has become of a login so far; a page that was got is not given up because that fails."""
        after, now = loan.session.state, time.time_ns() // 1_000_000
        if loan.before == after and (not loan.saved.created or now - loan.saved.used < USED_MS):
            return
        table = await self._table()
        try:
            with anyio.fail_after(SAVE_S, shield=True):
                await _merge(table, loan, after, now)
        except (TransportError, TimeoutError) as error:
            log.warning(NOT_SAVED, site=loan.saved.domain, reason=repr(error))

    async def _table(self) -> KeyTable[SavedSession]:
        if self._opened is None:
            in_memory = KeyTable(SESSIONS, MemoryKeys(HeldKeys(ttl_ms=None), _nothing))
            self._opened = await self._bus.table(SESSIONS) if self._bus else in_memory
        return self._opened


async def _merge(table: KeyTable[SavedSession], loan: Loan, after: SessionState, now: int) -> None:
    saved, before, unreadable = loan.saved, loan.before, False
    key = key_of(saved.profile, saved.domain)
    for _ in range(TRIES):
        found = await table.get(key)
        latest = found.value if found and found.value else replace(saved, state=SessionState(), created=0)
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
            await table.put(key, kept, revision=found.revision if found else None if unreadable else 0)
        except ValueError:
            unreadable = found is None  # unless it can be read next time: sealed with a key that is lost
            continue
        loan.saved, loan.before = kept, after
        return
    log.warning(NOT_SAVED, site=saved.domain, reason="too many at once")


def _cut(state: SessionState, site: str) -> SessionState:
    fits = fitting(state)
    if fits is not state:
        log.warning(CUT, site=site, origins=len(state.origins), kept=len(fits.origins))
    return fits


def _site(url: str) -> str | None:
    """Find the site of an address; one that has none is refused by whoever fetches it."""
    try:
        return site_of(url)
    except FaultError:
        return None


def _nothing() -> None:
    """Find the connection in order: there is none."""
