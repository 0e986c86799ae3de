"""Knows which words in the names of elements, and in short texts, stand for content and which for the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from actors.extraction.decide.content.layout import Columns, Ints, Layout

SHORT = 12
"""Words up to which a block is read word by word: longer ones are told by their shape."""

_SCALE = 1000
_FADING = 0.7
"""What the names of an ancestor count, a step further up each time."""


@dataclass(frozen=True)
class Spelling:
    """The words of a page: of the names of boxes by `number`, and of each short block (none for a longer one)."""

    number: Ints
    of_names: Sequence[tuple[str, ...]]
    of_blocks: Sequence[tuple[str, ...]]
    parent: Ints
    box: Ints
    levels: Sequence[Ints]


@dataclass(frozen=True)
class Lexicon:
    """How much more of what stands under a name, or in a text with a word, is content than of its page: -1 to 1."""

    names: Mapping[str, float]
    texts: Mapping[str, float]

    @staticmethod
    def load(arrays: Mapping[str, NDArray[np.generic]]) -> Lexicon:
        """Read what `save` wrote."""
        found = list[dict[str, float]]()
        for kind in ("names", "texts"):
            words = str(arrays[f"lexicon.{kind}"]).splitlines()
            weights = (arrays[f"lexicon.{kind}.weights"].astype(np.float64) / _SCALE).tolist()
            found.append(dict(zip(words, weights, strict=True)))
        return Lexicon(*found)

    def save(self) -> dict[str, NDArray[np.generic]]:
        """Return the words as arrays, their weights rounded."""
        arrays: dict[str, NDArray[np.generic]] = {}
        for kind, known in (("names", self.names), ("texts", self.texts)):
            arrays[f"lexicon.{kind}"] = np.array("\n".join(known))
            arrays[f"lexicon.{kind}.weights"] = np.array([round(one * _SCALE) for one in known.values()], np.int16)
        return arrays

    def rounded(self) -> Lexicon:
        """Return the lexicon as it is after saving and loading."""
        return Lexicon.load(self.save())

    def columns(self, spelling: Spelling) -> Columns:
        """Weigh the names around each block and its own words, a column a feature."""
        return {**self._around(spelling), **self._within(spelling)}

    def _around(self, spelling: Spelling) -> Columns:
        get = self.names.get
        weights = [[get(word, 0.0) for word in words] for words in spelling.of_names]
        known = np.array([(sum(row), min(row), max(row)) for row in weights], np.float32)
        own, least, most = known[spelling.number].T
        total, faded = own.copy(), own.copy()
        least, most = np.minimum(least, 0), np.maximum(most, 0)
        for level in spelling.levels:
            above = spelling.parent[level]
            total[level] += total[above]
            faded[level] += np.float32(_FADING) * faded[above]
            least[level] = np.minimum(least[level], least[above])
            most[level] = np.maximum(most[level], most[above])
        box = spelling.box
        above = spelling.parent[box]
        return {
            "names_own": own[box],
            "names_sum": total[box],
            "names_least": least[box],
            "names_most": most[box],
            "names_faded": faded[box],
            "names_above": own[above],
            "names_above_2": own[spelling.parent[above]],
        }

    def _within(self, spelling: Spelling) -> Columns:
        get = self.texts.get
        rows = [[get(word, 0.0) for word in words] or [0.0] for words in spelling.of_blocks]
        mean = np.array([sum(row) / len(row) for row in rows], np.float32)
        edge = np.zeros(1, np.float32)
        return {
            "words_mean": mean,
            "words_least": np.array([min(row) for row in rows], np.float32),
            "words_most": np.array([max(row) for row in rows], np.float32),
            "words_first": np.array([row[0] for row in rows], np.float32),
            "words_mean@-1": np.concatenate([edge, mean[:-1]]),
            "words_mean@+1": np.concatenate([mean[1:], edge]),
        }


def spell(layout: Layout) -> Spelling:
    """Collect the words of a page."""
    number, named = layout.names
    of_blocks = [tuple(words) if len(words) <= SHORT else () for words in layout.words]
    return Spelling(number, named, of_blocks, layout.parent, layout.box, layout.levels)
