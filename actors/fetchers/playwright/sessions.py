"""Browser sessions of all replicas: each lives in one, is found from any, and goes on elsewhere when its own dies."""

from __future__ import annotations

import secrets
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Protocol

import anyio
import structlog
from msgspec.structs import replace

from actors.fetchers.playwright import faults
from actors.fetchers.playwright.browser import MAX_TABS, Browser
from actors.fetchers.playwright.here import Here, MovedError, short
from actors.fetchers.playwright.operations import Means
from actors.fetchers.playwright.records import Records
from actors.fetchers.sessions import Sessions
from actors.fetchers.web import guard
from actors.sites import site_of
from bus import Bus, NoResponderError
from bus.clock import now_ms
from bus.stores import KeyChange
from protocol.browsers.operations import (
    SESSION_BYTES,
    SESSION_PREFIX,
    CloseSession,
    CreateSession,
    ListTabs,
    Navigate,
    Operation,
)
from protocol.browsers.results import Done, Navigated, SessionClosed, SessionCreated
from protocol.browsers.sessions import AskBrowser, BrowserAnswer, BrowserList, BrowserRecord
from protocol.faults import Code, FaultError, fault
from protocol.subjects import BROWSER_AT

log = structlog.stdlib.get_logger()

ADOPTED = "browser_session_adopted"
MOVED = "browser_session_moved"

TRIES = 5
_ROUNDS = 10
"""How often within the idle time it is looked which sessions are idle."""


class SessionSettings(Protocol):
    """What is read of the settings."""

    @property
    def browser_session_idle_ms(self) -> int:
        """How long a session lives without a call."""
        ...


