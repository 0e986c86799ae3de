"""REST as a client meets it: every status, the gates, the key, and the end of a browse whose client leaves."""

from __future__ import annotations

import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

import anyio
import httpx2
import jsonschema
import msgspec
import pytest

from actors.gateway.actor import Gateway
from actors.gateway.edge import edge
from actors.gateway.http_input import MAX_BODY_BYTES
from actors.gateway.rest.browse import NO_PAGE_CODES
from actors.gateway.rest.endpoints import ENDPOINTS
from actors.gateway.server import serving
from actors.gateway.translate import to_result
from actors.settings import Settings
from bus import TransportError
from protocol.access import OWNER_NAME
from protocol.browse import BrowseOptions, BrowseResult, StructuredError
from protocol.faults import Category, Code, FaultContext, FaultError, fault, rate_limited
from protocol.pages import BrowsePage
from protocol.subjects import BROWSE
from protocol.tiers import RenderTier
from tests.requirements import requirement
from tests.unit.actors.gateway_data import (
    BASE,
    BEARER,
    KEY,
    LIVE,
    TRACEPARENT,
    FakeBus,
    RecordedSpan,
    browsed,
    endpoint,
    replica,
    settings,
    traced,
)
from tests.unit.actors.page_data import URL

CONSOLE = "https://console.example"
ASKED = {"url": URL}


@asynccontextmanager
async def client(bus: FakeBus, chosen: Settings | None = None) -> AsyncGenerator[httpx2.AsyncClient, None]:
    async with edge(bus, chosen or settings(), "1.2.3") as (app, _):
        transport = httpx2.ASGITransport(app)
        async with httpx2.AsyncClient(transport=transport, base_url=BASE, headers=BEARER) as http:
            yield http


async def post(bus: FakeBus, body: Any) -> httpx2.Response:
    async with client(bus) as http:
        return await http.post("/api/browse", json=body)


def error_of(answer: httpx2.Response) -> StructuredError:
    return msgspec.json.decode(answer.content, type=StructuredError)


@requirement("000.1.schema-version")
async def test_a_browse_answers_with_the_page() -> None:
    bus = FakeBus(browsed())

    answer = await post(bus, {"url": URL, "options": {"maxLatencyMs": 900, "forceTier": "intelligence"}})

    options = BrowseOptions(max_latency_ms=900, force_tier=RenderTier.INTELLIGENCE)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert UUID(answer.headers["x-conversation-id"]).version == 4
    assert answer.json()["schemaVersion"] == "1.0"
    assert msgspec.json.decode(answer.content, type=BrowseResult) == to_result(browsed(), options)
    assert bus.calls == [(BROWSE, BrowsePage(url=URL, options=options, reader=OWNER_NAME), 1_400, 1_500)]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "url"),
        ({"url": ""}, "url"),
        ({"url": 7}, "url"),
        ({"url": URL, "nope": 1}, "nope"),
        ({"url": URL, "options": {"maxLatencyMs": "5"}}, "options.maxLatencyMs"),
        ({"url": URL, "options": {"maxLatencyMs": 0}}, "options.maxLatencyMs"),
        ({"url": URL, "options": {"max_latency_ms": 5}}, "options.max_latency_ms"),
        ({"url": URL, "options": {"includeHtml": 1}}, "options.includeHtml"),
        ({"url": URL, "options": {"forceTier": "magic"}}, "options.forceTier"),
    ],
)
async def test_a_mistake_in_the_request_names_its_field(body: dict[str, Any], field: str) -> None:
    bus = FakeBus(browsed())

    answer = await post(bus, body)

    error = error_of(answer)
    assert (answer.status_code, error.code, error.field) == (400, Code.VALIDATION_INVALID_REQUEST, field)
    assert answer.json()["schemaVersion"] == "1.0"
    assert bus.calls == []


@pytest.mark.parametrize("body", [b"", b"{", b"\xff\xfe", b"[]", b"null", b'{"url": "\\ud800"}', b"[" * 100_000])
async def test_what_is_no_request_is_refused(body: bytes) -> None:
    async with client(FakeBus()) as http:
        answer = await http.post("/api/browse", content=body, headers={"content-type": "application/json"})

    assert (answer.status_code, error_of(answer).code) == (400, Code.VALIDATION_INVALID_REQUEST)


