"""The endpoint of MCP byte for byte: what it refuses and how, and whose replies and cancellations count."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import anyio
import httpx2
import msgspec
import pytest

from actors.gateway.mcp import PATH
from actors.gateway.mcp.transport import dispatch, messages
from protocol.browse import StructuredError
from protocol.faults import Code
from protocol.replicas import CallCancelled
from tests.unit.actors.gateway.mcp.replicas import CALLER, LEGACY, MODERN, TEST_S, http, replicas

Json = dict[str, Any]

JSON = {"content-type": "application/json"}
BOTH = {"accept": "application/json, text/event-stream"}
PREFIX = "io.modelcontextprotocol/"
SESSION = "mcp-session-id"


def asking(method: str, number: int | str = 1, **params: Any) -> Json:
    """Write a request of the older era."""
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def modern(name: str, said: str | None = None) -> tuple[dict[str, str], Json]:
    """Write a call of a tool of the newer era; `said` is what its header says instead of the name."""
    headers = {"mcp-protocol-version": MODERN, "mcp-method": "tools/call", "mcp-name": said or name}
    meta: Json = {f"{PREFIX}protocolVersion": MODERN, f"{PREFIX}clientCapabilities": {}}
    return headers | BOTH, asking("tools/call", name=name, arguments={}, _meta=meta)


def events_of(text: str) -> list[Json]:
    """Read the messages of an event stream."""
    return [msgspec.json.decode(line[6:]) for line in text.splitlines() if line.startswith("data: ")]


# -- what is refused -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT"])
@pytest.mark.parametrize("version", [LEGACY, MODERN])
async def test_there_is_nothing_but_post(method: str, version: str) -> None:
    async with replicas(1) as loom, http(loom) as client:
        answer = await client.request(method, PATH, headers={"mcp-protocol-version": version, SESSION: "any"})

    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
    assert msgspec.json.decode(answer.content, type=StructuredError).code is Code.VALIDATION_INVALID_REQUEST


@pytest.mark.parametrize("version", [LEGACY, MODERN])
@pytest.mark.parametrize(
    ("path", "headers", "body", "status", "words"),
    [
        (PATH, {"content-type": "text/plain"}, b"{}", 415, "application/json"),
        (PATH, {}, b"{}", 415, "application/json"),
        (PATH, {**JSON, "accept": "text/html"}, b"{}", 406, "text/event-stream"),
        (PATH, JSON, b" " * (4 * 1024 * 1024 + 1), 413, "bytes"),
        (f"{PATH}?toolsets=core,looms,shuttles", JSON, b"{}", 400, "looms, shuttles"),
        (f"{PATH}?toolsets=", JSON, b"{}", 400, "No toolset"),
    ],
)
async def test_what_breaks_the_rules_of_http_is_told_as_an_error_with_a_way_out(  # noqa: PLR0913, PLR0917 - a table
    version: str, path: str, headers: dict[str, str], body: bytes, status: int, words: str
) -> None:
    async with replicas(1) as loom, http(loom) as client:
        answer = await client.post(path, headers={"mcp-protocol-version": version, **headers}, content=body)

    told = msgspec.json.decode(answer.content, type=StructuredError)
    assert (answer.status_code, told.code) == (status, Code.VALIDATION_INVALID_REQUEST)
    assert words in told.error
    assert told.recommended_actions


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"{", -32700),
        (b"\xff", -32700),
        (b'{"params": {"a": ' + b"[" * 100_000, -32700),
        (b"[]", -32600),
        (b'[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]', -32600),
        (b'{"jsonrpc": "1.0", "id": 1, "method": "ping"}', -32600),
        (b'{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}', -32600),
        (b'{"jsonrpc": "2.0", "id": null, "method": "ping"}', -32600),
        (b'{"jsonrpc": "2.0", "id": 1}', -32600),
        (b'{"jsonrpc": "2.0", "id": "no question of ours", "result": {}}', -32600),
        (b'{"jsonrpc": "2.0", "id": "a.b", "result": {}, "error": {"code": 1, "message": "both"}}', -32600),
    ],
)
async def test_what_is_no_message_is_an_error_of_the_protocol(body: bytes, code: int) -> None:
    async with replicas(1) as loom, http(loom) as client:
        answer = await client.post(PATH, headers=JSON, content=body)

    told = answer.json()
    assert (answer.status_code, told["id"], told["error"]["code"]) == (400, None, code)


@pytest.mark.parametrize(
    ("said", "status"),
    [("who", 200), ("  who\t", 200), ("=?base64?d2hv?=", 200), (" =?base64?d2hv?= ", 200), ("whom", 400), ("", 400)],
)
async def test_blanks_around_the_name_of_a_tool_are_none_of_it(said: str, status: int) -> None:
    headers, body = modern("who")
    headers |= {"host": "127.0.0.1", "content-type": "application/json", "mcp-name": said, "connection": "close"}
    content = msgspec.json.encode(body)
    lines = [f"POST {PATH} HTTP/1.1", f"content-length: {len(content)}", *(f"{n}:{v}" for n, v in headers.items())]

    with anyio.fail_after(TEST_S):
        async with replicas(1) as loom, await anyio.connect_tcp("127.0.0.1", loom.ports[0]) as raw:
            await raw.send("\r\n".join([*lines, "", ""]).encode() + content)
            answer = b"".join([chunk async for chunk in raw])

    assert int(answer.split(b" ", 2)[1]) == status
    assert (b"-32020" in answer) == (status == 400)


# -- JSON or events ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("accept", ["application/json, text/event-stream", "application/json", "*/*", None])
async def test_a_result_that_nothing_comes_before_is_json(accept: str | None) -> None:
    async with replicas(1) as loom, http(loom) as client:
        del client.headers["accept"]
        headers = JSON if accept is None else {**JSON, "accept": accept}
        answer = await client.post(PATH, headers=headers, json=asking("tools/call", "seven", name="who"))

    told = answer.json()
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
    assert (told["jsonrpc"], told["id"], told["result"]["content"][0]["type"]) == ("2.0", "seven", "text")


@pytest.mark.parametrize("accept", ["application/json, text/event-stream", "text/event-stream"])
async def test_what_comes_before_the_result_makes_a_stream(accept: str) -> None:
    body = asking("tools/call", 7, name="progress", _meta={"progressToken": "mine"})
    async with replicas(1) as loom, http(loom) as client:
        answer = await client.post(PATH, headers={**JSON, "accept": accept}, json=body)

    *before, last = events_of(answer.text)
    assert answer.headers["content-type"] == "text/event-stream"
    assert [one["params"]["progressToken"] for one in before] == ["mine"] * 3
    assert (last["id"], last["result"]["content"][0]["text"]) == (7, "done")


async def test_a_client_that_takes_no_events_is_asked_nothing_and_told_nothing_in_between() -> None:
    body = asking("tools/call", name="progress", _meta={"progressToken": "mine"})
    headers = {**JSON, "accept": "application/json"}
    async with replicas(1) as loom, http(loom) as client:
        told = (await client.post(PATH, headers=headers, json=body)).json()
        refused = (await client.post(PATH, headers=headers, json=asking("tools/call", name="elicit"))).json()

    assert told["result"]["content"][0]["text"] == "done"
    assert refused["error"]["code"] == -32600


async def test_a_long_silence_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(messages, "KEEP_ALIVE_S", 0.05)
    with anyio.fail_after(TEST_S):
        async with (
            replicas(1) as loom,
            http(loom) as client,
            client.stream("POST", PATH, headers=JSON | BOTH, json=asking("tools/call", name="hang")) as answer,
        ):
            first = await anext(answer.aiter_lines())

    assert first.startswith(": ")


def listening() -> tuple[dict[str, str], Json]:
    """Write what listens for news in the newer era."""
    headers, body = modern("")
    params: Json = {"_meta": body["params"]["_meta"], "notifications": {"toolsListChanged": True}}
    headers = {name: value for name, value in headers.items() if name != "mcp-name"}
    return headers | {"mcp-method": "subscriptions/listen"}, asking("subscriptions/listen", **params)


async def test_who_listens_is_told_when_the_replica_is_about_to_stop() -> None:
    headers, body = listening()
    with anyio.fail_after(TEST_S):
        async with (
            replicas(1) as loom,
            http(loom) as client,
            client.stream("POST", PATH, headers=headers, json=body) as answer,
        ):
            lines = answer.aiter_lines()
            first = await _data(lines)
            loom.here[0].in_flight.end_open_ended()
            last = await _data(lines)

    assert first["method"] == "notifications/subscriptions/acknowledged"
    assert (last["id"], last["error"]["code"]) == (1, -32000)


async def test_nobody_listens_who_takes_no_events() -> None:
    headers, body = listening()
    async with replicas(1) as loom, http(loom) as client:
        answer = await client.post(PATH, headers={**headers, "accept": "application/json"}, json=body)

    assert answer.status_code == 406


# -- whose replies and cancellations count -------------------------------------------------------------------------


async def test_only_who_was_asked_can_answer() -> None:
    def reply(question: Json, name: str) -> Json:
        return {"jsonrpc": "2.0", "id": question["id"], "result": {"action": "accept", "content": {"name": name}}}

    with anyio.fail_after(TEST_S):
        async with replicas() as loom, http(loom) as client:
            body = asking("tools/call", name="elicit")
            async with client.stream("POST", PATH, headers=JSON | BOTH, json=body) as answer:
                lines = answer.aiter_lines()
                question = await _data(lines)
                for _ in loom.ports:
                    thief = await client.post(PATH, headers={CALLER: "thief"}, json=reply(question, "thief"))
                    guess = {**question, "id": question["id"][:-4] + "AAAA"}
                    guessed = await client.post(PATH, json=reply(guess, "guess"))
                    assert (thief.status_code, guessed.status_code) == (202, 202)
                assert (await client.post(PATH, json=reply(question, "weaver"))).status_code == 202
                assert (await client.post(PATH, json=reply(question, "late"))).status_code == 202
                result = await _data(lines)

    assert question["method"] == "elicitation/create"
    assert result["result"]["content"][0]["text"] == "accept {'name': 'weaver'}"


@pytest.mark.parametrize(
    "reply",
    [{"error": {"message": "no code"}}, {"error": {"code": "x", "message": 1}}, {"result": {"action": "dance"}}],
)
async def test_a_reply_that_is_none_fails_the_call_alone(reply: Json) -> None:
    with anyio.fail_after(TEST_S):
        async with replicas() as loom, http(loom) as client:
            body = asking("tools/call", name="elicit")
            async with client.stream("POST", PATH, headers=JSON | BOTH, json=body) as answer:
                lines = answer.aiter_lines()
                question = await _data(lines)
                await client.post(PATH, json={"jsonrpc": "2.0", "id": question["id"], **reply})
                result = await _data(lines)

    assert result["id"] == 1
    assert result["error"]["code"] in {-32600, -32602}


async def test_a_question_that_nobody_answers_is_withdrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatch, "CLIENT_TIMEOUT_S", 0.05)
    with anyio.fail_after(TEST_S):
        async with replicas(1) as loom, http(loom) as client:
            answer = await client.post(PATH, headers=JSON | BOTH, json=asking("tools/call", name="elicit"))

    question, withdrawn, result = events_of(answer.text)
    assert (withdrawn["method"], withdrawn["params"]["requestId"]) == ("notifications/cancelled", question["id"])
    assert (result["id"], result["error"]["code"]) == (1, -32001)


@pytest.mark.parametrize(
    ("capabilities", "can"), [({"elicitation": {}}, "elicitation"), ({"roots": {}, "sampling": {}}, "roots sampling")]
)
async def test_any_replica_knows_what_a_client_said_it_can_do(capabilities: Json, can: str) -> None:
    with anyio.fail_after(TEST_S):
        async with replicas() as loom, http(loom) as client:
            said: Json = {**HELLO, "capabilities": capabilities}
            hello = await client.post(PATH, json=asking("initialize", **said))
            shown = {SESSION: hello.headers[SESSION]}
            told = [await client.post(PATH, headers=shown, json=asking("tools/call", name="can")) for _ in loom.ports]
            unknown = await client.post(PATH, json=asking("tools/call", name="can"))

    assert [answer.json()["result"]["content"][0]["text"] for answer in told] == [can, can]
    assert unknown.json()["result"]["content"][0]["text"] == "elicitation roots sampling"


async def test_a_large_message_is_a_message() -> None:
    body = asking("tools/call", name="who", arguments={"text": "x" * 1_000_000})
    async with replicas(1) as loom, http(loom) as client:
        answer = await client.post(PATH, json=body)

    assert answer.json()["result"]["content"][0]["text"].startswith("somebody")


async def test_a_reply_for_a_replica_that_is_gone_does_no_harm() -> None:
    body: Json = {"jsonrpc": "2.0", "id": "gateway-9.abc", "result": {}}
    with anyio.fail_after(TEST_S):
        async with replicas(1) as loom, http(loom) as client:
            assert (await client.post(PATH, json=body)).status_code == 202


@pytest.mark.parametrize("replica", [0, 1])
async def test_a_cancellation_reaches_the_replica_that_works_on_the_call(replica: int) -> None:
    with anyio.fail_after(TEST_S):
        async with replicas() as loom, http(loom) as client:
            label = (await client.post(PATH, json=asking("initialize", **HELLO))).headers[SESSION]
            base = f"http://127.0.0.1:{loom.ports[replica]}{PATH}"
            answers, statuses = list[Json](), list[int]()

            async def call() -> None:
                async with httpx2.AsyncClient(
                    headers={CALLER: "somebody", SESSION: label}, verify=False, timeout=90
                ) as other:
                    url = f"http://127.0.0.1:{loom.ports[0]}{PATH}"
                    answer = await other.post(url, json=asking("tools/call", 5, name="hang"), timeout=TEST_S)
                    answers.extend(events_of(answer.text))

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(call)
                await loom.asked.wait()
                async with httpx2.AsyncClient(timeout=TEST_S, verify=False) as other:
                    for headers in ({CALLER: "thief", SESSION: label}, {CALLER: "somebody"}):
                        await other.post(base, headers=headers, json=CANCEL)
                        assert not loom.cancelled.is_set()
                    told = await other.post(base, headers={CALLER: "somebody", SESSION: label}, json=CANCEL)
                    statuses.append(told.status_code)
                with anyio.fail_after(90):
                    await loom.cancelled.wait()

    assert statuses == [202]
    assert [(answer["id"], answer["error"]["code"]) for answer in answers] == [(5, -32800)]


async def test_clients_without_a_label_cancel_nothing_since_their_ids_are_alike() -> None:
    with anyio.fail_after(TEST_S):
        async with replicas(1) as loom, http(loom) as client, anyio.create_task_group() as tasks:
            tasks.start_soon(lambda: client.post(PATH, json=asking("tools/call", 5, name="hang")))
            await loom.asked.wait()
            await client.post(PATH, json=CANCEL)
            loom.here[0].in_flight.cancel(CallCancelled(caller="somebody", client="", request="5"))
            await client.post(PATH, json=asking("tools/call", 6, name="who"))

            assert not loom.cancelled.is_set()
            tasks.cancel_scope.cancel()


HELLO: Json = {
    "protocolVersion": LEGACY,
    "capabilities": {"elicitation": {}},
    "clientInfo": {"name": "tests", "version": "1"},
}
CANCEL: Json = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 5}}


@pytest.mark.parametrize("label", ["", "never-given", "a" * 5_000, "a b", "../..", "gateway-0.x"])
async def test_any_label_is_taken_and_none_is_needed(label: str) -> None:
    with anyio.fail_after(TEST_S):
        async with replicas() as loom, http(loom) as client:
            answers = [
                await client.post(PATH, headers={SESSION: label}, json=asking("tools/call", name="who"))
                for _ in loom.ports
            ]

    assert [answer.status_code for answer in answers] == [200, 200]


async def test_a_client_gets_a_label_at_its_first_word_alone() -> None:
    with anyio.fail_after(TEST_S):
        async with replicas() as loom, http(loom) as client:
            first = [await client.post(PATH, json=asking("initialize", **HELLO)) for _ in loom.ports]
            later = await client.post(PATH, headers={SESSION: first[0].headers[SESSION]}, json=asking("ping"))
            headers, body = modern("who")
            new = await client.post(PATH, headers=headers, json=body)

    assert [answer.json()["result"]["protocolVersion"] for answer in first] == [LEGACY] * 2
    assert first[0].headers[SESSION] != first[1].headers[SESSION]
    assert (SESSION in later.headers, SESSION in new.headers) == (False, False)


async def _data(lines: AsyncIterator[str]) -> Json:
    async for line in lines:
        if line.startswith("data: "):
            return msgspec.json.decode(line[6:], type=Json)
    pytest.fail("the stream ended")
