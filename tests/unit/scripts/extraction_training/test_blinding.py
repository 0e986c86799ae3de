"""What some pages are learned from without."""

from __future__ import annotations

import dataclasses

import numpy as np

from scripts.extraction_training.blinding import WITHOUT_ADDRESS, WITHOUT_WORDS, blinded
from tests.unit.scripts.extraction_training.test_words import SITES

NAMES = ("tokens", "words_mean", "words_known", "under_h2_known", "heads_before", "url_length")


def test_a_share_of_the_pages_lacks_words_and_another_its_address() -> None:
    matrix = np.array([[5, -0.5, 0.5, -1, 3, 40], [5, 0.5, 0.5, 2, 3, 40]], np.float32)
    shown = [blinded(matrix, dataclasses.replace(SITES[0], name=str(number)), NAMES) for number in range(2_000)]

    without_words = [one for one in shown if not one[0, 1]]
    assert {str(one[:, :5].tolist()) for one in without_words} == {
        "[[5.0, 0.0, 0.0, -1.0, 3.0], [5.0, 0.0, 0.0, 0.0, 3.0]]"
    }
    assert abs(len(without_words) / len(shown) - WITHOUT_WORDS) < 0.05
    assert abs(sum(not one[0, 5] for one in shown) / len(shown) - WITHOUT_ADDRESS) < 0.05
    assert {str(one[:, 0].tolist()) for one in shown} == {"[5.0, 5.0]"}
