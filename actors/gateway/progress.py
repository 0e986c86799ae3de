"""Progress of work that a client waits for, whichever actor does it.

    async with watching(app.watchers, on_progress) as watcher:
        result = await browse(app, request.watched_by(watcher), page)

Inside the block `on_progress` is awaited with each `Progress`, one after the other and in order. Progress is advice:
what comes faster than `on_progress` takes it is dropped, and so is whatever comes after the block. What is raised in
the block leaves it as it is.
"""

from __future__ import annotations

import secrets
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Generator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from protocol.replicas import Progress, Watch

OnProgress = Callable[[Progress], Awaitable[None]]

_MAX_BEHIND = 32
"""Progress that a slow listener may be behind."""

_LAST_WORDS_S = 1.0
"""What a listener may take for what was reported before the block ended, in seconds."""

_TOKEN_BYTES = 12


@dataclass(frozen=True)
class Watcher:
    """Who waits for one piece of work; `watch` is how other actors reach them."""

    watch: Watch
    stream: MemoryObjectSendStream[Progress]

    def report(self, done: int, message: str, total: int | None = None) -> None:
        """Report how far the work of this gateway itself is."""
        self.put(Progress(token=self.watch.token, done=done, message=message, total=total))

    def put(self, progress: Progress) -> None:
        """Pass on progress; dropped where the listener is too far behind."""
        with suppress(anyio.WouldBlock, anyio.BrokenResourceError):
            self.stream.send_nowait(progress)


@dataclass(frozen=True)
class Watchers:
    """Everybody in this replica who waits for something that is being done."""

    replica: str
    _by_token: dict[str, Watcher] = field(default_factory=dict[str, Watcher])

    async def on_progress(self, progress: Progress) -> None:
        """Handle an event of the bus."""
        self.deliver(progress)

    def deliver(self, progress: Progress) -> None:
        """Pass progress to its watcher; nobody may be waiting any more."""
        watcher = self._by_token.get(progress.token)
        if watcher is not None:
            watcher.put(progress)

    @contextmanager
    def listening(self, stream: MemoryObjectSendStream[Progress]) -> Generator[Watcher]:
        """Put the progress of the work in the block into `stream`."""
        watch = Watch(replica=self.replica, token=secrets.token_urlsafe(_TOKEN_BYTES))
        watcher = self._by_token[watch.token] = Watcher(watch, stream)
        try:
            yield watcher
        finally:
            del self._by_token[watch.token]


@asynccontextmanager
async def watching(watchers: Watchers, on_progress: OnProgress) -> AsyncGenerator[Watcher]:
    """Call `on_progress` with the progress of what is done in the block for the watcher that it yields."""
    send, receive = anyio.create_memory_object_stream[Progress](_MAX_BEHIND)
    async with beside(lambda: _pass_on(receive, on_progress), _LAST_WORDS_S):
        with send, watchers.listening(send) as watcher:
            yield watcher


@asynccontextmanager
async def beside(listen: Callable[[], Coroutine[Any, Any, None]], last_words_s: float) -> AsyncGenerator[None]:
    """Run a listener beside the work in the block, and for so many seconds after it.

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


async def _pass_on(stream: MemoryObjectReceiveStream[Progress], on_progress: OnProgress) -> None:
    with stream:
        async for progress in stream:
            await on_progress(progress)
