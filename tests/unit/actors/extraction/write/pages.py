"""Small pages, and all of their text as the main content."""

from __future__ import annotations

from turbohtml import Element

from actors.extraction.decide.blocks import blocks
from actors.extraction.decide.content import Content
from actors.extraction.parse import tree
from actors.extraction.parse.tree import Page
from actors.extraction.write import ContentText, write_markdown
from protocol.confidence import Source, confidence

URL = "https://example.org/a/b"
TITLE = "The title | Site"


def content(page: Page, *left_out: str) -> Content:
    """Keep every block of a page but some."""
    kept = tuple(block for block in blocks(page) if block.text not in left_out)
    nodes = (node for block in kept for node in block.nodes)
    holders = frozenset(each for node in nodes for each in node.ancestors if isinstance(each, Element))
    text = "\n".join(block.text for block in kept)
    return Content(kept, holders, text, confidence(Source.HEURISTIC), {}, ())


def written(body: str, *left_out: str, title: str = TITLE) -> ContentText:
    """Write a page without some of its blocks."""
    page = tree.read(f"<!doctype html><title>{TITLE}</title>{body}", URL)
    return write_markdown(page, content(page, *left_out), title)


def markdown(body: str, *left_out: str) -> str:
    """Write a page as Markdown, without some of its blocks."""
    return written(body, *left_out).markdown
