"""Lays the blocks of a page, the elements around them and the characters of their text out as arrays."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, cached_property
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from actors.extraction.decide.blocks import Block, TextBox, words_in
from actors.extraction.evidence.text_runs import texts_containing

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]
Columns = dict[str, NDArray[np.floating[Any]]]
"""Features by name, a value a block."""

_WORD_IN_NAME = re.compile(r"[a-z]+|[A-Z](?:[a-z]+|[A-Z]+)")
_BEGINNING_CHARS = 320
"""Characters of a block that are read for its words: what a block is shows in its beginning."""

CHARACTER_KINDS = ("letter", "capital", "digit", "punctuation", "comma", "stop", "space", "ideograph", "symbol")

STOPS = ".!?\u3002\uff01\uff1f\u2026\u0964\u0965\u061f\u06d4\u0589\u1362\u17d4\u104b"
"""What ends a sentence: of ASCII, of full width, three dots in one, of Indic, Arabic and other scripts."""

COMMAS = ",;\uff0c\u3001\uff1b\u060c\u061b"
"""Commas and semicolons of ASCII, of full width and of Arabic."""

_CLOSING = "\"')]\u2019\u201d\u00bb\u203a\uff09\u300d\u300f\u3011"
"""Quotes and brackets that close behind the end of a sentence."""

_TABLES = frozenset({"table", "dl"})
_LISTS = frozenset({"ul", "ol"})
_MAX_WORDS, _MAX_CELL_WORDS, _MEDIAN_CELL_WORDS, _MAX_ITEMS = 150, 25, 8, 12
"""Words of a table or list that is one thing, of a cell, and of half of the cells at most, and blocks of such a list:
larger ones lay out a page."""

_BEYOND_BASIC_PLANE = 0x10000
"""Characters beyond the basic plane, nearly all of them emoji, count as symbols."""


class Roles(Struct, frozen=True):
    """Roles by number: the number of their names, the role of what is around them, and all but the root's by depth."""

    names: Ints
    parent: Ints
    levels: Sequence[Ints]


