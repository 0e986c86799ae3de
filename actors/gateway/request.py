"""Who asks, and how: one value that is made where a request comes in, and passed to whatever answers it.

Over HTTP it travels in the ASGI scope, from the gate to the endpoint; over pipes it is the lifespan of the MCP server.
How long a request may take is no part of it: that is the deadline of the anyio scope that it is answered in.

Whoever watches a request hears how far the work is, whichever actor does it:

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
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, Protocol

import anyio
import msgspec
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from msgspec import Struct
from starlette.types import Scope as AsgiScope

from actors.gateway.access.caller import NOBODY, Caller, RequestUsage, Scope
from actors.gateway.mcp.toolsets import DEFAULT_TOOLSETS, Toolset
from protocol.answers import AnswerText
from protocol.policy import Approval, Remembered
from protocol.replicas import Progress, Watch

SCOPE_KEY: Final = "weft.request"
"""Where it stands in the ASGI scope."""

OnProgress = Callable[[Progress], Awaitable[None]]
OnText = Callable[[AnswerText], Awaitable[None]]
Watched = Progress | AnswerText
"""What is told of work: how far it is, and what was written further of an answer."""

_MAX_BEHIND = 32
"""What a slow listener may be behind before it hears no more of progress."""

_MAX_TEXTS = 4_096
"""What it may be behind before it hears no more of what is written: the result has all of that."""

_LAST_WORDS_S = 1.0
"""What a listener may take for what was reported before the block ended, in seconds."""

_TOKEN_BYTES = 12


class GivenAnswer(Struct, frozen=True):
    """What a user has answered to an approval, and for what it counts."""

    answer: Literal["allow", "deny"]
    remember: Remembered = Remembered.ONCE


class Approver(Protocol):
    """A user who can be asked during a call."""

    @property
    def resumed(self) -> tuple[str, GivenAnswer | None] | None:
        """Return which approval the user was asked about before, and the answer; None: about none yet."""
        ...

    async def ask(self, approval: Approval) -> GivenAnswer | None:
        """Ask the user, and return the answer; None: there is none."""
        ...


@dataclass(frozen=True, kw_only=True)
class RequestContext:
    """One request: who asks, what it uses, and who watches how far it is.

    `client_id` tells apart the clients of one caller where they take part in that, and is '' elsewhere; `toolsets` are
    those that an MCP client may see and call. `program` is what it called itself when it initialized, if it shows that.
    `idempotency_key` is the same each time the client sends the same call. `approver` is the user, who may be asked.
    `origin` is that of the page or the extension that a browser asks for, in small letters, and '' elsewhere.
    """

    caller: Caller = NOBODY
    usage: RequestUsage = field(default_factory=RequestUsage, compare=False)
    watcher: Watcher | None = None
    client_id: str = ""
    toolsets: frozenset[Toolset] = DEFAULT_TOOLSETS
    program: str = ""
    idempotency_key: str = ""
    approver: Approver | None = field(default=None, compare=False)
    origin: str = ""

    @property
    def sees_offers(self) -> bool:
        """Return whether the client may know what other actors offer."""
        return Scope.OFFERS in self.caller.scopes and Toolset.OFFERS in self.toolsets

    @property
    def watch(self) -> Watch | None:
        """Return who watches the work in hand, to be sent along to whoever does it."""
        return None if self.watcher is None else self.watcher.watch

    def watched_by(self, watcher: Watcher | None) -> RequestContext:
        """Return the same request with another watcher; with none for work in parts, whose own progress is nobody's."""
        return replace(self, watcher=watcher)

    def report(self, done: int, message: str, total: int | None = None) -> None:
        """Report to whoever watches how far the work is; `message` has no word of a page."""
        if self.watcher is not None:
            self.watcher.report(done, message, total)


def request_context(scope: AsgiScope) -> RequestContext:
    """Return the request of an ASGI scope; one that passed no gate is nobody's."""
    return scope.get(SCOPE_KEY) or RequestContext()


def with_request(scope: AsgiScope, request: RequestContext) -> AsgiScope:
    """Return a copy of an ASGI scope with this request."""
    return {**scope, SCOPE_KEY: request}


class Watcher(Struct, frozen=True):
    """Who waits for one piece of work; `watch` is how other actors reach them."""

    watch: Watch
    stream: MemoryObjectSendStream[Watched]

    def report(self, done: int, message: str, total: int | None = None) -> None:
        """Report how far the work of this gateway itself is."""
        self.put(Progress(token=self.watch.token, done=done, message=message, total=total))

    def put(self, news: Watched) -> None:
        """Pass on what is told; dropped where the listener is too far behind."""
        if isinstance(news, Progress) and self.stream.statistics().current_buffer_used >= _MAX_BEHIND:
            return
        with suppress(anyio.WouldBlock, anyio.BrokenResourceError):
            self.stream.send_nowait(news)


class Watchers(Struct, frozen=True):
    """Everybody in this replica who waits for something that is being done."""

    replica: str
    _by_token: dict[str, Watcher] = msgspec.field(default_factory=dict[str, Watcher])

    async def on_news(self, news: Watched) -> None:
        """Handle an event of the bus."""
        self.deliver(news)

    def deliver(self, news: Watched) -> None:
        """Pass what is told to its watcher; nobody may be waiting any more."""
        watcher = self._by_token.get(news.token)
        if watcher is not None:
            watcher.put(news)

    @contextmanager
    def listening(self, stream: MemoryObjectSendStream[Watched]) -> Generator[Watcher]:
        """Put the news of the work in the block into `stream`."""
        watch = Watch(replica=self.replica, token=secrets.token_urlsafe(_TOKEN_BYTES))
        watcher = self._by_token[watch.token] = Watcher(watch, stream)
        try:
            yield watcher
        finally:
            del self._by_token[watch.token]


@asynccontextmanager
async def watching(
    watchers: Watchers, on_progress: OnProgress, on_text: OnText | None = None
) -> AsyncGenerator[Watcher]:
    """Call `on_progress` with the progress of what is done in the block for the watcher that it yields.

    `on_text` is called with what is written further of an answer.
    """
    send, receive = anyio.create_memory_object_stream[Watched](_MAX_TEXTS)
    async with beside(lambda: _pass_on(receive, on_progress, on_text), _LAST_WORDS_S):
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


async def _pass_on(stream: MemoryObjectReceiveStream[Watched], on_progress: OnProgress, on_text: OnText | None) -> None:
    with stream:
        async for news in stream:
            if isinstance(news, Progress):
                await on_progress(news)
            elif on_text is not None:
                await on_text(news)
