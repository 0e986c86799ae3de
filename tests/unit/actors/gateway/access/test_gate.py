"""Who may come in, as clients meet it: keys that are given out and taken back, scopes, limits, and what is counted."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import anyio
import httpx2
import msgspec
import pytest
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult

from actors.gateway.access import caller, open_streams
from actors.gateway.access.caller import Ledger
from actors.gateway.access.keys import KeyStore
from actors.gateway.edge import edge
from actors.gateway.mcp import PATH
from protocol.access import UNASKED, KeyRecord, Scope, UsageRecord
from protocol.browse import StructuredError
from protocol.faults import Code, FaultError, fault
from protocol.subjects import KEYS, USAGE
from protocol.tiers import RenderTier
from tests.unit.actors.gateway_data import BASE, BEARER, FakeBus, browsed, settings
from tests.unit.actors.gateway_listening import listening
from tests.unit.actors.page_data import URL

ASKED = {"url": URL}


@asynccontextmanager
async def gateway(bus: FakeBus, address: str = "192.0.2.1", **chosen: Any) -> AsyncGenerator[httpx2.AsyncClient]:
    """Return a client with the owner's key of a gateway of its own on this bus."""
    async with edge(bus, settings(**chosen), "1.2.3") as (app, _):
        transport = httpx2.ASGITransport(app, client=(address, 4_711))
        async with httpx2.AsyncClient(transport=transport, base_url=BASE, headers=BEARER) as http:
            yield http


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


def error_of(answer: httpx2.Response) -> StructuredError:
    return msgspec.json.decode(answer.content, type=StructuredError)


def code_of(result: CallToolResult) -> str | None:
    return msgspec.convert(result.structured_content, StructuredError).code if result.is_error else None


async def add(http: httpx2.AsyncClient, name: str = "laptop", **more: object) -> dict[str, Any]:
    answer = await http.post("/api/keys", json={"name": name, **more})
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


async def until(seen: Callable[[], bool]) -> None:
    with anyio.fail_after(90):
        while not seen():
            await anyio.sleep(0.005)


# -- keys ----------------------------------------------------------------------------------------------------------


async def test_a_key_lets_in_until_it_is_revoked() -> None:
    bus = FakeBus(browsed())
    async with gateway(bus) as http:
        made = await add(http)
        before = await http.post("/api/browse", json=ASKED, headers=bearer(made["key"]))
        gone = await http.delete("/api/keys/laptop")
        after = await http.post("/api/browse", json=ASKED, headers=bearer(made["key"]))

    assert (before.status_code, after.status_code, len(bus.calls)) == (200, 401, 1)
    assert (gone.json()["id"], gone.json()["expired"]) == (made["id"], False)
    assert after.headers["www-authenticate"] == 'Bearer realm="weft", error="invalid_token"'


async def test_a_key_is_shown_once_and_kept_as_its_hash() -> None:
    bus = FakeBus()
    async with gateway(bus) as http:
        answer = await http.post("/api/keys", json={"name": "laptop"})
        listing = await http.get("/api/keys")
        stored = await (await bus.table(KEYS)).get(answer.json()["id"])
        sealed = bus.held["keys"].entries[answer.json()["id"]].value

    key = answer.json()["key"]
    assert answer.headers["cache-control"] == "no-store"
    assert [(one["name"], sorted(one["scopes"])) for one in listing.json()["keys"]] == [
        ("laptop", sorted(set(Scope) - UNASKED))
    ]
    assert key.split("_")[2] not in listing.text
    assert stored is not None
    assert stored.value is not None
    assert len(stored.value.digest) == 32
    assert key.split("_")[2] not in repr(stored.value)
    assert stored.value.digest not in (sealed or b"")


async def test_every_gateway_hears_of_a_key_at_once() -> None:
    bus = FakeBus(browsed())

    async def answered(status: int) -> None:
        with anyio.fail_after(90):
            while (await other.post("/api/browse", json=ASKED, headers=bearer(key))).status_code != status:
                await anyio.sleep(0.01)

    async with gateway(bus) as http, gateway(bus, rate_failed_per_minute=0) as other:
        key = (await add(http))["key"]
        await answered(200)
        await http.delete("/api/keys/laptop")
        await answered(401)


