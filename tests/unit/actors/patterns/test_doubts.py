"""What some pages do not tell of others of their kind is never guessed: it is drift, or is checked in the answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from actors.patterns.answer_checks import checks_of, first_unmet
from actors.patterns.mapping import DriftError, Shown, induce, render
from actors.patterns.mapping.study import leaves
from actors.patterns.mapping.values import UnknownCaseError, root
from protocol.documents import WebObservationSummary
from protocol.patterns.mapping import PageMapping

Answer = dict[str, Any]
Writer = Callable[[Answer], str]

LETTERS = {1: "Minor", 2: "Major", 3: "Critical"}


def page_of(answer: Answer, write: Writer) -> Shown:
    url = f"https://loom.example/x/{answer['id']}"
    markdown = f"{write(answer)}\n\n{answer['text']}"
    page = WebObservationSummary(url=url, title=answer["text"], markdown=markdown, language="en")
    return Shown((answer,), page, url, {"id": str(answer["id"])})


def pages(write: Writer, field: str, values: Sequence[Any]) -> list[Shown]:
    words = (
        "The loom of Brinewick",
        "A silent harbour",
        "Some bakers of Carrow",
        "Most of the orchard",
        "Nobody at all",
    )
    return [
        page_of({"id": 7_001 + number, "text": text, field: value}, write)
        for number, (text, value) in enumerate(zip(words, values, strict=False))
    ]


def induced(shown: Sequence[Shown]) -> PageMapping:
    mapping = induce(shown)
    assert mapping is not None
    return mapping


def by_all(answer: Answer) -> str:
    return "By " + ", ".join(answer["by"])


def by_each(answer: Answer) -> str:
    return "By " + ", ".join(dict.fromkeys(answer["by"]))


def level(answer: Answer) -> str:
    return f"Level: {LETTERS[answer['level']]}"


ONE_OF_EACH = [["Ann Weaver"], ["Bob Twill"], ["Eve Satin", "Otto Warp"]]
NO_ONE_TWICE = [["Ann Weaver", "Bob Twill"], ["Eve Satin", "Otto Warp", "Mira Loom"], ["Ann Weaver"] * 2]


@pytest.mark.parametrize(
    ("field", "write", "values"),
    [("by", by_all, ONE_OF_EACH), ("by", by_each, NO_ONE_TWICE), ("level", level, [1, 2, 2, 1, 3])],
)
def test_what_the_pages_do_not_tell_makes_no_page(field: str, write: Writer, values: Sequence[Any]) -> None:
    *known, other = pages(write, field, values)
    mapping = induced(known)

    with pytest.raises(DriftError):
        render(mapping, other.answers, other.url, other.slots)


def guided(answer: Answer) -> str:
    return f"Guided {answer['sort']}"


def count(answer: Answer) -> str:
    return f"{answer['count']} things"


def share(answer: Answer) -> str:
    return f"{answer['share']:.2f} points"


@pytest.mark.parametrize(
    ("field", "write", "values"),
    [
        ("sort", guided, ["walk", "walk", "talk"]),
        ("count", count, [157, 157, 158]),
        ("share", share, [4.5, 4.5, 4.6]),
    ],
)
def test_what_was_the_same_everywhere_is_checked_in_the_answers(
    field: str, write: Writer, values: Sequence[Any]
) -> None:
    *known, other = pages(write, field, values)
    checks = checks_of([(one.slots, one.answers) for one in known], induced(known), "https://loom.example/x/{id}")

    assert first_unmet(checks, known[0].slots, known[0].answers) == ""
    assert first_unmet(checks, other.slots, other.answers) == f"0.{field}"


def test_a_kind_that_was_never_seen_is_told_from_an_answer_that_has_changed() -> None:
    def write(answer: Answer) -> str:
        return {"walk": "Guided tour", "talk": "Lecture", "show": "On stage"}[answer["sort"]]

    *known, other = pages(write, "sort", ["walk", "talk", "walk", "talk", "show"])
    mapping = induced(known)

    with pytest.raises(UnknownCaseError):
        render(mapping, other.answers, other.url, other.slots)
    with pytest.raises(DriftError) as drifted:
        render(mapping, ({**known[0].answers[0], "text": None},), other.url, other.slots)
    assert not isinstance(drifted.value, UnknownCaseError)


def test_a_number_has_the_decimals_that_all_pages_show() -> None:
    votes = [{"mean": 3.1, "count": 2}, {"mean": 2.9, "count": 3}, {"mean": 4.1, "count": 2}, {"mean": 4.0, "count": 5}]
    *known, other = pages(
        lambda answer: f"Rated {answer['votes']['mean']:.1f} of 5", "votes", [*votes, {"mean": 2.6, "count": 5}]
    )

    assert "Rated 2.6 of 5" in render(induced(known), other.answers, other.url, other.slots).markdown


def test_an_array_that_was_always_empty_is_noticed_when_it_is_not() -> None:
    *known, other = pages(lambda _: "Yarn", "notes", [[], [], ["Worn"]])
    checks = checks_of([(one.slots, one.answers) for one in known], induced(known), "https://loom.example/x/{id}")

    assert first_unmet(checks, known[0].slots, known[0].answers) == ""
    assert first_unmet(checks, other.slots, other.answers) == "0.notes"


def test_how_many_requests_have_answered_is_no_value_of_a_page() -> None:
    shown = pages(lambda answer: f"Said by {len(answer['by'])}", "by", [["Ann"], ["Bob"], ["Eve"]])
    sources = {path for each in shown for path, _ in leaves(root(each.answers, each.slots, each.url).value)}

    assert ("answers",) not in sources
    assert ("answers", 0, "by") in sources
