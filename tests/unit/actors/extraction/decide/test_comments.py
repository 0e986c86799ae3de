"""What speaks for a block being a comment of a reader."""

from __future__ import annotations

import pytest

from actors.extraction.decide import features
from actors.extraction.decide.block_arrays import BlockArrays
from actors.extraction.decide.blocks import blocks
from actors.extraction.decide.comments import comment_evidence
from actors.extraction.parse import tree

STORY = f"<div><h1>A story</h1><p>{'It goes on and on. ' * 9}</p></div>"


def evidence(body: str) -> list[float]:
    arrays = BlockArrays.of(blocks(tree.read(f"<body>{body}</body>", "https://site.example/")))
    found: list[float] = comment_evidence(arrays, features.block_columns(arrays)).tolist()
    return found


@pytest.mark.parametrize("name", ["user-comments", "disqus_thread", "lista-komentarzy", "ReplyList"])
def test_elements_are_named_so(name: str) -> None:
    assert evidence(f'{STORY}<div class="{name}"><p>I was there, too.</p></div>') == [0, 0, 1.5]


@pytest.mark.parametrize(
    "heading",
    ["12 Comments", "Komentarze (7)", "网友评论", "Комментарии", "Σχόλια", "Kommentare", "Yorumlar", "コメント"],
)
def test_a_heading_says_so(heading: str) -> None:
    below = f"<div><b>{heading}</b><p>I was there, too.</p><p>Me too.</p></div>"

    assert evidence(f"{STORY}{below}<p>The end of the page</p>") == [0, 0, 0, 1.5, 1.5, 0]


def test_look_alikes_in_a_row_are_dated() -> None:
    post = "<li><i>Ann, 12.03.2024 10:15</i><p>I was there, too, and saw it all.</p></li>"

    assert evidence(f"{STORY}<ol>{post * 3}</ol>") == [0, 0, *[1.0] * 6]
    assert evidence(f"{STORY}<ol>{post.replace('12.03.2024 10:15', 'a guest') * 3}</ol>") == [0] * 8


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(f'<div class="comments-open">{STORY}</div><p>Me too.</p>', id="an element with the title"),
        pytest.param(f'<div class="comments-open"><p>{"On. " * 99}</p></div><p>No.</p>', id="nearly the page"),
        pytest.param(f"{STORY}<p>{'They had no comment on it and went on. ' * 3}</p><p>No.</p>", id="a sentence"),
        pytest.param(f"<p>By Ann, 12 comments</p>{STORY}<p>No.</p>", id="a number above the story"),
        pytest.param(f"{STORY}<h2>Discussion</h2><p>It was so.</p>", id="a part of a paper"),
        pytest.param(f"{STORY}<h2>No comment: they went on</h2><p>It was so.</p>", id="a word within"),
        pytest.param(f'{STORY}<div class="table-responsive"><p>I was there.</p></div>', id="another word"),
    ],
)
def test_nothing_speaks_for_it(body: str) -> None:
    assert not any(evidence(body))
