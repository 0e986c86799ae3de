"""The browser sessions of this replica: restores them, performs operations in them, and writes their records."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from weakref import WeakValueDictionary

import anyio
import structlog
from msgspec.structs import replace
from playwright.async_api import Error

from actors.fetchers.logins import Logins
from actors.fetchers.playwright import browser, faults
from actors.fetchers.playwright.browser import Browser
from actors.fetchers.playwright.open_session import OpenSession, restore_session
from actors.fetchers.playwright.operations import OperationDependencies, perform
from actors.fetchers.playwright.operations.watching import check_held
from actors.fetchers.playwright.session_records import SessionRecords, with_order
from bus import TransportError
from bus.clock import now_ms
from protocol.browsers.operations import SESSION_PREFIX, CloseSession, CreateTab
from protocol.browsers.results import Done, SessionClosed
from protocol.browsers.sessions import AskBrowser, BrowserRecord
from protocol.browsers.watching import ShowWindow
from protocol.faults import Code, FaultError, fault

log = structlog.stdlib.get_logger()

ENDED = "browser_session_ended"
NOT_KEPT = "browser_session_not_kept"

SET_ASIDE = "browser_session_set_aside"

CLOSE_S = 5.0
"""How long a session that was set aside may take to close."""

WRITE_S = 5.0
"""How long the record of a session may take to write, also after an operation that was cancelled."""


class MovedError(Exception):
    """The session is owned by another replica by now, or is to be restored here."""


@dataclass(eq=False)
class ReplicaSessions:
    """The sessions that are open in this replica; operations in one tab are serialized, tabs run concurrently."""

    replica: str
    records: SessionRecords
    browser: Browser
    logins: Logins
    dependencies: OperationDependencies
    _open: dict[str, OpenSession] = field(default_factory=dict[str, OpenSession])
    _restoring: int = 0
    _locks: WeakValueDictionary[str, anyio.Lock] = field(default_factory=WeakValueDictionary[str, anyio.Lock])

    def is_used(self, session_id: str) -> bool:
        """Whether an operation is in flight in a session."""
        session = self._open.get(session_id)
        return session is not None and session.users > 0

    async def perform(self, session_id: str, request: AskBrowser) -> Done:
        """Perform an operation in a session.

        Raises:
            FaultError: SESSION_NOT_FOUND, or what the operation failed with.
            MovedError: its owner is to be looked up again.
        """
        if isinstance(request.do, CloseSession):
            return await self._close(session_id, request)
        async with self._lock(session_id):
            session = await self._restored(session_id, request.caller)
            if isinstance(request.do, CreateTab):
                await self.make_room(request.caller)
            check_held(session.record, request, now_ms())
            await self._write_order(session, request)
            session.users += 1
        try:
            return replace(await self._perform(session, request), session_id=session_id)
        finally:
            session.users -= 1
            if not isinstance(request.do, ShowWindow):
                await self._write(session)

    async def end(self, session_id: str) -> None:
        """End a session."""
        await self.records.delete(session_id)
        await self.drop(session_id)
        log.info(ENDED, session=short(session_id))

    async def drop(self, session_id: str) -> None:
        """Close a session here; it can be restored from its last record."""
        session = self._open.pop(session_id, None)
        if session is not None:
            await session.drop()

    async def make_room(self, caller: str) -> None:
        """See to it that there is room for one more tab of a caller.

        Where the browser is full, somebody who has more of it gives a place back: the session that was used least
        recently is closed, and restored from its record when it is used again.

        Raises:
            FaultError: INTERNAL_BUSY, where nobody else has more.
        """
        with anyio.move_on_after(CLOSE_S):
            while True:
                while max(self.browser.staying_tabs, len(self._open) + self._restoring) >= browser.MAX_TABS:
                    if not await self._set_aside(caller):
                        raise FaultError(faults.no_room("The browser has as many tabs open as it may have."))
                if self.browser.tabs < browser.MAX_TABS:
                    return
                await anyio.sleep(0.01)

    async def _set_aside(self, caller: str) -> bool:
        tabs = Counter[str]()
        for session in self._open.values():
            tabs[session.record.caller] += max(len(session.record.tabs), 1)
        idle = [
            (-tabs[session.record.caller], session.record.used, session_id)
            for session_id, session in self._open.items()
            if not session.users
            and session.record.held_until <= now_ms()
            and not self._lock(session_id).locked()
            and tabs[session.record.caller] > tabs[caller] + 1
        ]
        if not idle:
            return False
        _, _, session_id = min(idle)
        log.info(SET_ASIDE, session=short(session_id))
        async with self._lock(session_id):
            await self.drop(session_id)
        return True

    async def drop_all(self) -> None:
        """Close all of them here."""
        for session_id in list(self._open):
            await self.drop(session_id)

    async def sweep(self) -> None:
        """End the sessions that have expired, and close those that another replica owns by now."""
        for session_id, session in list(self._open.items()):
            if session.users:
                continue
            lock = self._lock(session_id)
            if not lock.locked():
                async with lock:
                    await self._check(session_id, session)

    async def _close(self, session_id: str, request: AskBrowser) -> Done:
        async with self._lock(session_id):
            change = await self.records.get(session_id, request.caller)
            if change.value is not None:
                check_held(change.value, request, now_ms())
            await self.end(session_id)
        return SessionClosed(session_id=session_id, success=True)

    async def _perform(self, session: OpenSession, request: AskBrowser) -> Done:
        """Perform an operation; a session whose browser is gone is dropped, to be restored in a fresh one."""
        session_id = session.record.session
        try:
            return await perform(self.dependencies, session, request)
        except (Error, FaultError) as error:
            if self._open.get(session_id) is not session:
                raise MovedError from None  # its context was closed under it
            failure = error if isinstance(error, FaultError) else FaultError(fault(Code.PAGE_CRASHED))
            if failure.fault.code is Code.PAGE_CRASHED and not await session.responds():
                await self.drop(session_id)
            raise failure from error

    async def _restored(self, session_id: str, caller: str) -> OpenSession:
        """Return a session at its last revision, restored where it is not open here."""
        session = self._open.get(session_id)
        change = await self.records.get(session_id, caller, in_use=self.is_used(session_id))
        record = change.value
        assert record is not None  # noqa: S101 - as `get` promises
        ours = record.owner == self.replica
        if session is not None and not (ours and session.revision == change.revision and session.is_alive):
            await self.drop(session_id)
            session = None
        if not ours:
            raise MovedError
        if session is None:
            session = await self._restore(record, change.revision)
        return session

    async def _restore(self, record: BrowserRecord, revision: int) -> OpenSession:
        """Open a session as it was recorded."""
        await self.make_room(record.caller)
        self._restoring += 1
        try:
            address = record.origin or f"https://{f'[{record.login}]' if ':' in record.login else record.login}/"
            loan = await self.logins.lease(record.profile, address, record.access)
            save_download = partial(self.dependencies.save_download, record.caller)
            session = await restore_session(self.browser, record, revision, loan, save_download)
            self._open[record.session] = session
        finally:
            self._restoring -= 1
        return session

    async def _write_order(self, session: OpenSession, request: AskBrowser) -> None:
        """Record that an operation is begun which must not be repeated.

        Raises:
            FaultError: EXECUTION_ERROR where it was begun before.
            MovedError: another replica has written the record meanwhile.
        """
        orders = with_order(session.record.doing, request)
        if orders is None:
            return
        with anyio.CancelScope(shield=True):
            try:
                with anyio.fail_after(WRITE_S):
                    record = replace(session.record, doing=orders)
                    session.revision = await self.records.write(record, session.revision)
            except ValueError:
                await self.drop(session.record.session)
                raise MovedError from None
            except TimeoutError:
                raise FaultError(fault(Code.INTERNAL_DISCONNECTED)) from None
        session.record = replace(session.record, doing=orders)  # which a page may have changed meanwhile

    async def _write(self, session: OpenSession) -> None:
        """Write the record after an operation; a session that cannot be written is restored from the record before."""
        session_id = session.record.session
        session.performed += 1
        mine = session.performed
        with anyio.CancelScope(shield=True):
            async with self._lock(session_id):
                if self._open.get(session_id) is not session or session.written >= mine:
                    return  # gone, or written after a later operation
                try:
                    with anyio.fail_after(WRITE_S):
                        session.written = session.performed
                        session.revision = await self.records.write(await session.snapshot(), session.revision)
                        if session.loan is not None:
                            await self.logins.keep(session.loan)
                except ValueError:
                    await self.drop(session_id)
                    raise MovedError from None
                except (TransportError, TimeoutError) as error:
                    log.warning(NOT_KEPT, session=short(session_id), reason=type(error).__name__)
                    await self.drop(session_id)

    async def _check(self, session_id: str, session: OpenSession) -> None:
        try:
            change = await self.records.get(session_id, session.record.caller)
        except TransportError:
            return
        except FaultError:
            await self.end(session_id)
            return
        if change.value is not None and change.value.owner != self.replica:
            await self.drop(session_id)

    def _lock(self, session_id: str) -> anyio.Lock:
        lock = self._locks.get(session_id)
        if lock is None:
            lock = self._locks[session_id] = anyio.Lock()
        return lock


def short(session_id: str) -> str:
    """Abbreviate a session id for the log, which must not give it away."""
    return session_id[: len(SESSION_PREFIX) + 6]
