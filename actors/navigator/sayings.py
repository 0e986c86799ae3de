"""What the navigator says of a browse on its way: sentences of ours, without a word of the page or an address."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from protocol.browse import RenderTier

BEGINS: Mapping[RenderTier, str] = MappingProxyType(
    {
        RenderTier.INTELLIGENCE: "Reading the page as the site sends it.",
        RenderTier.LIGHTWEIGHT: "Running the scripts of the page without a browser.",
        RenderTier.PLAYWRIGHT: "Opening the page in a real browser.",
    }
)


def further_page(number: int, wanted: int) -> str:
    """Say that a page that follows is read now."""
    return f"Reading page {number} of at most {wanted}."
