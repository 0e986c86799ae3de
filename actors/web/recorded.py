"""How an answer of a site is written where conversations are recorded: without the cookies that it sets.

A body that is text is written as text, which packs better than its base64.
"""

from __future__ import annotations

from typing import Any, Final

import httpx2
import msgspec
from msgspec import structs

from actors import redact
from actors.web.exchange import WebResponse
from bus.recording import AnswerForm
from protocol.codec import MAX_PACKET_BYTES


class _RecordedResponse(WebResponse, frozen=True):
    """An answer as it is written: its body is in `content` where it is text in UTF-8."""

    content: str = ""


def _plain(value: Any) -> Any:
    if isinstance(value, httpx2.Headers):
        return redact.headers(value.multi_items())
    raise NotImplementedError


def _headers(kind: type, value: Any) -> Any:
    return kind(value)


_encode = msgspec.json.Encoder(enc_hook=_plain).encode
_reader = msgspec.json.Decoder(_RecordedResponse, dec_hook=_headers)


def _write(answer: WebResponse) -> bytes:
    try:
        content = answer.body.decode()
    except UnicodeDecodeError:
        return _encode(answer)
    written: dict[str, Any] = {**structs.asdict(answer), "body": b"", "content": content}
    return _encode(_RecordedResponse(**written))


def _read(written: bytes) -> WebResponse:
    if len(written) > MAX_PACKET_BYTES:
        msg = f"{len(written)} bytes are no answer of a site"
        raise ValueError(msg)
    answer = _reader.decode(written)
    return structs.replace(answer, body=answer.content.encode()) if answer.content else answer


WEB_ANSWER: Final = AnswerForm[WebResponse](_write, _read)
