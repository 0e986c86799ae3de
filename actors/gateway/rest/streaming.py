"""Answers that are sent piece by piece: server-sent events of work and of runs, and the files that runs leave."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from itertools import count
from typing import Generic, TypeVar

import anyio
import structlog
from anyio import to_thread
from msgspec import UNSET, Struct, structs
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from actors.collection_export import ZipPieces, exported
from actors.gateway import runs
from actors.gateway.app_context import AppContext
from actors.gateway.errors import to_error, to_run_fault
from actors.gateway.event_feed import EventFeed
from actors.gateway.http import EVENTS, download_headers, event_message
from actors.gateway.http_input import drain
from actors.gateway.request import RequestContext, watching
from bus.context import conversation_id
from protocol.answers import AnswerText
from protocol.browse import SCHEMA_VERSION
from protocol.faults import Code, Fault, FaultError, fault
from protocol.replicas import Progress
from protocol.runs.responses import ArtifactChunk, Run
from protocol.runs.states import ArtifactType
from protocol.tools.runs import ArtifactRequest

log = structlog.stdlib.get_logger()
STREAM_FAILED = "event_stream_failed"

KEEP_ALIVE_S = 15.0
"""Proxies close what is silent for a minute, some for half of one."""

_LAST_WORDS_S = 0.5
"""What a client may take for the last event of a stream that is cut off."""

_STOPPED = fault(Code.INTERNAL_CANCELLED, "The work was stopped, as when the gateway is about to stop.")
_END = {"type": "http.response.body", "body": b"", "more_body": False}
_EVENT_HEADERS = {"Vary": "Accept", "Cache-Control": "no-store", "X-Accel-Buffering": "no"}
N = TypeVar("N", bound=Struct)
Work = Callable[[RequestContext], Awaitable[Struct]]
LAST_EVENT_ID = "last-event-id"
_MAX_DIGITS = 15
_SUFFIXES = {ArtifactType.JSON: "json", ArtifactType.CSV: "csv", ArtifactType.MARKDOWN: "md"}
_SUFFIX_OF = {kind.media_type: suffix for kind, suffix in _SUFFIXES.items()}


class WorkStarted(Struct, frozen=True, kw_only=True, rename="camel"):
    """The work has begun."""

    conversation_id: str
    schema_version: str = SCHEMA_VERSION


class WorkProgress(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """How far the work is: `done` of `total` parts, where their number is known."""

    done: int
    message: str
    total: int | None = None


class TextPiece(Struct, frozen=True, kw_only=True):
    """What was written further of an answer, before its citations were checked; `index` counts from 0."""

    index: int
    text: str


class TextRestarted(Struct, frozen=True, kw_only=True):
    """What was written before this `index` is void: another model begins again."""

    index: int


class EventForm(Struct, frozen=True):
    """How an endpoint writes its last event: the result as it is, or in an envelope, and an error likewise."""

    result: Callable[[Struct], Struct]
    error: Callable[[Fault], Struct]


PLAIN = EventForm(result=lambda data: data, error=to_error)


class EventResponse(Response):
    """An answer of server-sent events, with signs of life while there are none.

    When the client leaves, the request is cancelled, and what `send_events` waits for with it.
    """

    def __init__(self, keep_alive_s: float = KEEP_ALIVE_S) -> None:
        super().__init__(media_type=EVENTS, headers=_EVENT_HEADERS)
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
    async def send_events(self, send: Send) -> None:
        """Send the events, all but what `send_last` sends."""

    @abstractmethod
    async def send_last(self, send: Send) -> None:
        """Send the last event, also where `send_events` was cut off, in which case there is little time for it."""

    async def _alive(self, send: Send) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._keep_alive, send)
            try:
                await self.send_events(send)
            except anyio.get_cancelled_exc_class():
                with anyio.move_on_after(_LAST_WORDS_S, shield=True):
                    await self.send_last(send)
                    await send(dict(_END))
                raise
            tasks.cancel_scope.cancel()
        await self.send_last(send)

    async def _keep_alive(self, send: Send) -> None:
        while True:
            await anyio.sleep(self._keep_alive_s)
            await send({"type": "http.response.body", "body": b": keep-alive\n\n", "more_body": True})


class EventStream(EventResponse):
    """Does work while it tells of it; when the client leaves, the work is cancelled."""

    def __init__(
        self,
        app: AppContext,
        request: RequestContext,
        work: Work,
        form: EventForm = PLAIN,
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

    async def send_events(self, send: Send) -> None:
        """Send that it has begun, and how far it is."""
        await self._event(send, "started", WorkStarted(conversation_id=conversation_id() or ""))

        async def on_progress(progress: Progress) -> None:
            step = WorkProgress(done=progress.done, message=progress.message, total=progress.total)
            await self._event(send, "progress", step)

        async def on_text(text: AnswerText) -> None:
            if text.restarted:
                await self._event(send, "restarted", TextRestarted(index=text.index))
            if text.text:
                await self._event(send, "text", TextPiece(index=text.index, text=text.text))

        async with watching(self._app.watchers, on_progress, on_text) as watcher:
            self._last = await self._outcome(self._request.watched_by(watcher))

    async def send_last(self, send: Send) -> None:
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
        await send(event_message(name, data, next(self._ids)))


class RunStream(EventResponse):
    """What happens to a run after one of its events; when the client leaves, the run goes on."""

    def __init__(self, app: AppContext, request: RequestContext, run: Run, after: int = 0) -> None:
        super().__init__()
        self._app = app
        self._request = request
        self._run = run
        self._after = after
        self._last: tuple[str, Struct] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events, the last of them included."""
        await drain(receive)
        self._after = last_event_id(Headers(scope=scope).get(LAST_EVENT_ID, ""), self._after)
        await super().__call__(scope, receive, send)

    async def send_events(self, send: Send) -> None:
        """Send what has happened and what happens."""
        try:
            async with aclosing(runs.follow(self._app, self._request, self._run.run_id, self._after)) as stream:
                async for news in stream:
                    self._run = news.run
                    for one in news.events:
                        await send(event_message(one.event, one, one.id))
            self._last = ("end", structs.replace(self._run, result=UNSET))
        except FaultError as error:
            self._last = ("error", to_run_fault(error.fault, run_id=self._run.run_id))
        except Exception:
            log.exception(STREAM_FAILED)
            self._last = ("error", to_run_fault(fault(Code.INTERNAL_ERROR), run_id=self._run.run_id))

    async def send_last(self, send: Send) -> None:
        """Send how the run stands at its end, or why no more is told; a reader that is cut off comes back by itself."""
        if self._last is not None:
            await send(event_message(*self._last))


