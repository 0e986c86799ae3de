"""What words are learned to stand for."""

from __future__ import annotations

import numpy as np

from actors.extraction.decide import features, features_words
from actors.extraction.decide.block_arrays import BlockArrays
from actors.extraction.decide.blocks import blocks
from actors.extraction.decide.cutoff import Groups
from actors.extraction.decide.features_words import Lexicon
from actors.extraction.parse import tree
from scripts.extraction_training import words
from scripts.extraction_training.samples import Sample

PAGE = f"""<div class="story">{"<p>Once upon a time</p>" * 40}</div>
<div class="promo">{"<p>Buy it right now</p>" * 40}</div>"""


def sample(domain: str) -> Sample:
    layout = BlockArrays.of(blocks(tree.read(PAGE, f"https://{domain}/")))
    nothing = np.zeros(0, np.int64)
    return Sample(
        name=domain,
        dataset="made up",
        type="article",
        domain=domain,
        fold=0,
        names=(),
        matrix=np.zeros((80, 0), np.float32),
        summary=np.zeros(0, np.float32),
        labels=np.repeat(np.array([1, 0], np.float32), 40),
        weights=np.ones(80, np.float32),
        tokens=layout.tokens,
        groups=Groups.of(layout, features.block_columns(layout)),
        spelling=features_words.page_words(layout),
        first=layout.first,
        end=layout.end,
        bag=nothing,
        ends=nothing,
        gold=nothing,
    )


SITES = [sample(f"site{number}.example") for number in range(20)]


def test_words_of_content_are_told_from_the_rest_by_how_far_they_lie_above_their_page() -> None:
    learned = words.learn(SITES)

    assert {name: weight > 0 for name, weight in learned.names.items()} == {"promo": False, "story": True}
    assert {word for word, weight in learned.texts.items() if weight > 0} == {"once", "upon", "a", "time"}
    assert {word for word, weight in learned.texts.items() if weight < 0} == {"buy", "it", "right", "now"}


def test_a_word_of_few_sites_is_not_learned() -> None:
    assert words.learn([*SITES[:3], *(sample("site0.example") for _ in range(9))]) == Lexicon({}, {})


def test_a_page_gets_the_words_of_other_sites() -> None:
    alone = words.crosswise([*SITES, sample("site0.example")])

    columns = dict(zip(words.column_names(SITES), alone["site0.example"].T, strict=True))
    assert (columns["names_above"] > 0).tolist() == [True] * 40 + [False] * 40
    assert (columns["words_mean"] < 0).tolist() == [False] * 40 + [True] * 40
