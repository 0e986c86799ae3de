"""Claims of the same value are one candidate, whole or cut at what may be the name of a site."""

from __future__ import annotations

import pytest

from actors.extraction.decide.candidates import (
    agree_authors,
    agree_dates,
    agree_titles,
    author_candidates,
    date_candidates,
)
from actors.extraction.decide.candidates import title_candidates as titles_of
from actors.extraction.evidence.claim import Claim, PageField
from protocol.confidence import Source
from tests.unit.actors.extraction.places import place

URL = "https://www.thedaily.example/on-blue-things"


def claims(field: PageField, *said: tuple[str, str]) -> list[Claim]:
    return [Claim(field, value, place(where), Source.META_TAGS) for value, where in said]


def test_a_title_is_heard_whole_and_without_the_name_of_the_site() -> None:
    found = titles_of(
        claims(PageField.TITLE, ("On Blue Things | The Daily", "title"), ("On blue things", "h1: only")), URL, ()
    )

    said = {candidate.value: [(str(claim.place), form) for claim, form in candidate.mentions] for candidate in found}
    assert said == {
        "On Blue Things | The Daily": [("title", "")],
        "On Blue Things": [("title", "end"), ("h1: only", "")],
        "The Daily": [("title", "start")],
    }
    assert [candidate.shape.get("cut a site", 0) for candidate in found] == [0, 1, 0]


def test_authors_of_one_place_are_heard_together_too() -> None:
    said = claims(
        PageField.AUTHOR, ("Ann Lee", "meta: author"), ("Bo Dahl", "meta: author"), ("By Ann Lee", "byline line: by")
    )

    found = author_candidates(said, (), URL)

    assert [(candidate.value, [form for _, form in candidate.mentions]) for candidate in found] == [
        ("Ann Lee", ["", ""]),
        ("Bo Dahl", [""]),
        ("Ann Lee\nBo Dahl", ["all"]),
    ]


def test_days_are_told_from_what_was_changed_when() -> None:
    said = [
        *claims(PageField.PUBLISHED, ("2024-02-03T10:00:00Z", "meta: date"), ("3 February 2024", "visible text: near")),
        *claims(PageField.MODIFIED, ("2024-03-01", "meta: updated"), ("soon", "meta: updated")),
    ]

    found = date_candidates(said, month_first=False)

    assert [(candidate.key, len(candidate.mentions), candidate.shape["only modified"]) for candidate in found] == [
        ("2024-02-03", 2, False),
        ("2024-03-01", 1, True),
    ]


@pytest.mark.parametrize(
    ("first", "second", "degree"), [("2024-02-29", "2024-03-01", 0.5), ("2024-02-28", "2024-03-01", 0)]
)
def test_neighbouring_days_support_each_other(first: str, second: str, degree: float) -> None:
    one, other = date_candidates(
        claims(PageField.PUBLISHED, (first, "meta: a"), (second, "meta: b")), month_first=False
    )

    assert agree_dates(one, other) == degree


def test_values_that_share_most_words_support_each_other() -> None:
    one, other, third = titles_of(
        claims(PageField.TITLE, ("a b c d", "title"), ("a b c e", "h1"), ("f", "meta: z")), URL, ()
    )
    ann, ann_lee = author_candidates(claims(PageField.AUTHOR, ("Ann", "meta: x"), ("Ann Lee", "meta: y")), (), URL)

    assert (agree_titles(one, other), agree_titles(one, third)) == (0.75, 0.0)
    assert agree_authors(ann, ann_lee) == pytest.approx(2 / 3)
