"""Notes about rounds of clients, by a digest: what is sent twice is the same round, whichever replica gets it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from msgspec import Struct

from bus.clock import now_ms
from bus.context import new_id
from bus.recording import chance
from bus.stores import JournalLine, JournalLog
from protocol.acting.chats import ChatLine, RoundNoted, round_topic
from protocol.acting.tasks import TaskLine
from protocol.faults import Code, FaultError, fault

SAME_MS: Final = 120_000
"""How long a first request that comes again is the same one: later it begins another task."""

ROUND_MS: Final = 600_000
"""How long a client is not asked for the same part of its page again."""

MOST_REPEATS: Final = 3
"""How often a request that comes again unchanged is answered by asking for the same part again."""

MOST_TRIES: Final = 10


class RoundNotes(Struct, frozen=True):
    """The notes in the journal of tasks."""

    journal: JournalLog[TaskLine | ChatLine]
    clock: Callable[[], int] = now_ms

    async def ids(self, caller: str, digest: str, session: str) -> tuple[str, str]:
        """Return the session and the task of a request that names no task: new ones, unless it has come before."""
        for _ in range(MOST_TRIES):
            line = await self.journal.last(round_topic(digest))
            note = self._fresh(line, SAME_MS)
            if note is not None:
                return note.session, note.task
            note = RoundNoted(session=session or chance(new_id), caller=caller, at=self.clock(), task=chance(new_id))
            if await self._append(digest, note, line):
                return note.session, note.task
        raise FaultError(fault(Code.INTERNAL_BUSY))

    async def requested(self, name: str, digest: str) -> frozenset[str]:
        """Return the parts of its page that a client was asked for in a round and is not to be asked for again.

        What was asked for in answer to this very request is not among them: it is answered as before.
        """
        note = self._fresh(await self.journal.last(round_topic(name)), ROUND_MS)
        if note is None:
            return frozenset()
        again = note.digest == digest and note.times < MOST_REPEATS
        return frozenset(note.requested) - (frozenset(note.latest) if again else frozenset[str]())

    async def request(self, caller: str, name: str, digest: str, parts: Iterable[str]) -> None:
        """Note that a client is asked for parts of its page in answer to a request."""
        latest = tuple(sorted(parts))
        for _ in range(MOST_TRIES):
            line = await self.journal.last(round_topic(name))
            known = self._fresh(line, ROUND_MS)
            before = known.requested if known is not None else ()
            note = RoundNoted(
                session="",
                caller=caller,
                at=self.clock(),
                requested=tuple(sorted({*before, *latest})),
                latest=latest,
                digest=digest,
                times=known.times + 1 if known is not None and known.digest == digest else 1,
            )
            if await self._append(name, note, line):
                return

    def _fresh(self, line: JournalLine[TaskLine | ChatLine] | None, within_ms: int) -> RoundNoted | None:
        if line is None or not isinstance(line.value, RoundNoted) or self.clock() - line.value.at > within_ms:
            return None
        return line.value

    async def _append(self, name: str, note: RoundNoted, line: JournalLine[TaskLine | ChatLine] | None) -> bool:
        try:
            await self.journal.append(round_topic(name), note, last=line.sequence if line is not None else 0)
        except ValueError:
            return False
        return True
