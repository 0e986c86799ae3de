"""What leaves in a recording has no secret of its packets, and still is what they are made of."""

from __future__ import annotations

from typing import Any

import msgspec

from actors.gateway.rest.recordings import redacted
from protocol.codec import encode
from protocol.recordings import ConversationRecording, RecordedEntry

TYPED = {
    "operation": {"type": "type", "ref": "e1", "text": "sesame"},
    "max_tokens": 50,
    "token": "abc",
    "visible": True,
}
ANSWER = {"status": 200, "body": "password: sesame", "headers": {"authorization": "Bearer sesame"}}


def test_secrets_and_what_is_typed_are_masked_and_counts_and_pages_are_not() -> None:
    packet = RecordedEntry(kind="call", name="browser.ask", sender="a/1", at_us=1, request=msgspec.Raw(encode(TYPED)))
    answer = RecordedEntry(
        kind="outside", name="web.fetch", sender="a/1", at_us=2, request=msgspec.Raw(b'"u"'), response=raw(ANSWER)
    )

    shown = redacted(ConversationRecording(id="c", version="1", settings={}, entries=(packet, answer)))

    first, second = (msgspec.json.decode(encode(one)) for one in shown.entries)
    typed = {"type": "type", "ref": "e1", "text": "masked"}
    assert first["request"] == {"operation": typed, "max_tokens": 50, "token": "masked", "visible": True}
    assert second["response"] == {**ANSWER, "headers": {"authorization": "masked"}}


def raw(value: Any) -> msgspec.Raw:
    return msgspec.Raw(encode(value))
