"""The runs as the ledger tells them: read whole, and changed only by who has seen the last line."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Final, TypeVar

import stamina
import structlog

from actors.runner.machine import IllegalError, RunState, after, fold
from bus import TransportError
from bus.stores import JournalLog
from protocol.runs.events import LedgerLine, StepEnded, run_topics, state_topic, step_topic

log = structlog.stdlib.get_logger()

NO_HISTORY = "run_without_history"

TRIES: Final = 20
"""How often a change of a run is begun anew because others were faster."""

LEDGER_S: Final = 30.0
"""How long the ledger may be away."""

T = TypeVar("T")

Change = Callable[[RunState], LedgerLine | None]
"""Says what to write of a run as it stands, if there is something to write."""


@dataclass(frozen=True)
class Histories:
    """The runs of the ledger; whoever asks waits while the bus is away, for `LEDGER_S` at most."""

    ledger: JournalLog[LedgerLine]

    async def read(self, run_id: str) -> RunState:
        """Return a run with its steps.

        Raises:
            TransportError: the ledger is away.
        """
        return await self._persist(lambda: self._folded(run_topics(run_id)))

    async def stands(self, run_id: str) -> RunState:
        """Return a run without its steps.

        Raises:
            TransportError: the ledger is away.
        """
        return await self._persist(lambda: self._folded(state_topic(run_id)))

    async def news(self, run_id: str, state: RunState) -> RunState:
        """Return a run as it stands now, without steps that others have done since.

        Raises:
            TransportError: the ledger is away.
        """
        return await self._persist(lambda: self._newest(run_id, state))

    async def step(self, run_id: str, index: int) -> StepEnded | None:
        """Return the outcome of a step, if there is one.

        Raises:
            TransportError: the ledger is away.
        """
        line = await self._persist(lambda: self.ledger.last(step_topic(run_id, index)))
        return line.value if line is not None and isinstance(line.value, StepEnded) else None

    async def done(self, line: StepEnded) -> bool:
        """Write the outcome of a step; False where there is one already.

        Raises:
            TransportError: the ledger is away.
        """
        return await self._append(step_topic(line.run_id, line.index), line, 0) is not None

    async def change(self, run_id: str, state: RunState, wanted: Change) -> RunState:
        """Write what is `wanted` of a run, judged anew whenever somebody else was faster; gives how it stands then.

        Raises:
            TransportError: the ledger is away, or others were faster for too long.
        """
        for _ in range(TRIES):
            line = wanted(state)
            if line is None:
                return state
            after(state, state.last, line)  # what is illegal is never written
            written = await self._append(state_topic(run_id), line, state.last)
            if written is not None:
                return after(state, written, line)
            state = await self.news(run_id, state)
        msg = f"others were faster to change {run_id}"
        raise TransportError(msg)

    async def _append(self, topic: str, line: LedgerLine, last: int) -> int | None:
        async def write() -> int | None:
            try:
                return await self.ledger.append(topic, line, last=last)
            except ValueError:
                return None

        return await self._persist(write)

    async def _folded(self, topics: str, start: RunState | None = None) -> RunState:
        async with aclosing(self.ledger.read(topics, start.last if start else 0)) as lines:
            read = [(line.sequence, line.value) async for line in lines]
        try:
            return fold(read, start)
        except IllegalError as error:
            if start is not None:
                raise
            # The ledger keeps neither everything nor for ever: what is left of such a run is none.
            log.warning(NO_HISTORY, topics=topics, reason=str(error))
            return RunState()

    async def _newest(self, run_id: str, state: RunState) -> RunState:
        last = await self.ledger.last(state_topic(run_id))
        if last is None or last.sequence == state.last:
            return state
        return await self._folded(state_topic(run_id), state)

    async def _persist(self, ask: Callable[[], Awaitable[T]]) -> T:
        async for attempt in stamina.retry_context(
            on=TransportError, attempts=None, timeout=LEDGER_S, wait_initial=0.02, wait_max=1.0, wait_jitter=0.05
        ):
            with attempt:
                return await ask()
        raise AssertionError  # pragma: no cover - it returns or raises
