"""The endpoints of recorded conversations, for whoever operates the system: which there are, and one as a file."""

from __future__ import annotations

from typing import Annotated, Any, cast

import msgspec
from anyio import to_thread
from msgspec import UNSET, Meta, Struct
from starlette.responses import Response

from actors.gateway.access.caller import Scope
from actors.gateway.app_context import AppContext
from actors.gateway.http import answer
from actors.gateway.request import RequestContext
from actors.gateway.rest.conversations import ConversationPath
from actors.gateway.rest.routing import Endpoint, Tag
from actors.masking import MASK, mask_packet
from protocol.codec import encode
from protocol.recordings import AskRecording, ConversationRecording, ListRecordings, RecordedEntry, RecordingList
from protocol.subjects import RECORDING_GET, RECORDING_LIST

_MASK = encode(MASK)

_WORDS_OF_PAGES = frozenset({"body", "content"})
"""The fields of an answer of a site, or of an engine, that hold its page."""


class RecordingsRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How many recordings are listed."""

    limit: Annotated[int, Meta(ge=1, le=1_000, description="How many.")] = 50


async def _list(app: AppContext, _request: RequestContext, arguments: RecordingsRequest) -> Response:
    question = ListRecordings(limit=arguments.limit)
    return answer(await app.bus.call(RECORDING_LIST, question, wait_ms=app.grace_ms))


async def _get(app: AppContext, _request: RequestContext, arguments: ConversationPath) -> Response:
    recording = await app.bus.call(RECORDING_GET, AskRecording(id=arguments.id), wait_ms=app.grace_ms)
    return answer(await to_thread.run_sync(redacted, recording))  # it may be large


def redacted(recording: ConversationRecording) -> ConversationRecording:
    """Return a recording with its secrets masked; the words of pages stay as they are, which are extracted again."""
    return msgspec.structs.replace(recording, entries=tuple(map(_redacted, recording.entries)))


def _redacted(entry: RecordedEntry) -> RecordedEntry:
    response: Any = UNSET
    if entry.response is not UNSET:
        response = _masked(entry.response, _WORDS_OF_PAGES if entry.kind == "outside" else frozenset())
    return msgspec.structs.replace(entry, request=_masked(entry.request), response=response)


def _masked(written: msgspec.Raw, left: frozenset[str] = frozenset()) -> msgspec.Raw:
    value: Any = msgspec.json.decode(written)
    masked: Any = mask_packet(value)
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        masked |= {name: fields[name] for name in left if name in fields}
    text = encode(masked)
    return msgspec.Raw(text.replace(_MASK, b'"masked"'))  # asterisks are not what most fields take


_FAMILY: dict[str, Any] = {
    "method": "GET",
    "scope": Scope.OPERATE,
    "tag": Tag.OPERATION,
    "errors": frozenset({500, 503, 504}),
}

ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint(
        path="/api/recordings",
        name="listRecordings",
        summary="List the conversations that are recorded, the newest first.",
        about="They are kept for a day, up to 128 MB, where the setting `record_conversations` says so.",
        run=_list,
        params=RecordingsRequest,
        answer=RecordingList,
        example={"limit": 20},
        **_FAMILY,
    ),
    Endpoint(
        path="/api/recordings/{id}",
        name="getRecording",
        summary="Return all packets of a conversation, and what the outside world answered for them.",
        about="Secrets in packets are masked, and what was read with a login is left out. `weft replay` does the "
        "conversation again from it, without a network.",
        run=_get,
        params=ConversationPath,
        answer=ConversationRecording,
        example={"id": "2f1c0b9e-6d5a-4c3b-8a79-1e2d3c4b5a69"},
        **_FAMILY,
    ),
)
