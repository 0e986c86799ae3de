"""Routes a call to the replica that owns its browser session, and adopts the sessions of replicas that died."""

from __future__ import annotations

import secrets
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio
import structlog
from msgspec.structs import replace

from actors.fetchers.logins import Logins
from actors.fetchers.playwright.browser import Browser
from actors.fetchers.playwright.operations import OperationDependencies
from actors.fetchers.playwright.replica_sessions import MovedError, ReplicaSessions, short
from actors.fetchers.playwright.session_records import SessionRecords
from actors.page_addresses import page_address
from actors.settings import Settings
from actors.sites import site_of
from actors.web import guard
from bus import Bus, NoResponderError
from bus.clock import now_ms
from bus.stores import KeyChange
from protocol.browsers.operations import (
    SESSION_BYTES,
    SESSION_PREFIX,
    CloseSession,
    CreateSession,
    CreateTab,
    ListTabs,
    Navigate,
    Operation,
)
from protocol.browsers.results import Done, Navigated, SessionClosed, SessionCreated
from protocol.browsers.sessions import AskBrowser, BrowserAnswer, BrowserList, BrowserRecord
from protocol.faults import Code, FaultError, fault
from protocol.sessions import origin_of
from protocol.subjects import BROWSER_AT

log = structlog.stdlib.get_logger()

ADOPTED = "browser_session_adopted"
MOVED = "browser_session_moved"

TRIES = 5
_SWEEPS = 10
"""How often within the idle time expired sessions are swept."""


