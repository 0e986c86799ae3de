"""Tells in which ways the main content was looked for, and which of the page's own marks agree (000 §6)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from msgspec import UNSET
from numpy.typing import NDArray

from actors.extraction.decide.content.layout import Layout
from protocol.browse import SelectorAttempt
from protocol.confidence import BASELINES, Source

BLOCKS = "blocks"
ELSEWHERE = "data"
"""The names of the ways that are no selectors: the choice among blocks, and texts outside of them."""

_WITHIN = 0.9
"""Share of what was kept that an element must hold to be confirmed by it."""

_MOST = 0.25
"""Share of an element's words that were kept, or the element says nothing of where the content is."""


@dataclass(frozen=True)
class Way:
    """A way to find the content: `length` in characters, `holds` whether it confirms the choice among blocks."""

    selector: str
    name: str
    source: Source
    length: int = 0
    holds: bool = False


def marked(layout: Layout, kept: NDArray[np.bool_]) -> list[Way]:
    """Look at the largest of the elements by which a page itself marks its content."""
    lengths = np.array([len(block.text) + 1 for block in layout.blocks], np.float32)
    held = layout.sums(lengths)
    chosen = layout.sums(lengths * kept)
    found = [
        Way("main", "main", Source.SELECTOR_MATCH),
        Way("article", "article", Source.SELECTOR_MATCH),
        Way('[role="main"]', "role_main", Source.SELECTOR_MATCH),
    ]
    whole = float(chosen[0]) if len(chosen) else 0.0
    for at, way in enumerate(found):
        if boxes := _such(layout, way.name):
            best = max(boxes, key=lambda index: float(held[index]))
            holds = float(chosen[best]) >= max(_WITHIN * whole, _MOST * float(held[best]), 1.0)
            found[at] = replace(way, length=int(held[best]), holds=holds)
    return found


def trace(ways: list[Way], chosen: Way) -> tuple[SelectorAttempt, ...]:
    """Write the ways down, with the reason why each was skipped but one."""
    return tuple(_attempt(way, chosen) for way in ways)


def _attempt(way: Way, chosen: Way) -> SelectorAttempt:
    selected = way.selector == chosen.selector
    reason = f"{chosen.selector} is the surer choice" if way.length else "not there or empty"
    return SelectorAttempt(
        selector=way.selector,
        source=way.name,
        matched=way.length > 0,
        content_length=way.length,
        confidence_score=BASELINES[way.source],
        selected=selected,
        skip_reason=UNSET if selected else reason,
    )


def _such(layout: Layout, name: str) -> list[int]:
    if name != "role_main":
        return [at for at, box in enumerate(layout.boxes) if box.tag == name]
    return [at for at, box in enumerate(layout.boxes) if "main" in box.key and box.element.attr("role") == "main"]
