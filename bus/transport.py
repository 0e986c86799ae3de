"""What the bus needs of whatever carries its messages."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

import anyio
from msgspec import Struct, field

from bus.errors import ForbiddenError, LineTooLargeError
from protocol.subject_kinds import Bucket, Journal, Objects, Work

INBOX = "_INBOX"
"""The first token of every subject that answers go to."""

LINE_ROOM = 512
"""The bytes of a message that are left to the headers of a line of a journal."""

_TOPIC = re.compile(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*")


class BusMessage(Struct, frozen=True):
    """Bytes on a subject; `status` is set on messages of the server itself (503: nobody listens)."""

    subject: str
    payload: bytes
    reply: str = ""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    status: str = ""


def inbox_of(reply: str) -> str:
    """Return the subject of a reply, empty where it is no inbox.

    Whoever asks chooses it, and who answers is let publish there, so that it must not be something that others do.
    """
    return reply if reply.startswith(f"{INBOX}.") else ""


def weight(payload: bytes, headers: Mapping[str, str] | None) -> int:
    """Count the bytes of a message as the server counts them against `max_payload`: with its headers."""
    if not headers:
        return len(payload)
    lines = sum(len(name.encode()) + len(value.encode()) + len(": \r\n") for name, value in headers.items())
    return len(payload) + len("NATS/1.0\r\n\r\n") + lines


def check_line(topic: str, data: bytes, max_payload: int) -> None:
    """See to it that a journal can take a line.

    Raises:
        ValueError: the topic is none.
        LineTooLargeError: with what surrounds it, it is no message.
    """
    if not _TOPIC.fullmatch(topic):
        msg = f"{topic!r} is no topic"
        raise ValueError(msg)
    if len(data) > (limit := max_payload - LINE_ROOM):
        raise LineTooLargeError(len(data), limit)


OnMessage = Callable[[BusMessage], Awaitable[None]]
Callback = Callable[[], Awaitable[None]]
OnRefused = Callable[[ForbiddenError], None]


class Subscription(Protocol):
    """A standing interest in a subject."""

    @property
    def pending(self) -> int:
        """Messages that have arrived and were not looked at yet."""
        ...

    async def drain(self) -> None:
        """Take no more messages, then hand over those that have arrived."""
        ...


class Blobs(Protocol):
    """Bytes by name: claim checks, which are too large for a message, and whole files."""

    async def put(self, name: str, data: bytes) -> None:
        """Keep `data`, in place of what has that name."""
        ...

    async def get(self, name: str) -> bytes:
        """Return back what was put; KeyError when it is gone."""
        ...

    async def delete(self, name: str) -> None:
        """Forget it; nothing happens when it is gone."""
        ...


class KeyEntry(Struct, frozen=True):
    """One state of a key: `value` is None when the key was deleted; `revision` grows with every change."""

    key: str
    value: bytes | None
    revision: int


class KeyPresence(Protocol):
    """Which keys of a bucket may have a value."""

    def absent(self, key: str) -> bool:
        """Return whether a key has no value, as far as was heard; False where nobody knows. Nothing is asked."""
        ...


class Keys(Protocol):
    """A bucket of keys; every change has a revision."""

    async def get(self, key: str) -> KeyEntry | None:
        """Return the entry of a key, if it has one."""
        ...

    async def put(self, key: str, value: bytes, *, revision: int | None = None) -> int:
        """Set a key and return the new revision; with `revision`, only if that is still the last (0: there is no key).

        Without `revision` it is written again when the connection broke before it was confirmed.

        Raises:
            ValueError: the key has another revision, or is not one that NATS takes.
        """
        ...

    async def delete(self, key: str, *, revision: int | None = None) -> None:
        """Remove a key; with `revision`, only if that is still the last.

        Raises:
            ValueError: the key has another revision, or is not one that NATS takes.
        """
        ...

    async def revision(self, key: str) -> int:
        """Return the revision of the last change of a key, also of one that was deleted; 0 where there was none."""
        ...

    async def names(self) -> list[str]:
        """Return every key that has a value, in no order."""
        ...

    def presence(self) -> AbstractAsyncContextManager[KeyPresence]:
        """Hear which keys are written, as long as the block lasts."""
        ...

    def watch(self) -> AbstractAsyncContextManager[AsyncIterator[KeyEntry]]:
        """Yield every entry there is, then every change; a watch survives a restart of the server."""
        ...


class Taken(Protocol):
    """One piece of durable work in hand."""

    @property
    def message(self) -> BusMessage:
        """The work."""
        ...

    @property
    def deliveries(self) -> int:
        """How often it was handed out, this time included."""
        ...

    async def alive(self) -> None:
        """Say that it is still being worked on."""
        ...

    async def finish(self) -> None:
        """Take it out of the queue; returns when the server has confirmed it."""
        ...

    async def again(self, delay_s: float) -> None:
        """Put it back, to be handed out after a delay."""
        ...


class Queue(Protocol):
    """A durable queue of work, pulled by whoever has room."""

    async def put(self, message: BusMessage, line: str) -> None:
        """Add work; returns when it is stored. The header `Nats-Msg-Id` makes a second put of the same id nothing.

        `line` is a token that names whose it is, for work of which each account has a share.
        """
        ...

    async def take(self, limit: int, timeout_s: float) -> list[Taken]:
        """Take up to `limit` pieces of work as soon as there is one; none when the time is over."""
        ...


class StreamRecord(Struct, frozen=True):
    """One line of a journal: `sequence` grows with every line of all topics, `at_ms` is when it was written."""

    sequence: int
    topic: str
    data: bytes
    at_ms: int


class ConsumerFigures(Struct, frozen=True):
    """How one consumer of a queue stands: what waits for it, what it has handed out, and how often it did so again.

    `pulling` are the requests for work that stand at the moment: who has room for some.
    """

    name: str
    waiting: int
    in_hand: int
    again: int
    pulling: int


class StreamFigures(Struct, frozen=True):
    """How something that is kept stands: its messages, their bytes, the sequence and the time of the last (0: none)."""

    name: str
    messages: int
    size_bytes: int
    last_sequence: int
    last_at_ms: int
    max_bytes: int | None = None
    consumers: tuple[ConsumerFigures, ...] = ()


class RecordStream(Protocol):
    """A journal of lines, each under a topic of tokens such as `run.x.state`; `*` and `>` match topics as in NATS."""

    async def append(self, topic: str, data: bytes, *, last: int | None = None, forget: bool = False) -> int:
        """Write a line and return its sequence; with `last`, only if that is still the last of its topic (0: none).

        It is written once, also when the connection broke before it was confirmed. With `forget` all lines of the topic
        before it are gone for good; only journals that keep their lines for good take that.

        Raises:
            ValueError: the topic has another last line, or is not one that NATS takes.
            LineTooLargeError: it does not fit into one message.
            JournalFullError: the journal keeps its lines for good, and has no room for it.
        """
        ...

    async def last(self, topic: str) -> StreamRecord | None:
        """Return the last line of a topic."""
        ...

    async def at(self, sequence: int) -> StreamRecord | None:
        """Return the line of that sequence, if it is still there."""
        ...

    async def batch(self, topics: str, after: int, limit: int) -> list[StreamRecord]:
        """Return the lines after a sequence in their order, up to `limit`, none where there is none."""
        ...

    async def end(self) -> int:
        """Return the sequence of the last line of all; 0 where there is none."""
        ...

    async def topics(self, topics: str) -> list[str]:
        """Return the topics that match and have a line, in no order, without reading any."""
        ...

    def signal(self) -> AbstractAsyncContextManager[Callback]:
        """Yield what waits until a line may have been written since the last time it was awaited, or since the start.

        It may return for nothing, and does so when the connection comes back.
        """
        ...


class Transport(Protocol):
    """Carries messages for one named participant, at most once, in order between two of them."""

    @property
    def max_payload(self) -> int:
        """The largest message in bytes, headers included."""
        ...

    @property
    def inbox(self) -> str:
        """The prefix of the subjects that only this participant may listen to."""
        ...

    @property
    def connected(self) -> bool:
        """Whether messages flow at the moment."""
        ...

    @property
    def slow(self) -> int:
        """Messages lost so far because they arrived faster than they were looked at."""
        ...

    @property
    def blobs(self) -> Blobs:
        """The claim checks."""
        ...

    def watch_connection(self, *, lost: Callback, back: Callback) -> None:
        """Have `lost` called whenever the connection breaks, and `back` whenever it stands again."""
        ...

    def watch_refusals(self, refused: OnRefused) -> None:
        """Have `refused` called whenever this participant has published without permission.

        A transport that knows its permissions itself raises ForbiddenError where it is published instead.
        """
        ...

    async def publish(
        self, subject: str, payload: bytes, *, reply: str = "", headers: Mapping[str, str] | None = None
    ) -> None:
        """Send a message; a reply of status 503 comes to `reply` when nobody listens."""
        ...

    async def subscribe(
        self, subject: str, on_message: OnMessage, *, queue: str = "", prompt: bool = False
    ) -> Subscription:
        """Have `on_message` called with each message, one at a time; within a queue group one member gets it.

        One that is `prompt` only starts work and waits for nothing, so that no message need wait for its turn.
        """
        ...

    async def flush(self) -> None:
        """Wait until the server has seen everything sent so far."""
        ...

    async def keys(self, bucket: Bucket[Any]) -> Keys:
        """Open the bucket of that name, made when there is none and this participant may."""
        ...

    async def objects(self, store: Objects) -> Blobs:
        """Open the object store of that name, made when there is none and this participant may."""
        ...

    async def records(self, journal: Journal[Any]) -> RecordStream:
        """Open the journal of that name, made when there is none and this participant may."""
        ...

    async def queue(self, work: Work[Any]) -> Queue:
        """Open the queue of that work, made when there is none and this participant may."""
        ...

    async def arrange(self, work: Work[Any]) -> None:
        """Make the queue of that work, or give the one there is the numbers of `work`; only an overseer may."""
        ...

    async def streams(self) -> tuple[StreamFigures, ...]:
        """Return how all that is kept stands, by the names of the streams; only an observer may."""
        ...

    async def close(self) -> None:
        """Send what is left and go."""
        ...


class LineSignal:
    """Wakes one reader of a journal: a signal since the last wait, or since the start, ends the next wait at once."""

    def __init__(self) -> None:
        """Begin without a signal."""
        self._set = anyio.Event()

    def set(self) -> None:
        """End the wait of now, or else the next."""
        self._set.set()

    async def wait(self) -> None:
        """Wait for a signal."""
        await self._set.wait()
        self._set = anyio.Event()
