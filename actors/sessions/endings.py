"""The end of keys: what belongs to one goes with it, and what was passed on in its name is no longer good."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

import anyio
import structlog

from actors.sessions.vault import LoginVault
from bus import Tables, follow
from bus.stores import KeyTable
from protocol.access import KeyEnd, is_key_caller
from protocol.faults import Code, FaultError, fault
from protocol.subjects import KEY_ENDS

log = structlog.stdlib.get_logger()

LOGINS_ENDED = "logins_of_ended_keys_deleted"
LOGINS_NOT_ENDED = "logins_of_ended_keys_not_deleted"
ENDS_NOT_READ = "ends_of_keys_not_read"

SWEEP_S: Final = 30.0
"""How often is looked whether the time of a key is over that ends by itself, and how soon is tried again."""


@dataclass
class EndedKeys:
    """The keys that end or have ended, as the gateway says; each replica does the same, which does no harm."""

    tables: Tables
    table: KeyTable[KeyEnd]
    vault: LoginVault
    clock: Callable[[], int]
    _ends: dict[str, int] = field(default_factory=dict[str, int], init=False, repr=False)
    """When the keys end whose logins are still there, by caller."""
    _changed: anyio.Event = field(default_factory=anyio.Event, init=False, repr=False)

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[None]:
        """Delete the logins of keys that end while the block lasts, and of those that ended before."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(follow, self.tables, KEY_ENDS, self._update, ENDS_NOT_READ)
            tasks.start_soon(self._sweep)
            yield
            tasks.cancel_scope.cancel()

    async def check(self, caller: str) -> None:
        """Refuse a caller whose key has ended.

        Raises:
            FaultError: AUTH_MISSING_SESSION.
        """
        entry = await self.table.get(caller) if is_key_caller(caller) else None
        if entry is not None and entry.value is not None and entry.value.at <= self.clock():
            raise FaultError(fault(Code.AUTH_MISSING_SESSION, "The key that this was asked with is no longer good."))

    def _update(self, caller: str, end: KeyEnd | None, _revision: int) -> None:
        if end is not None:
            self._ends[caller] = end.at
            self._changed.set()

    async def _sweep(self) -> None:
        while True:
            self._changed = anyio.Event()
            ended = {caller for caller, at in self._ends.items() if at <= self.clock()}
            try:
                if ended:
                    count = await self.vault.end(ended)
                    log.info(LOGINS_ENDED, keys=len(ended), logins=count)
                    self._ends = {caller: at for caller, at in self._ends.items() if caller not in ended}
            except FaultError as error:
                log.warning(LOGINS_NOT_ENDED, code=error.fault.code)
            with anyio.move_on_after(SWEEP_S):
                await self._changed.wait()
