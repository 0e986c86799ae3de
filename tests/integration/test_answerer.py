"""A real Chromium scrolls to what a citation quotes, wherever in the page that stands and however often."""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from playwright.async_api import Page

from actors.answerer.citable_source import CitableSource, citable
from actors.answerer.citations import Passage, citation, find
from actors.answerer.source import AnswerSource
from actors.extraction.page import extract_html
from actors.markdown.plain_lines import LineKind
from protocol.packets import Locator
from tests.requirements import requirement
from tests.site.apps.chromium import open_chromium

pytestmark = [pytest.mark.browser, pytest.mark.slow]

ARTICLE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Tidal power</title>
<style>article > *, tr, li { margin-bottom: 150vh } tr { display: block }</style></head><body><main><article>
<h1>Tidal power stations of the world</h1>
<p>Tides are predictable, which sets them apart from wind &amp; sun, and the moon pays for all of it - since 1966.</p>
<p>The first large station was built at <a href="/rance">La Rance</a>, <b>Brittany</b>; it holds <i>240 MW</i>.</p>
<p>Its barrage is 750&nbsp;m long. It was costly. Critics called it “a wall, 100% concrete”, and the fish agreed.</p>
<h2>Costs</h2>
<p>Nobody knew what it would cost. It was costly. The bill came to 620 million francs, which took 20 years to pay.</p>
<h2>The estuary</h2>
<p>Silt has changed the estuary. It was costly. Sand-eels &amp; plaice have left it, as the fishermen had said.</p>
<p>It takes a while until a long sentence comes to its end, because it has clauses that begin where others have not yet
ended, among them one about a lock for boats,<sup><a href="#f1">[1]</a></sup> one
about a road on the top of the barrage, and one about the
visitors, of whom there are some seventy thousand in a year.</p>
<ul><li>Sihwa Lake opened in 2011 and is the largest.</li><li>Annapolis was shut down in 2019.</li></ul>
<table><tr><th>Station</th><th>Country</th><th>Power</th></tr><tr><td>Sihwa Lake</td><td>South Korea</td>
<td>254 MW</td></tr><tr><td>La Rance</td><td>France</td><td>240 MW</td></tr></table>
<p>潮汐能是可再生能源。朗斯潮汐电站建于1966年。它的装机容量为240兆瓦。</p>
<p>Das Gezeitenkraftwerk Rance wurde 1966 eröffnet. Es liegt an der Mündung, zwischen Dinard und Saint‑Malo.</p>
</article></main></body></html>"""

FORUM = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>How do I weave a selvedge?</title>
<style>article > *, dt, dd, li, pre { margin-bottom: 150vh }</style></head><body><main><article>
<h1>How do I weave a straight selvedge?<a href="#q"> ¶</a></h1>
<p>My edges draw in &#8212; by 2&ndash;3&nbsp;cm.<br>
Should I use a temple, or leave the weft slacker?<br>I weave wool&shy;len cloth.</p>
<blockquote><p>“A temple is no cure,” my teacher said, “for a beat that is too hard.”</p></blockquote>
<p>Set <code>warp_width = 62</code> and <code>slack=0.12</code>,
then weave ten picks; the well-known rule of thumb (15&nbsp;%) is
for cotton &mdash; not for wool.</p>
<dl><dt>Temple</dt><dd>A bar with teeth, which holds the cloth at its full width.</dd>
<dt>Bubbling</dt><dd>Laying the weft in
an arc, so that it is long enough.</dd></dl>
<ul><li>Lay the weft at an angle of 30°.<ul><li>Less for thick yarn.</li></ul></li>
<li>Beat, and change the shed; beat again.</li></ul>
<pre>pick 1: left to right
pick 2: right to left</pre>
<p>النول القديم في المتحف. ينسج الصوف كل يوم.</p>
<p>織物の耳をまっすぐにする方法。張力を一定に保つことが大切です。</p>
<p>Thanks! It works 🎉 — and the edge is straight, “finally”.</p>
<p>It is <em>much</em> better<sup>2</sup> than <a href="/before">what I had before</a>,
e.g. with the hemp of Mr. Berg.</p>
</article></main></body></html>"""

SHOWN = """() => [...document.querySelectorAll('h1, h2, p, li, td, th, dt, dd, pre')].filter((element) => {
  const box = element.getBoundingClientRect();
  return box.bottom > 0 && box.top < innerHeight;
}).map((element) => element.textContent.replaceAll('\u00ad', '').replace(/\\s+/g, ' '))"""

MOST_SHOWN = 4
"""Blocks that stand in one window: the cells of a row, and what ends or begins beside it."""

QUOTES = {
    "wind & sun, and the moon pays for all of it - since 1966.": "Tides are predictable",
    'Critics called it "a wall, 100% concrete", and the fish agreed.': "Its barrage is",
    "620 million francs": "Nobody knew",
    "of whom there are some seventy thousand in a year": "It takes a while",
    "Es liegt an der Mündung, zwischen Dinard und Saint-Malo.": "Das Gezeitenkraftwerk",
}
"""What a model may quote, and the block that it is to be shown in."""


def read_page(html: str, url: str) -> CitableSource:
    page = extract_html(html, url).summary
    return citable(AnswerSource(doc_id="doc_1", url=url, title=page.title, markdown=page.markdown, tables=page.tables))


@contextmanager
def served(html: str) -> Generator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(html.encode())

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as http.server names it
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/tidal"
        finally:
            server.shutdown()
            thread.join()


def passages(evidence: CitableSource, quotes: Mapping[str, str]) -> Generator[tuple[Passage, str]]:
    """Yield every sentence and some quotes, each with how the block begins in which it stands."""
    for sentence in evidence.text.sentences:
        line = evidence.text.text[: sentence.end].rpartition("\n")[2]
        begin = line.split()[0] if sentence.kind is LineKind.ROW else line[:20]
        yield Passage(start=sentence.start, end=sentence.end, confidence=1.0), begin
    for quote, begin in quotes.items():
        passage = find(quote, evidence)
        assert passage is not None, quote
        yield passage, begin


async def not_shown(page: Page, url: str, places: Iterable[tuple[Passage, str]], source: CitableSource) -> list[str]:
    """Return the directives that do not lead to the block in which their passage stands."""
    missed = list[str]()
    for passage, words in places:
        locator = citation(source, passage).locator
        assert isinstance(locator, Locator)
        await page.goto("about:blank")
        await page.goto(f"{url}#:~:text={locator.value}")
        shown: list[str] = await page.evaluate(SHOWN)
        if len(shown) > MOST_SHOWN or not any(words in block for block in shown):
            missed.append(f"{locator.value} shows {shown}")
    return missed


@pytest.mark.full
@requirement("003.citation.shape")
async def test_a_browser_shows_what_a_citation_quotes() -> None:
    async with open_chromium() as chromium:
        page = await chromium.browser.new_page(viewport={"width": 800, "height": 600})
        for html, quotes in ((ARTICLE, QUOTES), (FORUM, {})):
            with served(html) as url:
                source = read_page(html, url)
                missed = await not_shown(page, url, passages(source, quotes), source)

            assert missed == []