@pytest.mark.parametrize("code", [code for code in Code if code not in NO_PAGE_CODES])
@pytest.mark.slow
async def test_every_fault_crosses_as_it_is(code: Code) -> None:
    told = fault(code).at(url=URL, tier="intelligence", attempt=1)

    answer = await post(FakeBus(FaultError(told)), ASKED)

    error = error_of(answer)
    assert answer.status_code in next(one.statuses for one in ENDPOINTS if one.name == "browse")
    assert (error.code, error.category, error.context) == (code, told.category, told.context)


async def test_requests_are_counted_but_not_probes() -> None:
    bus = FakeBus(FaultError(fault(Code.INTERNAL_ERROR)))

    async with client(bus) as http:
        await http.get("/healthz")
        await http.post("/api/browse", json={"url": "https://example.com"})

    meter = bus.meters["http"]
    assert (meter.calls, meter.errors, meter.in_flight, meter.last_error) == (1, 1, 0, "500")


async def test_a_rate_limit_says_when_to_come_back() -> None:
    answer = await post(FakeBus(FaultError(rate_limited("Slow down", 7_000))), ASKED)

    assert (answer.status_code, answer.headers["retry-after"], error_of(answer).http_status) == (429, "7", 429)


async def test_a_fault_of_the_bus_is_told_with_the_address() -> None:
    answer = await post(FakeBus(FaultError(fault(Code.INTERNAL_UNAVAILABLE))), ASKED)

    assert (answer.status_code, error_of(answer).context) == (503, FaultContext(url=URL, domain="example.com"))


async def test_a_lost_bus_is_a_fault() -> None:
    answer = await post(FakeBus(TransportError("secret inside")), ASKED)

    assert (answer.status_code, error_of(answer).code) == (503, Code.INTERNAL_DISCONNECTED)
    assert "secret" not in answer.text


@pytest.mark.slow
async def test_what_nobody_foresaw_says_nothing_of_the_inside() -> None:
    answer = await post(FakeBus(RuntimeError("secret inside")), ASKED)

    assert (answer.status_code, error_of(answer).code) == (500, Code.INTERNAL_ERROR)
    assert "secret" not in answer.text
    assert answer.headers["x-content-type-options"] == "nosniff"


# -- the other endpoints -------------------------------------------------------------------------------------------


async def test_the_gateway_is_alive_without_a_key() -> None:
    async with client(FakeBus()) as http:
        answer = await http.get("/healthz", headers={"authorization": ""})

    assert (answer.status_code, answer.json()) == (200, {"status": "alive", "schemaVersion": "1.0"})


async def test_the_gateway_is_ready_when_all_that_it_needs_lives() -> None:
    async with client(FakeBus(live=(*LIVE, replica("verifier", name="c3d4")))) as http:
        del http.headers["authorization"]
        answer = await http.get("/readyz")

    counts = {"fetchers.intelligence": 1, "gateway": 1, "navigator": 1, "verifier": 2}
    assert (answer.status_code, answer.json()) == (
        200,
        {"replicas": counts, "status": "ready", "schemaVersion": "1.0"},
    )


async def test_readiness_says_what_is_missing() -> None:
    async with client(FakeBus(live=(replica("gateway"), replica("verifier")))) as http:
        answer = await http.get("/readyz")

    error = error_of(answer)
    assert (answer.status_code, error.code) == (503, Code.INTERNAL_UNAVAILABLE)
    assert error.error == "Not ready: no live navigator, no live fetcher."


@pytest.mark.parametrize("path", ["/readyz", "/metrics"])
async def test_a_lost_bus_is_not_ready(path: str) -> None:
    async with client(FakeBus(live=TransportError("gone"))) as http:
        answer = await http.get(path)

    assert (answer.status_code, error_of(answer).code) == (503, Code.INTERNAL_DISCONNECTED)


