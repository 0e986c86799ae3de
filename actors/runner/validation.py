"""Validates a request for a run, before anything of it is written into the ledger."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from actors.runner import inputs
from actors.runner.dependencies import RunnerDependencies
from actors.runner.run_log import RunHistory
from actors.runner.template import SessionUse, Stage, TaskTemplate
from bus.clock import now_ms
from bus.context import conversation_id
from bus.seal import UnsealError
from protocol.access import Scope
from protocol.browsers.operations import SESSION_BYTES, SESSION_PREFIX, ListTabs
from protocol.browsers.sessions import AskBrowser
from protocol.codec import encode
from protocol.faults import Code, FaultError, fault
from protocol.runs.events import RunCreated, StepEnded
from protocol.runs.requests import CreateRun, RunOptions, inputs_of
from protocol.runs.states import MAX_INPUT_BYTES, ArtifactType, Mode, RunStatus, StepStatus, TrustLevel
from protocol.subjects import BROWSER

_INVALID = Code.VALIDATION_INVALID_REQUEST
_MAX_LINE_BYTES = 950_000


class ValidatedRun(Struct, frozen=True):
    """A run that may begin: what is written of it, what is kept in memory alone, and the steps done already."""

    run: RunCreated
    secrets: Mapping[str, Any]
    carried: Sequence[StepEnded] = ()


class RunValidation(Struct, frozen=True):
    """Validates requests for one replica."""

    dependencies: RunnerDependencies

    async def validated(self, request: CreateRun) -> ValidatedRun:
        """Return the run that a request asks for.

        Raises:
            FaultError: why it may not begin.
        """
        values = inputs.decoded(unsealed(self.dependencies, request))
        if request.resume is not None:
            return await self._resumed(request, request.resume, values)
        template = self._template(request.template_id, request.template_version, local=request.local)
        read = inputs.converted(template, values)
        template.check(read)
        if request.session_id is not None:
            await self._check_session(request, request.session_id)
        return self._new_run(request, template, read, values)

    def _template(self, template_id: str, version: str | None, *, local: bool) -> TaskTemplate[Any]:
        template = self.dependencies.templates.get(template_id)
        if template is None:
            known = ", ".join(self.dependencies.templates)
            message = f"There is no template {template_id!r}; there are {known}."
            raise FaultError(fault(Code.TEMPLATE_NOT_FOUND, message, field="templateId"))
        if version is not None and not f"{template.version}.".startswith(f"{version}."):
            message = f"{template_id} has the version {template.version}, and no {version}."
            raise FaultError(fault(Code.TEMPLATE_VERSION_UNSUPPORTED, message, field="templateVersion"))
        # 002 §9: a run has the trust level of the connection that its request came by.
        if (TrustLevel.LOCAL if local else TrustLevel.REMOTE) not in template.trust:
            levels = " and ".join(f"{level}" for level in template.trust)
            message = f"{template_id} is for {levels} clients only, and this one is {'local' if local else 'remote'}."
            raise FaultError(fault(Code.TRUST_LEVEL_NOT_ALLOWED, message, field="templateId"))
        return template

    async def _check_session(self, request: CreateRun, session_id: str) -> None:
        """Check that the caller has that session."""
        listing = AskBrowser(do=ListTabs(session_id=session_id), caller=request.caller, local=request.local)
        try:
            await self.dependencies.bus.call(BROWSER, listing, wait_ms=self.dependencies.settings.restart_grace_ms)
        except FaultError as error:
            if error.fault.code is not Code.SESSION_NOT_FOUND:
                raise
            raise FaultError(msgspec.structs.replace(error.fault, field="sessionId")) from None

    def _new_run(
        self, request: CreateRun, template: TaskTemplate[Any], read: Any, values: Mapping[str, Any]
    ) -> ValidatedRun:
        _check_scopes(request, template.scopes(read, in_session=request.session_id is not None))
        use = template.session(read) if request.session_id is None else SessionUse.NONE
        hidden = inputs.secret(template, values)
        if request.options.screenshots and any(hidden.values()):
            raise _invalid("options.screenshots", "a run with secrets keeps none: a page may show what was typed")
        mode = template.mode(read) if request.options.mode is Mode.AUTO else request.options.mode
        run = RunCreated(
            run_id=request.run_id,
            at=now_ms(),
            caller=request.caller,
            local=request.local,
            template_id=template.template_id,
            version=template.version,
            inputs=inputs.kept(template, read),
            steps=_names(template.stages(read, in_session=request.session_id is not None)),
            timeout_ms=self._timeout_ms(request.options, template),
            mode=mode,
            artifacts=_forms(request.options),
            session_id=request.session_id or ("" if use is SessionUse.NONE else _new_session()),
            own_session=use is not SessionUse.NONE,
            preserved=use is SessionUse.KEPT,
            secrets_at=self.dependencies.bus.replica if hidden else "",
            conversation=conversation_id() or "",
            screenshots=request.options.screenshots,
        )
        if len(encode(run)) > _MAX_LINE_BYTES:
            raise _invalid("inputs", "too many steps come of them; split the run into smaller ones")
        return ValidatedRun(run, hidden)

    def _timeout_ms(self, options: RunOptions, template: TaskTemplate[Any]) -> int:
        """Return the time that counts (002 §10)."""
        wanted = template.max_timeout_ms if options.timeout_ms is None else options.timeout_ms
        return min(wanted, template.max_timeout_ms, self.dependencies.settings.run_timeout_max_ms)

    # -- resuming a run that failed ------------------------------------------------------------------------------------

    async def _resumed(self, request: CreateRun, run_id: str, values: Mapping[str, Any]) -> ValidatedRun:
        history = await self.dependencies.run_log.read(run_id)
        old = history.created
        if old is None or old.caller != request.caller:
            raise FaultError(fault(Code.RUN_NOT_FOUND))
        if not history.final:
            raise _invalid("runId", "the run is not over; wait for its end, or cancel it")
        if history.status is RunStatus.SUCCEEDED:
            raise _invalid("runId", "the run has succeeded: nothing of it is left to be done; run the template anew")
        template = self._template(old.template_id, request.template_version, local=request.local)
        if others := [name for name in values if name not in inputs.secret_names(template)]:
            raise _invalid(f"inputs.{others[0]}", "a run goes on with the inputs that it had; run the template anew")
        both = {**old.inputs, **values}
        read = inputs.converted(template, both)
        template.check(read)
        session_id, alive = await self._session_of(request, old)
        request = msgspec.structs.replace(request, options=_options(request.options, old), session_id=session_id)
        validated = self._new_run(request, template, read, both)
        run = msgspec.structs.replace(validated.run, resumed_from=run_id)
        if old.preserved and alive:
            run = msgspec.structs.replace(run, session_id=old.session_id, own_session=True, preserved=True)
        if run.steps != old.steps:
            raise FaultError(fault(Code.TEMPLATE_VERSION_UNSUPPORTED, "The template has other steps now; run it anew."))
        return ValidatedRun(run, validated.secrets, carried(history, template))

    async def _session_of(self, request: CreateRun, old: RunCreated) -> tuple[str | None, bool]:
        """Return the caller's session of a run, and whether the run's own is still there."""
        if not old.session_id or (old.own_session and not old.preserved):
            return None, False
        try:
            await self._check_session(request, old.session_id)
        except FaultError as error:
            if old.own_session and error.fault.code is Code.SESSION_NOT_FOUND:
                return None, False
            raise
        return (None, True) if old.own_session else (old.session_id, True)


def _check_scopes(request: CreateRun, needed: Sequence[Scope]) -> None:
    """Let the steps of a run do nothing that its caller could not."""
    for scope in needed:
        if scope not in request.scopes:
            message = f"The steps of this run need a key with the scope {scope}."
            raise FaultError(fault(Code.AUTH_INSUFFICIENT_SCOPE, message, field="templateId"))


def unsealed(dependencies: RunnerDependencies, request: CreateRun) -> bytes:
    """Return the JSON of the inputs.

    Raises:
        FaultError: VALIDATION_INVALID_REQUEST, when it is sealed for another place or too long.
    """
    if dependencies.bus.seal is None:
        raise FaultError(fault(Code.INTERNAL_ERROR))
    try:
        data = dependencies.bus.seal.unseal(request.inputs, inputs_of(request.run_id))
    except UnsealError:
        raise _invalid("inputs", "sealed with another key than that of this Weft") from None
    if len(data) > MAX_INPUT_BYTES:
        raise _invalid("inputs", f"{len(data)} bytes are more than {MAX_INPUT_BYTES}; split the run into smaller ones")
    return data


def carried(history: RunHistory, template: TaskTemplate[Any] | None) -> Sequence[StepEnded]:
    """Return the steps of a run that need not be done again: none where it left its session to the caller.

    What was done then lives in pages that may have moved on, and not in what the steps gave; of some templates it does
    always, and is gone with a session of the run's own.
    """
    created = history.created
    if created is None or created.preserved or (template is not None and template.in_pages and created.own_session):
        return ()
    return tuple(line for _, line in sorted(history.steps.items()) if line.status is StepStatus.SUCCEEDED)


def _names(stages: Sequence[Stage]) -> tuple[str, ...]:
    return tuple(name for stage in stages for name in stage.steps)


def _forms(options: RunOptions) -> tuple[ArtifactType, ...]:
    """Return the forms to keep; the whole result is always kept as JSON, as it may be shortened inline."""
    return tuple(dict.fromkeys((ArtifactType.JSON, *options.artifacts)))


def _options(given: RunOptions, old: RunCreated) -> RunOptions:
    """Return the options of a run that is resumed: those that it had, unless others are given now."""
    default = RunOptions()
    return RunOptions(
        timeout_ms=old.timeout_ms if given.timeout_ms is None else given.timeout_ms,
        mode=old.mode if given.mode is Mode.AUTO else given.mode,
        artifacts=old.artifacts if given.artifacts == default.artifacts else given.artifacts,
        screenshots=old.screenshots or given.screenshots,
    )


def _new_session() -> str:
    return SESSION_PREFIX + secrets.token_urlsafe(SESSION_BYTES)


def _invalid(name: str, reason: str) -> FaultError:
    return FaultError(fault(_INVALID, f"{name}: {reason}", field=name))
