"""What is written conforms to its schema and is read back the same; other bytes have one error, whatever they are."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import msgspec
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from protocol.browse import BrowseOptions
from protocol.codec import MAX_QUOTED_CHARS, Decoder, MalformedError, decoder, encode
from protocol.faults import Category, Code, Fault, FaultError
from protocol.packets import Request
from protocol.schemas import schema
from tests.requirements import requirement
from tests.support.scale import one_in, sized
from tests.unit.protocol.packet_data import request_packet
from tests.unit.protocol.wire import values, wire_types

SLOWLY = settings(
    max_examples=sized(8, 25), deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
DEEP = 100_000
WIRE_TYPES = wire_types()


def refusal(read: Decoder[Any], payload: bytes) -> Fault:
    with pytest.raises(MalformedError) as caught:
        read.decode(payload)
    return caught.value.fault


@pytest.mark.parametrize(
    ("body", "field", "words"),
    [
        (b'{"forceTier": "netscape"}', "forceTier", "there are intelligence, lightweight, playwright"),
        (b'{"include": ["links", "table"]}', "include[1]", "there are links, forms, lists, structuredData, tables"),
        (b'{"maxcosttier": "playwright"}', "maxcosttier", "there are maxLatencyMs, maxCostTier, "),
    ],
)
def test_a_request_is_told_the_words_to_choose_from(body: bytes, field: str, words: str) -> None:
    found = refusal(Decoder(BrowseOptions, Code.VALIDATION_INVALID_REQUEST), body)

    assert (found.field, words in found.message) == (field, True)
    assert "there are" not in refusal(Decoder(BrowseOptions), body).message


@pytest.mark.parametrize("name", one_in(8, sorted(WIRE_TYPES)))
@pytest.mark.slow
def test_what_is_written_conforms_to_its_schema_and_is_read_back_the_same(name: str) -> None:
    kind = WIRE_TYPES[name]
    validator = jsonschema.Draft202012Validator(schema(kind))

    @SLOWLY
    @given(values(kind))
    def check(message: object) -> None:
        payload = encode(message)

        validator.validate(json.loads(payload))  # pyright: ignore[reportUnknownMemberType]  # jsonschema is half typed
        assert decoder(kind).decode(payload) == message
        assert encode(decoder(kind).decode(payload)) == payload

    check()


@pytest.mark.parametrize("name", sorted(WIRE_TYPES))
def test_garbage_is_malformed_and_nothing_else(name: str) -> None:
    read = decoder(WIRE_TYPES[name])

    @settings(max_examples=sized(10, 50), deadline=None)
    @given(st.binary().filter(lambda payload: payload.strip() != b"{}"))  # nothing is required of some
    def check(payload: bytes) -> None:
        with pytest.raises(MalformedError):
            read.decode(payload)

    check()


@SLOWLY
@given(st.data())
def test_a_packet_with_a_byte_changed_is_read_or_malformed(data: st.DataObject) -> None:
    payload = bytearray(msgspec.json.encode(request_packet()))
    place = data.draw(st.integers(0, len(payload) - 1))
    payload[place] = data.draw(st.integers(0, 255))

    try:
        message = decoder(Request[Any]).decode(payload)
    except MalformedError as error:
        assert error.fault.code is Code.VALIDATION_INVALID_PACKET  # noqa: PT017 - both outcomes are right
    else:
        assert isinstance(message, Request)


@pytest.mark.parametrize(
    "hostile",
    [
        pytest.param(b"[" * DEEP, id="deep arrays"),
        pytest.param(b'{"a":' * DEEP, id="deep objects"),
        pytest.param(b"9" * 5_000, id="huge integer"),
        pytest.param(b"-" + b"9" * 5_000, id="huge negative integer"),
        pytest.param(b"1e999999999", id="huge exponent"),
        pytest.param(b"9" * 5_000 + b".5", id="huge float"),
        pytest.param(b"NaN", id="not a number"),
        pytest.param(b"Infinity", id="infinity"),
        pytest.param(b'"\x00"', id="raw NUL"),
        pytest.param(b'"\xff\xfe"', id="invalid UTF-8"),
        pytest.param(b'"\xed\xa0\x80"', id="surrogate in UTF-8"),
        pytest.param(b'"\\ud800"', id="half a surrogate pair"),
        pytest.param(b'"\\x"', id="unknown escape"),
        pytest.param(b'"', id="open string"),
        pytest.param(b"{} {}", id="two values"),
        pytest.param(b"", id="nothing"),
    ],
)
def test_hostile_values_are_malformed_wherever_they_stand(hostile: bytes) -> None:
    packet = msgspec.json.encode(request_packet()).replace(b'{"style":"concise"}', hostile)

    refusal(decoder(Request[Any]), packet)
    refusal(decoder(Request[Any]), hostile)


@requirement("003.output.caps")
def test_a_packet_over_the_cap_is_not_read() -> None:
    read = Decoder[BrowseOptions](BrowseOptions, max_bytes=10)

    found = refusal(read, b'{"includeHtml":true}')

    assert (found.code, found.message) == (Code.VALIDATION_INVALID_PACKET, "20 bytes are more than the 10 allowed")


def test_a_packet_at_the_cap_is_read() -> None:
    read = Decoder[BrowseOptions](BrowseOptions, max_bytes=20)

    assert read.decode(b'{"includeHtml":true}') == BrowseOptions(include_html=True)


@pytest.mark.parametrize("payload", [b"{}", bytearray(b"{}"), memoryview(b"{}")], ids=lambda each: type(each).__name__)
def test_any_buffer_is_read(payload: bytes | bytearray | memoryview) -> None:
    assert decoder(BrowseOptions).decode(payload) == BrowseOptions()


@pytest.mark.parametrize(
    ("payload", "field"),
    [
        (b'{"maxLatencyMs":0}', "maxLatencyMs"),
        (b'{"maxLatencyMs":"soon"}', "maxLatencyMs"),
        (b'{"maxCostTier":"firefox"}', "maxCostTier"),
        (b'{"maxCostTier":" - at `$.includeHtml`"}', "maxCostTier"),
        (b'{"sessionProfile":"../x"}', "sessionProfile"),
        (b'{"colour":"red"}', "colour"),
        (b'{"a`b":1}', "a`b"),
        (b"[]", None),
        (b"{", None),
    ],
)
def test_a_request_of_the_edge_is_refused_by_the_name_of_the_field(payload: bytes, field: str | None) -> None:
    read = Decoder[BrowseOptions](BrowseOptions, Code.VALIDATION_INVALID_REQUEST)

    found = refusal(read, payload)

    assert (found.category, found.code, found.field, found.retryable) == (
        Category.VALIDATION,
        Code.VALIDATION_INVALID_REQUEST,
        field,
        False,
    )
    assert field is None or found.message.startswith(f"{field}: ")


@pytest.mark.parametrize(
    ("old", "new", "field"),
    [
        (b'"id":"c-1",', b"", "conversation.id"),
        (b'"turn":1', b'"turn":-1', "conversation.turn"),
        (b'"role":"agent"', b'"role":"robot"', "sender.role"),
        (b'"doc_id":"doc:web:summary"', b'"doc_id":""', "context.documents[0].doc_id"),
        (b'"doc_type":"web.observation.summary.v1",', b"", "context.documents[0].content.doc_type"),
    ],
)
def test_a_packet_is_refused_by_the_path_of_the_field(old: bytes, new: bytes, field: str) -> None:
    packet = msgspec.json.encode(request_packet())
    assert packet.count(old) == 1

    assert refusal(decoder(Request[Any]), packet.replace(old, new)).field == field


@settings(max_examples=sized(10, 50))
@given(st.text(min_size=1))
@example("x" * 100_000)
def test_a_fault_stays_small_whatever_the_sender_wrote(text: str) -> None:
    payload = msgspec.json.encode({text: 1})

    found = refusal(Decoder[BrowseOptions](BrowseOptions), payload)

    assert len(found.message) <= 2 * MAX_QUOTED_CHARS + 4


def test_malformed_is_a_fault() -> None:
    with pytest.raises(FaultError, match="VALIDATION_INVALID_PACKET"):
        decoder(Request[Any]).decode(b"?")


def test_half_a_surrogate_pair_keeps_nothing_from_being_written() -> None:
    message = {"\ud800": ["a\udc00", ("\ud83d\ude00",), msgspec.Raw(b'{"x": 1}')]}

    written = encode(message)

    assert msgspec.json.decode(written) == {"\ufffd": ["a\ufffd", ["\U0001f600"], {"x": 1}]}
