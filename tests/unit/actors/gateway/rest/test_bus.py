"""The bus as an operator sees it: how what is kept stands, and what passes, without its secrets."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from actors.gateway.tapping import MAX_SHOWN_BYTES, tapped
from bus.observing import TappedMessage
from bus.transport import BusMessage
from protocol.subjects import DELIVER, LEDGER
from tests.unit.actors.gateway.rest.calling import client, error_of
from tests.unit.actors.gateway_data import FakeBus

REQUEST = {
    "type": "request",
    "id": "p1",
    "conversation": {"id": "c1", "turn": 0},
    "sender": {"role": "agent", "actor": "gateway/r1"},
    "input": {"task": {"name": "web.browse", "args": {"url": "https://u:p4ss@a/?api_key=k3y", "token": "t0ken"}}},
}


def passed(packet: object, subject: str = "web.browse") -> TappedMessage:
    payload = packet if isinstance(packet, bytes) else msgspec.json.encode(packet)
    headers = {"Weft-Claim-Key": "cafe", "traceparent": "00-1"}
    return TappedMessage(BusMessage(subject, payload, headers=headers), 7)


def test_a_packet_is_shown_whole_and_without_its_secrets() -> None:
    shown = msgspec.json.decode(msgspec.json.encode(tapped(passed(REQUEST))))

    packet = shown.pop("packet")
    assert packet["input"]["task"]["args"] == {"url": "https://***@a/?api_key=***", "token": "***"}
    assert shown == {
        "at": 7,
        "subject": "web.browse",
        "size": len(msgspec.json.encode(REQUEST)),
        "type": "request",
        "id": "p1",
        "task": "web.browse",
        "sender": "gateway/r1",
        "conversationId": "c1",
        "headers": {"Weft-Claim-Key": "***", "traceparent": "00-1"},
    }


@pytest.mark.parametrize(
    "args",
    [
        {"do": {"type": "type_text", "element_id": "e1", "text": "hunter2"}},
        {"do": {"type": "set_value", "element_id": "e1", "value": "hunter2"}},
        {"name": "browser_type_text", "arguments": {"text": "hunter2"}},
        {"call": {"name": "type", "arguments": {"text": "hunter2"}}},
    ],
)
def test_what_is_typed_is_not_shown(args: dict[str, Any]) -> None:
    shown = msgspec.json.encode(tapped(passed({"type": "request", "input": {"task": {"name": "a", "args": args}}})))

    assert b"hunter2" not in shown
    assert b'"***"' in shown


def test_what_is_too_large_says_what_it_is() -> None:
    shown = tapped(passed({**REQUEST, "more": "x" * MAX_SHOWN_BYTES}))

    assert (shown.task, shown.packet) == ("web.browse", msgspec.UNSET)


@pytest.mark.parametrize("payload", [b"", b"\xff", b"[]", b"[" * 10_000, b'{"sender":1}', b"***"])
def test_what_is_no_packet_is_shown_all_the_same(payload: bytes) -> None:
    shown = tapped(passed(payload, "a.b"))

    assert (shown.subject, shown.size, shown.task) == ("a.b", len(payload), "")


async def test_the_bus_tells_what_is_kept() -> None:
    bus = FakeBus()
    owner = bus.broker.connect("supervisor")
    await owner.records(LEDGER)
    await owner.arrange(DELIVER)
    async with client(bus) as http:
        kept = (await http.get("/api/bus")).json()["streams"]
        wrong = await http.get("/api/bus/tap", params={"subject": "a..b"})

    assert [(one["kind"], one["name"], one["messages"]) for one in kept] == [
        ("journal", "ledger", 0),
        ("queue", "integration_work", 0),
    ]
    assert [one["waiting"] for one in kept[1]["consumers"]] == [0]
    assert (wrong.status_code, error_of(wrong).field) == (400, "subject")
