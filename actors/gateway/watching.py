"""Who asked for a piece of work hears how far it is, whichever actor does it.

    async with watching(desk, heard):
        result = await browse(desk.bus, page, desk.grace_ms)

Inside the block `heard` is awaited with each `Progress`, one after the other and in order; `browse` sends the watch
along by itself. Work that the gateway does in parts tells its own progress with `report`, and does its parts inside
`in_parts()`, so that theirs is not told in between. Progress is advice: what comes faster than `heard` takes it is
dropped, and so is whatever comes after the block. What is raised in the block leaves it as it is.
"""

from __future__ import annotations

import secrets
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Generator
from contextlib import asynccontextmanager, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Protocol

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from protocol.progress import Progress, Watch

Heard = Callable[[Progress], Awaitable[None]]

_ROOM = 32
"""Progress that a slow listener may be behind."""

_LAST_WORDS_S = 1.0
"""What a listener may take for what was told before the block ended, in seconds."""

_TOKEN_BYTES = 12


@dataclass(frozen=True)
class _Ear:
    watch: Watch
    stream: MemoryObjectSendStream[Progress]

    def put(self, progress: Progress) -> None:
        with suppress(anyio.WouldBlock, anyio.BrokenResourceError):
            self.stream.send_nowait(progress)


@dataclass(frozen=True)
class Watchers:
    """Everybody in this replica who waits for something that is being done."""

    replica: str
    _ears: dict[str, _Ear] = field(default_factory=dict[str, _Ear])

    async def heard(self, progress: Progress) -> None:
        """Hear an event of the bus."""
        self.hear(progress)

    def hear(self, progress: Progress) -> None:
        """Pass on what was told to this replica; nobody may be waiting any more."""
        ear = self._ears.get(progress.token)
        if ear is not None:
            ear.put(progress)

    @contextmanager
    def listening(self, stream: MemoryObjectSendStream[Progress]) -> Generator[Watch]:
        """Have what is told about the work in the block put into `stream`."""
        watch = Watch(replica=self.replica, token=secrets.token_urlsafe(_TOKEN_BYTES))
        ear = self._ears[watch.token] = _Ear(watch, stream)
        token = _ear.set(ear)
        try:
            yield watch
        finally:
            _ear.reset(token)
            del self._ears[watch.token]


class Watched(Protocol):
    """Whoever knows the watchers: the Desk."""

    @property
    def watchers(self) -> Watchers:
        """Return them."""
        ...


_ear: ContextVar[_Ear | None] = ContextVar("weft_ear", default=None)


@asynccontextmanager
async def watching(desk: Watched, heard: Heard) -> AsyncGenerator[Watch]:
    """Have `heard` called with the progress of what is done in the block."""
    send, receive = anyio.create_memory_object_stream[Progress](_ROOM)
    async with beside(lambda: _pass_on(receive, heard), _LAST_WORDS_S):
        with send, desk.watchers.listening(send) as watch:
            yield watch


@asynccontextmanager
async def beside(listen: Callable[[], Coroutine[Any, Any, None]], last_words_s: float) -> AsyncGenerator[None]:
    """Have somebody listen beside the work in the block, and for so many seconds after it.

    What is raised in the block ends the listening, and leaves the block as it is.
    """
    failure: Exception | None = None
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(listen)
        try:
            yield
        except Exception as error:  # noqa: BLE001 - raised below, where no task group wraps it
            failure = error
            tasks.cancel_scope.cancel()
        tasks.cancel_scope.deadline = anyio.current_time() + last_words_s
    if failure is not None:
        raise failure


def watch() -> Watch | None:
    """Return who watches the work in hand, to be sent along to whoever does it."""
    ear = _ear.get()
    return None if ear is None else ear.watch


def report(done: int, message: str, total: int | None = None) -> None:
    """Tell whoever watches the work in hand how far it is; `message` has no word of a page."""
    ear = _ear.get()
    if ear is not None:
        ear.put(Progress(token=ear.watch.token, done=done, message=message, total=total))


@contextmanager
def in_parts() -> Generator[None]:
    """Do what is in the block as parts of the work, whose own progress is not told."""
    token = _ear.set(None)
    try:
        yield
    finally:
        _ear.reset(token)


async def _pass_on(stream: MemoryObjectReceiveStream[Progress], heard: Heard) -> None:
    with stream:
        async for progress in stream:
            await heard(progress)
