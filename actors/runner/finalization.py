"""The end of a run: its result, its files, its state, and why it is no success."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import anyio
import msgspec
import structlog
from anyio import to_thread

from actors.runner import exports
from actors.runner.dependencies import Means
from actors.runner.run_log import RunHistory
from actors.runner.template import Outcome, Template
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


@dataclass(frozen=True)
class _Stored:
    """A file whose bytes are kept; `size` in bytes."""

    artifact_id: str
    type: ArtifactType
    size: int


@dataclass(frozen=True)
class _Left:
    """What a run leaves, whatever state it ends in."""

    result: Any = None
    cut: bool = False
    files: tuple[_Stored, ...] = ()


@dataclass(frozen=True)
class Ending:
    """A run whose steps are over; `failure` is what kept it from doing them, if anything did."""

    means: Means
    created: RunCreated
    mine: RunTaken
    template: Template[Any] | None
    asked: Any
    outcomes: Sequence[Outcome]
    timed_out: bool
    failure: Fault | None

    async def end(self, state: RunHistory) -> RunHistory:
        """Keep what it leaves, then say so in the ledger, if the run is still this replica's; gives how it stands.

        Raises:
            TransportError: the stores or the ledger are away; whatever was kept is kept once more.
        """
        try:
            with anyio.fail_after(END_S):
                left = await self._kept()
        except TimeoutError:
            msg = "the result was not kept in time"
            raise TransportError(msg) from None

        def wanted(state: RunHistory) -> LedgerLine | None:
            mine = state.taken == self.mine and not state.final
            return self._line(left, canceled=state.cancel_requested) if mine else None

        state = await self.means.histories.change(self.created.run_id, state, wanted)
        if state.status is not None and state.final:
            log.info(RUN_ENDED, run=self.created.run_id, status=state.status.value)
        return state

    def _line(self, left: _Left, *, canceled: bool) -> RunEnded:
        status = self._status(canceled=canceled)
        why, failed_step, step_code = self._why(status)
        at = now_ms()
        return RunEnded(
            run_id=self.created.run_id,
            at=at,
            status=status,
            result=left.result,
            cut=left.cut,
            artifacts=tuple(self._artifact(file, at) for file in left.files),
            fault=why,
            failed_step=failed_step,
            step_code=step_code,
        )

    def _status(self, *, canceled: bool) -> RunStatus:
        return final_status(
            None if self.template is None else self.template.threshold,
            self._items(),
            self.outcomes,
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

    def _why(self, status: RunStatus) -> tuple[Fault | None, str, str]:
        """Say why it is no success, at which step, and the code of the tool layer there (002 §7.3)."""
        if status is RunStatus.CANCELED:
            return fault(Code.RUN_CANCELED), "", ""
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

    # -- what it leaves ------------------------------------------------------------------------------------------------

    async def _kept(self) -> _Left:
        template, result = self.template, self._result()
        if template is None or result is None:
            return _Left()
        # Beside the loop: a result has up to a thousand pages.
        files = await to_thread.run_sync(exports.files, template, result, self.created.artifacts)
        told, cut = await to_thread.run_sync(
            exports.inline, template, result, self.means.settings.artifact_inline_bytes
        )
        return _Left(told, cut, tuple([await self._keep(file) for file in files]))

    def _result(self) -> Any:
        """Put the result together, as JSON says it; None where there is none."""
        if self.template is None:
            return None
        session_id = self.created.session_id or None
        try:
            result = self.template.result(self.asked, self.outcomes, session_id)
            return None if result is None else msgspec.to_builtins(result, str_keys=True)
        except Exception as error:  # noqa: BLE001 - the edge of what a template does
            self._log(error)
            return None

    def _log(self, error: Exception) -> None:
        """Say what broke; where a run has secrets, nothing that could quote one."""
        if self.template is None or self.template.secret:
            log.error(RESULT_BROKE, run=self.created.run_id, kind=type(error).__name__)
        else:
            log.error(RESULT_BROKE, run=self.created.run_id, exc_info=error)

    async def _keep(self, file: exports.File) -> _Stored:
        artifact_id = ARTIFACT_PREFIX + secrets.token_urlsafe(HANDLE_BYTES)
        for number, data in enumerate(exports.slices(file.data)):
            await self.means.artifacts.put(slice_name(artifact_id, number), data)
        return _Stored(artifact_id, file.type, len(file.data))

    def _artifact(self, file: _Stored, ended_at: int) -> KeptArtifact:
        """Tell of a file, which is kept for a while from the end of its run on (002 §5)."""
        return KeptArtifact(
            artifact_id=file.artifact_id,
            type=file.type,
            size=file.size,
            expires_at=ended_at + self.means.settings.artifact_ttl_ms,
            slice_bytes=exports.SLICE_BYTES,
        )


def final_status(  # noqa: PLR0913 - what 002 §6 judges by
    threshold: float | None,
    items: Sequence[Outcome],
    outcomes: Sequence[Outcome],
    *,
    canceled: bool = False,
    timed_out: bool = False,
    died: bool = False,
) -> RunStatus:
    """Judge a run at its end (002 §6): by the share of its `items` that succeeded where its template has a `threshold`.

    A cancel counts more than anything else; `timed_out` and `died` (too often) are failures whatever was done.
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
