"""The resources: pages by their addresses, and what was captured of them."""

from __future__ import annotations

import base64
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import msgspec
import pytest
from mcp.client.client import Client
from mcp.shared.exceptions import MCPError
from mcp.types import INTERNAL_ERROR, INVALID_PARAMS, BlobResourceContents, TextResourceContents

from actors.gateway.access.caller import EVERY_SCOPE, Caller, Scope
from actors.gateway.app_context import AppContext
from actors.gateway.mcp import resources
from actors.gateway.mcp.resources import CAPTURE, DOMAIN, PAGE, capture_link
from actors.gateway.mcp.server import make_server
from actors.gateway.request import RequestContext
from protocol.browse import Freshness
from protocol.domains import DomainKnowledge
from protocol.faults import Code, FaultError, fault
from protocol.pages import BrowsePage, Captured, capture_name
from protocol.tiers import RenderTier
from tests.unit.actors.gateway_data import FakeBus, browsed
from tests.unit.actors.page_data import URL

NAME = capture_name("screenshot", "a" * 32, "someone", ".png")


@asynccontextmanager
async def connected(bus: FakeBus, scopes: frozenset[Scope] = EVERY_SCOPE) -> AsyncGenerator[Client]:
    request = RequestContext(caller=Caller("someone", scopes))
    async with Client(make_server(AppContext(bus=bus, grace_ms=0, version="1"), request=request)) as client:
        yield client


async def failure(bus: FakeBus, uri: str, scopes: frozenset[Scope] = EVERY_SCOPE) -> MCPError:
    async with connected(bus, scopes) as client:
        with pytest.raises(MCPError) as caught:
            await client.read_resource(uri)
    return caught.value


async def test_the_forms_of_their_addresses_are_listed() -> None:
    async with connected(FakeBus()) as client:
        templates = (await client.list_resource_templates()).resource_templates

    assert [one.uri_template for one in templates] == [
        "weft://page/{+url}",
        "weft://captures/{name}",
        "weft://domains/{domain}",
        "weft://artifact/{artifactId}",
        "weft://sources/{sourceId}",
        "weft://texts/{artifactId}",
    ]
    assert all(one.title and one.description for one in templates)


async def test_a_page_is_read_from_what_is_stored_and_framed_as_evidence() -> None:
    bus = FakeBus(browsed("Words about looms. " * 2_000))

    async with connected(bus) as client:
        (content,) = (await client.read_resource(PAGE + URL)).contents

    ((_, asked, _, _),) = bus.calls
    assert isinstance(asked, BrowsePage)
    assert (asked.url, asked.options.freshness_requirement) == (URL, Freshness.CACHED)
    assert isinstance(content, TextResourceContents)
    assert (content.uri, content.mime_type) == (PAGE + URL, "text/markdown")
    assert content.text.count("Words about looms.") == 2_000
    assert "<<<untrusted-web-content " in content.text


async def test_an_address_may_come_escaped() -> None:
    bus = FakeBus(browsed())

    async with connected(bus) as client:
        await client.read_resource(PAGE + "https%3A%2F%2Fexample.com%2Fa%2520b")
        await client.read_resource(PAGE + "https://example.com/a%20b")

    assert [asked.url for _, asked, _, _ in bus.calls] == ["https://example.com/a%20b"] * 2


async def test_a_capture_is_given_as_it_was_taken() -> None:
    bus = FakeBus()
    await bus.blobs.put(NAME, b"\x89PNG")
    link = capture_link(Captured(kind="screenshot", name=NAME, media_type="image/png", size=4))

    async with connected(bus) as client:
        (content,) = (await client.read_resource(link.uri)).contents

    assert isinstance(content, BlobResourceContents)
    assert (content.mime_type, base64.b64decode(content.blob)) == ("image/png", b"\x89PNG")


@pytest.mark.parametrize(
    "uri",
    [
        DOMAIN + "no host",
        CAPTURE + NAME,
        CAPTURE,
        CAPTURE + "x" * 600,
        "weft://nothing/here",
        "https://example.com/",
        "file:///etc",
    ],
)
async def test_what_there_is_not_is_an_error_of_the_protocol(uri: str) -> None:
    error = await failure(FakeBus(), uri)

    assert (error.code, error.error.data) == (INVALID_PARAMS, {"uri": uri})


async def test_a_capture_of_another_caller_is_not_there() -> None:
    bus, name = FakeBus(), capture_name("screenshot", "a" * 32, "another", ".png")
    await bus.blobs.put(name, b"\x89PNG")

    assert (await failure(bus, CAPTURE + name)).code == INVALID_PARAMS


async def test_a_capture_that_is_too_large_is_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resources, "MAX_CAPTURE_BYTES", 3)
    bus = FakeBus()
    await bus.blobs.put(NAME, b"1234")

    assert (await failure(bus, CAPTURE + NAME)).code == INTERNAL_ERROR


@pytest.mark.parametrize(
    ("code", "told"),
    [
        (Code.SECURITY_ADDRESS_BLOCKED, INVALID_PARAMS),
        (Code.VALIDATION_INVALID_REQUEST, INVALID_PARAMS),
        (Code.NETWORK_TIMEOUT, INTERNAL_ERROR),
    ],
)
async def test_why_a_page_is_not_to_be_had_is_told(code: Code, told: int) -> None:
    error = await failure(FakeBus(FaultError(fault(code))), PAGE + URL)

    assert (error.code, error.error.data) == (told, {"uri": PAGE + URL, "code": code.value})


async def test_what_is_known_of_a_domain_is_told() -> None:
    known = DomainKnowledge(
        domain="example.com", known=False, start_tier=RenderTier.INTELLIGENCE, start_reason="nothing is known of it"
    )

    async with connected(FakeBus(known), frozenset({Scope.BROWSE})) as client:
        (content,) = (await client.read_resource(DOMAIN + "example.com")).contents

    assert isinstance(content, TextResourceContents)
    assert content.mime_type == "application/json"
    assert msgspec.json.decode(content.text, type=DomainKnowledge) == known


@pytest.mark.parametrize("uri", [PAGE + URL, CAPTURE + NAME, DOMAIN + "example.com"])
async def test_a_key_without_the_scope_reads_nothing(uri: str) -> None:
    bus = FakeBus(browsed())
    await bus.blobs.put(NAME, b"1234")

    error = await failure(bus, uri, frozenset({Scope.OPERATE}))

    assert (error.error.data, bus.calls) == ({"uri": uri, "code": "AUTH_INSUFFICIENT_SCOPE"}, [])