class BlockArrays(Struct, frozen=True, dict=True):
    """Blocks by index, and boxes by index with every parent before its children; the first box is the root.

    `box` is a block's innermost box. A box holds the blocks from `first` to before `end`, for blocks stand in the
    order of the page. `up` is the nearest ancestor that holds more blocks than the box itself; the root is its own.
    """

    blocks: Sequence[Block]
    boxes: Sequence[TextBox]
    box: Ints
    parent: Ints
    first: Ints
    end: Ints
    depth: Ints

    @staticmethod
    def of(blocks: Sequence[Block]) -> BlockArrays:
        """Lay out some blocks, of which there is at least one."""
        boxes, number, first = _boxes(blocks)
        box = np.array([number[block.box] for block in blocks], np.int64)
        parent = np.array([number[each.parent] if each.parent is not None else 0 for each in boxes], np.int64)
        depth = np.array([each.depth for each in boxes], np.int64)
        end = _ends(as_list(box), as_list(parent))
        return BlockArrays(blocks, boxes, box, parent, np.array(first, np.int64), end, depth)

    @cached_property
    def tokens(self) -> Floats:
        """The words of each block, at least one."""
        return np.array([max(block.tokens, 1) for block in self.blocks], np.float32)

    @cached_property
    def up(self) -> Ints:
        """The nearest ancestor of each box that holds more blocks."""
        parents, first, end = as_list(self.parent), as_list(self.first), as_list(self.end)
        ancestors = list[int]()
        for index, parent in enumerate(parents):
            same = first[parent] == first[index] and end[parent] == end[index]
            ancestors.append((ancestors[parent] if parent else 0) if same and index else parent)
        return np.array(ancestors, np.int64)

    @cached_property
    def words(self) -> list[list[str]]:
        """The first words of each block, in lower case."""
        return [words_in(block.text[:_BEGINNING_CHARS].lower()) for block in self.blocks]

    @cached_property
    def names(self) -> tuple[Ints, list[tuple[str, ...]]]:
        """The number of the names of each box, and by number the words that they are made of, the tag as the first."""
        numbers = dict[tuple[str, str], int]()
        numbers_of_boxes = [numbers.setdefault((box.tag, box.key), len(numbers)) for box in self.boxes]
        return np.array(numbers_of_boxes, np.int64), [(f"<{tag}>", *_words_of_names(key)) for tag, key in numbers]

    def named(self, word: str) -> list[int]:
        """Return the boxes that have a word among their names, or a tag."""
        number, words = self.names
        having = {at for at, names in enumerate(words) if word in names}
        return [at for at, names in enumerate(as_list(number)) if names in having]

    def called(self, parts: Iterable[str]) -> NDArray[np.bool_]:
        """Return which boxes have one of some texts among their names, each of which stands between blanks."""
        number, _ = self.names
        named = np.zeros(len(self._called), np.bool_)
        named[texts_containing(self._called, parts)] = True
        return np.asarray(named[number], np.bool_)

    @cached_property
    def _called(self) -> list[str]:
        return [f" {' '.join(words[1:])} " for words in self.names[1]]

    @cached_property
    def levels(self) -> list[Ints]:
        """The boxes by depth below the root, the root left out: parents come before their children."""
        return _levels(self.depth)

    def blocks_in(self, boxes: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return which blocks stand in any of some boxes."""
        inside = boxes.copy()
        for level in self.levels:
            inside[level] |= inside[self.parent[level]]
        return np.asarray(inside[self.box], np.bool_)

    @cached_property
    def role(self) -> Ints:
        """The number of the way from the root to each box by tags and names: boxes of one number play one role."""
        number, words = self.names
        same = dict[tuple[str, ...], int]()
        alike = [same.setdefault(names, len(same)) for names in words]  # digits are no words
        numbers = dict[tuple[int, int], int]()
        roles = list[int]()
        for name, parent in zip(as_list(number), as_list(self.parent), strict=True):
            way = (roles[parent] if roles else -1, alike[name])
            roles.append(numbers.setdefault(way, len(numbers)))
        return np.array(roles, np.int64)

    @cached_property
    def roles(self) -> Roles:
        """All the roles of boxes, of which a page has far fewer than boxes."""
        _, box = np.unique(self.role, return_index=True)
        return Roles(self.names[0][box], self.role[self.parent[box]], _levels(self.depth[box]))

    @cached_property
    def rows(self) -> tuple[Ints, Ints]:
        """The number of the row of each box, boxes of one role with one parent, and how many boxes are in each."""
        _, row, count = np.unique(self.role * len(self.boxes) + self.parent, return_inverse=True, return_counts=True)
        return row, count.astype(np.int64)

    @cached_property
    def facts(self) -> list[slice]:
        """The blocks of each small table, or list of terms, of short cells."""
        return [cells for cells in self._innermost(_TABLES) if _says_facts(self.tokens[cells])]

    @cached_property
    def lists(self) -> list[slice]:
        """The blocks of each short list."""
        innermost = ((items, self.tokens[items]) for items in self._innermost(_LISTS))
        return [items for items, tokens in innermost if len(tokens) <= _MAX_ITEMS and tokens.sum() <= _MAX_WORDS]

    def _innermost(self, tags: frozenset[str]) -> Iterator[slice]:
        """Yield the blocks of the boxes of some tags that hold several, and no other of them."""
        outer = set[int]()
        for index in [index for index, box in enumerate(self.boxes) if index and box.tag in tags][::-1]:
            if index not in outer and self.end[index] - self.first[index] > 1:
                yield slice(int(self.first[index]), int(self.end[index]))
            above = int(self.parent[index])
            while above not in outer:
                outer.add(above)
                above = int(self.parent[above])

    @cached_property
    def linked(self) -> Floats:
        """The share of each block that stands in links."""
        return np.array([block.linked for block in self.blocks], np.float32)

    def sums(self, values: NDArray[np.float32]) -> Floats:
        """Add the values of all blocks in each box."""
        before = sums_before(values)
        return np.asarray(before[self.end] - before[self.first], np.float32)


def sums_before(values: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the sum of what stands before each value, and at the end that of all."""
    sums = np.zeros(len(values) + 1)
    values.cumsum(dtype=np.float64, out=sums[1:])
    return sums


def as_list(values: Ints) -> list[int]:
    """Return an array as a list, which Python goes through faster."""
    items: list[int] = values.tolist()
    return items


def as_matrix(columns: Iterable[NDArray[np.floating[Any]]]) -> Floats:
    """Make columns of one length a matrix, a row a block, in which each column lies together."""
    listed = list(columns)
    return np.concatenate(listed, dtype=np.float32, casting="same_kind").reshape(len(listed), -1).T


def _levels(depth: Ints) -> list[Ints]:
    order = np.argsort(depth, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(depth[order])) + 1)[1:]


