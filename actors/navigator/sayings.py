"""What the navigator says of a browse on its way: sentences of ours, without a word of the page or an address."""

from __future__ import annotations


def further_page(number: int, wanted: int) -> str:
    """Say that a page that follows is read now."""
    return f"Reading page {number} of at most {wanted}."
