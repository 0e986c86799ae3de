"""Reads the text of a page in sections, with how likely each is what the page is about."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

import anyio
import msgspec
from msgspec.structs import replace

from actors import redact
from actors.fetchers.playwright.tab import Tab
from actors.fetchers.playwright.view.documents import FRAMES_S, TabDocument, main_document
from actors.fetchers.playwright.view.elements import PageText, TextBlock
from actors.fetchers.playwright.view.snapshot import snapshot_document
from protocol.browsers.operations import GetPageContent
from protocol.browsers.pageinfo import ContentImage, ContentLink, Section
from protocol.browsers.results import PageContent
from protocol.faults import FaultError

_MAX_SECTIONS = 50
_MAX_LINKS = 50
_MAX_IMAGES = 20
_MAX_FRAMES = 6
_MAX_BYTES = 20_000
_FRAME_BYTES = 300
"""What a result has around its parts."""

_BYTES_OF_CHAR = 2
_SHARE_BESIDE = 5
"""A fifth of the length is kept for links and pictures, where there are any."""


_WEIGHTS = (0.22, 0.20, 0.12, 0.20, 0.18, 0.08)
"""What attention is made of: position, area, font, semantics, being in the main part, length."""


@dataclass
class _Budget:
    """The length that is left for a result: of its text in characters, and of all of it in bytes."""

    chars: int
    bytes: int

    def fits(self, words: str, item: object) -> bool:
        """Spend the budget on an item if it fits; nothing fits after something did not."""
        self.chars -= len(words)
        self.bytes -= len(msgspec.json.encode(item)) + 1
        if self.chars >= 0 and self.bytes >= 0:
            return True
        self.chars = self.bytes = -1
        return False


async def read(tab: Tab, do: GetPageContent) -> PageContent:
    """Read the text of the page in its current state.

    Raises:
        FaultError: PAGE_CRASHED or BROWSER_PAGE_HUNG.
    """
    words = await _text(main_document(tab))
    kept = do.max_length // _SHARE_BESIDE if words.links or words.images else 0
    most = max(_MAX_BYTES, do.max_length * _BYTES_OF_CHAR)
    sections, cut = _sections(words, do.max_length - kept, most - most // _SHARE_BESIDE)
    left = do.max_length - sum(len(one.text) for one in sections)
    budget = _Budget(left, most - len(msgspec.json.encode((sections, words.title, words.metadata))) - _FRAME_BYTES)
    links = [ContentLink(text=one.text, url=redact.url(one.url)) for one in words.links[:_MAX_LINKS]]
    images = [ContentImage(url=redact.url(one.url), alt=one.alt) for one in words.images[:_MAX_IMAGES]]
    return PageContent(
        title=words.title,
        sections=sections,
        links=tuple(one for one in links if budget.fits(one.text + one.url, one)),
        images=tuple(one for one in images if budget.fits(one.alt + one.url, one)),
        metadata=words.metadata,
        truncated=cut,
    )


async def _text(document: TabDocument) -> PageText:
    """Read a document, and after it the frames that it shows."""
    words = await document.call("read", PageText)
    if not words.frames:
        return words
    blocks, links, images = [*words.blocks], [*words.links], [*words.images]
    with anyio.move_on_after(FRAMES_S):
        for within in (await snapshot_document(document)).frames[:_MAX_FRAMES]:
            inner = await document.inner(within.id, within.way, within.number) if not within.covered else None
            if inner is None:
                continue
            with suppress(FaultError):
                frame_text = await inner.call("read", PageText)
                blocks += [replace(block, position=0.0, main=0.0) for block in frame_text.blocks]
                links += frame_text.links
                images += frame_text.images
    return replace(words, blocks=tuple(blocks), links=tuple(links), images=tuple(images))


def _sections(words: PageText, chars: int, most: int) -> tuple[tuple[Section, ...], bool]:
    """Take the sections of most attention, in the order of the page; returns whether any text was left out."""
    scored = [attention(block) for block in words.blocks]
    best = sorted(sorted(range(len(scored)), key=lambda at: -scored[at])[:_MAX_SECTIONS])
    budget, sections, cut = _Budget(chars, most), list[Section](), words.cut or len(scored) > len(best)
    for at in best:
        block = words.blocks[at]
        text = block.text[: max(budget.chars, 0)]
        section = Section(tag=block.tag, text=text, attention=scored[at], heading=block.heading)
        cut = cut or len(text) < len(block.text)
        if not text or not budget.fits(text, section):
            return tuple(sections), True
        sections.append(section)
    return tuple(sections), cut


def attention(block: TextBlock) -> float:
    """Weigh a block: 0 for what nobody reads, 1 for what the page is about."""
    parts = (block.position, block.area, block.font, block.semantics, block.main, block.length)
    return round(sum(part * weight for part, weight in zip(parts, _WEIGHTS, strict=True)), 3)