def _says_facts(tokens: Floats) -> bool:
    small = tokens.sum() <= _MAX_WORDS and tokens.max() <= _MAX_CELL_WORDS
    return bool(small and np.median(tokens) <= _MEDIAN_CELL_WORDS)


def _words_of_names(key: str) -> tuple[str, ...]:
    # In the order of the page, each once: whoever goes through them comes to the same result each time.
    return tuple(dict.fromkeys(map(str.lower, _WORD_IN_NAME.findall(key))))


def _boxes(blocks: Sequence[Block]) -> tuple[list[TextBox], dict[TextBox, int], list[int]]:
    """Return the boxes around some blocks, the number of each, and the first block that each holds."""
    number = dict[TextBox, int]()
    first = list[int]()
    for index, block in enumerate(blocks):
        chain = list[TextBox]()
        box: TextBox | None = block.box
        while box is not None and box not in number:
            chain.append(box)
            box = box.parent
        for one in reversed(chain):
            number[one] = len(number)
        first += [index] * len(chain)
    return list(number), number, first


def _ends(box: list[int], parent: list[int]) -> Ints:
    end = [0] * len(parent)
    for index, one in enumerate(box):
        end[one] = index + 1
    for one in range(len(parent) - 1, 0, -1):
        above = parent[one]
        end[above] = max(end[above], end[one])
    return np.array(end, np.int64)


def ends_sentence(text: str) -> bool:
    """Return whether a text ends like a sentence, quotes and brackets behind it left out."""
    return text.rstrip(_CLOSING)[-1:] in STOPS if text[-1:] in _CLOSING else text[-1:] in STOPS


def count_characters(texts: Sequence[str]) -> Floats:
    """Return a row for every text, which must not be empty, and a column for every kind."""
    lengths = np.array([len(text) for text in texts], np.int64)
    joined = "".join(texts).encode("utf-32-le", "replace")
    codes = np.frombuffer(joined, np.uint32)
    kinds = _kind_by_code()[np.minimum(codes, _BEYOND_BASIC_PLANE)]
    row = np.repeat(np.arange(len(texts)), lengths)
    amounts = np.bincount(row * len(CHARACTER_KINDS) + kinds, minlength=len(texts) * len(CHARACTER_KINDS))
    return amounts.reshape(len(texts), len(CHARACTER_KINDS)).astype(np.float32)


@cache
def _kind_by_code() -> NDArray[np.uint8]:
    table = np.array(
        [_character_kind(chr(code)) for code in range(_BEYOND_BASIC_PLANE)] + [CHARACTER_KINDS.index("symbol")],
        np.uint8,
    )
    table.setflags(write=False)
    return table


def _character_kind(char: str) -> int:
    if char in STOPS:
        return CHARACTER_KINDS.index("stop")
    if char in COMMAS:
        return CHARACTER_KINDS.index("comma")
    if "\u3040" <= char <= "\u30ff" or "\u3400" <= char <= "\u9fff":
        return CHARACTER_KINDS.index("ideograph")
    category = unicodedata.category(char)
    if category in ("Lu", "Lt"):
        return CHARACTER_KINDS.index("capital")
    first = {"L": "letter", "M": "letter", "N": "digit", "P": "punctuation", "Z": "space", "C": "space"}
    return CHARACTER_KINDS.index(first.get(category[0], "symbol"))
