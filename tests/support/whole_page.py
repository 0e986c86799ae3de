"""A small page, taken as its own main content."""

from __future__ import annotations

from turbohtml import Element

from actors.extraction.decide.content import Content
from actors.extraction.parse import tree
from actors.extraction.parse.tree import Page
from actors.extraction.parse.visibility import Hiding
from protocol.confidence import Source, confidence

URL = "https://site.example/dir/page.html"


def parsed(body: str, url: str = URL) -> Page:
    return tree.read(f"<!doctype html><title>A page</title>{body}", url)


def whole(page: Page, within: str = "body") -> Content:
    """Take all that is seen in the first element that `within` selects as the main content."""
    main = page.root.select_one(within)
    assert main is not None
    outer = {element for element in main.ancestors if isinstance(element, Element)}
    held = {*outer, main, *main.iter_elements()}
    for element, why in page.hidden.items():
        if why is Hiding.INVISIBLE:
            held -= {element, *element.iter_elements()}
    return Content(
        blocks=(),
        holders=frozenset(held),
        text=main.text,
        confidence=confidence(Source.HEURISTIC),
        page_types={},
        attempts=(),
    )