async def test_a_gateway_that_starts_later_knows_the_keys() -> None:
    bus = FakeBus(browsed())
    async with gateway(bus) as http:
        good, gone = (await add(http, "good"))["key"], (await add(http, "gone"))["key"]
        await http.delete("/api/keys/gone")
    async with gateway(bus) as http:
        statuses = [
            (await http.post("/api/browse", json=ASKED, headers=bearer(key))).status_code for key in (good, gone)
        ]

    assert statuses == [200, 401]


@pytest.mark.parametrize(
    ("record", "good"),
    [
        ({}, True),
        ({"expires": 2_001}, True),
        ({"expires": 2_000}, False),
        ({"revoked": 1_999}, False),
        ({"digest": b"x" * 32}, False),
    ],
)
def test_a_key_is_judged_at_each_request(record: dict[str, Any], good: bool) -> None:  # noqa: FBT001 - a parameter
    from actors.gateway.access import keys  # noqa: PLC0415 - beside its use

    made = keys.make_key()
    key_store = KeyStore(clock=lambda: 2_000)
    kept = KeyRecord(id=made.id, name="a", digest=made.digest, scopes=("browse", "of another version"))
    key_store.update(made.id, msgspec.structs.replace(kept, **record), 1)

    holder = key_store.holder(made.text)

    assert (holder is not None) is good
    assert holder is None or (holder.name, [scope.value for scope in holder.scopes]) == (f"key-{made.id}", ["browse"])


def test_what_is_heard_late_changes_nothing() -> None:
    key_store = KeyStore()
    record = KeyRecord(id="a", name="a")
    key_store.update("a", msgspec.structs.replace(record, revoked=5), 2)
    key_store.update("a", record, 1)

    assert [one.revoked for one in key_store.records()] == [5]


def test_what_no_gateway_has_written_ends_no_key_and_brings_none_back() -> None:
    key_store = KeyStore()
    record = KeyRecord(id="a", name="a")
    states = list[list[int]]()
    for revision, change in enumerate((record, None, msgspec.structs.replace(record, revoked=5), record, None), 1):
        key_store.update("a", change, revision)
        states.append([one.revoked for one in key_store.records()])

    assert states == [[0], [0], [5], [5], []]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"name": ""}, 400),
        ({"name": "a b"}, 400),
        ({"name": "a", "scopes": ["all"]}, 400),
        ({"name": "a", "expiresIn": 0}, 400),
        ({"name": "a", "key": "mine"}, 400),
        ({"name": "taken"}, 409),
        ({"name": "owner"}, 409),
        ({"name": "oauth-ann"}, 409),
        ({"name": "key-0123456789ab"}, 409),
    ],
)
async def test_a_key_that_cannot_be_made_is_refused(body: dict[str, Any], status: int) -> None:
    async with gateway(FakeBus()) as http:
        await add(http, "taken")
        answer = await http.post("/api/keys", json=body)

    assert (answer.status_code, error_of(answer).code) == (status, Code.VALIDATION_INVALID_REQUEST)


async def test_a_name_is_free_again_after_its_key() -> None:
    async with gateway(FakeBus()) as http:
        first = await add(http)
        await http.delete(f"/api/keys/{first['id']}")
        second = await add(http)
        listing = await http.get("/api/keys")

    assert [one["id"] for one in listing.json()["keys"]] == [second["id"]]


async def test_there_is_no_key_to_revoke_twice() -> None:
    async with gateway(FakeBus()) as http:
        await add(http)
        statuses = [(await http.delete("/api/keys/laptop")).status_code for _ in range(2)]

    assert statuses == [200, 404]


# -- scopes --------------------------------------------------------------------------------------------------------


