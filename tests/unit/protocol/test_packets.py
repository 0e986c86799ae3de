"""The envelope is the seed's: its examples are read, and the exported JSON Schema agrees."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import jsonschema
import msgspec
import pytest

from protocol.codec import MalformedError, decoder, encode
from protocol.documents import Content, Document, WebObservationSummary, untrusted
from protocol.faults import Code, fault
from protocol.packets import (
    Assistant,
    Context,
    Conversation,
    Input,
    InReplyTo,
    Output,
    Protocol,
    Request,
    Response,
    Role,
    Sender,
    Task,
    ToolCall,
    UserMessage,
)
from protocol.schemas import schema
from tests.requirements import requirement
from tests.unit.protocol import packet_data

NOON = datetime(2026, 1, 28, 12, 0, tzinfo=UTC)
REQUIRED = ["protocol", "id", "type", "created_at", "conversation", "sender"]


def conforms(row: dict[str, Any], kind: object) -> None:
    jsonschema.Draft202012Validator(schema(kind)).validate(row)  # pyright: ignore[reportUnknownMemberType]  # jsonschema is half typed


def request(row: dict[str, Any]) -> Request[Any]:
    found: Request[Any] = decoder(Request[Any]).decode(msgspec.json.encode(row))
    return found


def response(row: dict[str, Any]) -> Response[Any]:
    found: Response[Any] = decoder(Response[Any]).decode(msgspec.json.encode(row))
    return found


@requirement("003.envelope.fields")
@requirement("003.request.input")
@requirement("003.request.output")
def test_a_request_is_read() -> None:
    row = packet_data.request_packet()

    packet = request(row)

    conforms(row, Request[Any])
    assert packet == Request(
        protocol=Protocol(name="laika.llmcp", version=1),
        id="req-1",
        created_at=datetime(2026, 1, 28, 12, 34, 56, 789_000, UTC),
        conversation=Conversation(id="c-1", turn=1),
        sender=Sender(role=Role.AGENT),
        input=Input(
            user_message=UserMessage(id="u-1", text="when is high water?"),
            task=Task(name="web.summarize", args={"style": "concise"}),
        ),
        context=packet.context,
        output=Output(format="json"),
    )
    assert isinstance(packet.context, Context)
    assert [document.doc_id for document in packet.context.documents] == ["doc:web:summary"]


@requirement("003.response.bodies")
@requirement("003.response.tool-calls")
def test_a_response_is_read() -> None:
    row = packet_data.response_packet()

    packet = response(row)

    conforms(row, Response[Any])
    assert isinstance(packet.assistant, Assistant)
    assert (packet.id, packet.in_reply_to) == ("res-1", InReplyTo(request_id="req-1"))
    assert packet.tool_calls == (ToolCall(name="browser.click", arguments={"handleId": "weft-1"}),)
    assert msgspec.json.decode(encode(packet.assistant)) == row["assistant"]


@requirement("003.response.render")
def test_an_answer_with_markdown_alone_is_read() -> None:
    row = packet_data.response_packet({"title": "Tides", "markdown": "## Tides", "citations": []})

    packet = response(row)

    conforms(row, Response[Any])
    assert packet.assistant == Assistant(title="Tides", markdown="## Tides")


@requirement("003.response.render")
def test_an_answer_without_words_is_refused() -> None:
    with pytest.raises(MalformedError, match="render"):
        response(packet_data.response_packet({"title": "Tides"}))


@requirement("003.envelope.fields")
def test_what_we_write_has_every_field_that_the_seed_requires() -> None:
    packet = Request[dict[str, str]](
        protocol=Protocol(name="laika.llmcp", version=1),
        id="6f1c",
        created_at=NOON,
        conversation=Conversation(id="c-1"),
        sender=Sender(role=Role.AGENT, actor="navigator-1"),
        input=Input(task=Task(name="web.browse", args={})),
    )

    written = msgspec.json.decode(encode(packet))

    assert written == {
        "type": "request",
        "protocol": {"name": "laika.llmcp", "version": 1},
        "id": "6f1c",
        "created_at": "2026-01-28T12:00:00Z",
        "conversation": {"id": "c-1", "turn": 0},
        "sender": {"role": "agent", "actor": "navigator-1"},
        "input": {"task": {"name": "web.browse", "args": {}}},
    }
    conforms(written, Request[Any])


@requirement("003.envelope.fields")
@pytest.mark.parametrize("missing", REQUIRED)
def test_a_packet_without_a_required_field_is_refused(missing: str) -> None:
    row = packet_data.request_packet()
    del row[missing]

    with pytest.raises(MalformedError) as caught:
        request(row)
    assert caught.value.fault.field == missing


@requirement("003.envelope.protocol")
@pytest.mark.parametrize(
    "protocol",
    [{"name": "laika.llmcp", "version": 2}, {"name": "other", "version": 1}, {"name": "laika.llmcp", "version": "1"}],
)
def test_another_protocol_is_refused(protocol: dict[str, Any]) -> None:
    with pytest.raises(MalformedError) as caught:
        request(packet_data.request_packet() | {"protocol": protocol})

    assert str(caught.value.fault.field).startswith("protocol.")


@requirement("003.envelope.fields")
@pytest.mark.parametrize(
    "change",
    [
        {"id": ""},
        {"type": "event"},
        {"created_at": "yesterday"},
        {"created_at": "2026-01-28T12:34:56"},
        {"conversation": {"id": "", "turn": 1}},
        {"conversation": {"id": "c-1", "turn": -1}},
        {"sender": {"role": "system"}},
        {"output": {"format": "html"}},
    ],
)
def test_a_packet_with_a_wrong_value_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(MalformedError):
        request(packet_data.request_packet() | change)


@requirement("003.envelope.fields")
@pytest.mark.parametrize("role", ["user", "agent", "assistant", "tool"])
def test_the_four_roles_may_speak(role: str) -> None:
    assert request(packet_data.request_packet() | {"sender": {"role": role}}).sender == Sender(role=Role(role))


@requirement("003.request.output")
def test_the_answer_is_json_unless_markdown_is_asked_for() -> None:
    assert Output() == Output(format="json")
    assert request(packet_data.request_packet() | {"output": {"format": "markdown"}}).output == Output(
        format="markdown"
    )


def test_what_a_newer_version_adds_is_passed_over() -> None:
    assert request(packet_data.request_packet() | {"mood": "calm"}) == request(packet_data.request_packet())


@requirement("003.response.bodies")
@pytest.mark.parametrize("bodies", [[], ["assistant", "result"], ["result", "error"], ["assistant", "result", "error"]])
def test_a_response_has_exactly_one_body(bodies: list[str]) -> None:
    row = packet_data.response_packet()
    body: dict[str, Any] = {
        "assistant": row.pop("assistant"),
        "result": {},
        "error": msgspec.to_builtins(fault(Code.INTERNAL_ERROR)),
    }

    for name, value in body.items():
        assert getattr(response(row | {name: value}), name) is not msgspec.UNSET
    with pytest.raises(MalformedError, match="exactly one of assistant, result and error"):
        response(row | {name: body[name] for name in bodies})


@requirement("003.response.tool-calls")
@pytest.mark.parametrize("calls", [None, {}, "none", [None]])
def test_tool_calls_are_a_list(calls: object) -> None:
    with pytest.raises(MalformedError):
        response(packet_data.response_packet() | {"tool_calls": calls})


@requirement("003.response.tool-calls")
def test_there_need_be_no_tool_calls() -> None:
    row = packet_data.response_packet()

    assert response(row | {"tool_calls": []}).tool_calls == ()
    del row["tool_calls"]
    assert response(row).tool_calls == ()


@requirement("003.tool-call.shape")
@pytest.mark.parametrize(
    "call",
    [
        {"name": "browser.back"},
        {"arguments": {}},
        {"name": "", "arguments": {}},
        {"name": "browser.back", "arguments": []},
        {"name": "browser.back", "arguments": None},
        {"name": "browser.back", "arguments": {}, "id": "call-1"},
    ],
)
def test_a_tool_call_is_a_name_and_arguments_and_no_more(call: dict[str, Any]) -> None:
    with pytest.raises(MalformedError):
        response(packet_data.response_packet() | {"tool_calls": [call]})


@requirement("003.tool-call.shape")
def test_a_tool_call_may_have_no_arguments() -> None:
    calls: list[dict[str, Any]] = [{"name": "browser.back", "arguments": {}}]

    assert response(packet_data.response_packet() | {"tool_calls": calls}).tool_calls == (
        ToolCall(name="browser.back", arguments={}),
    )


def test_documents_of_our_own_travel_in_the_context() -> None:
    page: Document[Content] = untrusted(
        "doc_1", WebObservationSummary(url="https://weft.test/", title="Weft", markdown="Weft")
    )
    packet = msgspec.structs.replace(request(packet_data.request_packet()), context=Context(documents=(page,)))

    assert request(msgspec.to_builtins(packet)) == packet
