"""The runs of the ledger: their histories are read, and changed only by who has read the last line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import aclosing
from typing import Final

import msgspec
import structlog
from msgspec import Struct, structs

from actors.key_ends import KEY_ENDED
from bus import TransportError
from bus.clock import now_ms
from bus.outages import wait_out
from bus.stores import JournalLog
from protocol.faults import Code, Fault, fault
from protocol.runs.events import (
    CancelRequested,
    LedgerLine,
    RunCreated,
    RunEnded,
    RunState,
    RunTaken,
    StepEnded,
    fold,
    run_topics,
    state_topic,
    step_topic,
)
from protocol.runs.states import IllegalTransitionError, RunStatus

log = structlog.stdlib.get_logger()

NO_HISTORY = "run_without_history"

TRIES: Final = 20
"""How often a change of a run is tried again because others were faster."""

LEDGER_S: Final = 30.0
"""How long the ledger may be away."""


class RunHistory(Struct, frozen=True):
    """A run after some of its lines: how it stands, and the lines that count.

    `taken` is who has it now, `cancel` the line by which it is to stop, `steps` are the outcomes of its steps by their
    numbers, `last` is the sequence of the last line of the run as a whole.
    """

    state: RunState | None = None
    created: RunCreated | None = None
    taken: RunTaken | None = None
    cancel: CancelRequested | None = None
    steps: Mapping[int, StepEnded] = msgspec.field(default_factory=dict[int, StepEnded])
    last: int = 0

    @property
    def status(self) -> RunStatus | None:
        """The status of the run; None where there is no run."""
        return None if self.state is None else self.state.status

    @property
    def final(self) -> bool:
        """Whether it never changes again."""
        return self.state is not None and self.state.status.final

    @property
    def begun_at(self) -> int:
        """When it was first taken (ms since the epoch); 0 where it was not."""
        return 0 if self.state is None else self.state.started_at or 0

    @property
    def cancel_requested(self) -> bool:
        """Whether it is to stop."""
        return self.state is not None and self.state.cancel_requested

    def after(self, sequence: int, line: LedgerLine) -> RunHistory:
        """Return the run after one more line.

        Raises:
            IllegalTransitionError: no history of a run goes on like that.
        """
        if isinstance(line, StepEnded):
            state = fold(self.state, sequence, line, recorded=line.index in self.steps)
            if state is self.state:
                return self
            return structs.replace(self, state=state, steps={**self.steps, line.index: line})
        return RunHistory(
            state=fold(self.state, sequence, line),
            created=line if isinstance(line, RunCreated) else self.created,
            taken=line if isinstance(line, RunTaken) else self.taken,
            cancel=self.cancel or (line if isinstance(line, CancelRequested) else None),
            steps=self.steps,
            last=sequence,
        )

    def after_all(self, lines: Iterable[tuple[int, LedgerLine]]) -> RunHistory:
        """Return the run after more lines, each with its sequence, in their order.

        Raises:
            IllegalTransitionError: they are no history of a run.
        """
        history, steps = self, dict(self.steps)
        for sequence, line in lines:
            if isinstance(line, StepEnded):
                # `after` copies the outcomes for each: 5,000 steps would take a second.
                state = fold(history.state, sequence, line, recorded=line.index in steps)
                if state is not history.state:
                    history, steps[line.index] = structs.replace(history, state=state), line
            else:
                history = history.after(sequence, line)
        return structs.replace(history, steps=steps)


NextLine = Callable[[RunHistory], LedgerLine | None]
"""Returns the line to write of a run as it stands, if there is one to write."""


def cancel_request(history: RunHistory, run_id: str, *, key_ended: bool = False) -> LedgerLine | None:
    """Return the line by which a run is to stop, unless it is over or is to stop already."""
    if history.final or history.cancel_requested:
        return None
    return CancelRequested(run_id=run_id, at=now_ms(), reason="key_ended" if key_ended else "")


def end_if_queued(history: RunHistory, run_id: str) -> LedgerLine | None:
    """Return the line by which a run that is to stop ends before its first step, if it has not begun."""
    if history.status is not RunStatus.QUEUED or not history.cancel_requested:
        return None
    return RunEnded(run_id=run_id, at=now_ms(), status=RunStatus.CANCELED, fault=cancel_fault(history))


def cancel_fault(history: RunHistory) -> Fault:
    """Return what a run ends with that was to stop."""
    ended = history.cancel is not None and history.cancel.reason == "key_ended"
    return fault(Code.RUN_CANCELED, f"The run was canceled. {KEY_ENDED}") if ended else fault(Code.RUN_CANCELED)


class RunLog(Struct, frozen=True):
    """The runs of the ledger; every call waits while the bus is away, for `LEDGER_S` at most."""

    ledger: JournalLog[LedgerLine]

    async def read(self, run_id: str) -> RunHistory:
        """Return a run with its steps.

        Raises:
            TransportError: the ledger is away.
        """
        return await wait_out(lambda: self._folded(run_topics(run_id)), LEDGER_S)

    async def read_state(self, run_id: str) -> RunHistory:
        """Return a run without its steps.

        Raises:
            TransportError: the ledger is away.
        """
        return await wait_out(lambda: self._folded(state_topic(run_id)), LEDGER_S)

    async def refresh(self, run_id: str, history: RunHistory) -> RunHistory:
        """Return the run as it stands now, without steps that others have recorded since.

        Raises:
            TransportError: the ledger is away.
        """
        return await wait_out(lambda: self._refreshed(run_id, history), LEDGER_S)

    async def step(self, run_id: str, index: int) -> StepEnded | None:
        """Return the outcome of a step, if there is one.

        Raises:
            TransportError: the ledger is away.
        """
        line = await wait_out(lambda: self.ledger.last(step_topic(run_id, index)), LEDGER_S)
        return line.value if line is not None and isinstance(line.value, StepEnded) else None

    async def record_step(self, line: StepEnded) -> bool:
        """Write the outcome of a step, and return False where there is one already.

        Raises:
            TransportError: the ledger is away.
        """
        return await self._append(step_topic(line.run_id, line.index), line, 0) is not None

    async def change(self, run_id: str, history: RunHistory, next_line: NextLine) -> RunHistory:
        """Write the next line of a run and return the run after it; `next_line` is called again if others were faster.

        Raises:
            TransportError: the ledger is away, or others were faster for too long.
        """
        for _ in range(TRIES):
            line = next_line(history)
            if line is None:
                return history
            history.after(history.last, line)  # what is illegal is never written
            sequence = await self._append(state_topic(run_id), line, history.last)
            if sequence is not None:
                return history.after(sequence, line)
            history = await self.refresh(run_id, history)
        msg = f"others were faster to change {run_id}"
        raise TransportError(msg)

    async def _append(self, topic: str, line: LedgerLine, last: int) -> int | None:
        async def write() -> int | None:
            try:
                return await self.ledger.append(topic, line, last=last)
            except ValueError:
                return None

        return await wait_out(write, LEDGER_S)

    async def _folded(self, topics: str, start: RunHistory | None = None) -> RunHistory:
        async with aclosing(self.ledger.read(topics, start.last if start else 0)) as lines:
            numbered = [(line.sequence, line.value) async for line in lines]
        try:
            return (start or RunHistory()).after_all(numbered)
        except IllegalTransitionError as error:
            if start is not None:
                raise
            # The ledger keeps neither everything nor for ever: what is left of such a run is none.
            log.warning(NO_HISTORY, topics=topics, reason=str(error))
            return RunHistory()

    async def _refreshed(self, run_id: str, history: RunHistory) -> RunHistory:
        last = await self.ledger.last(state_topic(run_id))
        if last is None or last.sequence == history.last:
            return history
        return await self._folded(state_topic(run_id), history)
