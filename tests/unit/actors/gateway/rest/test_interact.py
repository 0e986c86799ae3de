"""The endpoints of 001: the shapes of their answers and errors, and what is refused before anybody is asked."""

from __future__ import annotations

from typing import Any

import pytest

from protocol.acting.chats import ChatInfo, ChatIsOpen, ChatList, ChatMessageAdded, ChatMessages, ChatStatus
from protocol.acting.interact import ActionDetails, Interact, InteractData
from protocol.faults import Code, FaultError, fault
from tests.unit.actors.gateway.rest.calling import Replying, client

CHAT = "59adf5f0-cddb-42dd-a20d-658ac57278fd"
TASK = "e49abedb-f50c-45d2-bf81-62662b6a038e"
ROUND: dict[str, Any] = {
    "query": "Click Search",
    "url": "https://shop.example/",
    "domMode": "semantic",
    "interactiveTree": [{"i": "6", "r": "btn", "n": "Search", "xy": [1, 2], "extra": 1}],
    "somethingNew": True,
}
DATA = InteractData(
    status="executing",
    session_id=CHAT,
    task_id=TASK,
    thought="I click it.",
    action="click(6)",
    action_details=ActionDetails(name="click", element_id=6, element_ref="6", selector_path="[data-llm-id='6']"),
)
INFO = ChatInfo(
    session=CHAT,
    title="shop.example: Click Search",
    domain="shop.example",
    url="https://shop.example/",
    status=ChatStatus.ACTIVE,
    initial_url="https://shop.example/",
    initial_domain="shop.example",
    messages=2,
    created_at=1_769_767_200_000,
    updated_at=1_769_767_201_000,
)
MESSAGE = ChatMessageAdded(
    session=CHAT,
    caller="owner",
    at=1_769_767_200_000,
    message="0b4c8a52-6b0e-4f6c-9c3e-0a8b3f5d1e77",
    number=0,
    role="user",
    content="Click Search",
    task=TASK,
)
EXTENSION = "chrome-extension://abcdefghijklmnopabcdefghijklmnop"


def bus(**replies: Any) -> Replying:
    known = {
        "task.interact": DATA,
        "chat.list": ChatList(sessions=(INFO,), total=1),
        "chat.messages": ChatMessages(messages=(MESSAGE,), total=1, exists=True),
        "chat.open": ChatIsOpen(session=CHAT, created=True),
        "chat.change": INFO,
    }
    return Replying(known | {name.replace("_", "."): reply for name, reply in replies.items()})


async def test_a_round_is_answered_in_its_envelope_and_mirrored_where_that_is_set() -> None:
    asked = bus()
    async with client(asked) as http:
        plain = await http.post("/api/agent/interact", json=ROUND)
    async with client(bus(), interact_mirrored=True) as http:
        mirrored = await http.post("/api/agent/interact", json=ROUND)

    details = {"name": "click", "elementId": 6, "elementRef": "6", "selectorPath": "[data-llm-id='6']"}
    data = {"status": "executing", "sessionId": CHAT, "taskId": TASK, "thought": "I click it.", "action": "click(6)"}
    assert plain.json() == {"success": True, "data": {**data, "actionDetails": details}}
    assert mirrored.json() == {**plain.json(), "status": "executing"}
    ((_, request, _, _),) = asked.calls
    assert isinstance(request, Interact)
    assert request.request.tree is not None
    assert request.request.tree[0].centre == (1, 2)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"interactiveTree": None}, "interactiveTree"),
        ({"interactiveTree": None, "domMode": "skeleton"}, "skeletonDom"),
        ({"domMode": "full"}, "dom"),
        ({"query": ""}, "query"),
        ({"query": "x" * 10_001}, "query"),
        ({"query": " "}, "query"),
        ({"tabId": 2**53}, "tabId"),
        ({"interactiveTree": [{"i": "", "r": "btn"}]}, "interactiveTree[0].i"),
        ({"taskId": "none"}, "taskId"),
        ({"recentEvents": ["x"] * 21}, "recentEvents"),
        ({"screenshot": "x" * 2_000_001}, "screenshot"),
        ({"token_reduction": 101}, "token_reduction"),
    ],
)
async def test_a_round_that_breaks_a_limit_is_refused_with_its_field(change: dict[str, Any], field: str) -> None:
    async with client(bus()) as http:
        answer = await http.post("/api/agent/interact", json={**ROUND, **change})

    failure = answer.json()
    assert (answer.status_code, failure["success"], failure["code"]) == (400, False, "VALIDATION_ERROR")
    assert failure["message"] == failure["error"]
    assert failure["details"]["field"] == field


