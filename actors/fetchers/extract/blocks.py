"""Cuts a tree into blocks of text: what stands between two boundaries of blocks."""

from __future__ import annotations

from dataclasses import dataclass

from turbohtml import Text

from actors.fetchers.extract.tree import Page


@dataclass(frozen=True, slots=True)
class Block:
    """A run of text between two boundaries: its words on one line, and the text nodes that they stand in.

    `tokens` counts its words (an ideograph is one), `collapsed` tells that only a click shows it.
    """

    text: str
    nodes: tuple[Text, ...]
    tokens: int
    collapsed: bool = False


def blocks(page: Page) -> list[Block]:
    """Give the blocks of a page in reading order; what is invisible is left out."""
    raise NotImplementedError(page)
