"""The endpoints of conversations: what was asked of pages and answered, for the key that asked."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct
from starlette.responses import Response

from actors.gateway import answers
from actors.gateway.access.caller import Scope
from actors.gateway.answer_results import ConversationView
from actors.gateway.app_context import AppContext
from actors.gateway.http import answer
from actors.gateway.request import RequestContext
from actors.gateway.rest.routing import Endpoint, Tag
from protocol.answers import ConversationId, ConversationList

MAX_NUMBER = 2**53 - 1
"""The largest integer that every reader of JSON takes as it is (RFC 8259 §6)."""


class ConversationsRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which conversations are listed."""

    limit: Annotated[int, Meta(ge=1, le=200, description="How many.")] = 50
    offset: Annotated[int, Meta(ge=0, le=MAX_NUMBER, description="Leave out so many.")] = 0


class ConversationPath(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which conversation is meant."""

    id: ConversationId


async def _list(app: AppContext, request: RequestContext, arguments: ConversationsRequest) -> Response:
    return answer(await answers.conversations(app, request, arguments.limit, arguments.offset))


async def _get(app: AppContext, request: RequestContext, arguments: ConversationPath) -> Response:
    return answer(await answers.conversation_log(app, request, arguments.id))


_FAMILY: dict[str, Any] = {
    "method": "GET",
    "scope": Scope.BROWSE,
    "tag": Tag.ANSWERS,
    "errors": frozenset({500, 503, 504}),
}
ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint(
        path="/api/conversations",
        name="listConversations",
        summary="List your conversations, the newest first.",
        about="They are kept for 30 days; of pages and documents no more than a digest and a beginning.",
        run=_list,
        params=ConversationsRequest,
        answer=ConversationList,
        example={"limit": 20, "offset": 0},
        **_FAMILY,
    ),
    Endpoint(
        path="/api/conversations/{id}",
        name="getConversation",
        summary="Tell what was asked and answered in a conversation, and the calls of models that it took.",
        about="A conversation of another key is a 404.",
        run=_get,
        params=ConversationPath,
        answer=ConversationView,
        example={"id": "2f1c0b9e-6d5a-4c3b-8a79-1e2d3c4b5a69"},
        **_FAMILY,
    ),
)