async def test_metrics_speak_prometheus() -> None:
    async with client(FakeBus(live=(replica("verifier", endpoint(3, 2)), replica("gateway", name="g1")))) as http:
        answer = await http.get("/metrics")

    labels = '{actor="verifier",replica="a1b2",subject="verify.page"}'
    wanted = {
        f"weft_calls_total{labels} 5.0",
        f"weft_errors_total{labels} 1.0",
        f"weft_in_flight{labels} 2.0",
        f"weft_queued{labels} 3.0",
        f"weft_call_duration_seconds_count{labels} 5.0",
        f"weft_call_duration_seconds_sum{labels} 0.5",
        'weft_call_duration_seconds_bucket{actor="verifier",le="0.001",replica="a1b2",subject="verify.page"} 3.0',
        'weft_call_duration_seconds_bucket{actor="verifier",le="0.0025",replica="a1b2",subject="verify.page"} 5.0',
        'weft_call_duration_seconds_bucket{actor="verifier",le="+Inf",replica="a1b2",subject="verify.page"} 5.0',
        'weft_process_start_time_seconds{actor="gateway",host="loom",replica="g1"} 1.7e+09',
        'weft_process_restarts{actor="gateway",host="loom",replica="g1"} 0.0',
        'weft_process_resident_memory_bytes{actor="gateway",host="loom",replica="g1"} 0.0',
    }
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain; version=")
    assert wanted <= set(answer.text.splitlines())


@pytest.mark.slow
async def test_openapi_describes_every_endpoint_with_every_status() -> None:
    async with client(FakeBus()) as http:
        del http.headers["authorization"]
        document = (await http.get("/openapi.json")).json()

    told = {
        (method, path): {int(status) for status in operation["responses"]}
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
    }
    assert (document["openapi"], document["info"]["version"]) == ("3.1.0", "1.2.3")
    assert told == {(one.method.lower(), one.path): {*one.answers, *one.statuses} for one in ENDPOINTS}
    assert told["post", "/api/browse"] == {200, 400, 401, 403, 413, 415, 421, 429, 500, 501, 502, 503, 504}
    for schema in document["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(schema)


async def test_the_answer_is_what_openapi_says() -> None:
    async with client(FakeBus(browsed())) as http:
        document = (await http.get("/openapi.json")).json()
        answer = await http.post("/api/browse", json=ASKED)

    shape = document["paths"]["/api/browse"]["post"]["responses"]["200"]["content"]["application/json"]["schema"]
    jsonschema.validate(answer.json(), {**shape, "components": document["components"]})


# -- HTTP ----------------------------------------------------------------------------------------------------------


async def test_an_unknown_path_is_not_found() -> None:
    async with client(FakeBus()) as http:
        answer = await http.get("/api/nothing")

    assert (answer.status_code, error_of(answer).category) == (404, Category.VALIDATION)


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("GET", "/api/browse", "POST"),
        ("DELETE", "/healthz", "GET, HEAD"),
        ("GET", "/mcp", "POST"),
        ("DELETE", "/mcp", "POST"),
        ("OPTIONS", "/api/browse", "POST"),
    ],
)
async def test_a_method_that_a_path_lacks_is_refused(method: str, path: str, allowed: str) -> None:
    async with client(FakeBus()) as http:
        answer = await http.request(method, path)

    assert (answer.status_code, answer.headers["allow"]) == (405, allowed)
    assert error_of(answer).code is Code.VALIDATION_INVALID_REQUEST


async def test_head_is_get_without_the_body() -> None:
    async with client(FakeBus()) as http:
        assert (await http.head("/healthz")).status_code == 200


@pytest.mark.parametrize("media", ["text/plain", "application/x-www-form-urlencoded", ""])
async def test_a_body_of_another_type_is_refused(media: str) -> None:
    async with client(FakeBus()) as http:
        answer = await http.post("/api/browse", content=b"{}", headers={"content-type": media})

    assert (answer.status_code, error_of(answer).code) == (415, Code.VALIDATION_INVALID_REQUEST)


