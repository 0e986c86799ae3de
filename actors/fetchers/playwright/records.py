"""What is written of the browser sessions, for every replica to find."""

from __future__ import annotations

from dataclasses import dataclass

from bus import Bus
from bus.clock import now_ms
from bus.stores import KeyChange, KeyTable
from protocol.browsers.sessions import BrowserInfo, BrowserRecord
from protocol.faults import Code, FaultError, fault
from protocol.subjects import BROWSER_SESSIONS

MAX_LISTED = 500


@dataclass
class Records:
    """The table of the sessions; one that was idle for too long is none."""

    bus: Bus
    idle_ms: int
    _table: KeyTable[BrowserRecord] | None = None

    async def table(self) -> KeyTable[BrowserRecord]:
        """Return the table itself."""
        if self._table is None:
            self._table = await self.bus.table(BROWSER_SESSIONS)
        return self._table

    async def known(self, session: str, caller: str, *, in_use: bool = False) -> KeyChange[BrowserRecord]:
        """Find what was written of a session last; the session of another caller is none.

        Raises:
            FaultError: SESSION_NOT_FOUND.
        """
        found = await (await self.table()).get(session)
        if found is None or found.value is None or found.value.caller != caller:
            raise FaultError(fault(Code.SESSION_NOT_FOUND))
        if self.is_idle(found.value) and not in_use:
            raise FaultError(fault(Code.SESSION_NOT_FOUND))
        return found

    async def begin(self, record: BrowserRecord) -> bool:
        """Write a new session; False where there is one of that name that somebody uses."""
        table = await self.table()
        for _ in range(2):
            try:
                await table.put(record.session, record, revision=0)
            except ValueError:
                found = await table.get(record.session)
                if found is None:  # it was closed: a deleted key has a revision, too, and it is nobody's
                    await table.put(record.session, record)
                    return True
                if found.value is None or not self.is_idle(found.value):
                    return False
                await table.delete(record.session)
            else:
                return True
        return False

    async def write(self, record: BrowserRecord, revision: int) -> int:
        """Write how a session stands, and give the revision.

        Raises:
            ValueError: somebody else has written meanwhile.
        """
        return await (await self.table()).put(record.session, record, revision=revision)

    async def forget(self, session: str) -> None:
        """Delete a session."""
        await (await self.table()).delete(session)

    async def every(self, caller: str | None) -> tuple[BrowserInfo, ...]:
        """List the sessions of a caller, or everybody's."""
        table = await self.table()
        listed = list[BrowserInfo]()
        for name in sorted(await table.names())[:MAX_LISTED]:
            change = await table.get(name)
            record = change.value if change else None
            if record is not None and not self.is_idle(record) and caller in (None, record.caller):
                listed.append(_info(record))
        return tuple(listed)

    def is_idle(self, record: BrowserRecord) -> bool:
        """Whether a session has ended by itself."""
        return now_ms() - record.used > self.idle_ms


def _info(record: BrowserRecord) -> BrowserInfo:
    return BrowserInfo(
        session=record.session,
        replica=record.owner,
        profile=record.profile,
        tabs=len(record.tabs),
        created=record.created,
        used=record.used,
    )
