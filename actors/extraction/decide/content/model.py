"""Loads what was trained: the block classifier, the page types, and the figures that go with them."""

from __future__ import annotations

import io
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np

from actors.extraction.decide.content.lexicon import Lexicon
from actors.extraction.decide.content.trees import Trees

FILE = "model.npz"


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
    data = files("actors.extraction.decide.content").joinpath(FILE).read_bytes()
    with np.load(io.BytesIO(data), allow_pickle=False) as found:
        arrays = {name: found[name] for name in found.files}
    return Model(
        Lexicon.load(arrays), Trees.load(arrays, "blocks"), Trees.load(arrays, "types"), Trees.load(arrays, "sure")
    )