@pytest.mark.parametrize(
    ("method", "path", "body", "field"),
    [
        ("PATCH", f"/api/session/{CHAT}", {"title": " \u00a0"}, "title"),
        ("PATCH", f"/api/session/{CHAT}", {"title": "Looms", "isRenamed": True}, "isRenamed"),
        ("POST", "/api/session", {"sessionId": CHAT, "status": "archived"}, "status"),
        ("POST", f"/api/session/{CHAT}/task/{TASK}/resume", {"word": "The first."}, "word"),
        ("POST", "/api/session/init", {"sessionId": CHAT, "tabId": 10**300}, "tabId"),
    ],
)
async def test_a_body_of_sessions_is_read_strictly(method: str, path: str, body: dict[str, Any], field: str) -> None:
    asked = bus()
    async with client(asked) as http:
        answer = await http.request(method, path, json=body)

    assert (answer.status_code, answer.json()["details"]["field"], asked.calls) == (400, field, [])


async def test_a_session_is_begun_whatever_else_its_client_says_of_it() -> None:
    async with client(bus()) as http:
        answer = await http.post("/api/session/init", json={"sessionId": CHAT, "windowId": 7})

    assert answer.status_code == 200


@pytest.mark.parametrize(
    "change",
    [
        {"interactiveTree": []},
        {"interactiveTree": None, "interactive_tree": ROUND["interactiveTree"]},
        {"interactiveTree": None, "semanticNodes": [{"id": "6", "role": "button", "name": "Search"}]},
        {"interactiveTree": None, "domMode": "full", "dom": "<button>Search</button>"},
        {"interactiveTree": None, "domMode": "hybrid", "dom": "<p>", "screenshot": None},
        {"url": None, "interactiveTree": None},
    ],
)
async def test_a_round_needs_one_part_of_its_page(change: dict[str, Any]) -> None:
    async with client(bus()) as http:
        answer = await http.post("/api/agent/interact", json={**ROUND, **change})

    assert answer.status_code == 200, answer.text


async def test_what_is_asked_of_sessions_comes_wrapped_or_bare_as_001_has_it() -> None:
    async with client(bus()) as http:
        by_domain = (await http.get("/api/session/by-domain/www.shop.example")).json()
        latest = (await http.get("/api/session/latest")).json()
        messages = (await http.get(f"/api/session/{CHAT}/messages?limit=10&since=2026-01-30T10:00:00.000Z")).json()
        renamed = (await http.patch(f"/api/session/{CHAT}", json={"title": "Looms"})).json()
        begun = (await http.post("/api/session/init", json={"sessionId": CHAT, "url": "https://shop.example/"})).json()
        archived = (await http.post("/api/session", json={"sessionId": CHAT})).json()
        page = (await http.get("/api/session?limit=5")).json()

    chat = {
        "sessionId": CHAT,
        "title": "shop.example: Click Search",
        "domain": "shop.example",
        "url": "https://shop.example/",
        "status": "active",
        "isRenamed": False,
        "messageCount": 2,
        "createdAt": "2026-01-30T10:00:00.000Z",
        "updatedAt": "2026-01-30T10:00:01.000Z",
        "tabId": None,
        "metadata": {"initialUrl": "https://shop.example/", "initialDomain": "shop.example"},
    }
    message = {
        "messageId": MESSAGE.message,
        "role": "user",
        "content": "Click Search",
        "timestamp": "2026-01-30T10:00:00.000Z",
        "sequenceNumber": 0,
        "metadata": {"taskId": TASK},
    }
    name = {"sessionId": CHAT, "title": INFO.title, "updatedAt": INFO.updated_at, "isRenamed": True}
    assert by_domain == {"success": True, "data": {"session": chat}}
    assert latest == chat
    assert messages == {"sessionId": CHAT, "messages": [message], "total": 1, "sessionExists": True}
    assert renamed == {"success": True, "data": {"session": name}}
    assert begun == {"success": True, "data": {"sessionId": CHAT, "created": True}}
    assert archived == {"success": True, "data": {"sessionId": CHAT, "status": "archived"}}
    assert page == {"success": True, "data": {"sessions": [chat], "total": 1, "limit": 5, "offset": 0}}


