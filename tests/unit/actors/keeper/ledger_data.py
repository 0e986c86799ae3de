"""Runs as their lines tell them, and a keeper that reads them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio

from actors.actor import grant_of, handlers
from actors.keeper.actor import Keeper
from actors.settings import Settings
from bus import Bus
from bus.memory import Broker
from bus.seal import Seal, new_key
from bus.stores import FileStore, JournalLog
from bus.transport import Transport
from protocol import subjects
from protocol.faults import Fault
from protocol.runs.events import (
    CancelRequested,
    KeptArtifact,
    LedgerLine,
    RunCreated,
    RunEnded,
    RunTaken,
    StepEnded,
    slice_name,
    state_topic,
    step_topic,
)
from protocol.runs.requests import AskRun, FollowRun, ListRuns, ReadArtifact, RunNews
from protocol.runs.responses import ArtifactChunk, Run, RunList
from protocol.runs.states import ArtifactType, Mode, RunStatus, StepStatus

KEY = new_key()
ME = "key_me"
YOU = "key_you"
NOW = 1_800_000_000_000
DAY_MS = 86_400_000
STEPS = ("open", "read", "close")
DONE = StepStatus.SUCCEEDED


def run_id(number: int) -> str:
    return f"run_{number:022d}"


def artifact_id(number: int) -> str:
    return f"art_{number:022d}"


RUN = run_id(1)
ARTIFACT = artifact_id(1)


def created(run: str = RUN, *, at: int = NOW, **other: Any) -> RunCreated:
    told: dict[str, Any] = {
        "caller": ME,
        "local": False,
        "template_id": "batch_extract_pages",
        "version": "1.0.0",
        "inputs": {"urls": ["https://secret.example/page"]},
        "steps": STEPS,
        "timeout_ms": 60_000,
        "mode": Mode.ASYNC,
        **other,
    }
    return RunCreated(run_id=run, at=at, **told)


def taken(run: str = RUN, *, at: int = NOW + 100, attempt: int = 1) -> RunTaken:
    return RunTaken(run_id=run, at=at, replica="r1", attempt=attempt)


def cancelled(run: str = RUN, *, at: int = NOW + 150) -> CancelRequested:
    return CancelRequested(run_id=run, at=at)


def step(index: int, run: str = RUN, *, status: StepStatus = DONE, **other: Any) -> StepEnded:
    at = other.pop("at", NOW + 200 + index)
    name = STEPS[index % len(STEPS)]
    return StepEnded(run_id=run, at=at, index=index, name=name, status=status, output={"text": "of a page"}, **other)


def ended(run: str = RUN, *, at: int = NOW + 1_100, status: RunStatus = RunStatus.SUCCEEDED, **other: Any) -> RunEnded:
    return RunEnded(run_id=run, at=at, status=status, **other)


def failed(failure: Fault, run: str = RUN, **other: Any) -> RunEnded:
    return ended(run, status=RunStatus.FAILED, fault=failure, **other)


def kept(name: str = ARTIFACT, size: int = 12, slice_bytes: int = 5, expires_at: int = NOW + DAY_MS) -> KeptArtifact:
    return KeptArtifact(
        artifact_id=name, type=ArtifactType.JSON, size=size, expires_at=expires_at, slice_bytes=slice_bytes
    )


def success(run: str = RUN, **other: Any) -> list[LedgerLine]:
    """Return the lines of a whole run that went well."""
    return [created(run), taken(run), *(step(index, run) for index in range(3)), ended(run, **other)]


def topic_of(said: LedgerLine) -> str:
    return step_topic(said.run_id, said.index) if isinstance(said, StepEnded) else state_topic(said.run_id)


@dataclass
class Clock:
    """The time as the keeper sees it."""

    now: int = NOW + 5_000

    def __call__(self) -> int:
        return self.now


@dataclass
class Asking:
    """Somebody who writes lines and asks keepers."""

    bus: Bus
    ledger: JournalLog[LedgerLine]
    store: FileStore

    async def write(self, *lines: LedgerLine) -> int:
        """Write lines as a runner does; returns the sequence of the last."""
        last = 0
        for said in lines:
            last = await self.ledger.append(topic_of(said), said)
        return last

    async def keep(self, data: bytes, name: str = ARTIFACT, slice_bytes: int = 5, **other: Any) -> KeptArtifact:
        """Put the slices of a file into the store."""
        for number, start in enumerate(range(0, len(data), slice_bytes)):
            await self.store.put(slice_name(name, number), data[start : start + slice_bytes])
        return kept(name, len(data), slice_bytes, **other)

    async def get(self, run: str = RUN, caller: str = ME, *, include_inputs: bool = False) -> Run:
        return await self.bus.call(subjects.RUN_GET, AskRun(run_id=run, caller=caller, include_inputs=include_inputs))

    async def list(self, caller: str = ME, **other: Any) -> RunList:
        return await self.bus.call(subjects.RUN_LIST, ListRuns(caller=caller, **other))

    async def follow(self, run: str = RUN, caller: str = ME, **other: Any) -> RunNews:
        return await self.bus.call(subjects.RUN_FOLLOW, FollowRun(run_id=run, caller=caller, **other))

    async def read(self, name: str = ARTIFACT, caller: str = ME, **other: Any) -> ArtifactChunk:
        return await self.bus.call(subjects.ARTIFACT_READ, ReadArtifact(artifact_id=name, caller=caller, **other))

    async def read_whole(self, limit: int) -> bytes:
        """Read a file piece by piece, as a client does."""
        data = b""
        while True:
            chunk = await self.read(offset=len(data), limit=limit)
            data += chunk.data
            if chunk.complete:
                return data


@asynccontextmanager
async def asking(transport: Transport) -> AsyncGenerator[Asking]:
    """Take part as somebody who may everything."""
    async with Bus(transport, "asker", "r1").running() as bus:
        bus.seal = Seal.of(KEY)
        for followed in (*Keeper.reads, *Keeper.journals):
            await bus.journal(followed)
        yield Asking(bus, await bus.journal(subjects.LEDGER), await bus.objects(subjects.ARTIFACTS))


@asynccontextmanager
async def keeping(
    transport: Transport, folder: Path, replica: str = "r1", clock: Clock | None = None, **other: Any
) -> AsyncGenerator[Keeper]:
    """Run a keeper as a replica does."""
    async with Bus(transport, "keeper", replica).running() as bus:
        bus.seal = Seal.of(KEY)
        keeper = Keeper(bus=bus, settings=Settings(data_dir=folder, **other), clock=clock or Clock())
        async with keeper.open():
            for handler in handlers(Keeper):
                await bus.serve(handler.subject, getattr(keeper, handler.method), at_once=handler.at_once)
            await transport.flush()
            yield keeper
            await bus.drain(1_000)


@dataclass
class World:
    """A bus in memory; `run` puts a keeper on it."""

    broker: Broker
    asking: Asking
    folder: Path
    clock: Clock = field(default_factory=Clock)

    @asynccontextmanager
    async def keeper(self, replica: str = "r1", **settings: Any) -> AsyncGenerator[Keeper]:
        transport = self.broker.connect("keeper", grant_of(Keeper))
        async with keeping(transport, self.folder, replica, self.clock, **settings) as keeper:
            yield keeper

    def files(self) -> Sequence[Path]:
        return sorted((self.folder / "keeper").iterdir())


@asynccontextmanager
async def world(folder: Path) -> AsyncGenerator[World]:
    """Meet in memory, with nobody who keeps yet."""
    with anyio.fail_after(90):
        async with Broker() as broker, asking(broker.connect("asker")) as asker:
            yield World(broker, asker, folder)
