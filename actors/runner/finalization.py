"""Finalizes a run: puts its result together, keeps its files, and writes the state that it ends in."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Any, Final

import anyio
import msgspec
import structlog
from anyio import to_thread
from msgspec import Struct

from actors.runner import exports
from actors.runner.dependencies import RunnerDependencies
from actors.runner.run_log import RunHistory, cancel_fault
from actors.runner.template import Outcome, TaskTemplate
from bus import TransportError
from bus.clock import now_ms
from protocol.faults import Code, Fault, fault
from protocol.runs.events import KeptArtifact, LedgerLine, RunCreated, RunEnded, RunTaken, slice_name
from protocol.runs.states import ARTIFACT_PREFIX, HANDLE_BYTES, ArtifactType, RunStatus, StepStatus

log = structlog.stdlib.get_logger()

RUN_ENDED = "run_ended"
RESULT_BROKE = "result_broke"

END_S: Final = 120.0
"""How long it may take to put a result together and keep it."""


class _Stored(Struct, frozen=True):
    """A file whose bytes are kept; `size` in bytes."""

    artifact_id: str
    type: ArtifactType
    size: int


class _Output(Struct, frozen=True):
    """What a run leaves, whatever state it ends in: its inline result, whether that is shortened, and its files."""

    result: Any = None
    cut: bool = False
    files: tuple[_Stored, ...] = ()


class RunFinalization(Struct, frozen=True):
    """A run whose steps are over; `failure` is what kept it from doing them, if anything did."""

    dependencies: RunnerDependencies
    created: RunCreated
    mine: RunTaken
    template: TaskTemplate[Any] | None
    inputs: Any
    outcomes: Sequence[Outcome]
    timed_out: bool
    failure: Fault | None

    async def run(self, history: RunHistory) -> RunHistory:
        """Keep what the run leaves, then write its last line if it is still this replica's.

        Raises:
            TransportError: the stores or the ledger are away; whatever was kept is kept once more.
        """
        try:
            with anyio.fail_after(END_S):
                output = await self._stored()
        except TimeoutError:
            msg = "the result was not kept in time"
            raise TransportError(msg) from None

        def next_line(now: RunHistory) -> LedgerLine | None:
            mine = now.taken == self.mine and not now.final
            return self._line(output, cancel_fault(now) if now.cancel_requested else None) if mine else None

        history = await self.dependencies.run_log.change(self.created.run_id, history, next_line)
        if history.status is not None and history.final:
            log.info(RUN_ENDED, run=self.created.run_id, status=history.status.value)
        return history

    def _line(self, output: _Output, canceled: Fault | None) -> RunEnded:
        status = self._status(canceled=canceled is not None)
        failure, failed_step, step_code = (canceled, "", "") if canceled is not None else self._cause(status)
        at = now_ms()
        return RunEnded(
            run_id=self.created.run_id,
            at=at,
            status=status,
            result=output.result,
            cut=output.cut,
            artifacts=tuple(self._artifact(file, at) for file in output.files),
            fault=failure,
            failed_step=failed_step,
            step_code=step_code,
        )

    def _status(self, *, canceled: bool) -> RunStatus:
        items = self._items()
        open_ended = self.template is not None and self.template.open_ended
        return final_status(
            None if self.template is None else self.template.threshold,
            items,
            items if open_ended else self.outcomes,
            canceled=canceled,
            timed_out=self.timed_out,
            died=self.failure is not None,
        )

    def _items(self) -> Sequence[Outcome]:
        """Return the outcomes that count for the threshold."""
        if self.template is None:
            return ()
        try:
            return self.template.items(self.outcomes)
        except Exception as error:  # noqa: BLE001 - the edge of what a template does
            self._log(error)
            return ()

    def _cause(self, status: RunStatus) -> tuple[Fault | None, str, str]:
        """Return why it is no success, at which step, and the code of the tool layer there (002 §7.3)."""
        if status is not RunStatus.FAILED:
            return None, "", ""
        if self.failure is not None:
            return self.failure, "", ""
        if self.timed_out:
            message = f"The run was not done within its {self.created.timeout_ms} ms; what was done is kept."
            return fault(Code.RUN_TIMEOUT, message), "", ""
        failed = next((one for one in self.outcomes if one.status is StepStatus.FAILED), None)
        if failed is None:
            return fault(Code.STEP_EXECUTION_FAILED), "", ""
        name = failed.failed_at or failed.name
        return fault(Code.STEP_EXECUTION_FAILED, f"{name}: {failed.message}"), name, failed.step_code

    # -- output --------------------------------------------------------------------------------------------------------

    async def _stored(self) -> _Output:
        template, result = self.template, self._result()
        if template is None or result is None:
            return _Output()
        # Beside the loop: a result has up to a thousand pages.
        files = await to_thread.run_sync(exports.files, template, result, self.created.artifacts)
        inline, cut = await to_thread.run_sync(
            exports.inline, template, result, self.dependencies.settings.artifact_inline_bytes
        )
        return _Output(inline, cut, tuple([await self._store(file) for file in files]))

    def _result(self) -> Any:
        """Put the result together, as JSON says it; None where there is none."""
        if self.template is None:
            return None
        session_id = self.created.session_id or None
        try:
            result = self.template.result(self.inputs, self.outcomes, session_id)
            return None if result is None else msgspec.to_builtins(result, str_keys=True)
        except Exception as error:  # noqa: BLE001 - the edge of what a template does
            self._log(error)
            return None

    def _log(self, error: Exception) -> None:
        """Log what broke; where a run has secrets, nothing that could quote one."""
        if self.template is None or self.template.secret:
            log.error(RESULT_BROKE, run=self.created.run_id, kind=type(error).__name__)
        else:
            log.error(RESULT_BROKE, run=self.created.run_id, exc_info=error)

    async def _store(self, file: exports.ExportFile) -> _Stored:
        artifact_id = ARTIFACT_PREFIX + secrets.token_urlsafe(HANDLE_BYTES)
        for number, data in enumerate(exports.slices(file.data)):
            await self.dependencies.artifacts.put(slice_name(artifact_id, number), data)
        return _Stored(artifact_id, file.type, len(file.data))

    def _artifact(self, file: _Stored, ended_at: int) -> KeptArtifact:
        """Return the record of a file, which expires a while after the end of its run (002 §5)."""
        return KeptArtifact(
            artifact_id=file.artifact_id,
            type=file.type,
            size=file.size,
            expires_at=ended_at + self.dependencies.settings.artifact_ttl_ms,
            slice_bytes=exports.SLICE_BYTES,
        )


def final_status(  # noqa: PLR0913 - what 002 §6 decides by
    threshold: float | None,
    items: Sequence[Outcome],
    outcomes: Sequence[Outcome],
    *,
    canceled: bool = False,
    timed_out: bool = False,
    died: bool = False,
) -> RunStatus:
    """Return the status that a run ends in (002 §6): with a `threshold`, by the share of its `items` that succeeded.

    A cancel outweighs everything else; `timed_out` and `died` (too often) are failures whatever was done.
    """
    if canceled:
        return RunStatus.CANCELED
    if timed_out or died:
        return RunStatus.FAILED
    if all(one.status is StepStatus.SUCCEEDED for one in outcomes):
        return RunStatus.SUCCEEDED
    if threshold is None or not items:
        return RunStatus.FAILED
    share = sum(one.status is StepStatus.SUCCEEDED for one in items) / len(items)
    return RunStatus.PARTIAL_SUCCESS if share >= threshold else RunStatus.FAILED
