"""The records of the browser sessions, shared with every replica, and which orders they have begun (idempotency)."""

from __future__ import annotations

from dataclasses import dataclass

from bus import Bus
from bus.clock import now_ms
from bus.stores import KeyChange, KeyTable
from protocol.browsers.operations import (
    Click,
    ExecuteJavascript,
    GoBack,
    GoForward,
    HandleDialog,
    PressKey,
    Refresh,
    ScrollBy,
    SelectOption,
    SetValue,
    TypeText,
    UploadFile,
)
from protocol.browsers.sessions import MAX_ORDERS, AskBrowser, BrowserInfo, BrowserRecord
from protocol.faults import Code, FaultError, fault
from protocol.subjects import BROWSER_SESSIONS

MAX_LISTED = 500

_NOT_IDEMPOTENT = (
    Click,
    TypeText,
    SelectOption,
    SetValue,
    PressKey,
    HandleDialog,
    UploadFile,
    GoBack,
    GoForward,
    Refresh,
    ScrollBy,
    ExecuteJavascript,
)
"""Operations that may change something at the site, so that twice is not the same as once."""

_INTERRUPTED = (
    "The browser, or the way to it, went away in the middle of this: it may have been done, and it may not. It is not "
    "done again by itself."
)


@dataclass
class SessionRecords:
    """The table of the session records; one that was idle for too long does not exist."""

    bus: Bus
    idle_ms: int
    _table: KeyTable[BrowserRecord] | None = None

    async def table(self) -> KeyTable[BrowserRecord]:
        """Open the table at the first call."""
        if self._table is None:
            self._table = await self.bus.table(BROWSER_SESSIONS)
        return self._table

    async def get(self, session_id: str, caller: str, *, in_use: bool = False) -> KeyChange[BrowserRecord]:
        """Return the last record of a session; the session of another caller does not exist.

        Raises:
            FaultError: SESSION_NOT_FOUND.
        """
        change = await (await self.table()).get(session_id)
        if change is None or change.value is None or change.value.caller != caller:
            raise FaultError(fault(Code.SESSION_NOT_FOUND))
        if self.is_idle(change.value) and not in_use:
            raise FaultError(fault(Code.SESSION_NOT_FOUND))
        return change

    async def create(self, record: BrowserRecord) -> bool:
        """Write the record of a new session; False where there is one of that id that is not idle."""
        table = await self.table()
        for _ in range(2):
            try:
                await table.put(record.session, record, revision=0)
            except ValueError:
                change = await table.get(record.session)
                if change is None:  # it was closed: a deleted key has a revision, too, and it is nobody's
                    await table.put(record.session, record)
                    return True
                if change.value is None or not self.is_idle(change.value):
                    return False
                await table.delete(record.session)
            else:
                return True
        return False

    async def write(self, record: BrowserRecord, revision: int) -> int:
        """Write the record of a session, and return its new revision.

        Raises:
            ValueError: another replica has written it since `revision`.
        """
        return await (await self.table()).put(record.session, record, revision=revision)

    async def delete(self, session_id: str) -> None:
        """Delete the record of a session."""
        await (await self.table()).delete(session_id)

    async def listed(self, caller: str | None) -> tuple[BrowserInfo, ...]:
        """List the sessions of a caller, or of everybody."""
        table = await self.table()
        listed = list[BrowserInfo]()
        for name in sorted(await table.names())[:MAX_LISTED]:
            change = await table.get(name)
            record = change.value if change else None
            if record is not None and not self.is_idle(record) and caller in (None, record.caller):
                listed.append(_info(record))
        return tuple(listed)

    def is_idle(self, record: BrowserRecord) -> bool:
        """Whether a session has expired."""
        return now_ms() - record.used > self.idle_ms


def with_order(orders: tuple[str, ...], request: AskBrowser) -> tuple[str, ...] | None:
    """Add the order of a request to those that were begun; None for an operation that may be repeated.

    Raises:
        FaultError: EXECUTION_ERROR where it was begun before.
    """
    if not request.order or not isinstance(request.do, _NOT_IDEMPOTENT):
        return None
    if request.order in orders:
        raise FaultError(fault(Code.EXECUTION_ERROR, _INTERRUPTED))
    return (*orders, request.order)[-MAX_ORDERS:]


def _info(record: BrowserRecord) -> BrowserInfo:
    return BrowserInfo(
        session=record.session,
        replica=record.owner,
        profile=record.profile,
        tabs=len(record.tabs),
        created=record.created,
        used=record.used,
        held_until=record.held_until,
    )
