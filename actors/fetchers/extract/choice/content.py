"""Chooses the blocks that are the main content, and says how sure it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from turbohtml import Element

from actors.fetchers.extract.blocks import Block
from actors.fetchers.extract.tree import Page
from protocol.browse import SelectorAttempt
from protocol.confidence import Confidence
from protocol.page import PageType


@dataclass(frozen=True)
class Content:
    """The main content: the blocks that were kept, in reading order.

    `holders` are all elements that hold a kept text, up to the root, so that `element in content.holders` tells whether
    a table, link or heading belongs to the main content. `text` is a line for every kept block. `said_elsewhere` is
    text that stands in no block (state of a framework, structured data, a description), used where the blocks have
    none. `page_types` are probabilities that add up to 1. `attempts` are the ways that were tried (000 §6).
    """

    blocks: tuple[Block, ...]
    holders: frozenset[Element]
    text: str
    confidence: Confidence
    page_types: Mapping[PageType, float]
    attempts: tuple[SelectorAttempt, ...]
    said_elsewhere: str = ""


def choose(page: Page, blocks: list[Block], elsewhere: tuple[str, ...] = ()) -> Content:
    """Choose the main content; `elsewhere` are texts that the page holds outside of its blocks, best first."""
    raise NotImplementedError(page, blocks, elsewhere)
