"""Elements are ranked by how well they fit the words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.fetchers.playwright.view.finding import MAX_CANDIDATES, nearest, ranked
from tests.unit.actors.fetchers.playwright.view.snapshots import element

PAY = element("button_pay_now", "Pay now", marks=("pay btn",))


@pytest.mark.parametrize(
    ("query", "score"),
    [
        ("button_pay_now", 1.0),
        ("Pay Now", 0.9),
        ("pay now button", 0.9),
        ("pay", 0.8),
        ("ay no", 0.6),
        ("pay btn", 0.5),
        ("checkout", 0.5),
        ("I want to pay now please", 0.4),
        ("any button", 0.3),
    ],
)
def test_the_score_says_how_it_fits(query: str, score: float) -> None:
    assert [(one.id, one.score) for one in ranked(query, [PAY])] == [("button_pay_now", score)]


def test_a_rough_likeness_counts_least() -> None:
    (found,) = ranked("paay noww", [PAY])

    assert 0 < found.score < 0.3


def test_of_equals_the_one_in_the_window_comes_first() -> None:
    elements = [
        element("button_a", "Go", in_view=False),
        element("button_b", "Go"),
        element("button_c", "Go", states=("hidden",)),
    ]

    assert [one.id for one in ranked("Go", elements)] == ["button_b", "button_a", "button_c"]


def test_the_nearest_ids_are_told() -> None:
    assert nearest("button_save_drft", ["link_home", "button_save_draft", "button_save"])[0] == "button_save_draft"
    assert nearest("zzz", ["link_home"]) == ()


@given(st.text(max_size=60), st.lists(st.text(max_size=40), max_size=12))
def test_no_words_break_it(query: str, labels: list[str]) -> None:
    elements = [element(f"button_{number}", label) for number, label in enumerate(labels)]
    found = ranked(query, elements)

    assert len(found) <= MAX_CANDIDATES
    assert all(0 < one.score <= 1 for one in found)
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
