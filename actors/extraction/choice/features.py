"""Puts all that is known of the blocks of a page into one matrix: the same for training and at run time."""

from __future__ import annotations

from actors.extraction.choice import around, company, opinions, own, said, whole
from actors.extraction.choice.layout import Columns, Layout
from actors.extraction.tree import Page


def columns(page: Page, layout: Layout) -> Columns:
    """Return every feature by its name, a value a block."""
    alone = own.columns(layout)
    return {
        **alone,
        **around.columns(layout),
        **company.columns(layout, alone),
        **opinions.columns(page, layout),
        **said.columns(page, layout),
        **whole.columns(page, layout),
    }
