"""Recording of conversations: the packets that a participant sends, and what the outside world answers it.

The outside is all that a replay cannot compute anew: sites, engines, tables that others write, time and chance. Who
asks it, asks by `outside` or `observed`: while nothing is recorded, that is no more than the call.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from secrets import token_hex
from typing import Any, Final, Generic, Protocol, TypeVar

import anyio
import anyio.to_thread
import msgspec
import structlog
from msgspec import UNSET, Struct

from bus.context import conversation_id
from bus.errors import TransportError
from protocol.codec import Decoder, encode
from protocol.faults import Fault, FaultError
from protocol.packets import Request
from protocol.recordings import EntryKind, RecordedBatch, RecordedEntry, RecordedPiece
from protocol.subjects import RECORDED, RECORDING_GET, RECORDING_LIST

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

log = structlog.stdlib.get_logger()

NOT_RECORDED: Final = "not_recorded"

GATHER_S: Final = 2.0
"""What is noted gathers for so long before it is sent: half of what recording costs is sending."""

SEND_S: Final = 5.0
"""What sending may take."""

ROOM_BYTES: Final = 64 * 1024 * 1024
"""What may wait to be sent; more is lost, and counted."""

PIECE_BYTES: Final = 480 * 1024
"""What one message carries: packets are JSON, in which bytes take a third more."""

_PACKING: Final[dict[int, int]] = {
    zstd.CompressionParameter.compression_level: 1,
    zstd.CompressionParameter.window_log: 17,
}
"""The fastest level, with a window of 128 KB: what one replica says twice of a page lies nearer, and a smaller window
stays in the cache of a processor.
"""

_OF_RECORDINGS: Final = frozenset({RECORDED.pattern, RECORDING_GET.pattern, RECORDING_LIST.pattern})

T = TypeVar("T")


class AnswerForm(Struct, Generic[T], frozen=True):
    """How an answer of the outside is written as JSON, and read again."""

    write: Callable[[T], bytes]
    read: Callable[[bytes], T]


@cache
def form_of(kind: Any) -> AnswerForm[Any]:
    """Return the form of what msgspec can write."""
    return AnswerForm(encode, Decoder[Any](kind).decode)


class Recorder(Protocol):
    """Notes what a participant sends and is told, or in a replay says it."""

    def sent(  # noqa: PLR0913, PLR0917 - what there is to note of a packet
        self, kind: EntryKind, subject: str, packet: Request[Any], written: bytes, outcome: Outcome, began_s: float
    ) -> None:
        """Note a packet, which is `written` so; `outcome` is None where nobody answers, `began_s` by `time.time`."""
        ...

    def asks(self, subject: str, packet: Request[Any]) -> None:
        """Hear of a call before it is made.

        Raises:
            FaultError: in a replay, where nobody answered it then.
        """
        ...

    def observed(self, name: str, request: object, look: Callable[[], T], form: AnswerForm[Any]) -> T:
        """Return what `look` returns, and note it."""
        ...

    async def outside(
        self, name: str, request: object, ask: Callable[[], Awaitable[T]], form: AnswerForm[Any], *, withhold: bool
    ) -> T:
        """Return what `ask` returns or raise its FaultError, and note it; what is to be withheld is not noted."""
        ...


Outcome = bytes | Fault | None
"""What comes of a packet: the one that answers it, encoded, or why there is none."""

_recorder: ContextVar[Recorder | None] = ContextVar("recorder", default=None)


@contextmanager
def recorded(recorder: Recorder | None) -> Generator[None]:
    """Have what follows noted, if somebody notes."""
    token = _recorder.set(recorder)
    try:
        yield
    finally:
        _recorder.reset(token)


async def outside(
    name: str, request: object, ask: Callable[[], Awaitable[T]], form: AnswerForm[Any], *, withhold: bool = False
) -> T:
    """Ask something of the outside world, as part of the work in hand.

    Equal questions of one conversation are told apart by their order.

    Raises:
        FaultError: what `ask` raises.
    """
    recorder = _current()
    if recorder is None:
        return await ask()
    with recorded(None):  # what it takes to answer is of the outside, too
        return await recorder.outside(name, request, ask, form, withhold=withhold)


def observed(name: str, request: object, look: Callable[[], T], form: AnswerForm[Any]) -> T:
    """Look at something that a replay cannot know: what others have taught this replica, a clock, or chance."""
    recorder = _current()
    return look() if recorder is None else recorder.observed(name, request, look, form)


def chance(draw: Callable[[], str]) -> str:
    """Draw something at random that travels in packets."""
    return observed("chance", "", draw, form_of(str))


def _current() -> Recorder | None:
    return None if conversation_id() is None else _recorder.get()


def write_entries(entries: list[RecordedEntry]) -> bytes:
    """Pack entries."""
    return zstd.compress(encode(entries), options=_PACKING)


def read_entries(data: bytes, max_bytes: int) -> list[RecordedEntry]:
    """Unpack entries.

    Raises:
        ValueError: they are more than `max_bytes`, or none.
    """
    if max_bytes <= 0:  # which Zstandard takes for no bound at all
        msg = "no room is left"
        raise ValueError(msg)
    unpacking = zstd.ZstdDecompressor()
    try:
        written = unpacking.decompress(data, max_bytes)
    except zstd.ZstdError as error:
        raise ValueError(str(error)) from None
    if not unpacking.eof:
        msg = f"more than {max_bytes} bytes"
        raise ValueError(msg)
    entries: list[RecordedEntry] = form_of(list[RecordedEntry]).read(written)
    return entries


class SharedRecorder:
    """Notes what one replica sends and is told, and sends it on every two seconds, to be kept."""

    def __init__(self, sender: str, tell: Callable[[RecordedBatch], Awaitable[None]]) -> None:
        """Note as `sender`, `actor/replica`, and send on by `tell`."""
        self._sender = sender
        self._tell = tell
        self._waiting: dict[str, list[RecordedEntry]] = {}
        self._bytes = 0
        self._lost = 0
        self._noted = anyio.Event()

    # -- noting ------------------------------------------------------------------------------------------------------

    def sent(  # noqa: PLR0913, PLR0917 - as the protocol says
        self, kind: EntryKind, subject: str, packet: Request[Any], written: bytes, outcome: Outcome, began_s: float
    ) -> None:
        """Note a packet of the conversation in hand; outside of one nothing is noted, nor what asks for recordings."""
        if conversation_id() is None or subject in _OF_RECORDINGS:
            return
        answered, failure = (None, outcome) if isinstance(outcome, Fault) else (outcome, None)
        name, sender = packet.conversation.id, packet.sender.actor
        self._note(name, kind, subject, written, answered, failure, began_s, sender)

    def asks(self, subject: str, packet: Request[Any]) -> None:
        """Let it be made."""

    def observed(self, name: str, request: object, look: Callable[[], T], form: AnswerForm[Any]) -> T:
        """Look, and note what it saw."""
        began_s, observation = time.time(), look()
        self._note(conversation_id() or "", "outside", name, encode(request), form.write(observation), None, began_s)
        return observation

    async def outside(
        self, name: str, request: object, ask: Callable[[], Awaitable[T]], form: AnswerForm[Any], *, withhold: bool
    ) -> T:
        """Ask, and note what came of it."""
        began_s, conversation = time.time(), conversation_id() or ""
        if withhold:
            self._note(conversation, "outside", name, b"null", None, None, began_s, withheld=True)
            return await ask()
        try:
            answer = await ask()
        except FaultError as error:
            self._note(conversation, "outside", name, encode(request), None, error.fault, began_s)
            raise
        self._note(conversation, "outside", name, encode(request), form.write(answer), None, began_s)
        return answer

    def _note(  # noqa: PLR0913, PLR0917 - the fields of an entry
        self,
        conversation: str,
        kind: EntryKind,
        name: str,
        request: bytes,
        response: bytes | None,
        failure: Fault | None,
        began_s: float,
        sender: str = "",
        *,
        withheld: bool = False,
    ) -> None:
        size = len(request) + len(response or b"")
        if self._bytes + size > ROOM_BYTES:
            self._lost += 1
            return
        self._bytes += size
        entry = RecordedEntry(
            kind=kind,
            name=name,
            sender=sender or self._sender,
            at_us=round(began_s * 1_000_000),
            took_us=max(round((time.time() - began_s) * 1_000_000), 0),
            request=msgspec.Raw(request),
            response=UNSET if response is None else msgspec.Raw(response),
            fault=UNSET if failure is None else failure,
            withheld=withheld,
        )
        self._waiting.setdefault(conversation, []).append(entry)
        self._noted.set()

    # -- sending on --------------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Send on what is noted, until cancelled; what is noted then is for `flush`."""
        while True:
            await self._noted.wait()
            await anyio.sleep(GATHER_S)
            await self.flush()

    async def flush(self) -> None:
        """Send on what was noted so far; what cannot be sent is lost, and counted."""
        waiting, lost, self._noted = self._waiting, self._lost, anyio.Event()
        self._waiting, self._bytes, self._lost = {}, 0, 0
        if not waiting and not lost:
            return
        batches = await anyio.to_thread.run_sync(self._batches, waiting, lost)
        for batch in batches:
            try:
                with anyio.fail_after(SEND_S):
                    await self._tell(batch)
            except (TransportError, FaultError, TimeoutError) as error:
                entries = sum(piece.entries for piece in batch.pieces)
                self._lost += batch.lost + entries
                log.warning(NOT_RECORDED, entries=entries, reason=str(error))

    def _batches(self, waiting: dict[str, list[RecordedEntry]], lost: int) -> list[RecordedBatch]:
        batches: list[list[RecordedPiece]] = [[]]
        room = PIECE_BYTES
        for conversation, entries in waiting.items():
            for piece in _pieces(conversation, entries):
                if len(piece.data) > room:
                    batches.append([])
                    room = PIECE_BYTES
                batches[-1].append(piece)
                room -= len(piece.data)
        return [
            RecordedBatch(replica=self._sender, pieces=tuple(pieces), lost=lost if number == 0 else 0)
            for number, pieces in enumerate(batches)
        ]


def _pieces(conversation: str, entries: list[RecordedEntry]) -> list[RecordedPiece]:
    data, blob = write_entries(entries), token_hex(8)
    starts = range(0, len(data), PIECE_BYTES)
    return [
        RecordedPiece(
            conversation=conversation,
            began_us=entries[0].at_us,
            first=entries[0].name,
            entries=len(entries) if part == 0 else 0,
            blob=blob,
            part=part,
            parts=len(starts),
            data=data[start : start + PIECE_BYTES],
        )
        for part, start in enumerate(starts)
    ]
