"""What is rendered of hostile texts, as Chromium sees it: no script runs, and there is nothing but the allow-list."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from itertools import islice
from typing import Any, TypedDict

import pytest
from playwright.async_api import Page

from actors.fetchers.logins import Login
from actors.safe_html import SCHEMES, TAGS, safe_html, sanitized, tree_html
from protocol.render import CodeBlock, Doc, Heading, Link, Paragraph, Text
from tests.conftest import COUNTS
from tests.integration.playwright.browsing import Browsing, browsing
from tests.requirements import requirement
from tests.site.vectors import own_vectors, public_vectors
from tests.support.scale import sized

pytestmark = [pytest.mark.browser, pytest.mark.slow]

PER_PAGE = 400

LOOK = """([tags, schemes]) => {
  const wrong = []
  const look = (root) => {
    for (const element of root.querySelectorAll('*')) {
      const tag = element.localName
      if (!tags.includes(tag) || element.namespaceURI !== 'http://www.w3.org/1999/xhtml') wrong.push(`tag ${tag}`)
      for (const {name, value} of element.attributes) {
        if (tag !== 'a' || !['href', 'rel', 'target'].includes(name)) wrong.push(`attribute ${tag} ${name}=${value}`)
      }
      if (tag !== 'a') continue
      if (element.rel !== 'noopener noreferrer' || element.target !== '_blank') wrong.push('a link that tells')
      if (element.hasAttribute('href') && !schemes.includes(element.protocol.replace(':', ''))) wrong.push(element.href)
    }
  }
  const boxes = [...document.querySelectorAll('body > section')]
  boxes.forEach(look)
  for (const box of boxes) {
    const again = document.createElement('section')
    document.body.append(again)
    again.innerHTML = box.innerHTML
    look(again)
    for (const element of again.querySelectorAll('*')) {
      for (const name of ['mouseover', 'focus', 'error', 'load', 'toggle']) element.dispatchEvent(new Event(name))
    }
  }
  return {wrong, boxes: boxes.length, outside: document.body.children.length - 2 * boxes.length}
}"""


RAN = "new Promise((go) => requestAnimationFrame(() => setTimeout(() => go(window.ran || 0))))"
"""What was begun by the events has run by the next frame."""


class Seen(TypedDict):
    wrong: list[str]
    boxes: int
    outside: int
    ran: int


@pytest.fixture(scope="module")
def web() -> Generator[Browsing]:
    with browsing() as running:
        yield running


def rendered(text: str) -> Iterator[str]:
    """Yield every way in which a text is shown: as Markdown, as HTML, and in a tree."""
    yield safe_html(text)
    yield sanitized(text)
    link = Link(href=text, children=(Text(text=text),))
    parts = (Heading(level=1, children=(Text(text=text),)), Paragraph(children=(link, Text(text=text))))
    yield tree_html(Doc(children=(*parts, CodeBlock(text=text, language="js"))))


async def shown(web: Browsing, fragments: Sequence[str]) -> Seen:
    """Show fragments in a page that allows everything, and return what stands there and what has run."""
    async with web.browser.context(Login()) as context:
        page: Page = await context.page()
        body = "".join(f"<section>{fragment}</section>" for fragment in fragments)
        await page.set_content(f"<!doctype html><body>{body}</body>", wait_until="load")
        looked: Any = await page.evaluate(LOOK, [sorted(TAGS), sorted(SCHEMES)])
        # What was begun by the events has run by the next frame.
        ran = await page.evaluate(
            "new Promise((go) => requestAnimationFrame(() => setTimeout(() => go(window.ran || 0))))"
        )
        return Seen(wrong=looked["wrong"], boxes=looked["boxes"], outside=looked["outside"], ran=ran)


def pages_of(texts: Sequence[str]) -> Iterator[list[str]]:
    fragments = (fragment for text in texts for fragment in rendered(text))
    while page := list(islice(fragments, PER_PAGE)):
        yield page


def test_the_counter_counts_where_nothing_is_sanitised(web: Browsing) -> None:
    seen = web.portal.call(shown, web, ["<img src=x onerror=window.ran=(window.ran||0)+1>", "<b>bold</b>"])

    assert seen["ran"] > 0
    assert seen["wrong"]


@requirement("003.safety.html")
def test_no_vector_runs_or_leaves_anything_but_the_allow_list(
    web: Browsing, record_property: Callable[[str, object], None]
) -> None:
    public, own = public_vectors(), list(own_vectors())
    texts = [*public, *own[:: sized(2, 1)]]
    wrong, ran, outside, boxes = list[str](), 0, 0, 0

    for fragments in pages_of(texts):
        seen = web.portal.call(shown, web, fragments)
        assert seen["boxes"] == len(fragments)
        wrong += seen["wrong"]
        ran, outside, boxes = ran + seen["ran"], outside + seen["outside"], boxes + seen["boxes"]

    counted = (
        f"{len(texts)} hostile texts ({len(public)} public) shown in {boxes} ways: {ran} ran, {len(wrong)} disallowed"
    )
    record_property(COUNTS, counted)
    assert (ran, wrong[:10], outside) == (0, [], 0)