async def test_a_key_is_good_for_its_scopes_alone() -> None:
    bus = FakeBus(browsed())
    async with gateway(bus) as http:
        key = (await add(http, scopes=["browse"]))["key"]
        page = await http.post("/api/browse", json=ASKED, headers=bearer(key))
        figures = await http.get("/metrics", headers=bearer(key))
        sessions = await http.get("/api/sessions", headers=bearer(key))

    challenge = 'Bearer realm="weft", error="insufficient_scope", scope="{}"'
    assert (page.status_code, figures.status_code, sessions.status_code) == (200, 403, 403)
    assert figures.headers["www-authenticate"] == challenge.format("operate")
    assert sessions.headers["www-authenticate"] == challenge.format("sessions")
    assert (error_of(figures).code, error_of(figures).retryable) == (Code.AUTH_INSUFFICIENT_SCOPE, False)
    assert "operate" in error_of(figures).error


async def test_nobody_gives_out_more_than_they_have() -> None:
    async with gateway(FakeBus()) as http:
        operator = bearer((await add(http, "operator", scopes=["operate", "browse"]))["key"])
        more = await http.post("/api/keys", json={"name": "more", "scopes": ["sessions"]}, headers=operator)
        same = await http.post("/api/keys", json={"name": "same"}, headers=operator)

    assert (more.status_code, error_of(more).code) == (403, Code.AUTH_INSUFFICIENT_SCOPE)
    assert same.json()["scopes"] == ["browse"]


@pytest.mark.parametrize(
    ("more", "limits"),
    [
        ({}, {"perMinute": 9}),
        ({"expiresIn": 7_200, "limits": {"perMinute": 99, "atOnce": 2, "weight": 5}}, {"perMinute": 9, "atOnce": 2}),
        ({"limits": {"perMinute": 8}}, {"perMinute": 8}),
    ],
)
async def test_nor_for_longer_and_within_wider_limits(more: dict[str, object], limits: dict[str, int]) -> None:
    async with gateway(FakeBus()) as http:
        own = await add(http, "operator", scopes=["operate"], expiresIn=3_600, limits={"perMinute": 9})
        given = await http.post(
            "/api/keys", json={"name": "b", **more, "scopes": ["operate"]}, headers=bearer(own["key"])
        )

    assert (given.json()["expires"], given.json()["limits"]) == (own["expires"], limits)


@pytest.mark.parametrize("mode", ["legacy", "auto", "2026-07-28"])
async def test_the_caller_is_known_to_the_tools_of_both_eras(mode: str) -> None:
    """The SDK runs them in tasks of its own."""
    bus = FakeBus(browsed())
    async with edge(bus, settings(), "1.2.3") as (app, _), AsyncExitStack() as opened:
        transport = httpx2.ASGITransport(app)
        http = await opened.enter_async_context(httpx2.AsyncClient(transport=transport, base_url=BASE, headers=BEARER))
        keys = {scope: (await add(http, scope, scopes=[scope]))["key"] for scope in ("browse", "sessions")}
        codes: dict[str, str | None] = {}
        for scope, key in keys.items():
            async with (
                httpx2.AsyncClient(transport=transport, headers=bearer(key)) as its,
                Client(streamable_http_client(BASE + PATH, http_client=its), mode=mode) as client,
            ):
                result = await client.call_tool("browse", ASKED)
                codes[scope] = code_of(result)

    assert codes == {"browse": None, "sessions": "AUTH_INSUFFICIENT_SCOPE"}
    assert len(bus.calls) == 1


# -- limits --------------------------------------------------------------------------------------------------------


async def test_who_comes_too_often_is_told_when_to_come_again() -> None:
    bus = FakeBus(browsed())
    async with gateway(bus, rate_per_minute=2, rate_burst=2) as http:
        answers = [await http.post("/api/browse", json=ASKED) for _ in range(3)]
        other = await http.get("/healthz")

    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert [answer.headers["ratelimit"] for answer in answers] == [
        '"burst";r=1;t=30',
        '"burst";r=0;t=60',
        '"burst";r=0;t=60',
    ]
    assert answers[2].headers["ratelimit-policy"] == '"burst";q=2;w=60'
    assert (answers[2].headers["retry-after"], error_of(answers[2]).code) == ("30", Code.RATE_LIMIT_EXCEEDED)
    assert (other.status_code, len(bus.calls)) == (200, 2)


