"""A journal as tables: lines go in, in their order and each once."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Generic, Protocol, TypeVar
from weakref import WeakValueDictionary

import anyio
from msgspec import Struct

from actors.projection.database import START, Database, JournalPosition, Write
from bus.stores import JournalLine

A = TypeVar("A")


class TableUpdate(Struct, frozen=True):
    """What lines change: the statements that write it, and the names of all that has changed by them."""

    writes: Sequence[Write]
    names: Collection[str] = ()


class Reducer(Protocol[A]):
    """What is made of the lines of a journal: it says what is to be written, and writes nothing itself."""

    clear: ClassVar[tuple[str, ...]]
    """The statements that delete everything that was made of the journal."""

    prune: ClassVar[tuple[str, ...]]
    """The statements that delete what was made of lines before the one whose sequence is their only value."""

    async def update(self, lines: Sequence[JournalLine[A]]) -> TableUpdate:
        """Return what some lines change, each after those before it and after all that is in the tables."""
        ...


@dataclass
class Projection(Generic[A]):
    """The tables that are made of a journal: how far they are, and signals when they get further.

    Where there are several reducers, each has tables of its own, and is asked in that order.
    """

    journal: str
    database: Database
    reducers: Sequence[Reducer[A]]
    _moved: anyio.Event = field(default_factory=anyio.Event, init=False, repr=False)
    _awaited: WeakValueDictionary[str, anyio.Event] = field(
        default_factory=WeakValueDictionary[str, anyio.Event], init=False, repr=False
    )

    @property
    def position(self) -> JournalPosition:
        """How much of the journal is in the tables."""
        return self.database.position(self.journal)

    async def apply(self, lines: Sequence[JournalLine[A]], upto: int = 0) -> None:
        """Apply lines, and note that there are no others up to `upto`; those that are applied already are skipped.

        Raises:
            sqlite3.Error: none of them was applied.
        """
        before = self.position
        fresh = [line for line in lines if line.sequence > before.applied]
        if fresh:
            position = JournalPosition(max(upto, fresh[-1].sequence), fresh[-1].sequence, fresh[-1].at_ms)
        else:
            position = JournalPosition(max(upto, before.applied), before.line, before.written_at)
        if position == before:
            return
        updates = [await reducer.update(fresh) for reducer in self.reducers] if fresh else []
        writes = (write for update in updates for write in update.writes if write[1])
        await self.database.advance(self.journal, position, *writes)
        self._signal({name for update in updates for name in update.names})

    async def restart(self) -> None:
        """Delete everything: the journal is not the one that the tables were made of."""
        await self.database.advance(
            self.journal, START, *((statement, [()]) for one in self.reducers for statement in one.clear)
        )
        self.wake_all()

    async def prune(self, first: int) -> None:
        """Delete what was made of lines before the first one that the journal still has."""
        await self.database.write(*((statement, [(first,)]) for one in self.reducers for statement in one.prune))

    async def moved(self) -> None:
        """Wait until the tables have moved."""
        await self._moved.wait()

    def signal_of(self, name: str) -> anyio.Event:
        """Return the event that is set when something changes that has this name; get it before you read the tables."""
        if (event := self._awaited.get(name)) is None:
            event = self._awaited[name] = anyio.Event()
        return event

    def wake_all(self) -> None:
        """Wake everybody who waits for the tables, whatever for."""
        self._signal(set(self._awaited))

    def _signal(self, names: Iterable[str]) -> None:
        self._moved.set()
        self._moved = anyio.Event()
        for name in names:
            if (event := self._awaited.pop(name, None)) is not None:
                event.set()
