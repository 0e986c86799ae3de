"""The pure parts of push: signatures by Pusher's own vectors, names, frames on garbage, and the size of events."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.gateway.push import frames
from actors.gateway.push.credentials import check_push, push_app
from actors.gateway.push.session_events import message_data, round_data
from actors.gateway.push.signatures import WINDOW_S, PushApp, SignatureError
from bus.seal import Seal, new_key
from protocol.acting.chats import ChatMessageAdded
from protocol.acting.interact import InteractData
from protocol.faults import FaultError
from protocol.push import RoundTold
from tests.unit.actors.gateway_data import settings

APP = PushApp("3", "278d425bdf160c739803", "7ad3773142a6692b25b8")
"""The credentials of the worked examples in Pusher's documentation."""

BODY = b'{"name":"foo","channels":["project-3"],"data":"{\\"some\\":\\"data\\"}"}'
AT = 1_353_088_179
TEXTS = st.text(max_size=300)


def signed(**changes: str) -> list[tuple[str, str]]:
    return list((APP.signed("POST", "/apps/3/events", BODY, AT) | changes).items())


def test_a_channel_is_signed_as_pusher_has_it() -> None:
    auth = APP.channel_auth("1234.1234", "private-foobar")

    assert auth == "278d425bdf160c739803:58df8b0c36d6982b82c3ecf6b4662e34fe8c25bba48f5369f135bf843651c3a4"
    assert APP.allows("1234.1234", "private-foobar", auth)


def test_a_request_is_signed_as_pusher_has_it() -> None:
    query = APP.signed("POST", "/apps/3/events", BODY, AT)

    assert query == {
        "auth_key": APP.key,
        "auth_timestamp": "1353088179",
        "auth_version": "1.0",
        "body_md5": "ec365a775a4cd0599faeb73354201b6f",
        "auth_signature": "da454824c97ba181a32ccc17a72625ba02771f50b50e1e7430e47a1f3f457e6c",
    }
    APP.check("POST", "/apps/3/events", signed(), BODY, AT + WINDOW_S)


@pytest.mark.parametrize(
    ("method", "path", "query", "body", "now_s"),
    [
        ("GET", "/apps/3/events", signed(), BODY, AT),
        ("POST", "/apps/3/batch_events", signed(), BODY, AT),
        ("POST", "/apps/3/events", signed(), BODY + b" ", AT),
        ("POST", "/apps/3/events", signed(), BODY, AT + WINDOW_S + 1),
        ("POST", "/apps/3/events", signed(), BODY, AT - WINDOW_S - 1),
        ("POST", "/apps/3/events", signed(auth_key="another"), BODY, AT),
        ("POST", "/apps/3/events", signed(auth_signature="0" * 64), BODY, AT),
        ("POST", "/apps/3/events", signed(auth_signature="\ud800"), BODY, AT),
        ("POST", "/apps/3/events", signed(info="user_count"), BODY, AT),
        ("POST", "/apps/3/events", [*signed(), ("auth_key", APP.key)], BODY, AT),
        ("POST", "/apps/3/events", [], BODY, AT),
    ],
)
def test_what_is_signed_otherwise_is_refused(
    method: str, path: str, query: list[tuple[str, str]], body: bytes, now_s: int
) -> None:
    with pytest.raises(SignatureError):
        APP.check(method, path, query, body, now_s)


@given(TEXTS, TEXTS, TEXTS)
def test_no_other_socket_channel_or_signature_is_allowed(socket_id: str, channel: str, auth: str) -> None:
    given = APP.channel_auth("1234.1234", "private-foobar")

    assert not APP.allows(socket_id, channel, auth)
    assert not APP.allows(socket_id, "private-foobar", given)


@given(
    st.text()
    | st.recursive(st.none() | st.booleans() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)).map(
        json.dumps
    )
)
def test_what_is_no_frame_is_read_as_none(text: str) -> None:
    read = frames.read_frame(text)

    if read is not None:
        frames.read_subscription(read.data)


@given(st.text(max_size=250))
def test_names_of_channels_are_those_of_pusher(name: str) -> None:
    allowed = set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-=@,.;")

    assert frames.is_channel(name) == (0 < len(name) <= 200 and set(name) <= allowed)


@given(
    content=st.text(max_size=10_000), payload=st.dictionaries(st.text(max_size=20), st.text(max_size=3_000), min_size=1)
)
def test_no_message_is_larger_than_an_event_may_be(content: str, payload: dict[str, Any]) -> None:
    message = ChatMessageAdded(
        session="s",
        caller="me",
        at=1_769_767_201_000,
        message="id",
        number=7,
        role="assistant",
        content=content,
        task="t",
        action_payload=payload,
    )
    data = message_data(message)

    told = json.loads(data)["message"]
    assert len(data.encode()) <= frames.MAX_DATA_BYTES
    assert (told["messageId"], told["role"], told["sequenceNumber"]) == ("id", "assistant", 7)
    assert content.startswith(told["content"])
    assert told["metadata"].get("truncated", False) == (told["content"] != content or "actionPayload" not in told)


@given(st.text(max_size=8_000), st.text(max_size=8_000), st.text(max_size=8_000))
def test_no_round_is_larger_than_an_event_may_be(thought: str, action: str, reason: str) -> None:
    data = InteractData(
        status="executing",
        task_id="t",
        thought=thought,
        action=action,
        current_step=2,
        verification={"reason": reason},
        correction={"strategy": "UPDATE_PLAN"},
    )
    written = round_data(RoundTold(session="s", caller="me", data=data))

    told = json.loads(written)
    assert len(written.encode()) <= frames.MAX_DATA_BYTES
    assert (told["type"], told["sessionId"], told["currentStepIndex"]) == ("interact_response", "s", 2)
    assert told["correction"] == {"strategy": "UPDATE_PLAN"}


def test_every_gateway_works_out_the_same_credentials_and_another_weft_others() -> None:
    root = Seal.of(new_key())
    keys = root.derived(["push-app"])
    first, again, other = (push_app(settings(), seal) for seal in (Seal(keys), root, Seal.of(new_key())))

    assert first is not None
    assert first == again != other
    assert (first.id.isdecimal(), len(first.key), len(first.secret)) == (True, 20, 64)
    assert first.secret not in repr(first)
    assert push_app(settings(), None) is None
    assert push_app(settings(push=False), root) is None


@pytest.mark.parametrize(
    "given", [{"push_key": "k"}, {"push_app_id": "1", "push_key": "k"}, {"push_url": "https://push.example"}]
)
def test_half_of_the_credentials_are_none(given: dict[str, str]) -> None:
    with pytest.raises(FaultError) as caught:
        check_push(settings(**given))

    assert caught.value.fault.field in {"push_app_id", "push_secret"}


def test_an_event_is_a_text_of_json_in_the_json() -> None:
    written = frames.frame("new_message", '{"a":"\\u00e9"}', "private-x")

    assert msgspec.json.decode(written) == {"event": "new_message", "channel": "private-x", "data": '{"a":"\\u00e9"}'}
