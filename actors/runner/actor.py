"""The actor that does template runs: submits them, executes them from the queue, and cancels them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

import anyio

from actors.actor import Actor, Handler, consumes, handles
from actors.key_ends import KeyEnds
from actors.runner.collections.adding import import_sources
from actors.runner.collections.capturing import Capturing
from actors.runner.collections.text_log import TextLog, Transforming
from actors.runner.collections.watching import Watching
from actors.runner.dependencies import RunnerDependencies
from actors.runner.executor import execute
from actors.runner.flows.shelf import FlowShelf
from actors.runner.inputs import Vault
from actors.runner.run_log import RunHistory, RunLog, cancel_request, end_if_queued
from actors.runner.submission import RunSubmission
from actors.runner.templates.table import TEMPLATES, Catalogue, described
from actors.runner.tools.context import ToolDependencies, opened
from actors.runner.tools.table import run_tool
from actors.runner.variables import VARIABLES
from actors.settings import Settings
from actors.tool_files import own_engines, own_integrations, read_engines, read_integrations
from actors.usage import UsageLedger
from actors.web.client import BUCKETS, web_client
from protocol import subjects
from protocol.browsers.operations import TYPING
from protocol.collection_views import ImportedSources, ImportSources
from protocol.collections import DoCapture, DoTransform
from protocol.faults import Code, FaultError, fault
from protocol.flows import (
    AskFlow,
    Flow,
    FlowForgotten,
    FlowList,
    FlowRecording,
    KeepFlow,
    KeptRecording,
    ListFlows,
    RecordFlow,
)
from protocol.integrations import Delivery, DeliveryList, ListDeliveries, NamedDelivery, SendDelivery
from protocol.policy import RunTool, ToolResult
from protocol.runs.requests import INPUTS, AskRun, AskSecrets, CreateRun, DoRun, ListTemplates, Secrets, Templates
from protocol.runs.responses import CancelAnswer, RunAccepted, RuntimeLimits
from protocol.runs.states import MAX_CONCURRENT_RUNS, RunStatus
from protocol.sessions import PASS
from protocol.subject_kinds import Bucket, Journal, Objects, Subject

MAX_CAPTURES: Final = 64
MAX_TRANSFORMS: Final = 8
"""Texts that one replica makes at the same time."""

SWEEP_S: Final = 60.0
"""How often the secrets of runs that are over are forgotten."""


@dataclass
class Runner(Actor):
    """Does template runs step by step; what is done stands in the ledger, so that any replica goes on."""

    name: ClassVar[str] = "runner"
    publishes: ClassVar[tuple[Subject[Any], ...]] = (
        subjects.BROWSE,
        subjects.BROWSER,
        subjects.BROWSER_TREE,
        subjects.CAPTURE,
        subjects.COLLECTION_BYTES,
        subjects.COLLECTION_CHANGED,
        subjects.COLLECTION_GET,
        subjects.COLLECTION_PACK,
        subjects.MAKE_TEXT,
        subjects.POLICY_CALL,
        subjects.PRINT,
        subjects.TRANSFORM,
        subjects.RUN,
        subjects.RUN_SECRETS,
        subjects.DELIVER,
        subjects.PASSAGES,
    )
    variables: ClassVar[tuple[str, ...]] = VARIABLES
    buckets: ClassVar[tuple[Bucket[Any], ...]] = (
        *(subjects.RUN_KEYS, subjects.DELIVERIES, subjects.FLOWS, subjects.KEY_ENDS, subjects.USAGE),
        *BUCKETS,
    )
    purposes: ClassVar[tuple[str, ...]] = (INPUTS, TYPING, PASS)
    stores: ClassVar[tuple[Objects, ...]] = (subjects.ARTIFACTS, subjects.CAPTURES)
    journals: ClassVar[tuple[Journal[Any], ...]] = (subjects.LEDGER, subjects.COLLECTIONS)

    templates: Catalogue = field(default_factory=lambda: TEMPLATES)
    environment: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    _key_ends: KeyEnds = field(default_factory=KeyEnds, init=False, repr=False)
    _usage: UsageLedger = field(init=False, repr=False)
    _dependencies: RunnerDependencies = field(init=False, repr=False)
    _tool_context: ToolDependencies = field(init=False, repr=False)

    @classmethod
    def warm(cls) -> None:
        """Read the shipped integrations and search engines."""
        read_integrations()
        read_engines()

    @classmethod
    def check(cls, settings: Settings) -> None:
        """Read the operator's files of search engines and integrations.

        Raises:
            FaultError: CONFIG_INVALID, with the file and the line that is wrong.
        """
        read_integrations(own_integrations(settings), needed=bool(settings.integrations_file))
        read_engines(own_engines(settings), needed=bool(settings.search_file))

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[None]:
        """Open the ledger and the stores, forget secrets when their runs are over, and stop what ended keys wanted."""
        bus = self.bus
        self._usage = UsageLedger(bus.replica)
        async with (
            self._key_ends.watching(bus),
            self._usage.writing(bus),
            opened(bus, self.settings, self.environment, self._usage) as self._tool_context,
            web_client(self.settings, bus) as web,
            anyio.create_task_group() as tasks,
        ):
            self._dependencies = RunnerDependencies(
                bus=bus,
                settings=self.settings,
                templates=self.templates,
                run_log=RunLog(await bus.journal(subjects.LEDGER)),
                artifacts=await bus.objects(subjects.ARTIFACTS),
                keys=await bus.table(subjects.RUN_KEYS),
                vault=Vault(bus),
                web=web,
                sources=self._capturing,
                flows=FlowShelf(bus, await bus.table(subjects.FLOWS)),
                has_ended=self._key_ends.has_ended,
                usage=self._usage,
            )
            tasks.start_soon(self._sweep)
            tasks.start_soon(Watching(self._capturing, self._tool_context.integrations.notify).run)
            yield
            tasks.cancel_scope.cancel()

    def room(self, handler: Handler) -> int:
        """Return how many calls a handler takes at once: of runs as many as all replicas together may work on."""
        if handler.subject is subjects.CAPTURE:
            return self.settings.captures_at_once
        return self.settings.runs_at_once if handler.subject is subjects.RUN else handler.at_once

    @handles(subjects.RUN_TEMPLATES, at_once=32)
    async def list(self, request: ListTemplates) -> Templates:
        """Return the templates, and the limits of runs."""
        del request
        limits = RuntimeLimits(
            max_concurrent_runs=self.settings.runs_at_once,
            max_run_timeout_ms=self.settings.run_timeout_max_ms,
            max_artifact_inline_bytes=self.settings.artifact_inline_bytes,
        )
        return Templates(
            templates=tuple(described(one) for one in self.templates.values()),
            limits=limits,
            artifact_ttl_ms=self.settings.artifact_ttl_ms,
        )

    @handles(subjects.RUN_CREATE, at_once=32)
    async def create(self, request: CreateRun) -> RunAccepted:
        """Begin a run.

        Raises:
            FaultError: TEMPLATE_NOT_FOUND, TEMPLATE_VERSION_UNSUPPORTED, TRUST_LEVEL_NOT_ALLOWED, SESSION_NOT_FOUND,
                RUN_NOT_FOUND, VALIDATION_INVALID_REQUEST.
        """
        return await RunSubmission(self._dependencies).create(request)

    @handles(subjects.RUN_CANCEL, at_once=32)
    async def cancel(self, request: AskRun) -> CancelAnswer:
        """Have a run stop before its next step; one that waits in the queue ends at once, and does no step (002 §4.4).

        Raises:
            FaultError: RUN_NOT_FOUND.
        """
        run_log, run_id = self._dependencies.run_log, request.run_id
        history = await run_log.read_state(run_id)
        if history.created is None or history.created.caller != request.caller:
            raise FaultError(fault(Code.RUN_NOT_FOUND))
        if history.final:
            return _cancel_answer(history, requested=False)
        history = await run_log.change(run_id, history, lambda now: cancel_request(now, run_id))
        # A run that ended by itself, before the cancel was written down.
        if not history.cancel_requested:
            return _cancel_answer(history, requested=False)
        history = await run_log.change(run_id, history, lambda now: end_if_queued(now, run_id))
        return _cancel_answer(history, requested=True)

    @handles(subjects.RUN_SECRETS, at_once=32)
    async def secrets(self, request: AskSecrets) -> Secrets:
        """Return what is secret in the inputs of a run that this replica has accepted, to another replica."""
        return Secrets(sealed=self._dependencies.vault.sealed(request.run_id))

    @handles(subjects.FLOW_RECORD, at_once=8)
    async def record_flow(self, request: RecordFlow) -> FlowRecording:
        """Begin to record a browser session.

        Raises:
            FaultError: there is no browser, or no room in it.
        """
        return await self._flows.record(request)

    @handles(subjects.FLOW_KEEP, at_once=8)
    async def keep_flow(self, request: KeepFlow) -> KeptRecording:
        """End a recording, and keep what was recorded.

        Raises:
            FaultError: VALIDATION_INVALID_REQUEST, nothing is recorded; CONFIG_STORAGE_FULL; CONTENT_TOO_LARGE.
        """
        return await self._flows.keep(request)

    @handles(subjects.FLOW_GET, at_once=32)
    async def flow(self, request: AskFlow) -> Flow:
        """Return a flow.

        Raises:
            FaultError: VALIDATION_UNKNOWN_FLOW.
        """
        return await self._flows.get(request)

    @handles(subjects.FLOW_LIST, at_once=16)
    async def list_flows(self, request: ListFlows) -> FlowList:
        """List the flows of a caller."""
        return await self._flows.listed(request)

    @handles(subjects.FLOW_FORGET, at_once=16)
    async def forget_flow(self, request: AskFlow) -> FlowForgotten:
        """Forget a flow.

        Raises:
            FaultError: VALIDATION_UNKNOWN_FLOW.
        """
        return await self._flows.forget(request)

    @property
    def _flows(self) -> FlowShelf:
        shelf = self._dependencies.flows
        assert shelf is not None  # noqa: S101 - `open` has made it
        return shelf

    @handles(subjects.TOOL.at(actor="runner"), at_once=64)
    async def tool(self, request: RunTool) -> ToolResult:
        """Run a tool that the gate has allowed.

        Raises:
            FaultError: VALIDATION_INVALID_REQUEST, when it is none of ours; why it came to nothing.
        """
        return await run_tool(self._tool_context, request)

    @handles(subjects.DELIVERY_LIST, at_once=8)
    async def deliveries(self, request: ListDeliveries) -> DeliveryList:
        """Return what other programs were told, for a caller or for all."""
        return DeliveryList(deliveries=await self._tool_context.integrations.list(request))

    @handles(subjects.DELIVERY_GET, at_once=8)
    async def delivery(self, request: NamedDelivery) -> Delivery:
        """Return one delivery whole.

        Raises:
            FaultError: ARTIFACT_NOT_FOUND.
        """
        return await self._tool_context.integrations.get(request)

    @handles(subjects.DELIVERY_DROP, at_once=8)
    async def drop(self, request: NamedDelivery) -> Delivery:
        """Forget what was given up.

        Raises:
            FaultError: ARTIFACT_NOT_FOUND; VALIDATION_INVALID_REQUEST, when it was not given up.
        """
        return await self._tool_context.integrations.drop(request)

    @handles(subjects.DELIVERY_RESEND, at_once=8)
    async def resend(self, request: NamedDelivery) -> Delivery:
        """Send again what was given up.

        Raises:
            FaultError: ARTIFACT_NOT_FOUND; VALIDATION_INVALID_REQUEST, when it was not given up.
        """
        return await self._tool_context.integrations.resend(request)

    @consumes(subjects.DELIVER, at_once=16)
    async def deliver(self, request: SendDelivery) -> None:
        """Send another program what it is to do.

        Raises:
            FaultError: it is to be tried again.
        """
        await self._tool_context.integrations.deliver(request)

    @consumes(subjects.RUN, at_once=MAX_CONCURRENT_RUNS)
    async def work(self, request: DoRun) -> None:
        """Do a run, or go on with it."""
        await execute(self._dependencies, request.run_id)

    @handles(subjects.COLLECTION_IMPORT, at_once=4)
    async def import_list(self, request: ImportSources) -> ImportedSources:
        """Add the addresses of a list that another program has written to a collection.

        Raises:
            FaultError: VALIDATION_UNKNOWN_COLLECTION; VALIDATION_INVALID_REQUEST, when it is no list.
        """
        return await import_sources(self._capturing, request)

    @consumes(subjects.CAPTURE, at_once=MAX_CAPTURES)
    async def capture(self, request: DoCapture) -> None:
        """Read a page into a collection."""
        await self._capturing.do(request)

    @property
    def _capturing(self) -> Capturing:
        log, has_ended = self._tool_context.collections, self._key_ends.has_ended
        return Capturing(log, self.bus, self.settings, has_ended, self._usage)

    @consumes(subjects.TRANSFORM, at_once=MAX_TRANSFORMS)
    async def transform(self, request: DoTransform) -> None:
        """Make a text of a collection."""
        texts = TextLog(self._tool_context.collections)
        await Transforming(texts, self.bus, self.settings, self._key_ends.has_ended).do(request)

    async def _sweep(self) -> None:
        while True:
            await anyio.sleep(SWEEP_S)
            await self._dependencies.vault.sweep(self._dependencies.run_log)


def _cancel_answer(history: RunHistory, *, requested: bool) -> CancelAnswer:
    return CancelAnswer(cancel_requested=requested, current_status=history.status or RunStatus.QUEUED)