async def test_no_session_is_null_a_404_or_no_messages() -> None:
    nothing = bus(
        chat_list=ChatList(sessions=(), total=0), chat_messages=ChatMessages(messages=(), total=0, exists=False)
    )
    async with client(nothing) as http:
        by_domain = await http.get("/api/session/by-domain/shop.example")
        latest = await http.get("/api/session/latest")
        messages = await http.get(f"/api/session/{CHAT}/messages")

    assert by_domain.json() == {"success": True, "data": {"session": None}}
    assert (latest.status_code, latest.json()["code"]) == (404, "SESSION_NOT_FOUND")
    assert messages.json() == {"sessionId": CHAT, "messages": [], "total": 0, "sessionExists": False}


@pytest.mark.parametrize(
    ("code", "status", "name"),
    [
        (Code.VALIDATION_UNKNOWN_TASK, 404, "TASK_NOT_FOUND"),
        (Code.VALIDATION_TASK_OVER, 409, "TASK_COMPLETED"),
        (Code.AUTH_INSUFFICIENT_SCOPE, 403, "FORBIDDEN"),
        (Code.VALIDATION_CHAT_ARCHIVED, 409, "SESSION_ARCHIVED"),
        (Code.INTERNAL_DEADLINE, 504, "TIMEOUT"),
        (Code.INTERNAL_UNAVAILABLE, 503, "INTERNAL_ERROR"),
    ],
)
async def test_a_fault_has_the_code_of_001(code: Code, status: int, name: str) -> None:
    async with client(bus(task_interact=FaultError(fault(code)))) as http:
        answer = await http.post("/api/agent/interact", json=ROUND)

    assert (answer.status_code, answer.json()["code"]) == (status, name)


async def test_a_key_has_ten_rounds_a_minute_and_more_of_its_sessions() -> None:
    async with client(bus()) as http:
        rounds = [await http.post("/api/agent/interact", json=ROUND) for _ in range(11)]
        latest = await http.get("/api/session/latest")

    assert [one.status_code for one in rounds] == [200] * 10 + [429]
    assert (rounds[-1].json()["code"], latest.status_code) == ("RATE_LIMIT", 200)
    assert int(rounds[-1].headers["retry-after"]) == rounds[-1].json()["retryAfter"] > 0


async def test_an_extension_is_let_in_by_its_exact_origin_alone() -> None:
    asks = {"Access-Control-Request-Method": "PATCH", "Access-Control-Request-Headers": "authorization, content-type"}
    async with client(bus(), allowed_origins=(EXTENSION,)) as http:
        preflight = await http.options("/api/session/" + CHAT, headers={"Origin": EXTENSION, **asks})
        other = await http.options("/api/session/" + CHAT, headers={"Origin": EXTENSION[:-1], **asks})
        answer = await http.post("/api/agent/interact", json=ROUND, headers={"Origin": EXTENSION})
        no_key = await http.post("/api/agent/interact", json=ROUND, headers={"Authorization": "Bearer wrong"})

    assert (preflight.status_code, preflight.headers["access-control-allow-origin"]) == (204, EXTENSION)
    assert "PATCH" in preflight.headers["access-control-allow-methods"]
    assert "Origin" in preflight.headers["vary"]
    assert (other.status_code, other.json()["code"]) == (403, "FORBIDDEN")
    assert answer.headers["access-control-allow-origin"] == EXTENSION
    assert (no_key.status_code, no_key.json()["code"]) == (401, "UNAUTHORIZED")
