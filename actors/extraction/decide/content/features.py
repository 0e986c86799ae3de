"""Puts all that is known of the blocks of a page into one matrix: the same for training and at run time."""

from __future__ import annotations

from actors.extraction.decide.content import around, company, opinions, own, said, whole
from actors.extraction.decide.content.layout import Columns, Layout
from actors.extraction.parse.tree import Page


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
