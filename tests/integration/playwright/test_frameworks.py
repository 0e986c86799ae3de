"""What the tier playwright reads of pages on real frameworks, beside what another Chromium shows of them."""

from __future__ import annotations

import time
from collections.abc import Generator
from dataclasses import dataclass

import pytest
from rapidfuzz.distance import Indel

from actors.fetchers.logins import Login
from actors.fetchers.playwright.reading import html_of
from actors.fetchers.playwright.stability import FOR_FETCH
from actors.fetchers.playwright.tab import new_tab
from tests.integration.playwright.browsing import Browsing, browsing
from tests.site.apps import BROWSER_PAGES, FRAMEWORK_PAGES
from tests.site.apps.chromium import Chromium, open_chromium
from tests.support.scale import one_in

pytestmark = [pytest.mark.browser, pytest.mark.slow]

EQUAL = 0.98
MAX_CHARS = 10_000_000
PAGES = {**FRAMEWORK_PAGES, **BROWSER_PAGES}

_INLINE = (
    "A ABBR B BDI BDO CITE CODE DATA DEL EM FONT I INS KBD LABEL MARK Q S SAMP SLOT SMALL SPAN STRONG SUB SUP "
    "TIME U VAR WBR"
)
_WORDS = """([html, inline]) => {
  const out = [], skipped = new Set(['SCRIPT', 'STYLE', 'NOSCRIPT', 'TEMPLATE']), within = new Set(inline.split(' '));
  const walk = (node) => {
    if (node.nodeType === Node.TEXT_NODE) out.push(node.data);
    if (node.nodeType !== Node.ELEMENT_NODE || skipped.has(node.tagName)) return;
    const apart = within.has(node.tagName) ? '' : ' ';
    out.push(apart);
    node.childNodes.forEach(walk);
    out.push(apart);
  };
  walk(new DOMParser().parseFromString(html, 'text/html').body);
  return out.join('');
}"""


@dataclass(frozen=True)
class Both:
    ours: Browsing
    other: Chromium

    async def texts(self, path: str) -> tuple[list[str], list[str], str]:
        """Return the words that both show, and what cut ours short."""
        url = self.ours.site.url(path)
        expected = await self.other.text(url)
        async with self.ours.browser.context(Login()) as context, new_tab(context, block=True) as one:
            deadline_s = time.monotonic() + 40
            await one.go(url, deadline_s)
            cut_short = await one.settle(FOR_FETCH, deadline_s)
            html = (await html_of(one, MAX_CHARS)).html
            reader = await context.page()
            words = str(await reader.evaluate(_WORDS, [html, _INLINE]))
        return words.split(), expected.split(), cut_short


@pytest.fixture(scope="module")
def both() -> Generator[Both]:
    with browsing() as ours, ours.portal.wrap_async_context_manager(open_chromium()) as other:
        yield Both(ours, other)


@pytest.mark.parametrize("name", one_in(5, PAGES))
def test_the_page_is_read_as_it_is_shown(both: Both, name: str) -> None:
    words, expected, cut_short = both.ours.portal.call(both.texts, PAGES[name])

    assert (Indel.normalized_similarity(words, expected) >= EQUAL, cut_short) == (True, ""), (words, expected)
