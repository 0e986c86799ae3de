"""Reads the words of a page in sections, with how likely each is what the page is about."""

from __future__ import annotations

from actors.fetchers.playwright.tab import Tab
from actors.fetchers.playwright.view.documents import main
from actors.fetchers.playwright.view.spots import Text, Words
from actors.fetchers.web import redact
from protocol.browsers.done import PageContent
from protocol.browsers.operations import GetPageContent
from protocol.browsers.pageinfo import ContentLink, Section

_MAX_SECTIONS = 50
_MAX_LINKS = 50
_MAX_IMAGES = 20


_WEIGHTS = {"position": 0.22, "area": 0.20, "font": 0.12, "semantics": 0.20, "main": 0.18, "length": 0.08}
"""What attention is made of (002, get_page_content)."""


async def read(tab: Tab, do: GetPageContent) -> PageContent:
    """Read the words of the page as it stands.

    Raises:
        FaultError: PAGE_CRASHED or BROWSER_PAGE_HUNG.
    """
    words = await main(tab).ask("read", Words)
    scored = [(attention(block), block) for block in words.blocks]
    best = sorted(range(len(scored)), key=lambda at: -scored[at][0])[:_MAX_SECTIONS]
    left = do.max_length
    sections: list[Section] = []
    cut = words.cut or len(scored) > _MAX_SECTIONS
    for at in sorted(best):
        share, block = scored[at]
        if left <= 0:
            cut = True
            break
        text = block.text[:left]
        cut = cut or len(text) < len(block.text)
        left -= len(text)
        sections.append(Section(tag=block.tag, text=text, attention=share, heading=block.heading))
    return PageContent(
        title=words.title,
        sections=tuple(sections),
        links=tuple(ContentLink(text=one.text, url=redact.url(one.url)) for one in words.links[:_MAX_LINKS]),
        images=words.images[:_MAX_IMAGES],
        metadata=words.metadata,
        truncated=cut,
    )


def attention(block: Text) -> float:
    """Weigh a block: 0 for what nobody looks at, 1 for what the page is about."""
    return round(sum(getattr(block, name) * weight for name, weight in _WEIGHTS.items()), 3)