@dataclass(eq=False)
class SessionRouter:
    """The entry of one replica to the browser sessions: its own, and by the bus those of all others."""

    bus: Bus
    browser: Browser
    logins: Logins
    dependencies: OperationDependencies
    settings: Settings
    _records: SessionRecords = field(init=False)
    _local: ReplicaSessions = field(init=False)

    def __post_init__(self) -> None:
        """Create the records and the sessions of this replica; opens nothing."""
        self._records = SessionRecords(self.bus, self.settings.browser_session_idle_ms)
        self._local = ReplicaSessions(self.bus.replica, self._records, self.browser, self.logins, self.dependencies)

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[None]:
        """Sweep expired sessions; at the end those that are open here are left to other replicas, as recorded last."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._sweep)
            try:
                yield
            finally:
                tasks.cancel_scope.cancel()
                with anyio.CancelScope(shield=True):
                    await self._local.drop_all()

    async def perform(self, request: AskBrowser) -> BrowserAnswer:
        """Perform an operation in whichever replica owns its session.

        Raises:
            FaultError: SESSION_NOT_FOUND, VALIDATION_INVALID_REQUEST for what is no address, or what the operation
                failed with.
        """
        request = _addressed(request)
        if isinstance(request.do, CreateSession):
            return BrowserAnswer(done=await self._create(request, request.do))
        session_id = _session_id(request.do)
        try:
            return await self._route(session_id, request)
        except FaultError as error:
            if error.fault.code is not Code.SESSION_NOT_FOUND:
                raise
            if isinstance(request.do, CloseSession):
                return BrowserAnswer(done=SessionClosed(success=True, session_id=session_id))
            if not request.at_need:
                raise
        await self._begin(session_id, request, CreateSession())
        return await self._route(session_id, request)

    async def perform_here(self, request: AskBrowser) -> BrowserAnswer:
        """Perform an operation that another replica has routed here.

        Raises:
            FaultError: INTERNAL_UNAVAILABLE where another replica owns the session by now.
        """
        if isinstance(request.do, CreateSession):
            raise FaultError(fault(Code.VALIDATION_INVALID_PACKET))
        try:
            return BrowserAnswer(done=await self._local.perform(_session_id(request.do), request))
        except MovedError:
            raise FaultError(fault(Code.INTERNAL_UNAVAILABLE)) from None

    async def listed(self, caller: str | None) -> BrowserList:
        """List the sessions of a caller, or of everybody, in all replicas."""
        return BrowserList(sessions=await self._records.listed(caller))

    # -- creation ------------------------------------------------------------------------------------------------------

    async def _create(self, request: AskBrowser, do: CreateSession) -> Done:
        if do.profile is not None and do.url is None:
            message = "url: a login is one of a site, so it takes an address of the site"
            raise FaultError(fault(Code.VALIDATION_INVALID_REQUEST, message, field="url"))
        if do.url is not None:
            guard.check_url(do.url)
        session_id = do.session_id or f"{SESSION_PREFIX}{secrets.token_urlsafe(SESSION_BYTES)}"
        is_new = await self._begin(session_id, request, do)
        if not is_new or do.url is None:
            await self._route(session_id, replace(request, do=ListTabs(session_id=session_id)))
            return SessionCreated(session_id=session_id)
        try:
            navigate = Navigate(session_id=session_id, url=do.url)
            answer = await self._route(session_id, replace(request, do=navigate))
        except FaultError:
            await self._local.end(session_id)
            raise
        page = answer.done.page if isinstance(answer.done, Navigated) else None
        return SessionCreated(session_id=session_id, tab_id=answer.done.tab_id, page=page)

    async def _begin(self, session_id: str, request: AskBrowser, do: CreateSession) -> bool:
        """Write the record of a new session; False where there is one of that id."""
        await self._local.make_room(request.caller)
        now = now_ms()
        loan = await self.logins.lease(do.profile, do.url or "", request.login)
        record = BrowserRecord(
            session=session_id,
            owner=self.bus.replica,
            caller=request.caller,
            profile=do.profile,
            login=site_of(do.url, "url") if do.url and do.profile else "",
            origin=origin_of(do.url) if do.url and do.profile else "",
            access=request.login if do.profile else b"",
            created=now,
            used=now,
        )
        if loan is not None and not do.fresh:
            record = replace(record, state=loan.login.state)
        return await self._records.create(record)

    # -- ownership ----------------------------------------------------------------------------------------------------

    async def _route(self, session_id: str, request: AskBrowser) -> BrowserAnswer:
        """Perform an operation in the owner of the session; a session whose owner is gone is adopted."""
        for _ in range(TRIES):
            change, record = await self._record(session_id, request.caller)
            try:
                if record.owner != self.bus.replica:
                    return await self._forward(record.owner, request)
                return BrowserAnswer(done=await self._local.perform(session_id, request))
            except NoResponderError:
                await self._adopt(change, record)
            except MovedError:
                log.info(MOVED, session=short(session_id))
        raise FaultError(fault(Code.INTERNAL_UNAVAILABLE))

    async def _record(self, session_id: str, caller: str) -> tuple[KeyChange[BrowserRecord], BrowserRecord]:
        change = await self._records.get(session_id, caller, in_use=self._local.is_used(session_id))
        if change.value is None:
            raise FaultError(fault(Code.SESSION_NOT_FOUND))
        return change, change.value

    async def _forward(self, replica: str, request: AskBrowser) -> BrowserAnswer:
        try:
            return await self.bus.call(BROWSER_AT.at(replica=replica), request)
        except NoResponderError:
            raise
        except FaultError as error:
            if error.fault.code is Code.INTERNAL_UNAVAILABLE:
                raise MovedError from None
            raise

    async def _adopt(self, change: KeyChange[BrowserRecord], record: BrowserRecord) -> None:
        """Become the owner of a session, unless another replica is faster.

        Raises:
            FaultError: INTERNAL_BUSY where there is no room for it here.
        """
        await self._local.make_room(record.caller)
        try:
            await self._records.write(replace(record, owner=self.bus.replica), change.revision)
        except ValueError:
            return
        log.info(ADOPTED, session=short(record.session), tabs=len(record.tabs))

    async def _sweep(self) -> None:
        while True:
            await anyio.sleep(self.settings.browser_session_idle_ms / 1000 / _SWEEPS)
            await self._local.sweep()


def _addressed(request: AskBrowser) -> AskBrowser:
    """Return an operation with the address that its client means, where it goes to one."""
    do = request.do
    if isinstance(do, CreateSession | CreateTab | Navigate) and do.url is not None:
        return replace(request, do=replace(do, url=page_address(do.url)))
    return request


def _session_id(do: Operation) -> str:
    """Return the session id of an operation.

    Raises:
        FaultError: VALIDATION_INVALID_REQUEST where none is named.
    """
    if do.session_id is None:
        message = "sessionId: which session is meant?"
        raise FaultError(fault(Code.VALIDATION_INVALID_REQUEST, message, field="sessionId"))
    return do.session_id
