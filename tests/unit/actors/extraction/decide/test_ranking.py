"""A value that is not voted on is as sure as its source, what agrees and what contradicts make it."""

from __future__ import annotations

import pytest

from actors.extraction.decide.ranking import AGREEMENT, DISAGREEMENT, MAX_SCORE, best_value
from actors.extraction.evidence.claim import Claim, PageField, PlaceKind
from protocol.confidence import BASELINES, Source
from tests.unit.actors.extraction.places import place

META = BASELINES[Source.META_TAGS]


def claims(*said: tuple[str, str]) -> list[Claim]:
    return [Claim(PageField.DESCRIPTION, value, place(where), Source.META_TAGS) for value, where in said]


@pytest.mark.parametrize(
    ("said", "value", "score"),
    [
        ([("a", "meta: x")], "a", META),
        ([("a", "meta: x"), ("a", "meta: y")], "a", META),
        ([("a", "meta: x"), ("a", "og:y")], "a", 1 - (1 - META) * AGREEMENT),
        ([("a", "meta: x"), ("b", "og:y")], "a", META * DISAGREEMENT),
        ([("a", "meta: x"), ("b", "og:y"), ("b", "link: z")], "b", (1 - (1 - META) * AGREEMENT) * DISAGREEMENT),
        ([("a", f"{kind}: x") for kind in list(PlaceKind)[:13]], "a", MAX_SCORE),
    ],
)
def test_the_rule(said: list[tuple[str, str]], value: str, score: float) -> None:
    found = best_value(claims(*said), str, lambda _: 1.0)

    assert found is not None
    assert found.value == value
    assert found.score == pytest.approx(score)


def test_what_the_value_itself_is_worth_counts() -> None:
    found = best_value(claims(("a", "meta: x"), ("b", "meta: y")), str, lambda value: 0.1 if value == "a" else 1.0)

    assert found is not None
    assert found.value == "b"


def test_nothing_is_nothing() -> None:
    assert best_value(claims(("a", "meta: x")), lambda _: "", lambda _: 1.0) is None
    assert best_value([], str, lambda _: 1.0) is None
