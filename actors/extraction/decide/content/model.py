"""Loads what was trained: the block classifier, the page types, and the figures that go with them."""

from __future__ import annotations

import io
from dataclasses import dataclass
from functools import cache

import numpy as np

from actors.extraction.assets import CONTENT_MODEL, bytes_of
from actors.extraction.decide.content.lexicon import Lexicon
from actors.extraction.decide.content.trees import Trees


@dataclass(frozen=True)
class Model:
    """What was learned from gold pages."""

    lexicon: Lexicon
    blocks: Trees
    types: Trees
    sure: Trees


@cache
def model() -> Model:
    """Return the model that is shipped.

    Raises:
        ValueError: It was trained on other features.
    """
    with np.load(io.BytesIO(bytes_of(CONTENT_MODEL)), allow_pickle=False) as found:
        arrays = {name: found[name] for name in found.files}
    return Model(
        Lexicon.load(arrays), Trees.load(arrays, "blocks"), Trees.load(arrays, "types"), Trees.load(arrays, "sure")
    )
