"""Requests are read strictly: whatever two readers could take in two ways is refused, and told where it stands."""

from __future__ import annotations

import msgspec
import pytest
from msgspec import UNSET

from actors.gateway.http import EVENTS, wants_events
from actors.gateway.http_input import MAX_QUERY_FIELDS
from protocol.answers import MAX_QUESTION_CHARS
from protocol.faults import Code, FaultError, fault
from protocol.sessions import SessionList
from tests.unit.actors.gateway.rest.calling import JSON, Replying, client, error_of
from tests.unit.actors.gateway_data import FakeBus, browsed
from tests.unit.actors.page_data import URL

OPTIONS = f'{{"url": "{URL}", "options": %s}}'


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (f'{{"url": "{URL}", "url": "https://other.example/"}}', "url"),
        (f'{{"url": "{URL}", "\\u0075rl": "https://other.example/"}}', "url"),
        (OPTIONS % '{"maxChars": 600, "maxChars": 700}', "options.maxChars"),
        (OPTIONS % '{"maxChars": 600.5}', "options.maxChars"),
        (OPTIONS % '{"maxChars": NaN}', None),
        (OPTIONS % '{"maxChars": Infinity}', None),
        ('{"url": ' + "[" * 100_000 + "]" * 100_000 + "}", "url"),
        (b'{"url": "\xff"}', None),
        ('{"url": 1, "options": NaN}', None),
        (OPTIONS % '{"maxLatencyMs": 1e999, "attempt": NaN}', "options.maxLatencyMs"),
        (OPTIONS % '{"maxLatencyMs": 1e999, "attempt": ' + "[" * 4_000, None),
        ('{"url": 1, "options": ' + "[" * 4_000, None),
        (OPTIONS % '{"maxChars": 600.0, "format": NaN}', None),
        (OPTIONS % f'{{"maxChars": 600.0, "format": {"[" * 800}{"]" * 800}}}', None),
    ],
)
async def test_what_could_be_read_in_two_ways_is_refused(body: str | bytes, field: str | None) -> None:
    bus = FakeBus(browsed())
    async with client(bus) as http:
        answer = await http.post("/api/browse", content=body, headers=JSON)

    error = error_of(answer)
    assert (answer.status_code, error.code) == (400, Code.VALIDATION_INVALID_REQUEST)
    assert error.field == (UNSET if field is None else field)
    assert bus.calls == []


STORED = '{"domain": "a.example", "state": {"origins": [{"origin": "https://a.example", "indexedDB": [1e999]}]}}'


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("/api/browse", OPTIONS % '{"maxLatencyMs": 1e999}', "options.maxLatencyMs"),
        ("/api/browse", OPTIONS % '{"maxChars": 600.0, "maxLatencyMs": 1e999}', "options.maxLatencyMs"),
        ("/api/tools/calculator", '{"expression": [1, {"n": -1e999}]}', "expression[1].n"),
        ("/api/sessions", STORED, "state.origins[0].indexedDB[0]"),
        ("/api/act", f'{{"goal": "Buy", "url": "{URL}", "values": {{"size": 7}}}}', "values"),
        ("/api/collections", '{"title": " \u00a0"}', "title"),
        ("/api/collections", '{"title": "Looms", "tags": [""]}', "tags[0]"),
        ("/api/collections/col_1/capture", f'{{"url": "{URL}", "maxChars": 200001}}', "maxChars"),
    ],
)
async def test_what_is_wrong_within_a_body_is_told_by_its_path(path: str, body: str, field: str) -> None:
    bus = FakeBus()
    async with client(bus) as http:
        answer = await http.post(path, content=body, headers=JSON)

    error = error_of(answer)
    assert (answer.status_code, error.code, bus.calls) == (400, Code.VALIDATION_INVALID_REQUEST, [])
    assert error.field == field


ID = "pat_0123456789abcdef0123"
CLICK = {"tool": "click_at", "arguments": {"x": 1, "y": 1}}


@pytest.mark.parametrize(
    ("path", "body", "inner", "field"),
    [
        (f"/api/patterns/{ID}/verify", {}, "patternId", "id"),
        ("/api/collections/col_1/capture", {"url": URL}, "collectionId", "id"),
        ("/api/collections/col_1/capture", {"url": URL}, "maxChars", "maxChars"),
        ("/api/browsers/sess_Zk9rT2VxYw0pQmJtS1dHcA/act", CLICK, "x", "arguments.x"),
        ("/api/browsers/sess_Zk9rT2VxYw0pQmJtS1dHcA/act", CLICK, "sessionId", "id"),
    ],
)
async def test_an_error_names_the_field_as_the_request_does(path: str, body: object, inner: str, field: str) -> None:
    bus = FakeBus(FaultError(fault(Code.VALIDATION_INVALID_REQUEST, f"{inner}: it is wrong", field=inner)))
    async with client(bus) as http:
        error = error_of(await http.post(path, json=body))

    assert (error.field, error.error) == (field, f"{field}: it is wrong")


