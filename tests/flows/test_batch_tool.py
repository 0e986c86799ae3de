"""Many pages in one call of a tool, through the whole system."""

from __future__ import annotations

from collections.abc import Generator

import pytest
from mcp.types import ResourceLink

from actors.gateway.pages import ItemStatus
from tests.flows.mcp_clients import Era, Transport, connected, text_of
from tests.flows.system import System
from tests.site import Site, site_in_thread
from tests.site.answers import text
from tests.site.rehearsed import ARRANGED
from tests.support.scale import first

pytestmark = pytest.mark.nats

ROBOTS = "/robots.txt"
LONG = "/rehearsed/long"


@pytest.fixture
def ruled_site() -> Generator[Site]:
    """Serve a site of its own that keeps programs from one of its pages."""
    ARRANGED[ROBOTS] = [lambda _: text("User-agent: *\nDisallow: /table\n", "text/plain")]
    with site_in_thread() as site:
        yield site
    del ARRANGED[ROBOTS]


@pytest.mark.parametrize(("transport", "era"), first(2, [("http", "legacy"), ("stdio", "auto"), ("http", "auto")]))
@pytest.mark.slow
async def test_each_page_has_an_outcome_of_its_own(
    weft: System, ruled_site: Site, transport: Transport, era: Era
) -> None:
    paths = ("/article", "/status/404", "/table", "/status/429?after=7", "/article", "/slow?ms=30000")
    told: list[tuple[float, float | None, str | None]] = []

    async def heard(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, total, message))

    async with connected(weft, transport, era) as client:
        arguments = {"urls": [*map(ruled_site.url, paths), "http://10.0.0.1/"], "options": {"maxLatencyMs": 3_000}}
        result = await client.call_tool("batch_browse", arguments, progress_callback=heard)

    data = result.structured_content
    assert data is not None
    assert not result.is_error
    assert [item["status"] for item in data["items"]] == [
        ItemStatus.SUCCESS,
        ItemStatus.ERROR,
        ItemStatus.SKIPPED,
        ItemStatus.RATE_LIMITED,
        ItemStatus.SUCCESS,
        ItemStatus.TIMEOUT,
        ItemStatus.ERROR,
    ]
    assert [item["error"]["code"] for item in data["items"] if "error" in item] == [
        "HTTP_NOT_FOUND",
        "BLOCKED_BY_ROBOTS",
        "RATE_LIMIT_EXCEEDED",
        "NETWORK_TIMEOUT",
        "SECURITY_ADDRESS_BLOCKED",
    ]
    assert data["items"][0]["title"] == "How a loom is warped"
    assert data["items"][4]["sameAs"] == 0
    assert data["summary"] == {"total": 7, "success": 2, "error": 2, "skipped": 1, "rateLimited": 1, "timeout": 1}
    assert "Before a single row" in text_of(result)
    assert (7, 7, "7 of 7 pages") in told
    asked = [ask.path for ask in ruled_site.asked]
    assert (asked.count("/article"), asked.count("/table")) == (1, 0)


@pytest.fixture
def long_page(site: Site) -> Generator[str]:
    """Have the site answer with a page that is longer than an answer of a tool."""
    words = "".join(f"<h2>Part {part}</h2><p>{'Warp and weft cross here. ' * 20}</p>" for part in range(150))
    ARRANGED[LONG] = [lambda _: text(f"<html lang=en><title>A long page</title><main>{words}</main></html>")]
    yield site.url(LONG)
    del ARRANGED[LONG]


async def test_a_long_page_comes_in_part_with_a_link_to_the_rest(weft: System, long_page: str) -> None:
    async with connected(weft) as client:
        part = await client.call_tool("browse", {"url": long_page})
        (link,) = (content for content in part.content if isinstance(content, ResourceLink))
        (whole,) = (await client.read_resource(link.uri)).contents

    assert len(text_of(part).encode()) <= 20_000
    assert link.uri == f"weft://page/{long_page}"
    assert "This is a part: " in text_of(part)
    assert len(getattr(whole, "text", "")) > 2 * len(text_of(part))


async def test_what_is_no_batch_is_refused(weft: System) -> None:
    async with connected(weft) as client:
        none = await client.call_tool("batch_browse", {"urls": []})
        wrong = await client.call_tool("batch_browse", {"urls": ["http://10.0.0.1/"], "options": {"speed": 1}})

    for result, field in ((none, "urls"), (wrong, "options.speed")):
        assert result.structured_content is not None
        assert (result.is_error, result.structured_content["field"]) == (True, field)
