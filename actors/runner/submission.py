"""Begins runs: writes each into the ledger once, and puts it into the queue."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
from msgspec import UNSET

from actors.runner import inputs
from actors.runner.dependencies import Means
from actors.runner.run_log import RunHistory
from actors.runner.validation import Judging, Wanted, carried, unsealed
from protocol.faults import Code, FaultError, fault
from protocol.runs.events import LedgerLine, RunCreated, StepEnded
from protocol.runs.keys import KeyedRun
from protocol.runs.requests import CreateRun, DoRun
from protocol.runs.responses import RunAccepted
from protocol.runs.states import RunStatus
from protocol.subjects import RUN

_INVALID = Code.VALIDATION_INVALID_REQUEST


@dataclass(frozen=True)
class Creating:
    """Begins runs for one replica."""

    means: Means

    async def create(self, asked: CreateRun) -> RunAccepted:
        """Begin a run, or find the one that was begun by the same request or key.

        Raises:
            FaultError: why there is none.
        """
        begun = await self.means.histories.stands(asked.run_id)
        if begun.created is not None:
            return await self._again(asked, begun, begun.created)
        wanted = await Judging(self.means).judged(asked)
        if asked.idempotency_key is None:
            return await self._begin(wanted)
        return await self._begin_once(asked, wanted, asked.idempotency_key)

    async def _again(self, asked: CreateRun, state: RunHistory, run: RunCreated) -> RunAccepted:
        """Answer once more; what a replica that died in the middle did not get to is done now."""
        if run.caller != asked.caller:
            raise FaultError(fault(Code.RUN_NOT_FOUND))
        template = self.means.templates.get(run.template_id)
        if run.secrets_at and template is not None and not state.final:
            # The replica that was given them first may be the one that died.
            self.means.vault.keep(run.run_id, inputs.secret(template, inputs.given(unsealed(self.means, asked))))
        if state.status is RunStatus.QUEUED:
            await self._carry(run, await self._finished(run))
            await self.means.bus.enqueue(RUN, DoRun(run_id=run.run_id), packet_id=run.run_id)
        return _accepted(run, state.status or RunStatus.QUEUED)

    # -- writing it down -----------------------------------------------------------------------------------------------

    async def _begin_once(self, asked: CreateRun, wanted: Wanted, key: str) -> RunAccepted:
        """Begin the run that the key stands for, unless it has begun (within 30 minutes)."""
        run = wanted.run
        entry = KeyedRun(run_id=run.run_id, asked=_digest(asked, run))
        name = hashlib.sha256(f"{run.caller}\n{run.template_id}\n{key}".encode()).hexdigest()
        try:
            await self.means.keys.put(name, entry, revision=0)
        except ValueError:
            found = await self.means.keys.get(name)
            if found is None or found.value is None:
                raise FaultError(fault(Code.INTERNAL_BUSY)) from None
            if found.value.asked != entry.asked:
                message = "idempotencyKey: it stands for a run that was asked for with other arguments; take a new one"
                raise FaultError(fault(_INVALID, message, field="idempotencyKey")) from None
            return await self._keyed(wanted, found.value.run_id)
        return await self._begin(wanted)

    async def _keyed(self, wanted: Wanted, run_id: str) -> RunAccepted:
        state = await self.means.histories.stands(run_id)
        if state.created is not None:
            accepted = _accepted(state.created, state.status or RunStatus.QUEUED)
            return msgspec.structs.replace(accepted, deduplicated=run_id != wanted.run.run_id)
        # Whoever took the key died before the run was written down.
        run = msgspec.structs.replace(wanted.run, run_id=run_id)
        lines = [msgspec.structs.replace(one, run_id=run_id) for one in wanted.carried]
        return await self._begin(Wanted(run, wanted.secrets, lines))

    async def _begin(self, wanted: Wanted) -> RunAccepted:
        run = wanted.run
        if wanted.secrets:
            self.means.vault.keep(run.run_id, wanted.secrets)

        def line(state: RunHistory) -> LedgerLine | None:
            return run if state.created is None else None

        state = await self.means.histories.change(run.run_id, RunHistory(), line)
        if state.status is RunStatus.QUEUED:
            await self._carry(run, wanted.carried)
            await self.means.bus.enqueue(RUN, DoRun(run_id=run.run_id), packet_id=run.run_id)
        return _accepted(state.created or run, state.status or RunStatus.QUEUED)

    async def _carry(self, run: RunCreated, lines: Sequence[StepEnded]) -> None:
        for line in lines:
            await self.means.histories.done(msgspec.structs.replace(line, run_id=run.run_id, carried=True))

    async def _finished(self, run: RunCreated) -> Sequence[StepEnded]:
        """Return what was done of the run that this one was resumed from."""
        if not run.resumed_from:
            return ()
        return carried(await self.means.histories.read(run.resumed_from))


def _digest(asked: CreateRun, run: RunCreated) -> str:
    """Sum up what is asked, without what is secret in it."""
    session_id = asked.session_id or ""
    words = (run.template_id, run.version, session_id, run.inputs, asked.options, asked.resume or "")
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
