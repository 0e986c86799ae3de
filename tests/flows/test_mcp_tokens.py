"""What a model pays for pages over MCP, in tokens as clients count them: text and data together."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Generator
from typing import Any

import pytest
from mcp import Client
from mcp.types import CallToolResult
from splintr import Tokenizer

from tests.conftest import COUNTS
from tests.flows.mcp_clients import connected, text_of
from tests.flows.system import System
from tests.site import Site
from tests.site.answers import text
from tests.site.rehearsed import ARRANGED

pytestmark = [pytest.mark.nats, pytest.mark.slow]

PAGES = (
    *("/article", "/table?rows=12", "/table?rows=1000", "/hidden", "/feed"),
    *("/json", "/text", "/csv", "/active", "/documents/report.pdf"),
)
ARTICLE = "/rehearsed/article"
ARTICLE_CHARS = 234_000
MAX_CALLS = 15
MAX_TOKENS = 42_000
MAX_SHARE = 0.55
"""What ten pages may cost, beside their Markdown with a frame and all of what REST gives."""

MAX_ROW_TOKENS = 1_500
MAX_ANSWER_TOKENS = 4_500
"""An answer of 4,000 tokens, as Weft estimates them: by the tokenizer it may be a tenth more."""

_SENTENCE = "the weaver carries thread between wooden frame and lifting shuttle because pattern depends upon colour"
_WORDS = f"{_SENTENCE} through every season while another village keeps different customs about washing cotton".split()

Json = dict[str, Any]


def tokens(words: str) -> int:
    return len(Tokenizer.from_pretrained("cl100k_base").encode(words))


def cost(result: CallToolResult) -> int:
    data = result.structured_content
    return tokens(text_of(result)) + (0 if data is None else tokens(json.dumps(data)))


@pytest.mark.full
async def test_ten_pages_cost_little_more_than_half(
    weft: System, site: Site, record_property: Callable[[str, object], None]
) -> None:
    mine, whole = 0, 0
    async with connected(weft) as client:
        for path in PAGES:
            result = await client.call_tool("browse", {"url": site.url(path)})
            rest: Json = weft.browse(site.url(path)).json()
            assert not result.is_error, path
            mine += cost(result)
            whole += tokens(text_of(result)) + tokens(json.dumps(rest))

    record_property(COUNTS, f"tokens of ten pages over MCP, text and data: {mine:,} of {whole:,}")
    assert mine <= whole * MAX_SHARE


@pytest.fixture
def long_article(site: Site) -> Generator[str]:
    """Have the site answer with an article of 234 KB."""
    chance = random.Random(4)
    parts, size = list[str](), 0
    while size < ARTICLE_CHARS:
        words = " ".join(" ".join(chance.choices(_WORDS, k=12)).capitalize() + "." for _ in range(6))
        heading = f"<h2>Chapter {len(parts) // 5 + 1}</h2>" if len(parts) % 5 == 0 else ""
        parts.append(f"{heading}<p>{words}</p>")
        size += len(words)
    page = f"<html lang=en><title>A history of weaving</title><main><article>{''.join(parts)}</article></main></html>"
    ARRANGED[ARTICLE] = [lambda _: text(page)] * 2
    yield site.url(ARTICLE)
    del ARRANGED[ARTICLE]


@pytest.mark.full
async def test_a_long_article_is_read_in_few_calls(
    weft: System, long_article: str, record_property: Callable[[str, object], None]
) -> None:
    arguments, costs, words = {"url": long_article}, list[int](), list[str]()
    async with connected(weft) as client:
        while True:
            result = await client.call_tool("browse", arguments)
            assert result.structured_content is not None
            costs.append(cost(result))
            words.append(text_of(result))
            cursor = result.structured_content["content"].get("cursor")
            if cursor is None:
                break
            arguments = {"url": long_article, "cursor": cursor}

    record_property(COUNTS, f"an article of 234 KB: {len(costs)} calls, {sum(costs):,} tokens, text and data")
    assert sum("Chapter 40\n" in part for part in words) == 1
    assert (len(costs) <= MAX_CALLS, sum(costs) <= MAX_TOKENS) == (True, True)
    assert max(costs) <= MAX_ANSWER_TOKENS


@pytest.mark.parametrize("query", ["the value in row 731", "thread 730", "2190"])
async def test_a_row_among_a_thousand_costs_two_cheap_calls(weft: System, site: Site, query: str) -> None:
    async with connected(weft) as client:
        page = await client.call_tool("browse", {"url": site.url("/table?rows=1000")})
        row = await client.call_tool("browse", {"url": site.url("/table?rows=1000"), "query": query})

    assert "| thread 730 | 2190 | cotton |" in text_of(row)
    assert cost(page) + cost(row) <= MAX_ROW_TOKENS


async def test_no_part_of_an_answer_goes_beyond_its_budget(weft: System, site: Site) -> None:
    options: Json = {"include": ["tables", "links", "lists", "forms", "structuredData", "markdown"]}
    options |= {"includeNetwork": True, "includeDecisionTrace": True}
    async with connected(weft) as client:
        result = await client.call_tool("browse", {"url": site.url("/table?rows=1000"), **options})
        larger = await _rows(client, site, 30_000)

    data = result.structured_content
    assert data is not None
    assert len(json.dumps(data, separators=(",", ":"))) <= 12_500
    assert data["omitted"]["tables.0.rows"] == 1_000 - len(data["tables"][0]["rows"]) > 0
    assert data["tables"][0]["rowCount"] == 1_000
    assert len(larger) > len(data["tables"][0]["rows"])


async def _rows(client: Client, site: Site, max_chars: int) -> list[list[str]]:
    arguments = {"url": site.url("/table?rows=1000"), "include": ["tables"], "maxChars": max_chars}
    result = await client.call_tool("browse", arguments)
    data: Json = result.structured_content or {}
    rows: list[list[str]] = data["tables"][0]["rows"]
    return rows
