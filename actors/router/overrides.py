"""The overrides of all routers: shared over the bus, read from a local table, so that no decision waits for it."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

import anyio
import structlog

from actors.router.table import OverrideTable
from bus import Tables, follow
from protocol.faults import FaultError
from protocol.routes import Override, override_key
from protocol.subjects import ROUTE_OVERRIDES

log = structlog.stdlib.get_logger()

NOT_WATCHED: Final = "route_overrides_not_watched"


@dataclass
class SharedOverrides:
    """The rows of ROUTE_OVERRIDES; `table` is another value after each change."""

    bus: Tables
    table: OverrideTable = field(default_factory=OverrideTable, init=False)
    _rows: dict[str, tuple[Override | None, int]] = field(
        default_factory=dict[str, tuple[Override | None, int]], init=False
    )

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[SharedOverrides]:
        """Read what there is, and follow what changes while the block lasts."""
        bucket = await self.bus.table(ROUTE_OVERRIDES)
        for key in await bucket.names():
            try:
                row = await bucket.get(key)
            except FaultError as error:
                log.warning(NOT_WATCHED, code=error.fault.code)
                continue
            if row is not None:
                self._update(key, row.value, row.revision)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(follow, self.bus, ROUTE_OVERRIDES, self._update, NOT_WATCHED)
            yield self
            tasks.cancel_scope.cancel()

    async def set(self, row: Override) -> None:
        """Set a row; it counts here at once, and elsewhere when the bus has told it."""
        revision = await (await self.bus.table(ROUTE_OVERRIDES)).put(row.key, row)
        self._update(row.key, row, revision)

    async def unset(self, pattern: str) -> None:
        """Remove the row of a pattern, and what is being tested beside it."""
        bucket = await self.bus.table(ROUTE_OVERRIDES)
        base = override_key(pattern)
        for key in {base, f"{base}.test"} & set(await bucket.names()):
            await bucket.delete(key)
            self._update(key, None, self._rows.get(key, (None, 0))[1])

    def _update(self, key: str, value: Override | None, revision: int) -> None:
        if revision < self._rows.get(key, (None, 0))[1]:
            return
        self._rows[key] = (value, revision)
        self.table = OverrideTable.of(row for row, _ in self._rows.values() if row is not None)
