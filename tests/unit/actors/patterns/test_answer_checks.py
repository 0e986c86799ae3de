"""What must stand in answers: the piece of the address that they are for, and what was the same on all pages."""

from __future__ import annotations

from typing import Any

import pytest

from actors.patterns.answer_checks import absences, checks_of, first_unmet, mark_of, met
from protocol.patterns.mapping import AsIs as Text
from protocol.patterns.mapping import Each, Fields, One, PageMapping, TemplateSlot, TemplateText, ValueSource
from protocol.patterns.pattern import AnswerCheck, PagePattern, PatternSource

NAME = ValueSource(level=1, path=("name",))
NAMES = PageMapping(
    page=Fields(fields={}),
    markdown=(
        Each(
            source=ValueSource(path=("answers", 0, "items")),
            parts=(
                One(
                    node=TemplateText(pieces=(TemplateSlot(source=ValueSource(level=1, path=("name",)), form=Text()),))
                ),
            ),
        ),
    ),
)


def answer(number: int, *, state: str = "ready", **more: Any) -> dict[str, Any]:
    items = [{"name": "Loom", "state": state}, {"name": "Loom", "state": "ready"}]
    return {"id": number, "title": f"Looms {number}", "note": None, "items": items, **more}


PAGES = [({"number": "7"}, (answer(7),)), ({"number": "8"}, (answer(8),))]
CHECKS = (
    AnswerCheck(path=(0, "id"), slot="{number}"),
    AnswerCheck(path=(0, "items", "*", "state"), value="ready"),
    AnswerCheck(path=(0, "note")),
)


def test_what_is_the_same_and_not_written_is_to_stay_the_same() -> None:
    assert set(map(str, checks_of(PAGES, NAMES, "https://mill.example/looms/{number}"))) == set(map(str, CHECKS))


@pytest.mark.parametrize(
    ("number", "given", "where"),
    [
        ("9", answer(9), ""),
        ("9", answer(8), "0.id"),
        ("9", answer(9, state="sold"), "0.items.*.state"),
        ("9", answer(9, note="Sold out"), "0.note"),
        ("9", answer(9, note=False), "0.note"),
        ("9", {"id": 9}, ""),
    ],
)
def test_an_answer_of_another_page_or_state_is_told(number: str, given: dict[str, Any], where: str) -> None:
    assert first_unmet(CHECKS, {"number": number}, (given,)) == where


def test_what_a_page_that_was_made_right_does_not_meet_is_no_check() -> None:
    assert met(CHECKS, {"number": "9"}, (answer(9, state="sold"),)) == (CHECKS[0], CHECKS[2])


def line(*path: str | int) -> One:
    return One(node=TemplateText(pieces=(TemplateSlot(source=ValueSource(path=("answers", *path)), form=Text()),)))


def pattern(*lines: One) -> PagePattern:
    return PagePattern(
        pattern_id="pat_a",
        domain="mill.example",
        page="",
        requests=(),
        score=0.0,
        mapping=PageMapping(page=Fields(fields={}), markdown=lines),
        source=PatternSource.MANUAL,
    )


def test_what_one_item_had_is_missed_where_it_comes_back() -> None:
    """A place that a mapping names by the number of an item is the same as in any other item."""
    gone = absences(pattern(line(0, "items", 0, "maker")), [(answer(7),), (answer(8),)])

    assert gone == (AnswerCheck(path=(0, "items", "*", "maker")),)
    back = answer(9)
    back["items"][0]["maker"] = "Ada"
    assert first_unmet(gone, {}, (back,)) == "0.items.*.maker"


def test_what_stands_under_an_id_is_missed_where_it_comes_back() -> None:
    """The one field of an object whose name is another on each page is named by its place."""
    notes = [({"note-7": {"title": "Loom"}},), ({"note-8": {"title": "Weft"}},)]
    former = pattern(line(0, 0, "title"), line(0, 0, "author"))

    gone = absences(former, notes)

    assert gone == (AnswerCheck(path=(0, "*", "author")),)
    assert first_unmet(gone, {}, ({"note-9": {"title": "Warp", "author": "Ada"}},)) == "0.*.author"


def test_answers_are_known_by_the_long_texts_that_a_page_has_of_them() -> None:
    told = "A loom that was mended in spring, and again in autumn."
    mapping = pattern(line(0, "about"), line(0, "name"), line(0, "state")).mapping
    assert mapping is not None
    first, moved, other, short = (
        mark_of(mapping, (one,))
        for one in (
            {"about": told, "name": "Loom", "state": "ready", "took": 4},
            {"about": told, "name": "Loom", "state": "sold", "took": 9},
            {"about": told.replace("loom", "mill"), "name": "Loom", "state": "ready"},
            {"about": "", "name": "Loom", "state": "ready"},
        )
    )

    assert first == moved
    assert len({first, other, short}) == 3
    assert short == ""
