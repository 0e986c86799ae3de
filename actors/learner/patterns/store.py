"""The patterns of all learners as one replica knows them: read from the bucket, written by compare-and-set."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

import anyio

from bus import Tables, follow
from bus.stores import KeyTable
from protocol.patterns.pattern import PagePattern
from protocol.subjects import PATTERNS

NOT_WATCHED: Final = "patterns_not_watched"

TRIES: Final = 4
"""How often something is decided anew because another replica was faster, before it is left."""


@dataclass
class PatternStore:
    """Every pattern with its revision; nobody writes over what he has not read."""

    tables: Tables
    table: KeyTable[PagePattern]
    _rows: dict[str, tuple[PagePattern | None, int]] = field(
        default_factory=dict[str, tuple[PagePattern | None, int]], init=False
    )
    _domains: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict[str, set[str]](set), init=False)

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[PatternStore]:
        """Read what there is, and follow what changes while the block lasts."""
        for key in await self.table.names():
            await self._refresh(key)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(follow, self.tables, PATTERNS, self._update, NOT_WATCHED)
            yield self
            tasks.cancel_scope.cancel()

    def of_domain(self, domain: str) -> tuple[PagePattern, ...]:
        """Return the patterns of a domain."""
        rows = (self._rows[key][0] for key in sorted(self._domains.get(domain, ())))
        return tuple(row for row in rows if row is not None)

    def all(self) -> tuple[PagePattern, ...]:
        """Return every pattern that is kept."""
        return tuple(row for row, _ in self._rows.values() if row is not None)

    def get(self, pattern_id: str) -> PagePattern | None:
        """Return a pattern by its id."""
        return self._rows.get(pattern_id, (None, 0))[0]

    async def change(
        self, decide: Callable[[], Awaitable[tuple[Iterable[PagePattern], Iterable[str]]]]
    ) -> tuple[PagePattern, ...]:
        """Write and delete what `decide` returns; decided anew where another replica has changed one meanwhile.

        Returns what was written.

        Raises:
            FaultError, TransportError: the bucket cannot be written.
        """
        for _ in range(TRIES):
            revisions = {key: revision for key, (_, revision) in self._rows.items()}
            put, drop = await decide()
            try:
                written = [
                    await self._put(pattern, revisions) for pattern in put if pattern != self.get(pattern.pattern_id)
                ]
                for key in drop:
                    await self.table.delete(key, revision=revisions.get(key, 0))
                    self._update(key, None, await self.table.revision(key))
            except ValueError:  # another replica was faster
                await self._refresh_all((*(pattern.pattern_id for pattern in put), *drop))
                continue
            return tuple(written)
        return ()

    async def _put(self, pattern: PagePattern, revisions: dict[str, int]) -> PagePattern:
        key = pattern.pattern_id
        revision = revisions.get(key) or await self.table.revision(key)  # it may have been deleted before
        self._update(key, pattern, await self.table.put(key, pattern, revision=revision))
        return pattern

    async def _refresh_all(self, keys: Iterable[str]) -> None:
        for key in keys:
            await self._refresh(key)

    async def _refresh(self, key: str) -> None:
        entry = await self.table.get(key)
        if entry is not None:
            self._update(key, entry.value, entry.revision)
        else:
            self._update(key, None, await self.table.revision(key))

    def _update(self, key: str, value: PagePattern | None, revision: int) -> None:
        former, known = self._rows.get(key, (None, 0))
        if revision < known:
            return
        if former is not None:
            self._domains[former.domain].discard(key)
        self._rows[key] = (value, revision)
        if value is not None:
            self._domains[value.domain].add(key)
