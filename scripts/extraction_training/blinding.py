"""Hides from the blocks of some pages what other pages lack: words of a language that was met, and an address."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from actors.extraction.decide.block_arrays import Floats
from scripts.extraction_training.samples import Sample

WITHOUT_WORDS = 0.3
"""The share of pages that are learned from as if their language were unknown: most languages have no page here."""

WITHOUT_ADDRESS = 0.2
"""The share of pages that are learned from without their address: two of the sets have none, and articles alone."""

_OF_WORDS = ("words_", "heads_", "under_", "said_")
_NO_WORDS = frozenset({"heads_before"})
_OF_ADDRESS = ("url_",)


def blinded(matrix: Floats, one: Sample, names: Sequence[str]) -> Floats:
    """Return the features of a page, those that it is to lack set to what they are where nothing is known."""
    hidden = list[int]()
    if _chance("words", one) < WITHOUT_WORDS:
        hidden += [at for at, name in enumerate(names) if name.startswith(_OF_WORDS) and name not in _NO_WORDS]
    if _chance("address", one) < WITHOUT_ADDRESS:
        hidden += [at for at, name in enumerate(names) if name.startswith(_OF_ADDRESS)]
    if not hidden:
        return matrix
    shown = matrix.copy()
    shown[:, hidden] = np.minimum(shown[:, hidden], 0)  # what is below nothing, stays: there is no heading above
    shown[:, [at for at in hidden if names[at].startswith("words_")]] = 0
    return shown


def _chance(what: str, one: Sample) -> float:
    return hashlib.sha256(f"{what} {one.name}".encode()).digest()[0] / 256
