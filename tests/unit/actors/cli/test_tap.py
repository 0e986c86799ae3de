"""`weft tap`: packets as lines, and no secret in them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from actors.cli.main import run
from actors.cli.tap import as_line, as_object_line, listen
from actors.masking import mask, mask_text
from bus.transport import BusMessage
from tests.support.scale import first
from tests.unit.actors.cli.cli_data import MARK, FakeBus, connected_to

NOW = datetime(2026, 1, 2, 3, 4, 5, 678_000, tzinfo=UTC)

# -- tap --------------------------------------------------------------------------------------------------------------


def message(packet: object, subject: str = "web.browse", headers: Mapping[str, str] | None = None) -> BusMessage:
    return BusMessage(subject=subject, payload=msgspec.json.encode(packet), headers=headers or {})


REQUEST = {
    "type": "request",
    "conversation": {"id": "0123456789abcdef"},
    "sender": {"role": "agent", "actor": "gateway/r1"},
    "input": {"task": {"name": "web.browse", "args": {"url": f"https://u:{MARK}@a/?api_key={MARK}"}}},
}


def test_a_packet_is_one_line() -> None:
    assert as_line(message(REQUEST), NOW).split() == [
        NOW.astimezone().strftime("%H:%M:%S.678"),
        "web.browse",
        "web.browse",
        "gateway/r1",
        "01234567",
        f"{len(message(REQUEST).payload)}",
        "B",
    ]


def test_an_answer_says_what_it_answers_and_its_error() -> None:
    answer = {"type": "response", "in_reply_to": {"request_id": "abcdefghijk"}, "error": {"code": "CONTENT_EMPTY"}}

    assert "re abcdefgh CONTENT_EMPTY" in as_line(message(answer), NOW)


@pytest.mark.parametrize(
    "payload", [b"", b"\xff\x1b[2J", b"[]", b"1", b"[" * 100_000, b'{"sender":1,"conversation":[]}']
)
def test_what_is_no_packet_is_a_line_all_the_same(payload: bytes) -> None:
    line = as_line(BusMessage(subject="a.b", payload=payload), NOW)

    assert "\x1b" not in line
    assert line.endswith(f"{len(payload)} B")
    assert json.loads(as_object_line(BusMessage(subject="a.b", payload=payload), NOW))["size"] == len(payload)


def test_json_lines_hold_the_masked_packet() -> None:
    shown = json.loads(as_object_line(message(REQUEST, headers={"Weft-Token": MARK, "traceparent": "00-1"}), NOW))

    assert shown["time"] == "2026-01-02T03:04:05.678+00:00"
    assert shown["headers"] == {"Weft-Token": "***", "traceparent": "00-1"}
    assert shown["packet"]["input"]["task"]["args"] == {"url": "https://***@a/?api_key=***"}


async def test_tap_ends_after_the_count(capsys: pytest.CaptureFixture[str]) -> None:
    bus = FakeBus(messages=(message(1), message(2), message(3)))

    await listen(bus, ">", as_json=True, count=2)

    assert len(capsys.readouterr().out.splitlines()) == 2


def test_the_verb_tap_prints_lines(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    connected_to(monkeypatch, FakeBus(messages=(message(REQUEST),)))

    assert run(["tap", "web.>", "--count", "1", "--seconds", "60"]) == 0
    assert "gateway/r1" in capsys.readouterr().out


# -- masking ----------------------------------------------------------------------------------------------------------

SECRET_NAMES = st.sampled_from(
    ["api_key", "apiKey", "X-Api-Key", "Authorization", "proxy_authorization", "Cookie", "set-cookie", "password",
     "token", "access_token", "client_secret", "NKEY_SEED", "seed", "private_key", "credentials", "X-Amz-Signature"]
)  # fmt: skip
SECRET_TEXTS = st.sampled_from(
    [
        f"https://user:{MARK}@host/path",
        f"nats://{MARK}@host:4222,tls://u:{MARK}@other",
        f"see https://a/?x=1&api_key={MARK}&y=2 there",
        f"https://a/?sig={MARK}",
        f"https://a/cb?code={MARK}#access_token={MARK}",
        f"Authorization: Bearer {MARK}",
        f"authorization: Basic {MARK}\r\nAccept: */*",
        f"curl -H 'Authorization: Token {MARK}'",
        f"Set-Cookie: sid={MARK}; Path=/",
        f'{{"password": "{MARK}"}}',
        f'{{"a": "{{\\"token\\": \\"{MARK}\\"}}"}}',
        f"user=x&password={MARK}",
        f"password = '{MARK} and more {MARK}'",
        f'user[password]="{MARK} {MARK}"',
        f"bearer {MARK}",
        f"weft_abcdefgh1234_{MARK}",
    ]
)
OTHERS = st.one_of(st.none(), st.booleans(), st.integers(-9, 9), st.text(max_size=20))
SECRET_VALUES = st.one_of(
    st.just(MARK), st.just([MARK]), st.just({"a": {"b": MARK}}), st.text(max_size=9).map(lambda text: text + MARK)
)
HIDING = st.one_of(
    SECRET_TEXTS,
    st.tuples(st.text(max_size=9), SECRET_TEXTS).map(lambda parts: f"{parts[0]} {parts[1]}"),
    st.dictionaries(SECRET_NAMES, SECRET_VALUES, min_size=1),
    st.tuples(SECRET_NAMES, SECRET_VALUES),
    st.fixed_dictionaries({"name": SECRET_NAMES, "value": SECRET_VALUES}),
    SECRET_TEXTS.map(lambda text: {text: 1}),
)
PACKETS = st.recursive(
    HIDING | OTHERS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.slow
@given(PACKETS)
@example({"Authorization": {"deep": [MARK]}})
def test_no_secret_survives_at_any_depth(packet: object) -> None:
    told = message(packet)

    assert MARK not in as_object_line(told, NOW)
    assert MARK not in as_line(told, NOW)


PLAIN = st.one_of(st.none(), st.booleans(), st.integers(), st.text("abc äö\n.,!?", max_size=20))


@given(st.recursive(PLAIN, lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from("abcd"), inner)))
def test_what_hides_nothing_stays_as_it_is(value: object) -> None:
    assert mask(value) == value


@pytest.mark.parametrize(
    "value",
    [
        "a plain sentence: nothing here",
        "https://a.example/b?page=2&q=x#top",
        "mail@a.example",
        {"url": "x", "timeout_ms": 1},
    ],
)
def test_what_is_no_secret_stays(value: object) -> None:
    assert mask(value) == value


def test_nothing_is_hidden_where_there_is_nothing() -> None:
    assert mask({"token": None, "api_key": "", "seed": 7}) == {"token": None, "api_key": "", "seed": "***"}


@pytest.mark.parametrize(
    "text", first(1, ["a" * 900_000, "token" * 180_000, "://" * 300_000, "\\" * 900_000, "?key=" * 180_000])
)
@pytest.mark.slow
def test_masking_takes_linear_time(text: str) -> None:
    assert 0 < len(mask_text(text)) <= 2 * len(text)  # the timeout of the test bounds the time
