"""The REST that servers trigger events by, signed as Pusher has it: whoever has the secret may, and nobody else."""

from __future__ import annotations

import time
from collections.abc import Callable
from http import HTTPStatus
from typing import Annotated, Final, TypeVar
from urllib.parse import parse_qsl

import msgspec
from msgspec import Meta, Struct
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import Receive, Scope, Send

from actors.gateway.access.rules import SIGNED
from actors.gateway.http import answer, refusal
from actors.gateway.http_input import read_file
from actors.gateway.push.frames import (
    MAX_CHANNEL_CHARS,
    MAX_DATA_BYTES,
    MAX_EVENT_CHARS,
    is_channel,
    is_event,
    is_socket_id,
)
from actors.gateway.push.server import PushServer
from actors.gateway.push.signatures import PushApp, SignatureError
from protocol.faults import FaultError
from protocol.push import PushEvent

T = TypeVar("T")

PATH: Final = SIGNED + "{app_id}/{rest:path}"
MAX_BATCH: Final = 10
MAX_CHANNELS: Final = 100
MAX_BODY_BYTES: Final = 262_144
MAX_QUERY_FIELDS: Final = 16
COUNTED: Final = "subscription_count"

Channel = Annotated[str, Meta(max_length=MAX_CHANNEL_CHARS)]


class TriggerRequest(Struct, frozen=True, kw_only=True):
    """One event for some channels; fields that are not known are passed over, as there are many clients."""

    name: Annotated[str, Meta(min_length=1, max_length=MAX_EVENT_CHARS)]
    data: str
    channel: Channel = ""
    channels: Annotated[tuple[Channel, ...], Meta(max_length=MAX_CHANNELS)] = ()
    socket_id: str | None = None


class TriggerBatch(Struct, frozen=True, kw_only=True):
    """Several events at once."""

    batch: Annotated[tuple[TriggerRequest, ...], Meta(max_length=MAX_BATCH)]


class RefusedError(Exception):
    """A request that is refused, with its status; the words are the answer."""

    def __init__(self, status: HTTPStatus, message: str) -> None:
        """Refuse with this status."""
        super().__init__(message)
        self.status = status


class ServerApi(Struct, frozen=True):
    """ASGI: everything below `/apps/`."""

    push: PushServer
    clock: Callable[[], float] = time.time

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        request = Request(scope, receive)
        try:
            response = await self._response(request)
        except ClientDisconnect:
            return
        except RefusedError as error:
            response = PlainTextResponse(str(error), error.status)
        except FaultError as error:
            response = refusal(error)
        await response(scope, receive, send)

    async def _response(self, request: Request) -> Response:
        app = self.push.app
        if app is None or not self.push.is_embedded or request.path_params["app_id"] != app.id:
            raise RefusedError(HTTPStatus.NOT_FOUND, "There is no such app here")
        body = await read_file(request, MAX_BODY_BYTES)
        query = self._checked(app, request, body)
        match request.method, request.path_params["rest"].split("/"):
            case "POST", ["events"]:
                return await self._trigger(_read(body, TriggerRequest))
            case "POST", ["batch_events"]:
                return await self._trigger(*_read(body, TriggerBatch).batch)
            case "GET", ["channels"]:
                return await self._list(query)
            case "GET", ["channels", name] if is_channel(name):
                return await self._look(name, query)
            case _:
                raise RefusedError(HTTPStatus.NOT_FOUND, "There is nothing at this path")

    def _checked(self, app: PushApp, request: Request, body: bytes) -> dict[str, str]:
        try:
            text = request.scope["query_string"].decode("ascii")
            query = parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=MAX_QUERY_FIELDS)
        except ValueError:
            raise RefusedError(HTTPStatus.BAD_REQUEST, "The query cannot be read") from None
        try:
            app.check(request.method, request.scope["path"], query, body, self.clock())
        except SignatureError as error:
            raise RefusedError(HTTPStatus.UNAUTHORIZED, str(error)) from None
        return dict(query)

    async def _trigger(self, *requests: TriggerRequest) -> Response:
        await self.push.publish(tuple(event for one in requests for event in _events(one)))
        return answer({})

    async def _list(self, query: dict[str, str]) -> Response:
        counted = _counted(query)
        counts = await self.push.open_channels(query.get("filter_by_prefix", ""))
        return answer({"channels": {name: {COUNTED: count} if counted else {} for name, count in counts.items()}})

    async def _look(self, name: str, query: dict[str, str]) -> Response:
        counted = _counted(query)
        count = (await self.push.open_channels(name))[name]
        return answer({"occupied": count > 0, **({COUNTED: count} if counted else {})})


def _events(request: TriggerRequest) -> list[PushEvent]:
    """Return the event for each of its channels.

    Raises:
        RefusedError: it is none that may be triggered.
    """
    channels = request.channels or ((request.channel,) if request.channel else ())
    if not channels or not all(map(is_channel, channels)):
        raise RefusedError(HTTPStatus.BAD_REQUEST, "A channel is missing, or has a name that no channel has")
    if not is_event(request.name):
        raise RefusedError(HTTPStatus.BAD_REQUEST, "This name is one of the protocol's own, or of clients'")
    if request.socket_id is not None and not is_socket_id(request.socket_id):
        raise RefusedError(HTTPStatus.BAD_REQUEST, "socket_id is none")
    if len(request.data.encode()) > MAX_DATA_BYTES:
        raise RefusedError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"The data has more than {MAX_DATA_BYTES} bytes")
    return [
        PushEvent(channel=channel, event=request.name, data=request.data, without=request.socket_id or "")
        for channel in dict.fromkeys(channels)
    ]


def _counted(query: dict[str, str]) -> bool:
    wanted = {name for name in query.get("info", "").split(",") if name}
    if not wanted <= {COUNTED}:
        raise RefusedError(HTTPStatus.BAD_REQUEST, f"info: there is {COUNTED} alone; nobody is present in a channel")
    return bool(wanted)


def _read(body: bytes, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise RefusedError(HTTPStatus.BAD_REQUEST, f"The body cannot be read: {error}") from None
