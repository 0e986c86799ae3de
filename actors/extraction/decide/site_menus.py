"""Finds the menus of a site that look like content by their length: lists of links that lead to this very page, too."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from actors.extraction.decide.block_arrays import BlockArrays
from actors.extraction.parse.addresses import joined
from actors.extraction.parse.tree import Page

_LISTS = frozenset({"dl", "menu", "nav", "ol", "ul"})
_FEWEST_BLOCKS, _LINKED = 12, 0.8
"""Blocks that a menu has at least, and the share of its words that stand in links."""


def site_menus(page: Page, arrays: BlockArrays) -> NDArray[np.bool_]:
    """Return which blocks stand in a long list of links of which one leads to the page itself.

    What a page has to say leads elsewhere; what stands on every page of a site leads to each of them.
    """
    in_menu = np.zeros(len(arrays.blocks), np.bool_)
    linked = arrays.sums(arrays.linked * arrays.tokens)
    size = arrays.sums(arrays.tokens)
    is_menu = (arrays.end - arrays.first >= _FEWEST_BLOCKS) & (linked >= _LINKED * size)
    looked_at = {0}
    for link in _links_to_itself(page, arrays):
        at = link
        while at not in looked_at:
            looked_at.add(at)
            if is_menu[at] and arrays.boxes[at].tag in _LISTS:
                in_menu[arrays.first[at] : arrays.end[at]] = True
            at = int(arrays.parent[at])
    return in_menu


def _links_to_itself(page: Page, arrays: BlockArrays) -> Iterator[int]:
    """Yield the links to the page as a whole, not to a place on it."""
    here = page.url.partition("#")[0]
    name = here.rpartition("/")[2]
    for at, box in enumerate(arrays.boxes):
        if box.tag != "a" or (href := box.element.attr("href")) is None:
            continue
        address, mark, place = href.strip().partition("#")
        if place or not (address or mark):
            continue
        if not address or (address.endswith(name) and joined(page.base, address) == here):
            yield at