@pytest.mark.parametrize("declared", [True, False])
async def test_a_body_that_is_too_large_is_refused(declared: bool) -> None:  # noqa: FBT001 - a parameter of the test
    async def chunks() -> AsyncGenerator[bytes, None]:
        for _ in range(5):
            yield b" " * (MAX_BODY_BYTES // 4)

    content = b" " * (MAX_BODY_BYTES + 1) if declared else chunks()
    async with client(FakeBus()) as http:
        answer = await http.post("/api/browse", content=content, headers={"content-type": "application/json"})

    assert (answer.status_code, error_of(answer).code) == (413, Code.VALIDATION_INVALID_REQUEST)


# -- the gates -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("host", ["127.0.0.1:8720", "localhost:8720", "LOCALHOST:8720", "[::1]:8720", "weft.example"])
@pytest.mark.parametrize("path", ["/healthz", "/openapi.json"])
async def test_a_host_of_ours_is_answered_for(host: str, path: str) -> None:
    async with client(FakeBus(), settings(allowed_hosts=("weft.example",))) as http:
        assert (await http.get(path, headers={"host": host})).status_code == 200


@pytest.mark.parametrize("host", ["evil.example:8720", "127.0.0.1", "127.0.0.1:80", "weft.example.evil", ""])
@pytest.mark.parametrize("path", ["/healthz", "/api/browse", "/mcp"])
async def test_another_host_is_misdirected(host: str, path: str) -> None:
    async with client(FakeBus(), settings(allowed_hosts=("weft.example",))) as http:
        answer = await http.get(path, headers={"host": host})

    assert (answer.status_code, error_of(answer).code) == (421, Code.SECURITY_ORIGIN_REFUSED)


@pytest.mark.parametrize("origin", [CONSOLE, BASE, "http://localhost:8720"])
async def test_an_allowed_origin_may_read_the_answer(origin: str) -> None:
    async with client(FakeBus(), settings(allowed_origins=(CONSOLE,))) as http:
        answer = await http.get("/healthz", headers={"origin": origin})

    assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (200, origin)
    assert answer.headers["vary"] == "Origin"


@pytest.mark.parametrize("origin", ["https://evil.example", "null", f"{CONSOLE}.evil", "http://127.0.0.1:9", ""])
@pytest.mark.parametrize("path", ["/healthz", "/api/browse", "/mcp"])
async def test_another_origin_is_refused(origin: str, path: str) -> None:
    async with client(FakeBus(), settings(allowed_origins=(CONSOLE,))) as http:
        answer = await http.post(path, json=ASKED, headers={"origin": origin})

    assert (answer.status_code, error_of(answer).code) == (403, Code.SECURITY_ORIGIN_REFUSED)
    assert "access-control-allow-origin" not in answer.headers


async def test_a_preflight_is_answered_without_a_key() -> None:
    asked = {
        "origin": CONSOLE,
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization, content-type, mcp-protocol-version, x-evil",
    }
    async with client(FakeBus(), settings(allowed_origins=(CONSOLE,))) as http:
        del http.headers["authorization"]
        answer = await http.options("/mcp", headers=asked)

    assert (answer.status_code, answer.content) == (204, b"")
    assert answer.headers["access-control-allow-origin"] == CONSOLE
    assert answer.headers["access-control-allow-headers"] == "authorization, content-type, mcp-protocol-version"
    assert answer.headers["vary"] == "Origin"


@pytest.mark.parametrize(
    "value",
    ["", KEY, f"Basic {KEY}", "Bearer", "Bearer ", "Bearer wrong", f"Bearer {KEY}x", f"Bearer {KEY[:-1]}", "Bearer é"],
)
@pytest.mark.parametrize("path", ["/api/browse", "/mcp", "/metrics", "/nothing"])
async def test_without_the_key_nothing_is_done(value: str, path: str) -> None:
    bus = FakeBus(browsed())
    async with client(bus) as http:
        answer = await http.post(path, json=ASKED, headers=[(b"authorization", value.encode("latin-1"))])

    assert (answer.status_code, error_of(answer).code) == (401, Code.AUTH_INVALID_CREDENTIALS)
    assert answer.headers["www-authenticate"] == 'Bearer realm="weft", error="invalid_token"'
    assert bus.calls == []


async def test_who_sends_no_key_is_asked_for_one() -> None:
    async with client(FakeBus()) as http:
        del http.headers["authorization"]
        answer = await http.get("/metrics")

    assert (answer.status_code, answer.headers["www-authenticate"]) == (401, 'Bearer realm="weft"')


async def test_an_empty_key_lets_nobody_pass() -> None:
    async with client(FakeBus(), settings(api_key="")) as http:
        answers = [await http.get("/metrics", headers={"authorization": value}) for value in ("Bearer ", "Bearer")]

    assert [answer.status_code for answer in answers] == [401, 401]


# -- traces --------------------------------------------------------------------------------------------------------


async def test_a_request_continues_the_trace_of_its_caller() -> None:
    with traced() as recording:
        async with client(FakeBus(FaultError(fault(Code.INTERNAL_BUSY)))) as http:
            await http.post("/api/browse", json=ASKED, headers={"traceparent": TRACEPARENT})
            await http.get("/no/route/of/ours")

    routed = {"http.request.method": "POST", "url.path": "/api/browse", "url.scheme": "http"}
    strange = {"http.request.method": "GET", "url.path": "/no/route/of/ours", "url.scheme": "http"}
    assert recording.spans == [
        RecordedSpan(
            "POST /api/browse",
            "server",
            TRACEPARENT,
            {**routed, "http.route": "/api/browse", "http.response.status_code": 503},
            failure="503",
        ),
        RecordedSpan("GET", "server", None, {**strange, "http.response.status_code": 404}),
    ]


# -- a real server -------------------------------------------------------------------------------------------------


@asynccontextmanager
async def listening(bus: FakeBus, drain_ms: int = 1_000) -> AsyncGenerator[str, None]:
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    async with edge(bus, settings(port=port), "1.2.3") as (app, abandon), serving(app, listener, drain_ms, abandon):
        yield f"http://127.0.0.1:{port}"


async def test_a_client_that_leaves_ends_its_browse() -> None:
    bus = FakeBus()
    async with (
        listening(bus) as base,
        httpx2.AsyncClient(headers=BEARER, trust_env=False, verify=False, timeout=90) as http,
    ):
        with anyio.fail_after(90):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(lambda: http.post(f"{base}/api/browse", json=ASKED))
                await bus.asked.wait()
                tasks.cancel_scope.cancel()

            await bus.cancelled.wait()


async def test_a_browse_in_hand_is_finished_at_stop() -> None:
    bus, answers = FakeBus(), list[int]()

    async def ask(base: str) -> None:
        async with httpx2.AsyncClient(headers=BEARER, trust_env=False, verify=False, timeout=90) as http:
            answers.append((await http.post(f"{base}/api/browse", json=ASKED)).status_code)

    with anyio.fail_after(90):
        async with anyio.create_task_group() as tasks, listening(bus, drain_ms=5_000) as base:
            tasks.start_soon(ask, base)
            await bus.asked.wait()
            bus.outcome = browsed()
            tasks.start_soon(_release_soon, bus)

    assert answers == [200]


async def _release_soon(bus: FakeBus) -> None:
    await anyio.sleep(0.05)
    bus.release.set()


async def test_a_browse_that_outlasts_the_stop_ends_in_a_fault() -> None:
    bus, answers = FakeBus(), list[httpx2.Response]()

    async def ask(base: str) -> None:
        async with httpx2.AsyncClient(headers=BEARER, trust_env=False, verify=False, timeout=90) as http:
            answers.append(await http.post(f"{base}/api/browse", json=ASKED))

    with anyio.fail_after(90):
        async with anyio.create_task_group() as tasks, listening(bus, drain_ms=50) as base:
            tasks.start_soon(ask, base)
            await bus.asked.wait()

    assert [(answer.status_code, error_of(answer).code) for answer in answers] == [(503, Code.INTERNAL_UNAVAILABLE)]
    assert bus.cancelled.is_set()


async def alive(gateway: Gateway, port: int) -> int:
    async with gateway.open(), httpx2.AsyncClient(trust_env=False, verify=False, timeout=90) as http:
        return (await http.get(f"http://127.0.0.1:{port}/healthz")).status_code


async def test_a_gateway_listens_on_the_socket_that_it_inherits() -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    gateway = Gateway(bus=FakeBus(), settings=settings(drain_ms=500), listener=listener)  # type: ignore[arg-type] # a fake

    assert await alive(gateway, port) == 200


async def test_a_gateway_without_one_opens_the_port_of_its_settings() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    gateway = Gateway(bus=FakeBus(), settings=settings(port=port, drain_ms=500))  # type: ignore[arg-type] # a fake

    assert await alive(gateway, port) == 200
