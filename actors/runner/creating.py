"""Begins runs: judges what is asked, writes it into the ledger once, and puts it into the queue."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from msgspec import UNSET

from actors.runner import inputs
from actors.runner.histories import now_ms
from actors.runner.machine import RunState
from actors.runner.means import Means
from actors.runner.template import SessionUse, Stage, Template
from bus.seal import UnsealError
from protocol.browsers.operations import SESSION_BYTES, SESSION_PREFIX, ListTabs
from protocol.browsers.sessions import AskBrowser
from protocol.codec import encode
from protocol.faults import Code, FaultError, fault
from protocol.runs.asked import CreateRun, DoRun, RunOptions, inputs_of
from protocol.runs.events import LedgerLine, RunCreated, StepEnded
from protocol.runs.keys import KeyedRun
from protocol.runs.states import MAX_INPUT_BYTES, ArtifactType, Mode, RunStatus, StepStatus, TrustLevel
from protocol.runs.told import RunAccepted
from protocol.subjects import BROWSER, RUN

_INVALID = Code.VALIDATION_INVALID_REQUEST
_MAX_LINE_BYTES = 950_000


@dataclass(frozen=True)
class Wanted:
    """A run that may begin: what is written of it, what is kept in memory alone, and the steps done already."""

    run: RunCreated
    secrets: Mapping[str, Any]
    carried: Sequence[StepEnded] = ()


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
        wanted = await self._judged(asked)
        if asked.idempotency_key is None:
            return await self._begin(wanted)
        return await self._begin_once(asked, wanted, asked.idempotency_key)

    async def _again(self, asked: CreateRun, state: RunState, run: RunCreated) -> RunAccepted:
        """Answer once more; what a replica that died in the middle did not get to is done now."""
        if run.caller != asked.caller:
            raise FaultError(fault(Code.RUN_NOT_FOUND))
        template = self.means.templates.get(run.template_id)
        if run.secrets_at and template is not None and not state.final:
            # The replica that was given them first may be the one that died.
            self.means.vault.keep(run.run_id, inputs.secret(template, inputs.given(self._unsealed(asked))))
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
        carried = [msgspec.structs.replace(one, run_id=run_id) for one in wanted.carried]
        return await self._begin(Wanted(run, wanted.secrets, carried))

    async def _begin(self, wanted: Wanted) -> RunAccepted:
        run = wanted.run
        if wanted.secrets:
            self.means.vault.keep(run.run_id, wanted.secrets)

        def line(state: RunState) -> LedgerLine | None:
            return run if state.created is None else None

        state = await self.means.histories.change(run.run_id, RunState(), line)
        if state.status is RunStatus.QUEUED:
            await self._carry(run, wanted.carried)
            await self.means.bus.enqueue(RUN, DoRun(run_id=run.run_id), packet_id=run.run_id)
        return _accepted(state.created or run, state.status or RunStatus.QUEUED)

    async def _carry(self, run: RunCreated, lines: Sequence[StepEnded]) -> None:
        for line in lines:
            await self.means.histories.done(msgspec.structs.replace(line, run_id=run.run_id, carried=True))

    async def _finished(self, run: RunCreated) -> Sequence[StepEnded]:
        """Give what was done of the run that this one was resumed from."""
        if not run.resumed_from:
            return ()
        return _succeeded(await self.means.histories.read(run.resumed_from))

    # -- judging -------------------------------------------------------------------------------------------------------

    async def _judged(self, asked: CreateRun) -> Wanted:
        values = inputs.given(self._unsealed(asked))
        if asked.resume is not None:
            return await self._resumed(asked, asked.resume, values)
        template = self._template(asked.template_id, asked.template_version, local=asked.local)
        read = inputs.converted(template, values)
        template.check(read)
        if asked.session_id is not None:
            await self._check_session(asked, asked.session_id)
        return self._wanted(asked, template, read, values)

    def _unsealed(self, asked: CreateRun) -> bytes:
        if self.means.bus.seal is None:
            raise FaultError(fault(Code.INTERNAL_ERROR))
        try:
            data = self.means.bus.seal.unseal(asked.inputs, inputs_of(asked.run_id))
        except UnsealError:
            raise _invalid("inputs", "sealed with another key than that of this Weft") from None
        if len(data) > MAX_INPUT_BYTES:
            raise _invalid(
                "inputs", f"{len(data)} bytes are more than {MAX_INPUT_BYTES}; split the run into smaller ones"
            )
        return data

    def _template(self, template_id: str, version: str | None, *, local: bool) -> Template[Any]:
        template = self.means.templates.get(template_id)
        if template is None:
            known = ", ".join(self.means.templates)
            message = f"There is no template {template_id!r}; there are {known}."
            raise FaultError(fault(Code.TEMPLATE_NOT_FOUND, message, field="templateId"))
        if version is not None and not f"{template.version}.".startswith(f"{version}."):
            message = f"{template_id} has the version {template.version}, and no {version}."
            raise FaultError(fault(Code.TEMPLATE_VERSION_UNSUPPORTED, message, field="templateVersion"))
        # 002 §9: a run has the trust level of the connection that it was asked for by.
        if (TrustLevel.LOCAL if local else TrustLevel.REMOTE) not in template.trust:
            levels = " and ".join(f"{level}" for level in template.trust)
            message = f"{template_id} is for {levels} clients only, and this one is {'local' if local else 'remote'}."
            raise FaultError(fault(Code.TRUST_LEVEL_NOT_ALLOWED, message, field="templateId"))
        return template

    async def _check_session(self, asked: CreateRun, session_id: str) -> None:
        """See that the caller has that session, before anything begins."""
        question = AskBrowser(do=ListTabs(session_id=session_id), caller=asked.caller, local=asked.local)
        try:
            await self.means.bus.call(BROWSER, question, wait_ms=self.means.settings.restart_grace_ms)
        except FaultError as error:
            if error.fault.code is not Code.SESSION_NOT_FOUND:
                raise
            raise FaultError(msgspec.structs.replace(error.fault, field="sessionId")) from None

    def _wanted(self, asked: CreateRun, template: Template[Any], read: Any, values: Mapping[str, Any]) -> Wanted:
        use = template.session(read) if asked.session_id is None else SessionUse.NONE
        hidden = inputs.secret(template, values)
        mode = template.mode(read) if asked.options.mode is Mode.AUTO else asked.options.mode
        run = RunCreated(
            run_id=asked.run_id,
            at=now_ms(),
            caller=asked.caller,
            local=asked.local,
            template_id=template.template_id,
            version=template.version,
            inputs=inputs.kept(template, read),
            steps=_names(template.stages(read, in_session=asked.session_id is not None)),
            timeout_ms=self._timeout_ms(asked.options, template),
            mode=mode,
            artifacts=_forms(asked.options),
            session_id=asked.session_id or ("" if use is SessionUse.NONE else _new_session()),
            own_session=use is not SessionUse.NONE,
            preserved=use is SessionUse.KEPT,
            secrets_at=self.means.bus.replica if hidden else "",
        )
        if len(encode(run)) > _MAX_LINE_BYTES:
            raise _invalid("inputs", "too many steps come of them; split the run into smaller ones")
        return Wanted(run, hidden)

    def _timeout_ms(self, options: RunOptions, template: Template[Any]) -> int:
        """Give the time that counts (002 §10)."""
        given = template.max_timeout_ms if options.timeout_ms is None else options.timeout_ms
        return min(given, template.max_timeout_ms, self.means.settings.run_timeout_max_ms)

    # -- going on after a run that failed ------------------------------------------------------------------------------

    async def _resumed(self, asked: CreateRun, run_id: str, values: Mapping[str, Any]) -> Wanted:
        state = await self.means.histories.read(run_id)
        old = state.created
        if old is None or old.caller != asked.caller:
            raise FaultError(fault(Code.RUN_NOT_FOUND))
        if not state.final:
            raise _invalid("runId", "the run is not over; wait for its end, or cancel it")
        if state.status is RunStatus.SUCCEEDED:
            raise _invalid("runId", "the run has succeeded: nothing of it is left to be done; run the template anew")
        template = self._template(old.template_id, asked.template_version, local=asked.local)
        if others := [name for name in values if name not in inputs.secret_names(template)]:
            raise _invalid(f"inputs.{others[0]}", "a run goes on with the inputs that it had; run the template anew")
        both = {**old.inputs, **values}
        read = inputs.converted(template, both)
        template.check(read)
        carried = _succeeded(state)
        session_id, alive = await self._session_of(asked, old)
        asked = msgspec.structs.replace(asked, options=_options(asked.options, old), session_id=session_id)
        wanted = self._wanted(asked, template, read, both)
        run = msgspec.structs.replace(wanted.run, resumed_from=run_id)
        if old.preserved and alive:
            run = msgspec.structs.replace(run, session_id=old.session_id, own_session=True, preserved=True)
        elif old.preserved:
            carried = ()  # what was done was done to a session that is gone
        if run.steps != old.steps:
            raise FaultError(fault(Code.TEMPLATE_VERSION_UNSUPPORTED, "The template has other steps now; run it anew."))
        return Wanted(run, wanted.secrets, carried)

    async def _session_of(self, asked: CreateRun, old: RunCreated) -> tuple[str | None, bool]:
        """Give the caller's session of a run, and tell whether the run's own is still there."""
        if not old.session_id or (old.own_session and not old.preserved):
            return None, False
        try:
            await self._check_session(asked, old.session_id)
        except FaultError as error:
            if old.own_session and error.fault.code is Code.SESSION_NOT_FOUND:
                return None, False
            raise
        return (None, True) if old.own_session else (old.session_id, True)


def _succeeded(state: RunState) -> Sequence[StepEnded]:
    return tuple(line for _, line in sorted(state.steps.items()) if line.status is StepStatus.SUCCEEDED)


def _names(stages: Sequence[Stage]) -> tuple[str, ...]:
    return tuple(name for stage in stages for name in stage.steps)


def _forms(options: RunOptions) -> tuple[ArtifactType, ...]:
    """Give the forms to keep; the whole result is always kept as JSON, as it may be told in short inline."""
    return tuple(dict.fromkeys((ArtifactType.JSON, *options.artifacts)))


def _options(given: RunOptions, old: RunCreated) -> RunOptions:
    """Give the options of a run that is resumed: those that it had, unless others are given now."""
    default = RunOptions()
    return RunOptions(
        timeout_ms=old.timeout_ms if given.timeout_ms is None else given.timeout_ms,
        mode=old.mode if given.mode is Mode.AUTO else given.mode,
        artifacts=old.artifacts if given.artifacts == default.artifacts else given.artifacts,
    )


def _new_session() -> str:
    return SESSION_PREFIX + secrets.token_urlsafe(SESSION_BYTES)


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


def _invalid(name: str, reason: str) -> FaultError:
    return FaultError(fault(_INVALID, f"{name}: {reason}", field=name))
