"""How blocks and boxes are laid out, and what is read from it."""

from __future__ import annotations

import numpy as np
import pytest

from actors.extraction.decide import block_arrays, features
from actors.extraction.decide.block_arrays import BlockArrays
from actors.extraction.decide.blocks import blocks
from actors.extraction.decide.features_words import Lexicon, page_words
from actors.extraction.parse import tree


def lay(body: str) -> BlockArrays:
    return BlockArrays.of(blocks(tree.read(f"<body>{body}</body>", "https://site.example/")))


def test_every_box_knows_its_blocks_and_its_parent() -> None:
    layout = lay('<div id="one"><p>a</p><p>b</p></div><ul id="two"><li>c</li></ul>')

    assert [box.tag for box in layout.boxes] == ["html", "body", "div", "p", "p", "ul", "li"]
    assert layout.parent.tolist() == [0, 0, 1, 2, 2, 1, 5]
    assert list(zip(layout.first.tolist(), layout.end.tolist(), strict=True)) == [
        *((0, 3), (0, 3), (0, 2), (0, 1), (1, 2), (2, 3), (2, 3)),
    ]
    assert layout.up.tolist() == [0, 0, 1, 2, 2, 1, 1]
    assert layout.sums(layout.tokens).tolist() == [3, 3, 2, 1, 1, 1, 1]


def test_blocks_of_one_way_play_one_role() -> None:
    layout = lay('<div class="post-1"><p>a</p></div><div class="post-22"><p>b</p></div><p>c</p>')
    role = layout.role[layout.box].tolist()

    assert role[0] == role[1] != role[2]
    row, count = layout.rows
    assert count[row].tolist() == [1, 1, 2, 1, 2, 1, 1]


def test_counts_the_kinds_of_characters() -> None:
    counts = block_arrays.count_characters(["Ab 1,\u4e00", "\U0001f600!"])

    assert [dict(zip(block_arrays.CHARACTER_KINDS, row, strict=True)) for row in counts.tolist()] == [
        dict.fromkeys(block_arrays.CHARACTER_KINDS, 0.0)
        | dict.fromkeys(("letter", "capital", "space", "digit", "comma", "ideograph"), 1.0),
        dict.fromkeys(block_arrays.CHARACTER_KINDS, 0.0) | {"symbol": 1.0, "stop": 1.0},
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [("Now $ 19.99", "price"), ("12 Mar 2024, 10:15", "date"), ("Blue (12)", "facet"), ("2 hours ago", "date")],
)
def test_hears_what_a_block_says(text: str, said: str) -> None:
    columns = features.block_columns(lay(f"<p>Other</p><p>{text}</p>"))

    assert [columns[f"says_{kind}"].tolist() for kind in features.PHRASES] == [
        [0, float(kind == said)] for kind in features.PHRASES
    ]


@pytest.mark.parametrize("text", ["So it ends.", "Он сказал: «Да.»", "他说：「好。」", "یہ ختم ہوا۔", "यह अंत है।"])
def test_hears_the_end_of_a_sentence_in_any_script(text: str) -> None:
    columns = features.block_columns(lay(f"<p>{text}</p><p>Menu</p>"))

    assert columns["ends_sentence"].tolist() == [1, 0]


def test_tells_what_lies_before_and_after() -> None:
    prose = "ж" * 200
    page = tree.read(
        f'<body><p>a</p><p>{prose}</p><div class="comments"><p>{prose}</p><p>b</p></div></body>',
        "https://site.example/",
    )

    columns = features.feature_columns(page, BlockArrays.of(blocks(page)))

    assert columns["prose_before"].tolist() == [0, 0, 0.5, 1]
    assert columns["prose_after"].tolist() == [1, 0.5, 0, 0]
    assert columns["since_prose"].argmin() == 1
    assert columns["behind_comment"].tolist() == [-1, -1, 0, pytest.approx(np.log1p(1))]


def test_weighs_names_and_words() -> None:
    lexicon = Lexicon({"share": -0.5, "<p>": 0.25}, {"tweet": -0.75})
    columns = lexicon.columns(page_words(lay('<div class="shareBar"><p>Tweet this</p></div>')))

    assert {name: values.tolist() for name, values in columns.items() if values.any()} == {
        "names_own": [0.25],
        "names_sum": [-0.25],
        "names_least": [-0.5],
        "names_most": [0.25],
        "names_faded": [pytest.approx(-0.1)],
        "names_above": [-0.5],
        "words_mean": [-0.375],
        "words_known": [0.5],
        "words_least": [-0.75],
        "words_first": [-0.75],
    }
    assert Lexicon.load(lexicon.save()) == lexicon
