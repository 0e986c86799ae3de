"""The endpoints of push that clients ask with their key: where to connect to, and what lets them hear a session."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Final

from msgspec import Meta, Struct
from starlette.responses import Response

from actors.gateway.access.caller import Scope
from actors.gateway.app_context import AppContext
from actors.gateway.http import HttpStatusError, answer
from actors.gateway.push.frames import MAX_CHANNEL_CHARS, SESSION
from actors.gateway.push.server import PushAddress, no_push
from actors.gateway.request import RequestContext
from actors.gateway.rest.routing import Endpoint, Tag
from protocol.acting.chats import ListChats
from protocol.faults import Code, fault
from protocol.subjects import CHAT_LIST

_ABSENT: Final = "There is no chat session of yours with this id: begin it first, by POST /api/session/init."


class ChannelRequest(Struct, frozen=True, kw_only=True):
    """Which socket wants to hear which channel; fields that are not known are passed over, as clients add their own."""

    socket_id: Annotated[str, Meta(pattern=r"^[0-9]{1,20}\.[0-9]{1,20}$(?!\n)")]
    channel_name: Annotated[str, Meta(min_length=1, max_length=MAX_CHANNEL_CHARS)]


class ChannelAuth(Struct, frozen=True, kw_only=True):
    """What lets the socket subscribe to the channel."""

    auth: str


async def _auth(app: AppContext, request: RequestContext, arguments: ChannelRequest) -> Response:
    """Sign a channel of a session of the caller's; of others nobody learns whether there are such."""
    push, channel, caller = app.push, arguments.channel_name, request.caller.name
    if push is None or push.app is None:
        raise no_push()
    if not channel.startswith(SESSION):
        raise HttpStatusError(fault(Code.SECURITY_CHANNEL_FORBIDDEN, field="channel_name"), HTTPStatus.FORBIDDEN)
    listing = ListChats(caller=caller, session=channel.removeprefix(SESSION), limit=1)
    listed = await app.bus.call(CHAT_LIST, listing, wait_ms=app.grace_ms)
    if not listed.sessions:
        absent = fault(Code.VALIDATION_UNKNOWN_CHAT, _ABSENT, field="channel_name")
        raise HttpStatusError(absent, HTTPStatus.FORBIDDEN)
    return answer(ChannelAuth(auth=await push.allow(arguments.socket_id, channel, caller)))


async def _config(app: AppContext, _request: RequestContext, _arguments: None) -> Response:
    return answer(PushAddress(enabled=False) if app.push is None else app.push.address)


ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint(
        method="GET",
        path="/api/pusher/config",
        name="pushConfig",
        summary="Tell where a client of Pusher connects to.",
        run=_config,
        answer=PushAddress,
        scope=Scope.BROWSER,
        tag=Tag.INTERACT,
    ),
    Endpoint(
        method="POST",
        path="/api/pusher/auth",
        name="authorizeChannel",
        summary="Let a socket hear the channel of a session of yours, `private-session-<sessionId>`.",
        about="A channel ends with the key that it was asked for with.",
        run=_auth,
        form=ChannelRequest,
        answer=ChannelAuth,
        errors=frozenset({500, 503, 504}),
        example={"socket_id": "210535956.49641676", "channel_name": f"{SESSION}59adf5f0-cddb-42dd-a20d-658ac57278fd"},
        scope=Scope.BROWSER,
        tag=Tag.INTERACT,
    ),
)
