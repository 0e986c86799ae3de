"""What the tier playwright reads of pages on real frameworks, beside what another Chromium and the light tier show."""

from __future__ import annotations

import json
import time
from collections.abc import Generator
from dataclasses import dataclass
from typing import cast

import pytest
from msgspec import structs
from rapidfuzz.distance import Indel

from actors.fetchers.lightweight.actor import Lightweight
from actors.fetchers.logins import Login
from actors.fetchers.playwright.reading import html_of
from actors.fetchers.playwright.stability import FOR_FETCH
from actors.fetchers.playwright.tab import new_tab
from actors.settings import Settings
from bus import Bus
from protocol.pages import FetchPage, PageEvidence
from tests.integration.lightweight.pages import needs_engine
from tests.integration.playwright.browsing import Browsing, browsing, page
from tests.site.apps import BROWSER_PAGES, FRAMEWORK_PAGES
from tests.site.apps.chromium import Chromium, open_chromium
from tests.site.scripted import ARTICLE
from tests.support.scale import first, one_in

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.full]

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


# -- what the verifier is told of a page, whichever way it came to show it ---------------------------------------------

_CHROME = (
    "<header><nav><a href=/a>Home</a> <a href=/b>Pricing</a></nav><form><input name=q><button>Search</button></form>"
    "</header>{}<footer><a href=/imprint>Imprint</a></footer><div class=off><p>A menu is shut.</p></div>"
)
_HEAD = "<!doctype html><html lang=en><head><title>Cloth</title><style>.off { display: none }</style></head>"
SHOWN = {
    "article": f"<main><h1>Cloth</h1><p>{ARTICLE}</p><img src=/picture></main><div class='spinner off'></div>",
    "skeleton": "<main><h1>Cloth</h1><div class=skeleton></div><div class=skeleton></div></main>",
    "login": "<main><h1>Sign in</h1><form><input type=email><input type=password></form></main>",
    "short": "<main><h1>Cloth</h1><p>Short and whole.</p><div class=spinner style='visibility:hidden'></div></main>",
}


async def in_light_tier(url: str) -> PageEvidence:
    actor = Lightweight(bus=cast("Bus", None), settings=Settings(allow_private=("127.0.0.0/8",)))
    async with actor.open():
        return (await actor.fetch(FetchPage(url=url))).evidence


def comparable(evidence: PageEvidence) -> PageEvidence:
    """Leave out what is of the tier and its markup, and not of what the page shows."""
    traits = structs.replace(evidence.traits, html_chars=0, names="")
    return structs.replace(evidence, traits=traits, escalate=(), cut_short="", scripts=0)


@needs_engine
@pytest.mark.parametrize("name", first(1, SHOWN))
def test_a_page_gives_the_same_evidence_as_sent_and_by_script_in_both_tiers(both: Both, name: str) -> None:
    body = _CHROME.format(SHOWN[name])
    sent = page(f"{_HEAD}<body>{body}</body>")
    by_script = page(f"{_HEAD}<body></body><script>document.body.innerHTML = {json.dumps(body)}</script>")
    urls = [both.ours.site.url(path) for path in (sent, by_script)]
    light = [comparable(both.ours.portal.call(in_light_tier, url)) for url in urls]
    browser = [comparable(both.ours.fetch(url).evidence) for url in urls]

    assert [each for each in (light[1], *browser) if each != light[0]] == []
    assert "A menu is shut" not in light[0].visible
    assert bool(light[0].incomplete) == (name == "skeleton")


@needs_engine
@pytest.mark.parametrize("name", one_in(6, FRAMEWORK_PAGES))
def test_an_application_gives_the_same_evidence_in_both_tiers(both: Both, name: str) -> None:
    url = both.ours.site.url(FRAMEWORK_PAGES[name])

    assert comparable(both.ours.portal.call(in_light_tier, url)) == comparable(both.ours.fetch(url).evidence)
