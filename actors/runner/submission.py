"""Submits runs: writes each into the ledger once, and enqueues it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import msgspec
from msgspec import UNSET, Struct

from actors.runner import inputs
from actors.runner.dependencies import RunnerDependencies
from actors.runner.run_log import RunHistory
from actors.runner.validation import RunValidation, ValidatedRun, carried, unsealed
from protocol.faults import Code, FaultError, fault
from protocol.runs.events import LedgerLine, RunCreated, StepEnded
from protocol.runs.requests import CreateRun, DoRun, IdempotencyEntry
from protocol.runs.responses import RunAccepted
from protocol.runs.states import RunStatus
from protocol.subjects import RUN

_INVALID = Code.VALIDATION_INVALID_REQUEST


class RunSubmission(Struct, frozen=True):
    """Submits runs for one replica."""

    dependencies: RunnerDependencies

    async def create(self, request: CreateRun) -> RunAccepted:
        """Begin a run, or return the one that the same request or key has begun.

        Raises:
            FaultError: why there is none.
        """
        begun = await self.dependencies.run_log.read_state(request.run_id)
        if begun.created is not None:
            return await self._repeated(request, begun, begun.created)
        validated = await RunValidation(self.dependencies).validated(request)
        if request.idempotency_key is None:
            return await self._begin(validated)
        return await self._begin_once(request, validated, request.idempotency_key)

    async def _repeated(self, request: CreateRun, history: RunHistory, run: RunCreated) -> RunAccepted:
        """Respond once more, and do what a replica that died in the middle did not get to."""
        if run.caller != request.caller:
            raise FaultError(fault(Code.RUN_NOT_FOUND))
        template = self.dependencies.templates.get(run.template_id)
        if run.secrets_at and template is not None and not history.final:
            # The replica that was given them first may be the one that died.
            values = inputs.decoded(unsealed(self.dependencies, request))
            self.dependencies.vault.keep(run.run_id, inputs.secret(template, values))
        if history.status is RunStatus.QUEUED:
            await self._carry(run, await self._finished(run))
            await self.dependencies.bus.enqueue(RUN, DoRun(run_id=run.run_id), packet_id=run.run_id)
        return _accepted(run, history.status or RunStatus.QUEUED)

    # -- writing it into the ledger ------------------------------------------------------------------------------------

    async def _begin_once(self, request: CreateRun, validated: ValidatedRun, key: str) -> RunAccepted:
        """Begin the run that the key stands for, unless it has begun (within 30 minutes)."""
        run = validated.run
        entry = IdempotencyEntry(run_id=run.run_id, digest=_digest(request, run))
        name = hashlib.sha256(f"{run.caller}\n{run.template_id}\n{key}".encode()).hexdigest()
        try:
            await self.dependencies.keys.put(name, entry, revision=0)
        except ValueError:
            first = await self.dependencies.keys.get(name)
            if first is None or first.value is None:
                raise FaultError(fault(Code.INTERNAL_BUSY)) from None
            if first.value.digest != entry.digest:
                message = "idempotencyKey: it stands for a run that was asked for with other arguments; take a new one"
                raise FaultError(fault(_INVALID, message, field="idempotencyKey")) from None
            return await self._of_key(validated, first.value.run_id)
        return await self._begin(validated)

    async def _of_key(self, validated: ValidatedRun, run_id: str) -> RunAccepted:
        history = await self.dependencies.run_log.read_state(run_id)
        if history.created is not None:
            accepted = _accepted(history.created, history.status or RunStatus.QUEUED)
            return msgspec.structs.replace(accepted, deduplicated=run_id != validated.run.run_id)
        # Whoever took the key died before the run was written down.
        run = msgspec.structs.replace(validated.run, run_id=run_id)
        lines = [msgspec.structs.replace(one, run_id=run_id) for one in validated.carried]
        return await self._begin(ValidatedRun(run, validated.secrets, lines))

    async def _begin(self, validated: ValidatedRun) -> RunAccepted:
        run = validated.run
        if validated.secrets:
            self.dependencies.vault.keep(run.run_id, validated.secrets)

        def next_line(history: RunHistory) -> LedgerLine | None:
            return run if history.created is None else None

        history = await self.dependencies.run_log.change(run.run_id, RunHistory(), next_line)
        if history.status is RunStatus.QUEUED:
            await self._carry(run, validated.carried)
            await self.dependencies.bus.enqueue(RUN, DoRun(run_id=run.run_id), packet_id=run.run_id)
        return _accepted(history.created or run, history.status or RunStatus.QUEUED)

    async def _carry(self, run: RunCreated, lines: Sequence[StepEnded]) -> None:
        for line in lines:
            await self.dependencies.run_log.record_step(msgspec.structs.replace(line, run_id=run.run_id, carried=True))

    async def _finished(self, run: RunCreated) -> Sequence[StepEnded]:
        """Return the steps that are done of the run that this one resumes."""
        if not run.resumed_from:
            return ()
        template = self.dependencies.templates.get(run.template_id)
        return carried(await self.dependencies.run_log.read(run.resumed_from), template)


def _digest(request: CreateRun, run: RunCreated) -> str:
    """Hash what is asked for, without what is secret in it."""
    session_id = request.session_id or ""
    words = (run.template_id, run.version, session_id, run.inputs, request.options, request.resume or "")
    return hashlib.sha256(msgspec.json.encode(words, order="deterministic")).hexdigest()


def _accepted(run: RunCreated, status: RunStatus) -> RunAccepted:
    return RunAccepted(
        run_id=run.run_id,
        status=status,
        created_at=run.at,
        mode=run.mode,
        template_id=run.template_id,
        session_id=run.session_id or UNSET,
        session_preserved=(run.preserved or not run.own_session) if run.session_id else UNSET,
        resumed_from=run.resumed_from or UNSET,
    )
