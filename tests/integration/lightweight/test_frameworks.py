"""What the tier lightweight shows of pages on real frameworks, beside what a real Chromium shows of them."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import anyio
import anyio.to_thread
import pytest
from rapidfuzz.distance import Indel

from actors.fetchers.lightweight.rendering import RenderFailure
from actors.fetchers.lightweight.signals import signals
from tests.site import Site, serve_site
from tests.site.apps import BROWSER_PAGES, FRAMEWORK_PAGES, HOSTILE_PAGES, build_apps
from tests.site.apps.chromium import Chromium, open_chromium
from tests.support.light import Light, open_light
from tests.support.scale import sized

pytestmark = [pytest.mark.browser, pytest.mark.slow]

EQUAL = 0.98
WRONG = 0.9
AT_ONCE = 3


@dataclass(frozen=True)
class Compared:
    """How alike the texts of both are, from 0 to 1, how many words Chromium shows, and the signals raised."""

    similarity: float
    words: int
    raised: tuple[str, ...]


@dataclass(frozen=True)
class Both:
    site: Site
    chromium: Chromium
    light: Light

    async def compare_all(self, pages: dict[str, str]) -> dict[str, Compared]:
        """Show pages, a few at once, in both."""
        compared: dict[str, Compared] = {}
        at_once = anyio.CapacityLimiter(AT_ONCE)

        async def compare(name: str) -> None:
            async with at_once:
                compared[name] = await self.compare(pages[name])

        async with anyio.create_task_group() as tasks:
            for name in pages:
                tasks.start_soon(compare, name)
        return {name: compared[name] for name in pages}

    async def compare(self, path: str) -> Compared:
        """Show a page in both."""
        url = self.site.url(path)
        wanted = words(await self.chromium.text(url))
        seen = await self.light.see(url)
        if isinstance(seen, RenderFailure):
            return Compared(0.0, len(wanted), (seen.value,))
        return Compared(Indel.normalized_similarity(wanted, words(seen.text)), len(wanted), signals(seen))


@asynccontextmanager
async def both() -> AsyncGenerator[Both]:
    """Run the site and both browsers."""
    await anyio.to_thread.run_sync(build_apps)
    async with serve_site() as site, open_chromium() as chromium, open_light() as light:
        yield Both(site, chromium, light)


def some(pages: dict[str, str]) -> dict[str, str]:
    """Return all pages with `--full`, else one in three."""
    return dict(list(pages.items())[:: sized(3, 1)])


def words(text: str) -> list[str]:
    """Split a text into its words."""
    return re.findall(r"\w+", text)


@pytest.mark.full
@pytest.mark.timeout(900)
async def test_frameworks_show_what_they_show_in_chromium_and_what_needs_a_whole_browser_is_known_for_it() -> None:
    frameworks, beyond = some(FRAMEWORK_PAGES), some(BROWSER_PAGES)
    with anyio.fail_after(280):
        async with both() as tiers:
            compared = await tiers.compare_all({**frameworks, **beyond})

    equal = [name for name in frameworks if compared[name].similarity >= EQUAL]
    silent = {name: compared[name] for name in frameworks if name not in equal and not compared[name].raised}
    assert min(compared[name].words for name in frameworks) >= 60
    assert silent == {}
    assert len(equal) >= 0.9 * len(frameworks), compared
    assert [name for name in equal if compared[name].raised] == []

    assert [name for name in beyond if compared[name].similarity >= WRONG] == []
    assert [name for name in beyond if not compared[name].raised] == []


@pytest.mark.timeout(900)
@pytest.mark.full
async def test_a_hostile_page_is_known_for_it_and_the_next_page_is_right() -> None:
    next_path = FRAMEWORK_PAGES["solid"]
    with anyio.fail_after(160):
        async with both() as tiers:
            alone = await tiers.light.see(tiers.site.url(next_path))
            for path in HOSTILE_PAGES.values():
                seen = await tiers.light.see(tiers.site.url(path))
                after = await tiers.light.see(tiers.site.url(next_path))

                assert isinstance(seen, RenderFailure) or signals(seen), path
                assert not isinstance(after, RenderFailure), path
                assert not isinstance(alone, RenderFailure), path
                assert after.text == alone.text, path


async def test_no_door_opens_to_a_page_that_tries_them_all() -> None:
    await anyio.to_thread.run_sync(build_apps)
    with anyio.fail_after(90):
        async with serve_site() as site, open_light() as light:
            seen = await light.see(site.url(HOSTILE_PAGES["escape"]))

    assert not isinstance(seen, RenderFailure)
    assert "origin shut" in seen.text
    assert "OPEN" not in seen.text
