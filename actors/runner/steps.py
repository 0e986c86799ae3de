"""One try of one step, and what is written down of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

import anyio
import msgspec
import structlog

from actors.runner.step_context import StepHands, StoppedError
from actors.runner.template import Outcome, Template
from bus.clock import now_ms
from protocol.browsers.results import ERROR_CODES, ErrorCode
from protocol.codec import encode
from protocol.faults import Code, Fault, FaultError, fault
from protocol.runs.events import RunCreated, StepEnded
from protocol.runs.states import StepStatus

log = structlog.stdlib.get_logger()

STEP_BROKE = "step_broke"

MAX_OUTPUT_BYTES: Final = 900_000
"""The JSON of an output: with what surrounds it, it has to fit into one message of NATS (1 MiB)."""

CUT_MS: Final = 50
"""A fault that comes so shortly before the end of the run's time came of that."""


@dataclass(frozen=True)
class Step:
    """One try of a step; `started` is when the first one began (ms since the epoch)."""

    template: Template[Any]
    run: RunCreated
    index: int
    started: int
    tries: int

    async def attempt(self, hands: StepHands, asked: Any, before: Mapping[int, Any]) -> StepEnded:
        """Do it, and give the line that tells of it.

        Raises:
            StoppedError: the run was canceled before it had really begun.
        """
        try:
            output = await self.template.do(hands, asked, self.index, before)
            return self._done(msgspec.to_builtins(output, str_keys=True))
        except StoppedError:
            raise
        except Exception as error:  # noqa: BLE001 - the edge of what a template does
            failure = first(error)
        if isinstance(failure, StoppedError):
            raise failure
        if hands.remaining_ms() <= CUT_MS:
            await anyio.sleep_forever()  # 002 §10: the time of the run cuts it off
        return self._failed(failure, hands)

    def _done(self, output: Any) -> StepEnded:
        if len(encode(output)) > MAX_OUTPUT_BYTES:
            message = f"What came of the step is longer than the {MAX_OUTPUT_BYTES} bytes that are kept of one."
            raise FaultError(fault(Code.CONTENT_TOO_LARGE, message))
        return self._line(StepStatus.SUCCEEDED, output=output)

    def _failed(self, failure: BaseException, hands: StepHands) -> StepEnded:
        if isinstance(failure, FaultError):
            why, failed_at = failure.fault, hands.named(failure)
        else:
            self._log(failure)
            why, failed_at = fault(Code.INTERNAL_ERROR), ""
        return self._line(StepStatus.FAILED, why=why, failed_at=failed_at, step_code=step_code(why))

    def _line(
        self,
        status: StepStatus,
        *,
        output: Any = None,
        why: Fault | None = None,
        failed_at: str = "",
        step_code: str = "",
    ) -> StepEnded:
        return StepEnded(
            run_id=self.run.run_id,
            at=now_ms(),
            index=self.index,
            name=self.run.steps[self.index],
            status=status,
            output=output,
            fault=why,
            failed_at=failed_at,
            step_code=step_code,
            tries=self.tries,
            started=self.started,
        )

    def _log(self, failure: BaseException) -> None:
        """Say what broke; where a run has secrets, nothing that could quote one."""
        line = {"template": self.template.template_id, "step": self.run.steps[self.index], "run": self.run.run_id}
        if self.template.secret:
            log.error(STEP_BROKE, kind=type(failure).__name__, **line)
        else:
            log.error(STEP_BROKE, exc_info=failure, **line)


def step_code(why: Fault) -> str:
    """Return the code of the tool layer for what a step failed with (002 §7.3)."""
    if why.code is Code.TPL_LOGIN_FIELD_NOT_FOUND:
        return why.code.value
    return ERROR_CODES.get(why.code, ErrorCode.EXECUTION_ERROR).value


def first(error: BaseException) -> BaseException:
    """Return the failure that a group of them stands for: a cancel before a fault, a fault before anything else."""
    leaves = list(_leaves(error))
    for kind in (StoppedError, FaultError):
        for leaf in leaves:
            if isinstance(leaf, kind):
                return leaf
    return leaves[0]


def outcome(line: StepEnded) -> Outcome:
    """Tell a template what the ledger says of a step."""
    why = line.fault
    return Outcome(
        index=line.index,
        name=line.name,
        status=line.status,
        output=line.output,
        code=why.code if why else None,
        step_code=line.step_code,
        message=why.message if why else "",
        hint=why.actions[0].description if why and why.actions else "",
        failed_at=line.failed_at,
    )


def outcomes(names: Sequence[str], done: Mapping[int, Outcome]) -> tuple[Outcome, ...]:
    """Return one outcome for each step of a run at its end: what was not done is skipped (002 §6)."""
    return tuple(
        done.get(index) or Outcome(index=index, name=name, status=StepStatus.SKIPPED)
        for index, name in enumerate(names)
    )


def _leaves(error: BaseException) -> Sequence[BaseException]:
    if not isinstance(error, BaseExceptionGroup):
        return (error,)
    group = cast("BaseExceptionGroup[BaseException]", error)
    return [leaf for one in group.exceptions for leaf in _leaves(one)]
