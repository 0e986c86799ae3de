"""The routes for clients that expect `{success, data}`: every answer there stands in the envelope, refusals too."""

from __future__ import annotations

from typing import Any

import httpx2
import pytest

from actors.gateway.http_input import MAX_BODY_BYTES
from actors.gateway.rest.compatible import ENDPOINTS
from protocol.access import OWNER_NAME
from protocol.browse import BrowseOptions
from protocol.domains import CostRange, DomainKnowledge, LatencyRange, LatencySource, Preview
from protocol.faults import Category, Code, FaultError, fault, rate_limited
from protocol.pages import BrowsePage
from protocol.sessions import SessionList
from protocol.tiers import RenderTier
from tests.unit.actors.gateway.rest.calling import JSON, Replying, client
from tests.unit.actors.gateway_data import FakeBus, browsed
from tests.unit.actors.page_data import URL

ASKED = {"url": URL}
KNOWN = DomainKnowledge(
    domain="example.com", known=False, start_tier=RenderTier.INTELLIGENCE, start_reason="nothing is known of the site"
)
PREVIEW = Preview(
    url=URL,
    tiers=(),
    left_out=(),
    cost=CostRange(least=1, most=31, expected=2.5),
    latency=LatencyRange(from_ms=50, to_ms=5_700, source=LatencySource.CONTRACT),
    obstacles=(),
)
LARGE = b" " * (MAX_BODY_BYTES + 1)


@pytest.mark.parametrize(
    ("path", "usual", "body"),
    [
        ("/v1/browse", "/api/browse", ASKED),
        ("/v1/fetch", "/api/browse", ASKED),
        ("/v1/batch", "/api/browse/batch", {"urls": [URL]}),
        ("/v1/browse/preview", "/api/browse/preview", ASKED),
        ("/v1/domains/example.com/intelligence", "/api/domains/example.com", None),
        ("/health", "/healthz", None),
    ],
)
async def test_the_data_is_that_of_the_usual_route(path: str, usual: str, body: object) -> None:
    bus = Replying(
        {"web.browse": browsed(), "web.preview": PREVIEW, "web.domain": KNOWN, "session.list": SessionList()}
    )
    async with client(bus) as http:
        method = "GET" if body is None else "POST"
        answers = [await http.request(method, one, json=body) for one in (path, usual)]

    assert [answer.status_code for answer in answers] == [200, 200]
    enveloped, plain = (answer.json() for answer in answers)
    assert list(enveloped) == ["success", "data", "schemaVersion"]
    assert (enveloped["success"], enveloped["data"]) == (True, plain)


async def test_a_fetch_uses_the_cheapest_tier_alone() -> None:
    bus = FakeBus(browsed())
    async with client(bus) as http:
        await http.post("/v1/fetch", json={"url": URL, "options": {"maxLatencyMs": 900}})

    cheap = RenderTier.INTELLIGENCE
    options = BrowseOptions(max_latency_ms=900, force_tier=cheap, max_cost_tier=cheap)
    assert [asked for _, asked, _, _ in bus.calls] == [BrowsePage(url=URL, options=options, reader=OWNER_NAME)]


async def test_a_batch_has_ten_addresses_at_most() -> None:
    async with client(FakeBus(browsed())) as http:
        answer = await http.post("/v1/batch", json={"urls": [f"{URL}?{number}" for number in range(11)]})

    assert (answer.status_code, answer.json()["error"]["field"]) == (400, "urls")


async def test_usage_is_that_of_who_asks() -> None:
    async with client(FakeBus(browsed())) as http:
        before = (await http.get("/v1/usage")).json()["data"]
        await http.post("/v1/browse", json=ASKED)
        after = (await http.get("/v1/usage")).json()["data"]

    assert (after["requests"] - before["requests"], after["pages"], after["costUnits"]) == (2, {"intelligence": 1}, 1)


@pytest.mark.parametrize(
    ("method", "path", "status", "sent"),
    [
        ("POST", "/v1/browse", 400, {"content": b"{", "headers": JSON}),
        ("GET", "/v1/usage?day=1", 400, {}),
        ("GET", "/v1/usage", 401, {"headers": {"Authorization": "Bearer wrong"}}),
        ("GET", "/v1/usage", 403, {"headers": {"Origin": "https://evil.example"}}),
        ("GET", "/v1/nothing", 404, {}),
        ("DELETE", "/v1/browse", 405, {}),
        ("POST", "/v1/browse", 413, {"content": LARGE, "headers": JSON}),
        ("POST", "/v1/browse", 415, {"content": b"{}", "headers": {"Content-Type": "text/plain"}}),
        ("GET", "/health", 421, {"headers": {"Host": "evil.example"}}),
        ("POST", "/health", 405, {}),
    ],
)
async def test_what_is_refused_is_told_in_the_envelope(
    method: str, path: str, status: int, sent: dict[str, Any]
) -> None:
    async with client(FakeBus(browsed())) as http:
        answer = await http.request(method, path, **sent)

    assert answer.status_code == status
    problem(answer)


async def test_who_asks_too_often_is_told_when_to_come_back() -> None:
    async with client(FakeBus(browsed()), rate_per_minute=1, rate_burst=1) as http:
        answers = [await http.post("/v1/browse", json=ASKED) for _ in range(2)]

    assert [answer.status_code for answer in answers] == [200, 429]
    assert int(answers[1].headers["retry-after"]) > 0
    assert problem(answers[1])["code"] == Code.RATE_LIMIT_EXCEEDED


@pytest.mark.parametrize(
    ("told", "status"),
    [(fault(Code.HTTP_NOT_FOUND), 502), (fault(Code.SECURITY_URL_BLOCKED), 403), (rate_limited("Slow", 7_000), 429)],
)
async def test_a_fault_keeps_all_that_it_says(told: Any, status: int) -> None:
    async with client(FakeBus(FaultError(told))) as http:
        enveloped, plain = await http.post("/v1/browse", json=ASKED), await http.post("/api/browse", json=ASKED)

    same = {name: value for name, value in plain.json().items() if name not in ("error", "schemaVersion")}
    assert enveloped.status_code == plain.status_code == status
    assert enveloped.headers.get("retry-after") == plain.headers.get("retry-after")
    assert problem(enveloped) == {"message": plain.json()["error"], **same}


@pytest.mark.slow
async def test_what_nobody_foresaw_stands_in_the_envelope_and_says_nothing() -> None:
    async with client(FakeBus(RuntimeError("secret inside"))) as http:
        answer = await http.post("/v1/browse", json=ASKED)

    assert (answer.status_code, problem(answer)["category"]) == (500, Category.INTERNAL)
    assert "secret" not in answer.text


async def test_other_routes_have_no_envelope() -> None:
    async with client(FakeBus()) as http:
        answer = await http.get("/v2/usage")

    assert (answer.status_code, "success" in answer.json()) == (404, False)


def test_every_row_tells_that_it_has_the_envelope() -> None:
    assert all(endpoint.enveloped for endpoint in ENDPOINTS)


def problem(answer: httpx2.Response) -> dict[str, Any]:
    """Read the problem of an answer, whose envelope is whole."""
    body = answer.json()
    assert list(body) == ["success", "error", "schemaVersion"]
    assert (body["success"], answer.headers["content-type"]) == (False, "application/json")
    assert int(answer.headers["content-length"]) == len(answer.content)
    assert {"code", "message", "category", "retryable", "recommendedActions"} <= set(body["error"])
    return dict(body["error"])