async def test_calls_of_tools_count_as_requests() -> None:
    bus = FakeBus(browsed())
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "browse", "arguments": ASKED}}
    async with gateway(bus, rate_per_minute=1, rate_burst=1) as http:
        answers = [await http.post(PATH, json=body) for _ in range(2)]

    assert answers[1].status_code == 429
    assert len(bus.calls) <= 1


async def test_every_key_has_a_rate_of_its_own() -> None:
    async with gateway(FakeBus(browsed()), rate_per_minute=1, rate_burst=3) as http:
        first, second = (await add(http, "first"))["key"], (await add(http, "second"))["key"]
        statuses = [
            [(await http.post("/api/browse", json=ASKED, headers=bearer(key))).status_code for _ in range(4)]
            for key in (first, second)
        ]

    assert statuses == [[200, 200, 200, 429]] * 2


async def test_what_needs_no_key_is_limited_by_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("actors.gateway.access.authentication.ANONYMOUS_BURST", 2)
    async with gateway(FakeBus(browsed()), rate_anonymous_per_minute=1) as http:
        del http.headers["authorization"]
        anonymous = [(await http.get(path)).status_code for path in ("/healthz", "/metrics", "/metrics", "/healthz")]
        owner = await http.post("/api/browse", json=ASKED, headers=BEARER)

    assert (anonymous, owner.status_code) == ([200, 401, 429, 429], 200)


async def test_who_guesses_is_not_heard_and_who_was_in_stays_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("actors.gateway.access.authentication.FAILED_BURST", 3)
    bus = FakeBus(browsed())
    async with gateway(bus, rate_failed_per_minute=1) as http:
        late = (await add(http))["key"]
        wrong = [await http.post("/api/browse", json=ASKED, headers=bearer(f"guess {n}")) for n in range(4)]
        known = await http.post("/api/browse", json=ASKED)
        unknown = await http.post("/api/browse", json=ASKED, headers=bearer(late))

    assert [answer.status_code for answer in wrong] == [401, 401, 401, 429]
    assert (error_of(wrong[3]).code, wrong[3].headers["retry-after"]) == (Code.RATE_LIMIT_EXCEEDED, "60")
    assert (known.status_code, unknown.status_code, len(bus.calls)) == (200, 429, 1)


async def test_an_address_behind_a_named_proxy_is_that_of_its_client(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("actors.gateway.access.authentication.FAILED_BURST", 1)
    statuses: list[list[int]] = []
    for trusted in ((), ("192.0.2.0/24",)):
        async with gateway(FakeBus(browsed()), rate_failed_per_minute=1, trusted_proxies=trusted) as http:
            clients = ["198.51.100.1", "198.51.100.1", "198.51.100.2"]
            told = [{**bearer("wrong"), "X-Forwarded-For": client} for client in clients]
            statuses.append([(await http.get("/metrics", headers=headers)).status_code for headers in told])

    assert statuses == [[401, 429, 429], [401, 429, 401]]


async def test_a_key_has_so_many_requests_at_once() -> None:
    bus, answers = FakeBus(), list[httpx2.Response]()

    async def ask() -> None:
        answers.append(await http.post("/api/browse", json=ASKED))

    async with gateway(bus, requests_at_once=2) as http, anyio.create_task_group() as tasks:
        tasks.start_soon(ask)
        tasks.start_soon(ask)
        await until(lambda: len(bus.calls) == 2)
        await ask()
        bus.outcome = browsed()
        bus.release.set()
        await until(lambda: len(answers) == 3)
        await ask()

    assert [answer.status_code for answer in answers] == [429, 200, 200, 200]
    assert (answers[0].headers["retry-after"], error_of(answers[0]).code) == ("1", Code.RATE_LIMIT_EXCEEDED)


async def test_a_key_has_so_many_streams_at_once_beside_its_requests() -> None:
    bus, statuses = FakeBus(), list[int]()
    events = {"accept": "text/event-stream"}

    async with listening(bus, requests_at_once=1, streams_at_once=2) as weft, weft.client() as http:

        async def ask() -> int:
            async with http.stream("POST", "/api/browse", json=ASKED, headers=events) as answer:
                statuses.append(answer.status_code)
                if answer.status_code == 200:
                    await answer.aread()
            return answer.status_code

        async with anyio.create_task_group() as tasks:
            for count in (1, 2):
                tasks.start_soon(ask)
                await until(lambda count=count: len(statuses) == count)  # type: ignore[misc] # a lambda's default
            await ask()
            bus.outcome = browsed()
            bus.release.set()
        await ask()

    assert statuses == [200, 200, 429, 200]


CALL = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"browse","arguments":%s}}'
DEPTH = 100_000


