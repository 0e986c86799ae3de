"""The rows of ROUTE_OVERRIDES that are learned: written where they are not as they should be, those of people never."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

import anyio
import structlog

from actors.learner.call_evidence import ToolEvidence
from actors.learner.economic import ModelChoice
from bus import Tables, follow
from bus.stores import KeyTable
from protocol.routes import Override, override_key
from protocol.routing import PatternTable
from protocol.subjects import ROUTE_OVERRIDES

log = structlog.stdlib.get_logger()

NOT_WATCHED: Final = "route_overrides_not_watched"


@dataclass
class LearnedOverrides:
    """The rows as they stand, each with its revision, and those that were last learned."""

    tables: Tables
    table: KeyTable[Override]
    _rows: dict[str, tuple[Override | None, int]] = field(
        default_factory=dict[str, tuple[Override | None, int]], init=False
    )
    _seen: dict[str, Override] = field(default_factory=dict[str, Override], init=False)

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[LearnedOverrides]:
        """Read what there is, and follow what changes while the block lasts."""
        for key in await self.table.names():
            if (entry := await self.table.get(key)) is not None:
                self._update(key, entry.value, entry.revision)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(follow, self.tables, ROUTE_OVERRIDES, self._update, NOT_WATCHED)
            yield self
            tasks.cancel_scope.cancel()

    def manual(self) -> PatternTable[Override]:
        """Return what people have set."""
        return PatternTable[Override].of(row for row, _ in self._rows.values() if row is not None and row.manual)

    def withdrawn(self, tool: str, known: ToolEvidence) -> bool:
        """Whether somebody has removed a row of a tool that is still meant to stand."""
        return any(
            self._seen.get(row.key) == row and self._rows.get(row.key, (row, 0))[0] is None
            for row in learned_rows(tool, known)
        )

    async def write(self, tools: Mapping[str, ToolEvidence], choices: Mapping[str, ModelChoice]) -> None:
        """Write the rows of tools as they were learned and drawn, and remove those that no longer hold.

        Of a tool that nothing was ever learned of, only a model that was drawn stands or falls.
        """
        for tool, known in tools.items():
            wanted = {row.key: row for row in (*_drawn_rows(tool, known, choices), *learned_rows(tool, known))}
            base = override_key(tool)
            if known.home is not None:
                await self._write(base, wanted.get(base))
            await self._write(f"{base}.test", wanted.get(f"{base}.test"))

    async def _write(self, key: str, wanted: Override | None) -> None:
        """Write or remove one row, if nobody has changed it meanwhile: then it is for the next look."""
        row, revision = self._rows.get(key, (None, 0))
        if row == wanted or (row is not None and row.manual):
            return
        if not revision:
            revision = await self.table.revision(key)  # it may have been removed before this replica began
        try:
            if wanted is None:
                await self.table.delete(key, revision=revision)
            else:
                self._update(key, wanted, await self.table.put(key, wanted, revision=revision))
        except ValueError:
            return

    def _update(self, key: str, value: Override | None, revision: int) -> None:
        if revision < self._rows.get(key, (None, 0))[1]:
            return
        self._rows[key] = (value, revision)
        if value is not None and not value.manual:
            self._seen[key] = value


def learned_rows(tool: str, known: ToolEvidence) -> Iterable[Override]:
    """Return the rows that what is known of a tool stands for: the model that it goes to, and the one under test."""
    if known.route is None or known.home is None:
        return
    if known.route != known.home:
        yield Override(pattern=tool, name=known.route, reason="optimized", manual=False, updated_at=known.changed_at)
    if (trial := known.trial) is not None:
        yield Override(
            pattern=tool,
            name=trial.name,
            reason="downgrade_test",
            manual=False,
            updated_at=trial.started_at,
            share=trial.share,
        )


def _drawn_rows(tool: str, known: ToolEvidence, choices: Mapping[str, ModelChoice]) -> Iterable[Override]:
    choice = choices.get(tool)
    if choice is not None and choice.drawn != choice.best:
        yield Override(
            pattern=tool,
            name=choice.drawn,
            reason="downgrade_test",
            manual=False,
            updated_at=known.changed_at,
            share=choice.share,
        )
