"""The actor of saved logins: saves, lists, checks, renews and deletes them."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar

from msgspec.structs import replace

from actors.actor import Actor, handles, subscribes
from actors.sessions import rules
from actors.sites import key_of, of_profile, site_of
from bus.clock import now_ms
from bus.seal import UnsealError
from bus.stores import KeyTable
from protocol import subjects
from protocol.browse import DEFAULT_LATENCY_MS, BrowseOptions, Freshness
from protocol.codec import Decoder
from protocol.faults import Action, Code, FaultError, fault
from protocol.pages import BrowsePage, PageBrowsed
from protocol.sessions import (
    MAX_STATE_BYTES,
    ListSessions,
    NamedSession,
    SavedSession,
    SaveSession,
    SessionList,
    SessionState,
    SessionStatus,
    sealed_for,
)
from protocol.subjects import Bucket, Subject
from protocol.tiers import BROWSER

MAX_LISTED = 500
TRIES = 20

_LOG_IN_AGAIN = Action(action="log_in", description="Log in anew and save that session: this one cannot be renewed.")
_read_state: Decoder[SessionState] = Decoder(SessionState, Code.VALIDATION_INVALID_REQUEST, MAX_STATE_BYTES)


@dataclass
class LoginsActor(Actor):
    """Keeps the saved logins; their values never leave it."""

    name: ClassVar[str] = "sessions"
    publishes: ClassVar[tuple[Subject[Any], ...]] = (subjects.BROWSE,)
    buckets: ClassVar[tuple[Bucket[Any], ...]] = (subjects.SESSIONS,)

    _table: KeyTable[SavedSession] = field(init=False, repr=False)

    @classmethod
    def warm(cls) -> None:
        """Load the list of public suffixes."""
        site_of("https://weft.example/")

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[None]:
        """Open the bucket of logins."""
        self._table = await self.bus.table(subjects.SESSIONS)
        yield

    @handles(subjects.SESSION_SAVE, at_once=8)
    async def save(self, request: SaveSession) -> SessionStatus:
        """Save a login in place of the one that there was.

        Raises:
            FaultError: VALIDATION_INVALID_REQUEST, when nothing of it is of use at the site.
        """
        domain, address = site_of(request.domain), request.address
        if address and site_of(address, "address") != domain:
            raise _invalid("address", f"address: not a page of {domain}")
        state = self._unsealed(request)
        if not rules.belongs(state, domain):
            raise _invalid("state", f"state: no cookie and no storage of {domain}")
        now = now_ms()
        saved = SavedSession(
            profile=request.profile, domain=domain, state=state, address=address, created=now, updated=now, used=now
        )
        await self._table.put(key_of(request.profile, domain), saved)
        return rules.status(saved, now)

    @handles(subjects.SESSION_LIST, at_once=8)
    async def list(self, request: ListSessions) -> SessionList:
        """Return how every login stands, or those of one profile."""
        names = sorted(await self._table.names())
        wanted = [name for name in names if request.profile is None or of_profile(name, request.profile)]
        now, statuses = now_ms(), list[SessionStatus]()
        for name in wanted[:MAX_LISTED]:
            change = await self._table.get(name)
            if change is not None and rules.known(change.value):
                statuses.append(rules.status(change.value, now))
        return SessionList(sessions=tuple(statuses), more=len(wanted[MAX_LISTED:]))

    @handles(subjects.SESSION_HEALTH, at_once=16)
    async def health(self, request: NamedSession) -> SessionStatus:
        """Return how a login stands; one that there is not stands as not found."""
        domain = site_of(request.domain)
        entry = await self._table.get(key_of(request.profile, domain))
        saved = entry.value if entry and entry.value else SavedSession(profile=request.profile, domain=domain)
        return rules.status(saved, now_ms())

    @handles(subjects.SESSION_DELETE, at_once=8)
    async def delete(self, request: NamedSession) -> SessionStatus:
        """Delete a login; its names stay, so that a fetch which is using it sees that it is gone.

        Raises:
            FaultError: AUTH_MISSING_SESSION.
        """
        saved = await self._saved(request)
        nothing = SavedSession(profile=saved.profile, domain=saved.domain)
        await self._table.put(key_of(saved.profile, saved.domain), nothing)
        return rules.status(nothing, now_ms())

    @handles(subjects.SESSION_REFRESH, at_once=8)
    async def refresh(self, request: NamedSession) -> SessionStatus:
        """Visit the site with a login, so that it renews its cookies, and return how the login stands then.

        Raises:
            FaultError: AUTH_MISSING_SESSION; AUTH_SESSION_EXPIRED, when the site wants a login all the same; or why the
                page could not be got.
        """
        saved = await self._saved(request)
        url = rules.to_visit(saved)
        try:
            await self._visit(saved.profile, url)
        except FaultError as error:
            if error.fault.code is not Code.AUTH_SESSION_EXPIRED:
                raise
            await self._note(saved, PageBrowsed(url=url, duration_ms=0, code=Code.AUTH_SESSION_EXPIRED))
            expired = fault(Code.AUTH_SESSION_EXPIRED, "The site wants a login again.", actions=(_LOG_IN_AGAIN,))
            raise FaultError(expired.at(url=url)) from None
        await self._note(saved, PageBrowsed(url=url, duration_ms=0))
        return await self.health(request)

    @subscribes(subjects.PAGE_BROWSED, at_once=8)
    async def browsed(self, event: PageBrowsed) -> None:
        """Note whether a page that was browsed with a login showed a login wall."""
        if event.profile is None:
            return
        try:
            site = site_of(event.url)
        except FaultError:
            return
        entry = await self._table.get(key_of(event.profile, site))
        if entry is not None and rules.known(entry.value):
            await self._note(entry.value, event)

    async def _visit(self, profile: str, url: str) -> None:
        """Browse the page by the cheapest tier that can; when it shows a login wall, by the browser."""
        options = BrowseOptions(
            session_profile=profile, freshness_requirement=Freshness.REALTIME, max_latency_ms=DEFAULT_LATENCY_MS
        )
        grace_ms = self.settings.restart_grace_ms
        try:
            await self.bus.call(subjects.BROWSE, BrowsePage(url=url, options=options), wait_ms=grace_ms)
        except FaultError as error:
            if error.fault.code is not Code.AUTH_SESSION_EXPIRED:
                raise
            await self._visit_by_browser(url, options, error)

    async def _visit_by_browser(self, url: str, options: BrowseOptions, wall: FaultError) -> None:
        page = BrowsePage(url=url, options=replace(options, force_tier=BROWSER))
        try:
            await self.bus.call(subjects.BROWSE, page)
        except FaultError as error:
            absent = error.fault.code in (Code.BROWSER_UNAVAILABLE, Code.CONFIG_TIER_NOT_DEPLOYED)
            raise (wall if absent else error) from None

    async def _saved(self, request: NamedSession) -> SavedSession:
        domain = site_of(request.domain)
        entry = await self._table.get(key_of(request.profile, domain))
        if entry is None or not rules.known(entry.value):
            message = f"No session is saved for {domain} in the profile {request.profile}."
            raise FaultError(fault(Code.AUTH_MISSING_SESSION, message))
        return entry.value

    async def _note(self, of: SavedSession, event: PageBrowsed) -> None:
        """Note what a page shows of a login, whoever else changes it at the same time, unless it was replaced."""
        key = key_of(of.profile, of.domain)
        for _ in range(TRIES):
            entry = await self._table.get(key)
            if entry is None or entry.value is None or entry.value.created != of.created:
                return
            noted = rules.after_browse(entry.value, event, now_ms())
            if noted == entry.value:
                return
            try:
                await self._table.put(key, noted, revision=entry.revision)
            except ValueError:
                continue
            return

    def _unsealed(self, request: SaveSession) -> SessionState:
        if self.bus.seal is None:
            raise FaultError(fault(Code.INTERNAL_ERROR))
        try:
            plain = self.bus.seal.unseal(request.sealed, sealed_for(request.profile, request.domain))
        except UnsealError:
            raise _invalid("state", "state: sealed with another key than that of this Weft") from None
        return _read_state.decode(plain)


def _invalid(field_at_fault: str, message: str) -> FaultError:
    return FaultError(fault(Code.VALIDATION_INVALID_REQUEST, message, field=field_at_fault))
