"""Browser sessions of all replicas: each lives in one, is found from any, and goes on elsewhere when its own dies."""

from __future__ import annotations

import secrets
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Protocol
from weakref import WeakValueDictionary

import anyio
import structlog
from msgspec.structs import replace
from playwright.async_api import Error

from actors.fetchers.playwright.browser import MAX_TABS, Browser
from actors.fetchers.playwright.fetching import Fetching
from actors.fetchers.playwright.held import Held, hold, now_ms
from actors.fetchers.playwright.operations import OPERATIONS
from actors.fetchers.sessions import Sessions
from actors.fetchers.web import guard
from actors.sites import site_of
from bus import Bus, NoResponderError, TransportError
from bus.table import Change, Table
from protocol.browsers.done import SessionClosed, SessionCreated
from protocol.browsers.operations import (
    SESSION_BYTES,
    SESSION_PREFIX,
    CloseSession,
    CreateSession,
    ListTabs,
    Navigate,
    Operation,
)
from protocol.browsers.sessions import AskBrowser, BrowserAnswer, BrowserInfo, BrowserList, BrowserRecord
from protocol.faults import Code, FaultError, fault
from protocol.subjects import BROWSER_AT, BROWSER_SESSIONS

log = structlog.stdlib.get_logger()

ADOPTED = "browser_session_adopted"
MOVED = "browser_session_moved"
ENDED = "browser_session_ended"
NOT_KEPT = "browser_session_not_kept"

TRIES = 5
KEEP_S = 5.0
"""How long it may take to note how a session stands, also after an operation that was cut off."""

MAX_LISTED = 500
_ROUNDS = 10
"""How often within the idle time it is looked which sessions are idle."""


class SessionSettings(Protocol):
    """What is read of the settings."""

    @property
    def browser_session_idle_ms(self) -> int:
        """How long a session lives without a call."""
        ...


class _MovedError(Exception):
    """The session lives in another replica by now."""


