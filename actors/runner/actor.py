"""The actor that does template runs: begins them, takes them from the queue, and cancels them."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

import anyio

from actors.actor import Actor, Handler, consumes, handles
from actors.runner import canceling, executor
from actors.runner.dependencies import Means
from actors.runner.inputs import Vault
from actors.runner.run_log import Histories
from actors.runner.submission import Creating
from actors.runner.templates.table import TEMPLATES, Catalogue, described
from protocol import subjects
from protocol.runs.requests import AskRun, AskSecrets, CreateRun, DoRun, ListTemplates, Secrets, Templates
from protocol.runs.responses import CancelAnswer, RunAccepted, RuntimeLimits
from protocol.runs.states import MAX_CONCURRENT_RUNS
from protocol.subjects import Bucket, Journal, Objects, Subject

SWEEP_S: Final = 60.0
"""How often secrets of runs that are over are looked for."""


@dataclass
class Runner(Actor):
    """Does template runs, step by step; what it has done stands in the ledger, so that any replica goes on."""

    name: ClassVar[str] = "runner"
    publishes: ClassVar[tuple[Subject[Any], ...]] = (
        subjects.BROWSE,
        subjects.BROWSER,
        subjects.RUN,
        subjects.RUN_SECRETS,
    )
    buckets: ClassVar[tuple[Bucket[Any], ...]] = (subjects.RUN_KEYS,)
    seals: ClassVar[bool] = True
    stores: ClassVar[tuple[Objects, ...]] = (subjects.ARTIFACTS,)
    journals: ClassVar[tuple[Journal[Any], ...]] = (subjects.LEDGER,)

    templates: Catalogue = field(default_factory=lambda: TEMPLATES)
    _means: Means = field(init=False, repr=False)

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[None]:
        """Open the ledger and the stores, and forget secrets when their runs are over."""
        bus = self.bus
        self._means = Means(
            bus=bus,
            settings=self.settings,
            templates=self.templates,
            histories=Histories(await bus.journal(subjects.LEDGER)),
            artifacts=await bus.objects(subjects.ARTIFACTS),
            keys=await bus.table(subjects.RUN_KEYS),
            vault=Vault(bus),
        )
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._sweep)
            yield
            tasks.cancel_scope.cancel()

    def room(self, handler: Handler) -> int:
        """Say how many times at once: as many runs as all replicas together may work on."""
        return self.settings.runs_at_once if handler.subject is subjects.RUN else handler.at_once

    @handles(subjects.RUN_TEMPLATES, at_once=32)
    async def list(self, asked: ListTemplates) -> Templates:
        """Return what there is to run."""
        del asked
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
    async def create(self, asked: CreateRun) -> RunAccepted:
        """Begin a run.

        Raises:
            FaultError: TEMPLATE_NOT_FOUND, TEMPLATE_VERSION_UNSUPPORTED, TRUST_LEVEL_NOT_ALLOWED, SESSION_NOT_FOUND,
                RUN_NOT_FOUND, VALIDATION_INVALID_REQUEST.
        """
        return await Creating(self._means).create(asked)

    @handles(subjects.RUN_CANCEL, at_once=32)
    async def cancel(self, asked: AskRun) -> CancelAnswer:
        """Have a run stop before its next step.

        Raises:
            FaultError: RUN_NOT_FOUND.
        """
        return await canceling.cancel(self._means.histories, asked)

    @handles(subjects.RUN_SECRETS, at_once=32)
    async def secrets(self, asked: AskSecrets) -> Secrets:
        """Tell another replica what is secret in the inputs of a run that was asked for here."""
        return Secrets(sealed=self._means.vault.told(asked.run_id))

    @consumes(subjects.RUN, at_once=MAX_CONCURRENT_RUNS)
    async def work(self, asked: DoRun) -> None:
        """Do a run, or go on with it."""
        await executor.play(self._means, asked.run_id)

    async def _sweep(self) -> None:
        while True:
            await anyio.sleep(SWEEP_S)
            await self._means.vault.sweep(self._means.histories)
