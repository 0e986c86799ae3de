"""Server-sent events: an answer that tells how far it is, and ends with a result or an error."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from itertools import count

import anyio
import msgspec
import structlog
from msgspec import Struct
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from actors.gateway.asking import Desk
from actors.gateway.http.answers import EVENTS
from actors.gateway.translate import to_error
from actors.gateway.watching import watching
from bus.context import conversation_id
from protocol.browse import SCHEMA_VERSION, StructuredError
from protocol.faults import Code, FaultError, fault
from protocol.progress import Progress

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


Work = Callable[[], Awaitable[Struct]]


@dataclass(frozen=True)
class Events:
    """How an endpoint writes its last event: the result as it is, or in an envelope, and an error likewise."""

    result: Callable[[Struct], Struct]
    error: Callable[[StructuredError], Struct]


PLAIN = Events(result=lambda data: data, error=lambda error: error)


class EventStream(Response):
    """Does work while it tells of it; when the client leaves, the request is cancelled, and the work with it."""

    def __init__(self, desk: Desk, work: Work, form: Events = PLAIN, keep_alive_s: float = KEEP_ALIVE_S) -> None:
        super().__init__(media_type=EVENTS, headers=_HEADERS)
        del self.headers["content-length"]
        self._desk = desk
        self._work = work
        self._form = form
        self._keep_alive_s = keep_alive_s
        self._ids = count(1)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events, the last of them included."""
        del receive  # whoever holds the request hears the client leave, and cancels this
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        if scope["method"] != "HEAD":
            await self._tell(send)
        await send(dict(_END))

    async def _tell(self, send: Send) -> None:
        await self._event(send, "started", Started(conversation_id=conversation_id() or ""))

        async def heard(progress: Progress) -> None:
            step = Step(done=progress.done, message=progress.message, total=progress.total)
            await self._event(send, "progress", step)

        last: tuple[str, Struct] = ("error", self._form.error(to_error(_STOPPED)))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._keep_alive, send)
            try:
                async with watching(self._desk, heard):
                    last = await self._outcome()
            except anyio.get_cancelled_exc_class():
                with anyio.move_on_after(_LAST_WORDS_S, shield=True):
                    await self._event(send, *last)
                    await send(dict(_END))
                raise
            tasks.cancel_scope.cancel()
        await self._event(send, *last)

    async def _outcome(self) -> tuple[str, Struct]:
        """Do the work, and give the name and the data of the last event."""
        try:
            return "result", self._form.result(await self._work())
        except FaultError as error:
            return "error", self._form.error(to_error(error.fault))
        except Exception:
            log.exception(STREAM_FAILED)
            return "error", self._form.error(to_error(fault(Code.INTERNAL_ERROR)))

    async def _event(self, send: Send, name: str, data: Struct) -> None:
        written = b"id: %d\nevent: %s\ndata: %s\n\n" % (next(self._ids), name.encode(), msgspec.json.encode(data))
        await send({"type": "http.response.body", "body": written, "more_body": True})

    async def _keep_alive(self, send: Send) -> None:
        while True:
            await anyio.sleep(self._keep_alive_s)
            await send({"type": "http.response.body", "body": b": keep-alive\n\n", "more_body": True})
