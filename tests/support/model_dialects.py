"""What servers of the four dialects of models write, so that one contract can be held against all of them."""

from __future__ import annotations

import binascii
import struct
from collections.abc import Iterator, Sequence
from typing import Any, Final

import msgspec

from protocol.models import Provider
from tests.support.models import EVENTS_HEAD, Reply, document, event_bytes, head, raw

SERVED: Final = "served-1"
AWS_HEAD: Final = head(
    200,
    {
        "content-type": "application/vnd.amazon.eventstream",
        "transfer-encoding": "chunked",
        "connection": "keep-alive",
    },
)

DIALECTS: Final = {
    Provider.ANTHROPIC: "anthropic",
    Provider.GOOGLE: "google",
    Provider.BEDROCK: "bedrock",
}
"""The others speak OpenAI's."""

Call = tuple[str, dict[str, Any]]
"""The name of a tool, and its arguments."""


def stream_of(provider: Provider, texts: Sequence[str], call: Call | None = None) -> list[bytes]:
    """Write an answer in pieces: it has read 12 tokens, 8 of them from a cache, and written 3."""
    match DIALECTS.get(provider):
        case "anthropic":
            return [EVENTS_HEAD, *_anthropic(texts, call)]
        case "google":
            return [EVENTS_HEAD, *event_bytes(list(_google(texts, call)))]
        case "bedrock":
            return [AWS_HEAD, *(_chunked(frame) for frame in _bedrock(texts, call)), b"0\r\n\r\n"]
        case _:
            return [EVENTS_HEAD, *event_bytes([*_openai(texts, call), "[DONE]"])]


def answer_of(provider: Provider, *texts: str, call: Call | None = None) -> Reply:
    """Answer with these texts, and the call of a tool."""
    return raw(*stream_of(provider, texts, call))


def error_of(provider: Provider, status: int, word: str, said: str, **headers: str) -> Reply:
    """Fail, with the word of the protocol for it, and something that nobody is to see."""
    match DIALECTS.get(provider):
        case "anthropic":
            body: dict[str, Any] = {"type": "error", "error": {"type": word, "message": said}}
        case "google":
            body = {"error": {"code": status, "status": word, "message": said}}
        case "bedrock":
            body, headers = {"message": said}, {**headers, "x_amzn_ErrorType": word}
        case _:
            body = {"error": {"message": said, "type": word, "code": None}}
    return document(body, status, **headers)


# -- OpenAI ------------------------------------------------------------------------------------------------------------


def _openai(texts: Sequence[str], call: Call | None) -> Iterator[dict[str, Any]]:
    def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        return {"model": SERVED, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    yield chunk({"role": "assistant", "content": ""})
    for text in texts:
        yield chunk({"content": text})
    if call:
        function = {"name": call[0], "arguments": msgspec.json.encode(call[1]).decode()}
        yield chunk({"tool_calls": [{"index": 0, "id": "c1", "type": "function", "function": function}]})
    yield chunk({}, "tool_calls" if call else "stop")
    usage = {"prompt_tokens": 12, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 8}}
    yield {"model": SERVED, "choices": [], "usage": usage}


# -- Anthropic ---------------------------------------------------------------------------------------------------------


def _anthropic(texts: Sequence[str], call: Call | None) -> Iterator[bytes]:
    usage = {"input_tokens": 4, "cache_read_input_tokens": 8, "cache_creation_input_tokens": 0, "output_tokens": 1}
    message: dict[str, Any] = {
        "id": "m1",
        "type": "message",
        "role": "assistant",
        "content": [],
        "model": SERVED,
        "usage": usage,
    }
    yield _named("message_start", message={**message, "stop_reason": None, "stop_sequence": None})
    yield _named("content_block_start", index=0, content_block={"type": "text", "text": ""})
    for text in texts:
        yield _named("content_block_delta", index=0, delta={"type": "text_delta", "text": text})
    yield _named("content_block_stop", index=0)
    if call:
        use: dict[str, Any] = {"type": "tool_use", "id": "c1", "name": call[0], "input": {}}
        piece = {"type": "input_json_delta", "partial_json": msgspec.json.encode(call[1]).decode()}
        yield _named("content_block_start", index=1, content_block=use)
        yield _named("content_block_delta", index=1, delta=piece)
        yield _named("content_block_stop", index=1)
    stop = {"stop_reason": "tool_use" if call else "end_turn", "stop_sequence": None}
    yield _named("message_delta", delta=stop, usage={"output_tokens": 3})
    yield _named("message_stop")


def _named(event: str, **fields: Any) -> bytes:
    return f"event: {event}\ndata: {msgspec.json.encode({'type': event, **fields}).decode()}\n\n".encode()


# -- Gemini ------------------------------------------------------------------------------------------------------------


def _google(texts: Sequence[str], call: Call | None) -> Iterator[dict[str, Any]]:
    def chunk(*parts: dict[str, Any], **last: Any) -> dict[str, Any]:
        candidate = {"content": {"role": "model", "parts": list(parts)}, "index": 0, **last}
        usage = {"promptTokenCount": 12, "cachedContentTokenCount": 8, "candidatesTokenCount": 3, "totalTokenCount": 15}
        return {"candidates": [candidate], "modelVersion": SERVED, "usageMetadata": usage}

    for text in texts:
        yield chunk({"text": text})
    if call:
        yield chunk({"functionCall": {"id": "c1", "name": call[0], "args": call[1]}})
    yield chunk({"text": ""}, finishReason="STOP")


# -- Bedrock -----------------------------------------------------------------------------------------------------------


def _bedrock(texts: Sequence[str], call: Call | None) -> Iterator[bytes]:
    yield _frame("messageStart", {"role": "assistant"})
    for text in texts:
        yield _frame("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": text}})
    yield _frame("contentBlockStop", {"contentBlockIndex": 0})
    if call:
        use, written = {"toolUseId": "c1", "name": call[0]}, msgspec.json.encode(call[1]).decode()
        yield _frame("contentBlockStart", {"contentBlockIndex": 1, "start": {"toolUse": use}})
        yield _frame("contentBlockDelta", {"contentBlockIndex": 1, "delta": {"toolUse": {"input": written}}})
        yield _frame("contentBlockStop", {"contentBlockIndex": 1})
    yield _frame("messageStop", {"stopReason": "tool_use" if call else "end_turn"})
    usage = {
        "inputTokens": 4,
        "cacheReadInputTokens": 8,
        "cacheWriteInputTokens": 0,
        "outputTokens": 3,
        "totalTokens": 15,
    }
    yield _frame("metadata", {"usage": usage, "metrics": {"latencyMs": 1}})


def _chunked(data: bytes) -> bytes:
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


def _frame(event: str, payload: dict[str, Any]) -> bytes:
    """Write a message of the event stream encoding of AWS: lengths, their CRC, headers, payload, and the CRC of all."""
    named = {":event-type": event, ":content-type": "application/json", ":message-type": "event"}
    headers = b"".join(
        bytes([len(name)]) + name.encode() + b"\x07" + struct.pack("!H", len(text)) + text.encode()
        for name, text in named.items()
    )
    body = msgspec.json.encode(payload)
    prelude = struct.pack("!II", 16 + len(headers) + len(body), len(headers))
    message = prelude + struct.pack("!I", binascii.crc32(prelude)) + headers + body
    return message + struct.pack("!I", binascii.crc32(message))
