"""Saved logins at the edge, over REST and as tools."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import jsonschema
import msgspec
import pytest
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult, TextContent
from msgspec.structs import replace

from actors.gateway.edge import edge
from actors.gateway.mcp import PATH
from bus.seal import Seal
from protocol.access import OWNER_NAME
from protocol.browse import StructuredError
from protocol.faults import Code, FaultError, fault
from protocol.sessions import (
    Cookie,
    ListSessions,
    NamedSession,
    SaveSession,
    SessionHealth,
    SessionList,
    SessionState,
    SessionStatus,
    sealed_for,
)
from protocol.subjects import SESSION_DELETE, SESSION_HEALTH, SESSION_LIST, SESSION_REFRESH, SESSION_SAVE
from tests.unit.actors.gateway_data import BASE, BEARER, VAULT_KEY, FakeBus, settings

STATUS = SessionStatus(
    domain="example.com",
    profile="me",
    health=SessionHealth.EXPIRING_SOON,
    cookies=3,
    auth_cookies=("sid",),
    expires=1_800_000_000_000,
    used=1_700_000_000_000,
)
TOLD = {
    "domain": "example.com",
    "profile": "me",
    "health": "expiring_soon",
    "cookies": 3,
    "authCookies": ["sid"],
    "expires": 1_800_000_000_000,
    "used": 1_700_000_000_000,
}
ONE = {**TOLD, "schemaVersion": "1.0"}
STATE = {"cookies": [{"name": "sid", "value": "very-secret", "domain": ".example.com"}], "origins": []}
MISSING = FaultError(fault(Code.AUTH_MISSING_SESSION))


@asynccontextmanager
async def client(bus: FakeBus) -> AsyncGenerator[httpx2.AsyncClient]:
    async with edge(bus, settings(), "1.2.3") as (app, _):
        transport = httpx2.ASGITransport(app)
        async with httpx2.AsyncClient(transport=transport, base_url=BASE, headers=BEARER) as http:
            yield http


async def call(bus: FakeBus, tool: str, arguments: dict[str, Any]) -> CallToolResult:
    async with client(bus) as http, Client(streamable_http_client(BASE + PATH, http_client=http)) as mcp:
        return await mcp.call_tool(tool, arguments)


def text_of(result: CallToolResult) -> str:
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text


def error_of(answer: httpx2.Response) -> StructuredError:
    return msgspec.json.decode(answer.content, type=StructuredError)


@pytest.mark.parametrize(
    ("method", "path", "asked"),
    [
        ("GET", "/api/sessions/www.example.com", SESSION_HEALTH),
        ("DELETE", "/api/sessions/www.example.com", SESSION_DELETE),
        ("POST", "/api/sessions/www.example.com/refresh", SESSION_REFRESH),
    ],
)
async def test_each_path_asks_for_its_own(method: str, path: str, asked: object) -> None:
    bus = FakeBus(STATUS)
    async with client(bus) as http:
        named = await http.request(method, path, params={"profile": "me"})
        plain = await http.request(method, path)
        document = (await http.get("/openapi.json")).json()

    assert (named.status_code, named.json(), plain.json()) == (200, ONE, ONE)
    assert [(made[0], made[1]) for made in bus.calls] == [
        (asked, NamedSession(domain="www.example.com", profile="me", caller=OWNER_NAME)),
        (asked, NamedSession(domain="www.example.com", caller=OWNER_NAME)),
    ]
    operation = document["paths"][path.replace("www.example.com", "{domain}")][method.lower()]
    shape = operation["responses"]["200"]["content"]["application/json"]["schema"]
    jsonschema.validate(named.json(), {**shape, "components": document["components"]})
    assert [(one["name"], one["in"], one["required"]) for one in operation["parameters"]] == [
        ("domain", "path", True),
        ("profile", "query", False),
    ]


async def test_logins_are_listed() -> None:
    bus = FakeBus(SessionList(sessions=(STATUS,), more=2))
    async with client(bus) as http:
        everything, mine = await http.get("/api/sessions"), await http.get("/api/sessions?profile=me")

    assert everything.json() == mine.json() == {"sessions": [TOLD], "more": 2, "schemaVersion": "1.0"}
    assert [made[:2] for made in bus.calls] == [
        (SESSION_LIST, ListSessions(caller=OWNER_NAME)),
        (SESSION_LIST, ListSessions(profile="me", caller=OWNER_NAME)),
    ]


async def test_a_login_that_is_handed_in_travels_sealed() -> None:
    bus = FakeBus(STATUS)
    async with client(bus) as http:
        answer = await http.post("/api/sessions", json={"domain": "example.com", "profile": "me", "state": STATE})

    (made,) = bus.calls
    order: SaveSession = made[1]
    opened = Seal.of(VAULT_KEY).unseal(order.sealed, sealed_for("me", "example.com"))
    assert (answer.status_code, answer.json(), made[0]) == (200, ONE, SESSION_SAVE)
    assert b"very-secret" not in msgspec.json.encode(order)
    assert msgspec.json.decode(opened, type=SessionState) == SessionState(
        cookies=(Cookie(name="sid", value="very-secret", domain="example.com"),)
    )


async def test_without_a_key_no_login_is_taken() -> None:
    bus = FakeBus(STATUS)
    bus.seal = None
    async with client(bus) as http:
        answer = await http.post("/api/sessions", json={"domain": "example.com", "state": STATE})

    assert (answer.status_code, error_of(answer).code, bus.calls) == (500, Code.CONFIG_INVALID, [])


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "domain"),
        ({"domain": "example.com"}, "state"),
        ({"domain": "example.com", "state": {"cookies": [{"name": "a"}]}}, "state.cookies[0].value"),
        ({"domain": "example.com", "profile": "no profile", "state": STATE}, "profile"),
        ({"domain": "example.com", "state": STATE, "password": "x"}, "password"),
    ],
)
async def test_a_mistake_in_a_login_names_its_field(body: dict[str, Any], field: str) -> None:
    async with client(FakeBus(STATUS)) as http:
        answer = await http.post("/api/sessions", json=body)

    assert (answer.status_code, error_of(answer).field) == (400, field)


@pytest.mark.parametrize(
    "path", ["/api/sessions?profile=a%20b", "/api/sessions/x?profil=y", "/api/sessions/x?profile="]
)
async def test_a_mistake_in_the_address_is_refused(path: str) -> None:
    async with client(FakeBus(STATUS)) as http:
        answer = await http.get(path)

    assert (answer.status_code, error_of(answer).code) == (400, Code.VALIDATION_INVALID_REQUEST)


async def test_a_login_that_there_is_not_is_not_found() -> None:
    async with client(FakeBus(MISSING)) as http:
        answers = [
            await http.delete("/api/sessions/example.com"),
            await http.post("/api/sessions/example.com/refresh"),
        ]

    assert [(answer.status_code, error_of(answer).code) for answer in answers] == [(404, Code.AUTH_MISSING_SESSION)] * 2


@pytest.mark.parametrize("path", ["/api/sessions", "/api/sessions/example.com"])
async def test_nobody_without_the_key_sees_a_login(path: str) -> None:
    async with client(FakeBus(STATUS)) as http:
        del http.headers["authorization"]
        assert (await http.get(path)).status_code == 401


async def test_a_tool_renews_a_login() -> None:
    bus = FakeBus(STATUS)
    result = await call(bus, "refresh_session", {"domain": "example.com", "profile": "me"})

    assert (bus.calls[0][:2], result.structured_content) == (
        (SESSION_REFRESH, NamedSession(domain="example.com", profile="me", caller=OWNER_NAME)),
        ONE,
    )
    assert text_of(result) == (
        "example.com (profile me): expiring soon; 3 cookies, 1 of a login; ends 2027-01-15 08:00 UTC; "
        "last used 2023-11-14 22:13 UTC"
    )


async def test_a_tool_lists_checks_and_deletes() -> None:
    listed = await call(FakeBus(SessionList(sessions=(STATUS,), more=3)), "session_management", {"operation": "list"})
    checked = await call(FakeBus(STATUS), "session_management", {"operation": "health", "domain": "example.com"})
    bus = FakeBus(replace(STATUS, health=SessionHealth.NOT_FOUND))
    deleted = await call(bus, "session_management", {"operation": "delete", "domain": "example.com", "profile": "me"})
    nothing = await call(FakeBus(SessionList()), "session_management", {"operation": "list"})

    assert (listed.structured_content or {})["sessions"] == [TOLD]
    assert text_of(listed).endswith("\nAnd 3 more.")
    assert (checked.structured_content or {})["sessions"] == [ONE]
    assert bus.calls[0][:2] == (SESSION_DELETE, NamedSession(domain="example.com", profile="me", caller=OWNER_NAME))
    assert text_of(deleted).startswith("example.com (profile me): not found")
    assert text_of(nothing) == "No session is saved."


async def test_a_tool_that_is_told_no_site_says_so() -> None:
    result = await call(FakeBus(STATUS), "session_management", {"operation": "delete"})

    assert result.is_error
    assert "Field at fault: domain" in text_of(result)
