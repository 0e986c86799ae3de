"""Where a page is cut."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from actors.extraction.decide.cutoff import Groups, adjusted_scores, best_cutoff
from actors.extraction.decide.model import TRAINED_TYPES, Scores
from protocol.page import PageType


@pytest.mark.parametrize(
    ("probabilities", "tokens", "kept"),
    [
        pytest.param([0.9, 0.1], [50, 50], [True, False], id="the likely one"),
        pytest.param([0.2, 0.19], [50, 50], [True, True], id="all, where nothing is likelier"),
        pytest.param([0.9, 0.6, 0.4, 0.02], [10, 10, 10, 500], [True, True, True, False], id="no long unlikely one"),
        pytest.param([0.7, 0.7], [5, 9], [True, True], id="equals together"),
        pytest.param([0.0], [3], [True], id="something always"),
    ],
)
def test_keeps_what_gives_the_best_expected_f1(
    probabilities: list[float], tokens: list[float], kept: list[bool]
) -> None:
    found = best_cutoff(np.array(probabilities), np.array(tokens, np.float32))

    assert found.kept.tolist() == kept


@given(st.lists(st.tuples(st.floats(0.001, 0.999), st.integers(1, 500)), min_size=1, max_size=40))
def test_no_other_threshold_promises_more(rows: list[tuple[float, int]]) -> None:
    chances = np.array([chance for chance, _ in rows])
    tokens = np.array([count for _, count in rows], np.float32)

    found = best_cutoff(chances, tokens)

    whole = (chances * tokens).sum()
    others = [
        2 * (chances * tokens)[chances >= bound].sum() / (tokens[chances >= bound].sum() + whole) for bound in chances
    ]
    assert found.f1 == pytest.approx(max(others), abs=1e-6)
    assert 0 <= found.precision <= 1.0001
    assert 0 <= found.recall <= 1.0001


def test_scores_count_less_where_few_pages_taught_them_and_blocks_of_an_article_must_be_surer() -> None:
    service, collection, article = (
        _adjusted(kind, [2.0, -1.0]) for kind in (PageType.SERVICE, PageType.COLLECTION, PageType.ARTICLE)
    )

    assert service.tolist() == [2, -1]
    assert 0 < collection[0] < service[0]
    assert service[1] < collection[1] < 0
    assert (article < service).all()


def test_a_short_list_and_a_table_of_facts_are_content_as_a_whole_or_not_at_all() -> None:
    some = [slice(1, 3)]
    product, forum = (_adjusted(kind, [2.0, -1.0, 0.5], facts=some) for kind in (PageType.PRODUCT, PageType.FORUM))
    listed = _adjusted(PageType.FORUM, [2.0, -1.0, 0.5], lists=some)

    assert product[1] == product[2] > 0
    assert forum.tolist() == [2, -0.25, -0.25]
    assert listed.tolist() == [2, -0.25, -0.25]


def test_comments_are_no_content_of_an_article_but_of_a_thread() -> None:
    article, thread = (
        _adjusted(kind, [2.0, 2.0], comments=np.array([0, 1.5])) for kind in (PageType.ARTICLE, PageType.FORUM)
    )

    assert article[0] - article[1] == 1.5
    assert thread[0] == thread[1]


def test_what_stands_above_the_title_is_less_likely_content() -> None:
    plain, titled = (_adjusted(PageType.SERVICE, [2.0, 1.0, 2.0], title=title) for title in ((), (0, 1, 0)))

    assert (plain - titled).tolist() == [1, 0, 0]


def _adjusted(kind: PageType, scores: list[float], title: Sequence[float] = (), **groups: Any) -> Scores:
    """Return the scores of unlike blocks of a page that is surely of a kind; `title` is how like it they are."""
    count = len(scores)
    names = ("in_review", "under_reviews", "says_facet", "linked")
    columns = {name: np.zeros(count, np.float32) for name in names}
    columns |= {name: np.array(title or [0] * count, np.float32) for name in ("like_title", "of_title")}
    types = np.array([float(one is kind) for one in TRAINED_TYPES])
    made = structs.replace(
        Groups(np.arange(count), (), (), np.zeros(count, np.float32), np.zeros(count, np.bool_)), **groups
    )
    return adjusted_scores(np.array(scores), made, columns, np.full(count, 50, np.float32), types)
