"""The template `crawl_site` with real fetchers, at a site that does all it can to lead a crawl astray."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from protocol import subjects
from protocol.collections import CollectionCreated, SourceAdded, SourceCaptured
from protocol.runs.events import RunEnded
from protocol.runs.states import RunStatus
from tests.integration.templates.reading_system import ME, STATIC, Running, running
from tests.requirements import requirement
from tests.site.large import LargeSite
from tests.support.scale import sized

CRAWL = "crawl_site"
SIZE, PAGES = sized(150, 2_000), sized(400, 5_000)
LIMIT_S = sized(120.0, 900.0)
MAX_OTHERS = 0.03


async def crawl(here: Running, large: LargeSite, **inputs: Any) -> tuple[RunEnded, dict[str, Any]]:
    """Crawl a site, and return its end and its result."""
    here.site.answers = large.answer
    ended = await here.run(CRAWL, {"url": here.site.url("/"), "languages": ["en"], "concurrency": 5, **inputs})
    return ended, await here.whole(ended)


@pytest.mark.full
@pytest.mark.slow
@pytest.mark.timeout(1_000)
async def test_each_wanted_page_is_kept_once_and_hardly_any_other() -> None:
    large = LargeSite(SIZE)
    async with running(STATIC, limit_s=LIMIT_S) as here:
        ended, result = await crawl(here, large, pages=PAGES, maxChars=200)
        asked = {ask.path for ask in here.site.asked}

        assert (ended.status, result["summary"]["complete"], result["summary"]["failed"]) == (
            RunStatus.SUCCEEDED,
            True,
            0,
        )
        titles = Counter(item["title"] for item in result["items"])
        assert large.wanted <= set(titles)
        assert {title for title, count in titles.items() if count > 1} == set()
        assert len(set(titles) - large.wanted) <= MAX_OTHERS * len(large.wanted)
        assert len(here.site.asked) <= 2 * len(large.wanted)
        assert not {"/private/1", "/honey/1", "/login", "/cart", "/de/1"} & asked
        assert not {path for path in asked if "sessionid" in path or path.endswith("/print")}
        print(f"{len(titles)} pages of {len(here.site.asked)} requests")  # noqa: T201 - a figure


@requirement("003.tools.collections")
@pytest.mark.slow
async def test_pages_become_sources_of_a_new_collection() -> None:
    large = LargeSite(20)
    async with running(STATIC) as here:
        ended, result = await crawl(here, large, to="collection", pages=60, include=["/articles/*", "/section/*"])
        journal = await here.bus.journal(subjects.COLLECTIONS)
        lines = [line.value async for line in journal.read()]

        assert ended.status is RunStatus.SUCCEEDED
        (begun,) = [line for line in lines if isinstance(line, CollectionCreated)]
        assert (begun.caller, begun.collection) == (ME, result["summary"]["collectionId"])
        sources = {line.source: line.url for line in lines if isinstance(line, SourceAdded)}
        captured = [line for line in lines if isinstance(line, SourceCaptured)]
        assert {item["sourceId"]: item["url"] for item in result["items"]} == sources
        assert sorted(line.source for line in captured) == sorted(sources)
        assert all(line.markdown for line in captured)
        assert all("content" not in item for item in result["items"])


@pytest.mark.slow
async def test_bounds_are_kept_and_what_is_left_is_told() -> None:
    large = LargeSite(60)
    async with running(STATIC) as here:
        _, few = await crawl(here, large, pages=5, siteMaps=False)
        _, shallow = await crawl(here, large, depth=0)
        _, addresses = await crawl(here, large, pages=5, to="addresses")
        nowhere, nothing = await crawl(here, large, url=here.site.url("/nothing"), siteMaps=False)

        assert (few["summary"]["requested"], few["summary"]["complete"]) == (5, False)
        assert [item["title"] for item in shallow["items"]] == ["Looms"]
        assert here.site.url("/articles/0-5") in addresses["addresses"]
        assert addresses["items"] == []
        assert nowhere.status is RunStatus.FAILED
        assert [item["error"]["code"] for item in nothing["items"]] == ["HTTP_NOT_FOUND"]
