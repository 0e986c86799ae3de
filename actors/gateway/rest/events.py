"""Server-sent events: answers that tell what happens while it happens."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from itertools import count

import anyio
import msgspec
import structlog
from msgspec import Struct
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from actors.gateway.app_context import AppContext
from actors.gateway.errors import to_error
from actors.gateway.http.answers import EVENTS
from actors.gateway.progress import watching
from actors.gateway.request import RequestContext
from bus.context import conversation_id
from protocol.browse import SCHEMA_VERSION
from protocol.faults import Code, Fault, FaultError, fault
from protocol.replicas import Progress

log = structlog.stdlib.get_logger()

STREAM_FAILED = "event_stream_failed"

KEEP_ALIVE_S = 15.0
"""Proxies close what is silent for a minute, some for half of one."""

_LAST_WORDS_S = 0.5
"""What a client may take for the last event of a stream that is cut off."""

_STOPPED = fault(Code.INTERNAL_CANCELLED, "The work was stopped, as when the gateway is about to stop.")

_END = {"type": "http.response.body", "body": b"", "more_body": False}

_HEADERS = {"Vary": "Accept", "Cache-Control": "no-store", "X-Accel-Buffering": "no"}


class Started(Struct, frozen=True, kw_only=True, rename="camel"):
    """The work has begun."""

    conversation_id: str
    schema_version: str = SCHEMA_VERSION


class Step(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """How far the work is: `done` of `total` parts, where their number is known."""

    done: int
    message: str
    total: int | None = None


Work = Callable[[RequestContext], Awaitable[Struct]]


@dataclass(frozen=True)
class Events:
    """How an endpoint writes its last event: the result as it is, or in an envelope, and an error likewise."""

    result: Callable[[Struct], Struct]
    error: Callable[[Fault], Struct]


PLAIN = Events(result=lambda data: data, error=to_error)


class Stream(Response):
    """An answer of server-sent events, with signs of life while there are none.

    When the client leaves, the request is cancelled, and what `tell` waits for with it.
    """

    def __init__(self, keep_alive_s: float = KEEP_ALIVE_S) -> None:
        super().__init__(media_type=EVENTS, headers=_HEADERS)
        del self.headers["content-length"]
        self._keep_alive_s = keep_alive_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events, the last of them included."""
        del receive  # whoever holds the request hears the client leave, and cancels this
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        if scope["method"] != "HEAD":
            await self._alive(send)
        await send(dict(_END))

    @abstractmethod
    async def tell(self, send: Send) -> None:
        """Send the events, all but what `farewell` gives."""

    @abstractmethod
    async def farewell(self, send: Send) -> None:
        """Send the last event, also where `tell` was cut off, in which case there is little time for it."""

    async def _alive(self, send: Send) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._keep_alive, send)
            try:
                await self.tell(send)
            except anyio.get_cancelled_exc_class():
                with anyio.move_on_after(_LAST_WORDS_S, shield=True):
                    await self.farewell(send)
                    await send(dict(_END))
                raise
            tasks.cancel_scope.cancel()
        await self.farewell(send)

    async def _keep_alive(self, send: Send) -> None:
        while True:
            await anyio.sleep(self._keep_alive_s)
            await send({"type": "http.response.body", "body": b": keep-alive\n\n", "more_body": True})


class EventStream(Stream):
    """Does work while it tells of it; when the client leaves, the work is cancelled."""

    def __init__(
        self,
        app: AppContext,
        request: RequestContext,
        work: Work,
        form: Events = PLAIN,
        *,
        keep_alive_s: float = KEEP_ALIVE_S,
    ) -> None:
        super().__init__(keep_alive_s)
        self._app = app
        self._request = request
        self._work = work
        self._form = form
        self._ids = count(1)
        self._last: tuple[str, Struct] = ("error", form.error(_STOPPED))

    async def tell(self, send: Send) -> None:
        """Send that it has begun, and how far it is."""
        await self._event(send, "started", Started(conversation_id=conversation_id() or ""))

        async def on_progress(progress: Progress) -> None:
            step = Step(done=progress.done, message=progress.message, total=progress.total)
            await self._event(send, "progress", step)

        async with watching(self._app.watchers, on_progress) as watcher:
            self._last = await self._outcome(self._request.watched_by(watcher))

    async def farewell(self, send: Send) -> None:
        """Send the result, or the error."""
        await self._event(send, *self._last)

    async def _outcome(self, watched: RequestContext) -> tuple[str, Struct]:
        """Do the work, and return the name and the data of the last event."""
        try:
            return "result", self._form.result(await self._work(watched))
        except FaultError as error:
            return "error", self._form.error(error.fault)
        except Exception:
            log.exception(STREAM_FAILED)
            return "error", self._form.error(fault(Code.INTERNAL_ERROR))

    async def _event(self, send: Send, name: str, data: Struct) -> None:
        await send(event(name, data, next(self._ids)))


def event(name: str, data: Struct, number: int | None = None) -> Message:
    """Write one event."""
    written = b"event: %s\ndata: %s\n\n" % (name.encode(), msgspec.json.encode(data))
    return {
        "type": "http.response.body",
        "body": written if number is None else b"id: %d\n%s" % (number, written),
        "more_body": True,
    }