@dataclass(eq=False)
class BrowserSessions:
    """The browser sessions as one replica has them: those that live here, and the way to all others."""

    bus: Bus
    browser: Browser
    logins: Sessions
    fetching: Fetching
    settings: SessionSettings
    _table: Table[BrowserRecord] | None = None
    _held: dict[str, Held] = field(default_factory=dict[str, Held])
    _locks: WeakValueDictionary[str, anyio.Lock] = field(default_factory=WeakValueDictionary[str, anyio.Lock])

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
                    for session in list(self._held):
                        await self._drop(session)

    async def ask(self, asked: AskBrowser) -> BrowserAnswer:
        """Do what is asked, here or wherever the session lives.

        Raises:
            FaultError: SESSION_NOT_FOUND, or what the operation failed with.
        """
        if isinstance(asked.do, CreateSession):
            return await self._create(asked, asked.do)
        try:
            return await self._anywhere(asked)
        except FaultError as error:
            if error.fault.code is not Code.SESSION_NOT_FOUND:
                raise
            if isinstance(asked.do, CloseSession):
                return BrowserAnswer(done=SessionClosed(success=True, session_id=_session(asked.do)))
            if not asked.at_need:
                raise
            await self._begin(_session(asked.do), asked.caller, CreateSession())
            return await self._anywhere(asked)

    async def at(self, asked: AskBrowser) -> BrowserAnswer:
        """Do what another replica was asked, in a session that lives here.

        Raises:
            FaultError: INTERNAL_UNAVAILABLE where it lives elsewhere by now.
        """
        if isinstance(asked.do, CreateSession):
            raise FaultError(fault(Code.VALIDATION_INVALID_PACKET))
        try:
            return await self._here(asked)
        except _MovedError:
            raise FaultError(fault(Code.INTERNAL_UNAVAILABLE)) from None

    async def every(self, caller: str | None) -> BrowserList:
        """List the sessions of a caller, or everybody's."""
        found = list[BrowserInfo]()
        for name in sorted(await (await self._records()).names())[:MAX_LISTED]:
            change = await (await self._records()).get(name)
            if change is None or change.value is None or self._is_idle(change.value):
                continue
            if caller is None or change.value.caller == caller:
                found.append(_info(change.value))
        return BrowserList(sessions=tuple(found))

    async def _create(self, asked: AskBrowser, do: CreateSession) -> BrowserAnswer:
        if do.profile is not None and do.url is None:
            message = "url: a login is one of a site, so it takes an address of the site"
            raise FaultError(fault(Code.VALIDATION_INVALID_REQUEST, message, field="url"))
        if do.url is not None:
            guard.check_url(do.url)
        session = do.session_id or f"{SESSION_PREFIX}{secrets.token_urlsafe(SESSION_BYTES)}"
        is_new = await self._begin(session, asked.caller, do)
        if not is_new or do.url is None:
            await self._anywhere(replace(asked, do=ListTabs(session_id=session)))
            return BrowserAnswer(done=SessionCreated(session_id=session))
        try:
            went = await self._anywhere(replace(asked, do=Navigate(session_id=session, url=do.url)))
        except FaultError:
            await self._end(session)
            raise
        return BrowserAnswer(
            done=SessionCreated(session_id=session, tab_id=went.done.tab_id, page=getattr(went.done, "page", None))
        )

    async def _begin(self, session: str, caller: str, do: CreateSession) -> bool:
        """Note a new session; False where there is one of that name."""
        self._make_sure_of_room()
        now = now_ms()
        login = site_of(do.url, "url") if do.url and do.profile else ""
        loan = await self.logins.lend(do.profile, do.url or "")
        record = BrowserRecord(
            session=session,
            owner=self.bus.replica,
            caller=caller,
            profile=do.profile,
            login=login,
            created=now,
            used=now,
        )
        if loan is not None:
            record = replace(record, state=loan.session.state)
        try:
            await (await self._records()).put(session, record, revision=0)
        except ValueError:
            return False
        return True

    # -- where a session lives -----------------------------------------------------------------------------------------

    async def _anywhere(self, asked: AskBrowser) -> BrowserAnswer:
        """Do something where the session lives; one whose replica is gone lives here from now on."""
        session = _session(asked.do)
        for _ in range(TRIES):
            found, record = await self._known(session, asked.caller)
            try:
                if record.owner != self.bus.replica:
                    return await self._there(record.owner, asked)
                return await self._here(asked)
            except NoResponderError:
                await self._adopt(found, record)
            except _MovedError:
                log.info(MOVED, session=_short(session))
        raise FaultError(fault(Code.INTERNAL_UNAVAILABLE))

    async def _there(self, replica: str, asked: AskBrowser) -> BrowserAnswer:
        try:
            return await self.bus.call(BROWSER_AT.at(replica=replica), asked)
        except NoResponderError:
            raise
        except FaultError as error:
            if error.fault.code is Code.INTERNAL_UNAVAILABLE:
                raise _MovedError from None
            raise

    async def _adopt(self, found: Change[BrowserRecord], record: BrowserRecord) -> None:
        """Take over a session, unless somebody else is faster.

        Raises:
            FaultError: INTERNAL_BUSY where there is no room for it here.
        """
        self._make_sure_of_room()
        try:
            await (await self._records()).put(
                found.key, replace(record, owner=self.bus.replica), revision=found.revision
            )
        except ValueError:
            return
        log.info(ADOPTED, session=_short(record.session), tabs=len(record.tabs))

    def _make_sure_of_room(self) -> None:
        if max(self.browser.tabs, len(self._held)) >= MAX_TABS:
            raise FaultError(fault(Code.INTERNAL_BUSY, "The browser has as many tabs open as it may have."))

    async def _known(self, session: str, caller: str) -> tuple[Change[BrowserRecord], BrowserRecord]:
        """Find what was written of a session last; the session of another caller is none.

        Raises:
            FaultError: SESSION_NOT_FOUND, also where it was idle for too long.
        """
        found = await (await self._records()).get(session)
        if found is not None and found.value is not None and found.value.caller == caller:
            if not self._is_idle(found.value):
                return found, found.value
            await self._end(session)
        raise FaultError(fault(Code.SESSION_NOT_FOUND))

    def _is_idle(self, record: BrowserRecord) -> bool:
        return now_ms() - record.used > self.settings.browser_session_idle_ms

    # -- sessions that live here ---------------------------------------------------------------------------------------

    async def _here(self, asked: AskBrowser) -> BrowserAnswer:
        """Do something in a session that lives here, after whatever else is being done in it."""
        session = _session(asked.do)
        async with self._lock(session):
            if isinstance(asked.do, CloseSession):
                await self._known(session, asked.caller)
                await self._end(session)
                return BrowserAnswer(done=SessionClosed(session_id=session, success=True))
            held = await self._restored(session, asked.caller)
            try:
                return await self._done(held, asked)
            finally:
                await self._keep(held)

    async def _done(self, held: Held, asked: AskBrowser) -> BrowserAnswer:
        """Do something; a session whose browser is gone goes on in a fresh one, from what was written last."""
        session = held.record.session
        try:
            done = await OPERATIONS[type(asked.do)](self.fetching, held, asked.do)
        except Error as error:
            await self._drop(session)
            raise FaultError(fault(Code.PAGE_CRASHED)) from error
        except FaultError as error:
            if error.fault.code is Code.PAGE_CRASHED:
                await self._drop(session)
            raise
        return BrowserAnswer(done=replace(done, session_id=session))

    async def _restored(self, session: str, caller: str) -> Held:
        """Give a session as it was written last, in a context of the browser here."""
        found, record = await self._known(session, caller)
        held = self._held.get(session)
        ours = record.owner == self.bus.replica
        if held is not None and not (ours and held.revision == found.revision and held.lives):
            await self._drop(session)
            held = None
        if not ours:
            raise _MovedError
        if held is None:
            address = f"https://{f'[{record.login}]' if ':' in record.login else record.login}/"
            loan = await self.logins.lend(record.profile, address)
            held = self._held[session] = await hold(self.browser, record, found.revision, loan)
        return held

    async def _keep(self, held: Held) -> None:
        """Write how a session stands; one that cannot be written is restored from what was written before."""
        session = held.record.session
        if self._held.get(session) is not held:
            return
        try:
            with anyio.fail_after(KEEP_S, shield=True):
                held.revision = await (await self._records()).put(session, await held.look(), revision=held.revision)
                if held.loan is not None:
                    await self.logins.keep(held.loan)
        except ValueError:
            await self._drop(session)
            raise _MovedError from None
        except (Error, TransportError, TimeoutError) as error:
            log.warning(NOT_KEPT, session=_short(session), reason=type(error).__name__)
            await self._drop(session)

    async def _end(self, session: str) -> None:
        await (await self._records()).delete(session)
        await self._drop(session)
        log.info(ENDED, session=_short(session))

    async def _drop(self, session: str) -> None:
        held = self._held.pop(session, None)
        if held is not None:
            await held.drop()

    async def _look_after(self) -> None:
        """End what nobody uses, and let go of what lives elsewhere by now."""
        while True:
            await anyio.sleep(self.settings.browser_session_idle_ms / 1000 / _ROUNDS)
            for session in list(self._held):
                lock = self._lock(session)
                if lock.locked():
                    continue
                async with lock:
                    await self._checked(session)

    async def _checked(self, session: str) -> None:
        try:
            _, record = await self._known(session, self._held[session].record.caller)
        except TransportError:
            return
        except FaultError:
            await self._drop(session)
            return
        if record.owner != self.bus.replica:
            await self._drop(session)

    async def _records(self) -> Table[BrowserRecord]:
        if self._table is None:
            self._table = await self.bus.table(BROWSER_SESSIONS)
        return self._table

    def _lock(self, session: str) -> anyio.Lock:
        lock = self._locks.get(session)
        if lock is None:
            lock = self._locks[session] = anyio.Lock()
        return lock


def _info(record: BrowserRecord) -> BrowserInfo:
    return BrowserInfo(
        session=record.session,
        replica=record.owner,
        profile=record.profile,
        tabs=len(record.tabs),
        created=record.created,
        used=record.used,
    )


def _short(session: str) -> str:
    """Name a session in the log without giving it away."""
    return session[: len(SESSION_PREFIX) + 6]


def _session(do: Operation) -> str:
    """Tell the session that is meant.

    Raises:
        FaultError: VALIDATION_INVALID_REQUEST where none is named.
    """
    if do.session_id is None:
        message = "sessionId: which session is meant?"
        raise FaultError(fault(Code.VALIDATION_INVALID_REQUEST, message, field="sessionId"))
    return do.session_id
