"""A scratch system: the actors that took part, on a bus in memory; in the place of all others stands what was said."""

from __future__ import annotations

import os
from collections import defaultdict, deque
from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from actors.actor import Actor, handlers, purposes_of
from actors.registry import kinds
from actors.replay.comparison import args_key
from actors.replay.playback import CallOutcomes, OutsideAnswers, Playback
from actors.replay.recorded_packets import CallRecord, calls_of
from actors.settings import Settings, load
from bus import Bus
from bus.memory import Broker
from bus.seal import KEY_BYTES, Seal
from protocol.faults import Code, Fault, FaultError, fault
from protocol.recordings import ConversationRecording, RecordedEntry
from protocol.subject_kinds import Call, matches

REPLAYED: Final = ("navigator", "verifier", "fetchers.intelligence", "fetchers.lightweight", "answerer", "planner")
"""The actors whose work is done again; those that drive browsers, ask models and look up what is kept are outside."""

STAND_IN: Final = "recorded"
_AT_ONCE: Final = 64


@dataclass
class ScratchSystem:
    """The actors of a replay: `again` are the kinds whose work is done again, `noted` is what they say."""

    bus: Bus
    again: Mapping[str, type[Actor]]
    noted: list[RecordedEntry] = field(default_factory=list[RecordedEntry])

    def does(self, subject: str) -> bool:
        """Return whether one of the actors answers a subject."""
        return any(
            matches(subject, handler.subject.wildcard) for kind in self.again.values() for handler in handlers(kind)
        )


@asynccontextmanager
async def scratch_system(recording: ConversationRecording, folder: Path) -> AsyncGenerator[ScratchSystem]:
    """Run the actors of a recording; `folder` is for what they keep."""
    calls = list(calls_of(recording))
    answered = {record.callee for record in calls}
    again = kinds(name for name in REPLAYED if name in answered)
    seal = Seal({purpose: os.urandom(KEY_BYTES) for kind in again.values() for purpose in purposes_of(kind)})
    settings = _settings(recording, folder)
    outside, outcomes = OutsideAnswers.of(recording.entries), CallOutcomes.of(calls)
    async with Broker() as broker, AsyncExitStack() as stack:

        async def joined(name: str, replica: str) -> Bus:
            bus = Bus(broker.connect(name), name, replica, recording.version)
            bus.seal = seal
            await stack.enter_async_context(bus.running())
            return bus

        system = ScratchSystem(await joined("driver", "d1"), again)
        system.bus.wire.recorder = Playback("driver/d1", outside, outcomes, system.noted)
        stand_in = StandIn(calls)
        for call in stand_in.subjects(system):
            bus = stand_in.bus = stand_in.bus or await joined(STAND_IN, "s1")
            await bus.serve(call, stand_in.answering(call), at_once=_AT_ONCE)
        for name, kind in again.items():
            replica = _replica_of(name, recording)
            bus = await joined(name, replica)
            bus.wire.recorder = Playback(f"{name}/{replica}", outside, outcomes, system.noted)
            actor = kind(bus=bus, settings=settings)
            await stack.enter_async_context(actor.open())
            for handler in handlers(kind):
                subject = handler.subject.answered_by(replica)
                await bus.serve(subject, getattr(actor, handler.method), at_once=actor.room(handler))
        yield system


@dataclass
class StandIn:
    """Answers as was recorded, in the place of actors whose work is not done again."""

    calls: Iterable[CallRecord]
    bus: Bus | None = None
    _waiting: dict[tuple[str, str], deque[CallRecord]] = field(
        default_factory=lambda: defaultdict[tuple[str, str], deque[CallRecord]](deque), init=False
    )
    _any: dict[str, deque[CallRecord]] = field(
        default_factory=lambda: defaultdict[str, deque[CallRecord]](deque), init=False
    )

    def subjects(self, system: ScratchSystem) -> list[Call[Any, Any]]:
        """Return the subjects that it answers: those that somebody answered who is not there."""
        subjects: dict[str, Call[Any, Any]] = {}
        for record in self.calls:
            if record.callee and not system.does(record.entry.name):
                subjects[record.entry.name] = record.subject
                self._waiting[record.entry.name, args_key(record.request.input.task.args)].append(record)
                self._any[record.entry.name].append(record)
        return list(subjects.values())

    def answering(self, call: Call[Any, Any]) -> Any:
        """Return the handler of a subject: the answer to the same request, or else the next one that is left."""

        async def answer(args: Any) -> Any:
            record = self._next(call.pattern, args_key(args))
            if record is None:
                raise FaultError(fault(Code.INTERNAL_UNAVAILABLE, f"The recording has no answer of {call.pattern}."))
            if isinstance(record.outcome, Fault):
                raise FaultError(record.outcome)
            return record.outcome

        return answer

    def _next(self, subject: str, args: str) -> CallRecord | None:
        same, left = self._waiting[subject, args], self._any[subject]
        record = same.popleft() if same else (left[0] if left else None)
        if record is not None and record in left:
            left.remove(record)
        return record


def _replica_of(name: str, recording: ConversationRecording) -> str:
    senders = (entry.sender.partition("/") for entry in recording.entries)
    return next((replica for actor, _, replica in senders if actor == name), "r1")


def _settings(recording: ConversationRecording, folder: Path) -> Settings:
    """Return the numbers and switches of the recorded system, as far as this version has them.

    A recording may come from a stranger: no text of it names a file or an address here.

    Raises:
        FaultError: CONFIG_INVALID, it does not take their values.
    """
    known = {
        name: value
        for name, value in recording.settings.items()
        if name in Settings.__struct_fields__ and isinstance(value, int | float)
    }
    overrides = {**known, "data_dir": str(folder), "record_conversations": False}
    return load(config_file=None, overrides=overrides, environ={}).settings
