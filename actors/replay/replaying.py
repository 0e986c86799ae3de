"""Replays one recorded conversation: asks again what came from outside of its actors, and compares what they do."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

import anyio
from msgspec import Struct
from msgspec.structs import replace

from actors.replay.comparison import PacketDifference, differences
from actors.replay.recorded_packets import CallRecord, actor_of, calls_of
from actors.replay.scratch import ScratchSystem, scratch_system
from bus import conversation
from protocol.faults import Code, FaultError, fault
from protocol.recordings import FORMAT, ConversationRecording, RecordedEntry

DEADLINE_S: Final = 300.0
CALL_MS: Final = 120_000
_SETTLE_S: Final = 0.2
"""What is told after an answer may take so long."""


class Replayed(Struct, frozen=True, kw_only=True, rename="camel"):
    """What came of a replay: how many `packets` were compared, what `actors` said them, and all that is not the same.

    `given` packets were answered from the recording, since their actors drive browsers, ask models or look things up.
    `withheld` answers of the outside are not in the recording, since they were read with a login; `lost` found no room.
    """

    id: str
    packets: int
    given: int
    outside: int
    withheld: int
    lost: int
    actors: tuple[str, ...]
    differences: tuple[PacketDifference, ...]


async def replay(recording: ConversationRecording) -> Replayed:
    """Do a recorded conversation again, without a network.

    Raises:
        FaultError: VALIDATION_INVALID_REQUEST for a recording of another format; INTERNAL_DEADLINE after five minutes.
    """
    if recording.format != FORMAT:
        message = f"A recording of format {recording.format} cannot be replayed by this version, which has {FORMAT}."
        raise FaultError(fault(Code.VALIDATION_INVALID_REQUEST, message, field="format"))
    with tempfile.TemporaryDirectory(prefix="weft-replay-") as folder:
        try:
            with anyio.fail_after(DEADLINE_S):
                async with scratch_system(recording, Path(folder)) as system:
                    await _ask((record for record in calls_of(recording) if _comes_in(record, system)), system)
                    await anyio.sleep(_SETTLE_S)
                    return _compared(recording, system)
        except TimeoutError:
            raise FaultError(fault(Code.INTERNAL_DEADLINE, "The replay did not end within five minutes.")) from None


def _comes_in(record: CallRecord, system: ScratchSystem) -> bool:
    """Return whether a call was asked by somebody who is not there, and is answered by somebody who is."""
    return record.caller not in system.again and system.does(record.entry.name)


async def _ask(entries: Iterable[CallRecord], system: ScratchSystem) -> None:
    """Ask what was asked, each when all has ended that had ended before it then."""
    ended: list[tuple[int, anyio.Event]] = []
    async with anyio.create_task_group() as tasks:
        for record in entries:
            for end_us, event in ended:
                if end_us <= record.entry.at_us:
                    await event.wait()
            done = anyio.Event()
            ended.append((record.entry.at_us + record.entry.took_us, done))
            tasks.start_soon(_ask_one, record, system, done)


async def _ask_one(record: CallRecord, system: ScratchSystem, done: anyio.Event) -> None:
    request = record.request
    with suppress(FaultError), conversation(request.conversation):
        await system.bus.call(record.subject, request.input.task.args, timeout_ms=CALL_MS)
    done.set()


def _compared(recording: ConversationRecording, system: ScratchSystem) -> Replayed:
    former = [_by_driver(entry, system) for entry in recording.entries if _is_replayed(entry, system)]
    latter = [entry for entry in system.noted if entry.name != "browse.elapsed"]
    packets = [entry for entry in recording.entries if entry.kind != "outside"]
    again = sum(entry.kind != "outside" for entry in former)
    return Replayed(
        id=recording.id,
        packets=len(packets),
        given=len(packets) - again + sum(_is_given(entry, system) for entry in former),
        outside=len(former) - again,
        withheld=sum(entry.withheld for entry in recording.entries),
        lost=recording.lost,
        actors=tuple(system.again),
        differences=tuple(differences(former, latter)),
    )


def _is_replayed(entry: RecordedEntry, system: ScratchSystem) -> bool:
    if entry.name == "browse.elapsed":  # how often a clock is looked at says nothing
        return False
    return actor_of(entry.sender) in system.again or (entry.kind == "call" and system.does(entry.name))


def _is_given(entry: RecordedEntry, system: ScratchSystem) -> bool:
    return entry.kind == "call" and not system.does(entry.name)


def _by_driver(entry: RecordedEntry, system: ScratchSystem) -> RecordedEntry:
    """Return an entry as the driver sends it, where whoever sent it is not there."""
    return entry if actor_of(entry.sender) in system.again else replace(entry, sender=f"{system.bus.actor}/d1")
