"""Lays the blocks of a page and the elements around them out as arrays."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from actors.extraction.decide.blocks import WORD, Block, Box

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]
Columns = dict[str, NDArray[np.floating[Any]]]
"""Features by name, a value a block."""

_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]{2,}")
_SHOWN = 320
"""Characters of a block that are read for its words: what a block is shows in its beginning."""


@dataclass(frozen=True)
class Layout:
    """Blocks by index, and boxes by index with every parent before its children; the first box is the root.

    `box` is a block's innermost box. A box holds the blocks from `first` to before `end`, for blocks stand in the
    order of the page. `up` is the nearest ancestor that holds more blocks than the box itself; the root is its own.
    """

    blocks: Sequence[Block]
    boxes: Sequence[Box]
    box: Ints
    parent: Ints
    first: Ints
    end: Ints
    depth: Ints

    @staticmethod
    def of(blocks: Sequence[Block]) -> Layout:
        """Lay out some blocks, of which there is at least one."""
        boxes, number = _boxes(blocks)
        box = np.array([number[block.box] for block in blocks], np.int64)
        parent = np.array([number[one.parent] if one.parent is not None else 0 for one in boxes], np.int64)
        depth = np.array([one.depth for one in boxes], np.int64)
        first, end = _ranges(listed(box), listed(parent))
        return Layout(blocks, boxes, box, parent, first, end, depth)

    @cached_property
    def tokens(self) -> Floats:
        """The words of each block, at least one."""
        return np.array([max(block.tokens, 1) for block in self.blocks], np.float32)

    @cached_property
    def up(self) -> Ints:
        """The nearest ancestor of each box that holds more blocks."""
        parents, first, end = listed(self.parent), listed(self.first), listed(self.end)
        found = list[int]()
        for index, parent in enumerate(parents):
            same = first[parent] == first[index] and end[parent] == end[index]
            found.append((found[parent] if parent else 0) if same and index else parent)
        return np.array(found, np.int64)

    @cached_property
    def words(self) -> list[list[str]]:
        """The first words of each block, in lower case."""
        return [WORD.findall(block.text[:_SHOWN].lower()) for block in self.blocks]

    @cached_property
    def names(self) -> tuple[Ints, list[tuple[str, ...]]]:
        """The number of the names of each box, and by number the words that they are made of, the tag as the first."""
        numbers = dict[tuple[str, str], int]()
        found = [numbers.setdefault((box.tag, box.key), len(numbers)) for box in self.boxes]
        return np.array(found, np.int64), [(f"<{tag}>", *_parts(key)) for tag, key in numbers]

    @cached_property
    def levels(self) -> list[Ints]:
        """The boxes by depth below the root, the root left out: parents come before their children."""
        order = np.argsort(self.depth, kind="stable")
        return np.split(order, np.flatnonzero(np.diff(self.depth[order])) + 1)[1:]

    @cached_property
    def role(self) -> Ints:
        """The number of the way from the root to each box by tags and names: boxes of one number play one role."""
        number, words = self.names
        same = dict[tuple[str, ...], int]()
        alike = [same.setdefault(one, len(same)) for one in words]  # digits are no words
        numbers = dict[tuple[int, int], int]()
        found = list[int]()
        for name, parent in zip(listed(number), listed(self.parent), strict=True):
            way = (found[parent] if found else -1, alike[name])
            found.append(numbers.setdefault(way, len(numbers)))
        return np.array(found, np.int64)

    @cached_property
    def linked(self) -> Floats:
        """The share of each block that stands in links."""
        return np.array([block.linked for block in self.blocks], np.float32)

    def sums(self, values: NDArray[np.float32]) -> Floats:
        """Add the values of all blocks in each box."""
        running = np.concatenate([[0.0], np.cumsum(values, dtype=np.float64)])
        return np.asarray(running[self.end] - running[self.first], np.float32)


def listed(values: Ints) -> list[int]:
    """Return an array as a list, which Python goes through faster."""
    found: list[int] = values.tolist()
    return found


def side_by_side(columns: Iterable[NDArray[np.floating[Any]]]) -> Floats:
    """Make columns of one length a matrix, a row a block."""
    return np.stack(list(columns), 1, dtype=np.float32, casting="same_kind")


def _parts(key: str) -> tuple[str, ...]:
    # In the order of the page, each once: whoever goes through them comes to the same result each time.
    return tuple(dict.fromkeys(part.lower() for part in _PARTS.findall(key)))


def _boxes(blocks: Sequence[Block]) -> tuple[list[Box], dict[Box, int]]:
    boxes = list[Box]()
    number = dict[Box, int]()
    for block in blocks:
        chain = list[Box]()
        box: Box | None = block.box
        while box is not None and box not in number:
            chain.append(box)
            box = box.parent
        for one in reversed(chain):
            number[one] = len(boxes)
            boxes.append(one)
    return boxes, number


def _ranges(box: list[int], parent: list[int]) -> tuple[Ints, Ints]:
    first = [len(box)] * len(parent)
    end = [0] * len(parent)
    for index, one in enumerate(box):
        first[one] = min(first[one], index)
        end[one] = index + 1
    for one in range(len(parent) - 1, 0, -1):
        above = parent[one]
        first[above] = min(first[above], first[one])
        end[above] = max(end[above], end[one])
    return np.array(first, np.int64), np.array(end, np.int64)