@pytest.mark.parametrize("path", ["/mcp", "/api/browse", "/api/keys", "/api/llmcp"])
@pytest.mark.parametrize(
    "body",
    [b"[" * DEPTH, b'{"a":' * DEPTH, CALL % (b"[" * DEPTH + b"]" * DEPTH), b'{"options":' * DEPTH],
    ids=["arrays", "objects", "a call", "options"],
)
async def test_no_depth_of_a_body_brings_the_gateway_down(body: bytes, path: str) -> None:
    async with gateway(FakeBus(browsed())) as http:
        answer = await http.post(path, content=body, headers={"content-type": "application/json"})

    assert 400 <= answer.status_code < 500


# -- CORS ----------------------------------------------------------------------------------------------------------


async def test_an_extension_of_the_settings_may_ask_and_read() -> None:
    extension = "chrome-extension://abcdefghijklmnopabcdefghijklmnop"
    preflight = {
        "origin": extension,
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization,content-type,mcp-protocol-version",
        "access-control-request-private-network": "true",
    }
    async with gateway(FakeBus(browsed()), allowed_origins=(extension,)) as http:
        asked = await http.options("/api/browse", headers=preflight)
        answer = await http.post("/api/browse", json=ASKED, headers={"origin": extension})
        other = await http.post("/api/browse", json=ASKED, headers={"origin": extension[:-1] + "a"})

    assert (asked.status_code, answer.status_code, other.status_code) == (204, 200, 403)
    assert asked.headers["access-control-allow-origin"] == answer.headers["access-control-allow-origin"] == extension
    assert asked.headers["access-control-allow-private-network"] == "true"
    assert asked.headers["access-control-allow-headers"] == "authorization, content-type, mcp-protocol-version"
    assert {"RateLimit", "Retry-After"} <= set(re.split(", ", answer.headers["access-control-expose-headers"]))
    assert all("Origin" in one.headers["vary"] for one in (asked, answer, other))


async def test_the_address_that_clients_know_it_by_is_its_own() -> None:
    async with gateway(FakeBus(), public_url="https://weft.example") as http:
        own = await http.get("/healthz", headers={"host": "weft.example", "origin": "https://weft.example"})
        plain = await http.get("/healthz", headers={"host": "weft.example", "origin": "http://weft.example"})

    assert (own.status_code, plain.status_code) == (200, 403)


# -- usage ---------------------------------------------------------------------------------------------------------


async def test_what_a_caller_uses_is_counted_and_kept() -> None:
    bus = FakeBus(browsed())
    async with gateway(bus) as http:
        made = await add(http)
        for _ in range(2):
            await http.post("/api/browse", json=ASKED, headers=bearer(made["key"]))
        bus.outcome = FaultError(fault(Code.HTTP_NOT_FOUND))
        await http.post("/api/browse", json=ASKED, headers=bearer(made["key"]))
        await http.get("/healthz", headers=bearer(made["key"]))

    table = await bus.table(USAGE)
    found = [await table.get(name) for name in await table.names()]
    kept = {one.key.split("/")[0]: one.value for one in found if one is not None}
    assert kept == {
        f"key-{made['id']}": UsageRecord(requests=3, errors=1, pages={"intelligence": 2}, cost_units=2),
        "owner": UsageRecord(requests=1),
    }