@dataclass(eq=False)
class BrowserSessions:
    """The browser sessions as one replica has them: those that live here, and the way to all others."""

    bus: Bus
    browser: Browser
    logins: Sessions
    means: Means
    settings: SessionSettings
    _records: Records = field(init=False)
    _here: Here = field(init=False)

    def __post_init__(self) -> None:
        """Keep the sessions that live here apart from the way to them."""
        self._records = Records(self.bus, self.settings.browser_session_idle_ms)
        self._here = Here(self.bus.replica, self._records, self.browser, self.logins, self.means)

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[None]:
        """Look after the sessions that live here; at the end they stay as they were noted last, for other replicas."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._look_after)
            try:
                yield
            finally:
                tasks.cancel_scope.cancel()
                with anyio.CancelScope(shield=True):
                    await self._here.drop_all()

    async def ask(self, asked: AskBrowser) -> BrowserAnswer:
        """Do what is asked, here or wherever the session lives.

        Raises:
            FaultError: SESSION_NOT_FOUND, or what the operation failed with.
        """
        if isinstance(asked.do, CreateSession):
            return BrowserAnswer(done=await self._create(asked, asked.do))
        session = _session(asked.do)
        try:
            return await self._anywhere(session, asked)
        except FaultError as error:
            if error.fault.code is not Code.SESSION_NOT_FOUND:
                raise
            if isinstance(asked.do, CloseSession):
                return BrowserAnswer(done=SessionClosed(success=True, session_id=session))
            if not asked.at_need:
                raise
        await self._begin(session, asked.caller, CreateSession())
        return await self._anywhere(session, asked)

    async def at(self, asked: AskBrowser) -> BrowserAnswer:
        """Do what another replica was asked, in a session that lives here.

        Raises:
            FaultError: INTERNAL_UNAVAILABLE where it lives elsewhere by now.
        """
        if isinstance(asked.do, CreateSession):
            raise FaultError(fault(Code.VALIDATION_INVALID_PACKET))
        try:
            return BrowserAnswer(done=await self._here.do(_session(asked.do), asked))
        except MovedError:
            raise FaultError(fault(Code.INTERNAL_UNAVAILABLE)) from None

    async def every(self, caller: str | None) -> BrowserList:
        """List the sessions of a caller, or everybody's."""
        return BrowserList(sessions=await self._records.every(caller))

    # -- opening one ---------------------------------------------------------------------------------------------------

    async def _create(self, asked: AskBrowser, do: CreateSession) -> Done:
        if do.profile is not None and do.url is None:
            message = "url: a login is one of a site, so it takes an address of the site"
            raise FaultError(fault(Code.VALIDATION_INVALID_REQUEST, message, field="url"))
        if do.url is not None:
            guard.check_url(do.url)
        session = do.session_id or f"{SESSION_PREFIX}{secrets.token_urlsafe(SESSION_BYTES)}"
        is_new = await self._begin(session, asked.caller, do)
        if not is_new or do.url is None:
            await self._anywhere(session, replace(asked, do=ListTabs(session_id=session)))
            return SessionCreated(session_id=session)
        try:
            went = await self._anywhere(session, replace(asked, do=Navigate(session_id=session, url=do.url)))
        except FaultError:
            await self._here.end(session)
            raise
        page = went.done.page if isinstance(went.done, Navigated) else None
        return SessionCreated(session_id=session, tab_id=went.done.tab_id, page=page)

    async def _begin(self, session: str, caller: str, do: CreateSession) -> bool:
        """Note a new session; False where there is one of that name."""
        self._make_sure_of_room()
        now = now_ms()
        loan = await self.logins.lend(do.profile, do.url or "")
        record = BrowserRecord(
            session=session,
            owner=self.bus.replica,
            caller=caller,
            profile=do.profile,
            login=site_of(do.url, "url") if do.url and do.profile else "",
            created=now,
            used=now,
        )
        if loan is not None and not do.fresh:
            record = replace(record, state=loan.session.state)
        return await self._records.begin(record)

    # -- where a session lives -----------------------------------------------------------------------------------------

    async def _anywhere(self, session: str, asked: AskBrowser) -> BrowserAnswer:
        """Do something where the session lives; one whose replica is gone lives here from now on."""
        for _ in range(TRIES):
            found, record = await self._known(session, asked.caller)
            try:
                if record.owner != self.bus.replica:
                    return await self._there(record.owner, asked)
                return BrowserAnswer(done=await self._here.do(session, asked))
            except NoResponderError:
                await self._adopt(found, record)
            except MovedError:
                log.info(MOVED, session=short(session))
        raise FaultError(fault(Code.INTERNAL_UNAVAILABLE))

    async def _known(self, session: str, caller: str) -> tuple[KeyChange[BrowserRecord], BrowserRecord]:
        found = await self._records.known(session, caller, in_use=self._here.uses(session))
        if found.value is None:
            raise FaultError(fault(Code.SESSION_NOT_FOUND))
        return found, found.value

    async def _there(self, replica: str, asked: AskBrowser) -> BrowserAnswer:
        try:
            return await self.bus.call(BROWSER_AT.at(replica=replica), asked)
        except NoResponderError:
            raise
        except FaultError as error:
            if error.fault.code is Code.INTERNAL_UNAVAILABLE:
                raise MovedError from None
            raise

    async def _adopt(self, found: KeyChange[BrowserRecord], record: BrowserRecord) -> None:
        """Take over a session, unless somebody else is faster.

        Raises:
            FaultError: INTERNAL_BUSY where there is no room for it here.
        """
        self._make_sure_of_room()
        try:
            await self._records.write(replace(record, owner=self.bus.replica), found.revision)
        except ValueError:
            return
        log.info(ADOPTED, session=short(record.session), tabs=len(record.tabs))

    def _make_sure_of_room(self) -> None:
        if max(self.browser.tabs, len(self._here)) >= MAX_TABS:
            raise FaultError(faults.no_room("The browser has as many tabs open as it may have."))

    async def _look_after(self) -> None:
        while True:
            await anyio.sleep(self.settings.browser_session_idle_ms / 1000 / _ROUNDS)
            await self._here.look_after()


def _session(do: Operation) -> str:
    """Tell the session that is meant.

    Raises:
        FaultError: VALIDATION_INVALID_REQUEST where none is named.
    """
    if do.session_id is None:
        message = "sessionId: which session is meant?"
        raise FaultError(fault(Code.VALIDATION_INVALID_REQUEST, message, field="sessionId"))
    return do.session_id