async def test_an_option_that_does_not_fit_the_page_is_named_as_an_option() -> None:
    async with client(FakeBus(browsed())) as http:
        error = error_of(await http.post("/api/browse", json={"url": URL, "options": {"cursor": "no cursor"}}))

    assert error.field == "options.cursor"


async def test_a_goal_to_plan_for_has_its_limit_at_the_edge() -> None:
    bus = FakeBus()
    async with client(bus) as http:
        body = {"goal": "g" * (MAX_QUESTION_CHARS + 1), "context": {"origin": URL}}
        answer = await http.post("/api/plan", json=body)

    assert (answer.status_code, error_of(answer).field, bus.calls) == (400, "goal", [])


async def test_a_key_that_stands_twice_far_into_a_large_body_is_found() -> None:
    state = msgspec.json.encode({"cookies": [], "origins": [], "filler": ["x" * 100] * 2_000}).decode()
    body = f'{{"domain": "example.com", "state": {state}, "state": {{}}}}'
    async with client(FakeBus()) as http:
        answer = await http.post("/api/sessions", content=body, headers=JSON)

    assert (answer.status_code, error_of(answer).field) == (400, "state")


async def test_a_whole_number_may_be_written_with_a_point() -> None:
    bus = FakeBus(browsed())
    async with client(bus) as http:
        answer = await http.post("/api/browse", content=OPTIONS % '{"maxLatencyMs": 900.0}', headers=JSON)

    ((_, asked, timeout_ms, _),) = bus.calls
    assert (answer.status_code, asked.options.max_latency_ms, timeout_ms) == (200, 900, 1_400)


@pytest.mark.parametrize(
    ("path", "field"),
    [
        ("/api/sessions?profile=a&profile=b", "profile"),
        ("/api/sessions?nope=1", "nope"),
        ("/api/sessions?profile=no%20profile", "profile"),
        ("/api/sessions?profile=%ff", None),
        ("/api/sessions?" + "&".join(f"a{number}=1" for number in range(MAX_QUERY_FIELDS + 1)), None),
        ("/api/sessions/example.com?domain=other.example", "domain"),
        ("/api/sessions/%ff", None),
        ("/api/sessions/no%20host", "domain"),
        ("/api/domains/-", "domain"),
        ("/healthz?verbose=1", "verbose"),
    ],
)
async def test_an_address_is_read_strictly(path: str, field: str | None) -> None:
    bus = FakeBus(SessionList())
    async with client(bus) as http:
        answer = await http.get(path)

    error = error_of(answer)
    assert (answer.status_code, error.code) == (400, Code.VALIDATION_INVALID_REQUEST)
    assert error.field == (UNSET if field is None else field)
    assert bus.calls == []


async def test_a_body_goes_with_no_query() -> None:
    async with client(FakeBus(browsed())) as http:
        answer = await http.post("/api/browse?url=x", json={"url": URL})

    assert (answer.status_code, error_of(answer).field) == (400, "url")


async def test_an_empty_query_is_none() -> None:
    async with client(Replying({"session.list": SessionList()})) as http:
        assert (await http.get("/api/sessions?")).status_code == 200


@pytest.mark.parametrize(
    ("accept", "wanted"),
    [
        ([], False),
        (["*/*"], False),
        (["text/*"], False),
        ([EVENTS], True),
        (["Text/Event-Stream"], True),
        ([f"{EVENTS}; charset=utf-8"], True),
        (["application/json", EVENTS], True),
        ([f"application/json, {EVENTS};q=0.9"], False),
        ([f"application/json;q=0.5, {EVENTS};q=0.9"], True),
        ([f"{EVENTS};q=0"], False),
        ([f"{EVENTS};q=0.000, */*"], False),
        ([f"{EVENTS};q=1.5"], False),
        ([f"{EVENTS};q=many"], False),
    ],
)
def test_events_come_to_who_names_them_and_likes_json_no_better(accept: list[str], wanted: bool) -> None:  # noqa: FBT001 - a table
    assert wants_events(accept) is wanted