@pytest.mark.parametrize("mode", ["auto", "2026-07-28"])
async def test_a_tool_that_fails_counts_as_an_error_of_whoever_called_it(mode: str) -> None:
    bus = FakeBus(browsed())
    async with gateway(bus) as http, Client(streamable_http_client(BASE + PATH, http_client=http), mode=mode) as client:
        await client.call_tool("browse", ASKED)
        bus.outcome = FaultError(fault(Code.HTTP_NOT_FOUND))
        await client.call_tool("browse", ASKED)

    table = await bus.table(USAGE)
    (name,) = await table.names()
    kept = await table.get(name)
    assert kept is not None
    assert kept.value is not None
    assert (kept.value.errors, kept.value.pages) == (1, {"intelligence": 1})


async def test_the_usage_of_a_caller_is_that_of_all_replicas() -> None:
    bus = FakeBus()
    here, there = Ledger("here", lambda: "2026-11-21"), Ledger("there", lambda: "2026-11-21")
    for ledger, tier in ((here, RenderTier.PLAYWRIGHT), (there, RenderTier.LIGHTWEIGHT)):
        with ledger.counting("key-a") as one:
            one.page_read(tier, 2)
        with ledger.counting("key-ab") as other:
            other.failed = True
    await there.write(bus)
    await here.write(bus)
    with here.counting("key-a"):
        pass

    found = await here.usage(bus, "key-a")

    assert found == caller.Usage(
        day="2026-11-21", requests=3, pages={"playwright": 2, "lightweight": 2}, cost_units=2 * 25 + 2 * 5
    )


async def test_each_day_begins_anew_and_what_was_written_is_let_go() -> None:
    bus, day = FakeBus(), ["2026-11-21"]
    ledger = Ledger("here", lambda: day[0])
    with ledger.counting("key-a"):
        pass
    await ledger.write(bus)
    day[0] = "2026-11-22"
    await ledger.write(bus)

    assert (await ledger.usage(bus, "key-a")).requests == 0
    assert sorted(await (await bus.table(USAGE)).names()) == ["key-a/2026-11-21/here"]
    assert ledger._counters == {}  # noqa: SLF001  # type: ignore[attr-defined]


NEWS: tuple[str, str, Any, dict[str, str]] = ("GET", "/api/approvals/events", None, {})
LISTEN: tuple[str, str, Any, dict[str, str]] = (
    "POST",
    PATH,
    {
        "jsonrpc": "2.0",
        "id": 7,
        "method": "subscriptions/listen",
        "params": {
            "notifications": {"toolsListChanged": True},
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
            },
        },
    },
    {
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "subscriptions/listen",
        "Accept": "text/event-stream, application/json",
    },
)
"""Streams of events that clients may open: what approvals are asked for, and what MCP tells who listens."""


@pytest.mark.parametrize("how", ["revoked", "expired"])
async def test_a_stream_of_events_ends_with_its_key_and_says_so(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(open_streams, "KEYS_EVERY_S", 0.01)
    bus = FakeBus(browsed())
    with anyio.fail_after(90):
        async with listening(bus) as weft, weft.client() as http:
            ending, staying = await add(http, "ending"), await add(http, "staying")
            async with AsyncExitStack() as stack:
                streams = [
                    await stack.enter_async_context(http.stream(method, path, json=body, headers=headers | bearer(key)))
                    for (method, path, body, headers), key in (
                        (NEWS, ending["key"]),
                        (NEWS, staying["key"]),
                        (LISTEN, ending["key"]),
                    )
                ]
                lines = [one.aiter_lines() for one in streams]
                begun = [await anext(one) for one in lines]
                if how == "revoked":
                    await http.delete("/api/keys/ending")
                else:
                    await expire(bus, ending["id"])
                told = [[line async for line in one if line] for one in lines[::2]]
                after = await http.get("/api/approvals", headers=bearer(ending["key"]))

    assert [one.status_code for one in streams] == [200] * 3
    assert begun[:2] == [": follows"] * 2
    for *_, event, data in told:
        assert event == "event: error"
        assert msgspec.json.decode(data.removeprefix("data: "), type=StructuredError).code == "AUTH_INVALID_CREDENTIALS"
    assert after.status_code == 401


async def expire(bus: FakeBus, key: str) -> None:
    """Let the time of a key be over."""
    table = await bus.table(KEYS)
    kept = await table.get(key)
    assert kept is not None
    assert kept.value is not None
    await table.put(key, msgspec.structs.replace(kept.value, expires=1))
