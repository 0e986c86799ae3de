"""How an answer of a site is written where conversations are recorded: without the cookies that it sets."""

from __future__ import annotations

from typing import Any, Final

import httpx2
import msgspec

from actors import redact
from actors.web.exchange import WebResponse
from bus.recording import AnswerForm
from protocol.codec import MAX_PACKET_BYTES


def _plain(value: Any) -> Any:
    if isinstance(value, httpx2.Headers):
        return redact.headers(value.multi_items())
    raise NotImplementedError


def _headers(kind: type, value: Any) -> Any:
    return kind(value)


_write = msgspec.json.Encoder(enc_hook=_plain).encode
_reader = msgspec.json.Decoder(WebResponse, dec_hook=_headers)


def _read(written: bytes) -> WebResponse:
    if len(written) > MAX_PACKET_BYTES:
        msg = f"{len(written)} bytes are no answer of a site"
        raise ValueError(msg)
    return _reader.decode(written)


WEB_ANSWER: Final = AnswerForm[WebResponse](_write, _read)