class CollectionDownload(Response):
    """A collection as an archive of Markdown files, packed while the client takes it."""

    def __init__(self, app: AppContext, request: RequestContext, collection: str) -> None:
        super().__init__(media_type="application/zip", headers=download_headers(f'filename="{collection}.zip"'))
        del self.headers["content-length"]
        self._app = app
        self._caller = request.caller.name
        self._collection = collection

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the archive; where a source cannot be had any more, the answer breaks off."""
        await drain(receive)
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        if scope["method"] != "HEAD":
            pieces = ZipPieces()
            async with aclosing(exported(self._app.bus, self._caller, self._collection)) as files:
                async for file in files:
                    data = await to_thread.run_sync(pieces.add, file)
                    await send({"type": "http.response.body", "body": data, "more_body": True})
            await send({"type": "http.response.body", "body": pieces.end(), "more_body": True})
        await send(dict(_END))


class NewsStream(EventResponse, Generic[N]):
    """What is told from now on, each under the name that `name` has for it; None leaves it out."""

    def __init__(self, feed: EventFeed[N], name: Callable[[N], str | None]) -> None:
        super().__init__()
        self._feed = feed
        self._name = name

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events until the client leaves, or this gateway stops."""
        await drain(receive)
        await super().__call__(scope, receive, send)

    async def send_events(self, send: Send) -> None:
        """Send what is told, by a number that counts from 1."""
        numbers = count(1)
        with self._feed.listening() as news:
            await send({"type": "http.response.body", "body": b": follows\n\n", "more_body": True})
            async for one in news:
                if (name := self._name(one)) is not None:
                    await send(event_message(name, one, next(numbers)))

    async def send_last(self, send: Send) -> None:
        """Send nothing: a reader that is cut off comes back by itself."""


def last_event_id(header: str, otherwise: int) -> int:
    """Read Last-Event-ID; one that is no id of ours says nothing."""
    return int(header) if header.isdecimal() and header.isascii() and len(header) <= _MAX_DIGITS else otherwise


class ArtifactDownload(Response):
    """The bytes of a file, of which the first piece was read already; the others are read as the client takes them."""

    def __init__(self, app: AppContext, request: RequestContext, first: ArtifactChunk) -> None:
        headers = download_headers(f'filename="{file_name(first.artifact_id, first.mime_type)}"')
        super().__init__(media_type=first.mime_type, headers=headers)
        self.headers["Content-Length"] = str(first.size)
        self._app = app
        self._request = request
        self._first = first

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the file; where a piece cannot be had any more, the answer breaks off short of its length."""
        await drain(receive)
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        piece, sent = self._first, 0
        while scope["method"] != "HEAD":
            await send({"type": "http.response.body", "body": piece.data, "more_body": True})
            sent += len(piece.data)
            if piece.complete or not piece.data:
                break
            arguments = ArtifactRequest(artifact_id=piece.artifact_id, offset=sent)
            piece = await runs.artifact(self._app, self._request, arguments)
        await send({"type": "http.response.body", "body": b"", "more_body": False})


def file_name(artifact_id: str, mime_type: str) -> str:
    """Name a file by its id and its type."""
    return f"{artifact_id}.{_SUFFIX_OF.get(mime_type, 'bin')}"
