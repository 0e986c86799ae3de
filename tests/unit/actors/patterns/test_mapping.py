"""What is learned from pages and the answers behind them makes other pages of the kind as extraction reads them."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from functools import cache
from typing import Any

import msgspec
import pytest
from msgspec import UNSET, structs

from actors.extraction.page import extract_html
from actors.patterns.answer_checks import checks_of, first_unmet
from actors.patterns.mapping import DriftError, Shown, agreement, induce, render
from actors.patterns.mapping.flattened import unflattened
from actors.patterns.mapping.study import GiveUpError, StepBudget, Study
from actors.patterns.mapping.values import ValueLevel, is_array, is_object
from actors.patterns.shapes import drift_of, shape_of
from protocol.documents import WebObservationSummary
from protocol.page import PageType, Product
from protocol.patterns.mapping import PageMapping
from protocol.patterns.use import Drift
from tests.unit.actors.patterns.made_up_pages import KINDS, Words


@cache
def shown(kind: str, seed: int) -> Shown:
    maker = KINDS[kind]
    answer = maker.answer(Words(seed))
    url = f"https://loom.example/x/{seed}"
    page = extract_html(maker.html(answer), url).summary
    return Shown(answers=(answer,), page=page, url=url, slots={"id": str(seed)})


@cache
def learned(kind: str, *seeds: int) -> PageMapping:
    mapping = induce([shown(kind, seed) for seed in seeds])
    assert mapping is not None
    return mapping


def made(mapping: PageMapping, of: Shown, answers: tuple[Any, ...] | None = None) -> WebObservationSummary:
    return render(mapping, of.answers if answers is None else answers, of.url, of.slots)


SEEDS = {"results": (2000, 2001, 2002), "article": (0, 2, 1), "film": (0, 1, 2, 3, 4, 6)}
"""Pages of which extraction reads the same fields (of some it takes the date of a hit for their own), that have dates
with days of one and two digits, and more than one film of a genre."""


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_two_pages_are_enough_to_make_a_third(kind: str) -> None:
    *first, third = SEEDS.get(kind, (0, 1, 2))
    page = made(learned(kind, *first), shown(kind, third))

    compared = agreement(page, shown(kind, third).page)

    assert compared.same, compared
    assert without_title(page) == without_title(shown(kind, third).page)


def without_title(page: WebObservationSummary) -> str:
    """Return the Markdown of a page without its title, which extraction leaves out on some pages of a kind."""
    first, _, rest = page.markdown.partition("\n\n")
    return rest if first.startswith("# ") else page.markdown


@pytest.mark.full
@pytest.mark.parametrize("kind", KINDS)
def test_most_pages_of_a_kind_are_made_after_two(kind: str) -> None:
    outcomes: list[bool] = []
    for seed in range(0, 200, 10):
        first, second, third = shown(kind, seed), shown(kind, seed + 1), shown(kind, seed + 2)
        mapping = induce([first, second])
        if mapping is None or not _accepts((first, second), mapping, third):
            continue
        try:
            page = made(mapping, third)
        except DriftError:
            continue  # what the two did not show is asked of the site again
        outcomes.append(agreement(page, third.page).same)

    assert sum(outcomes) >= 0.85 * len(outcomes) > 0  # the rest: a line that extraction keeps of one page alone


@pytest.mark.parametrize(("kind", "seed"), [("job", 110), ("thread", 40)])
def test_what_two_pages_have_alike_by_chance_is_not_said_of_a_third(kind: str, seed: int) -> None:
    """A city that the fields write and a line has as a word, and the number of comments."""
    first, second, third = shown(kind, seed), shown(kind, seed + 1), shown(kind, seed + 2)
    mapping = learned(kind, seed, seed + 1)

    assert agreement(made(mapping, second), second.page).same
    if _accepts((first, second), mapping, third):
        with pytest.raises(DriftError):
            made(mapping, third)


def _accepts(pages: Sequence[Shown], mapping: PageMapping, further: Shown) -> bool:
    """Return whether an answer is one of those that a pattern of some pages takes."""
    checks = checks_of([(one.slots, one.answers) for one in pages], mapping, "https://loom.example/x/{id}")
    shape = shape_of([one.answers[0] for one in pages])
    return drift_of(shape, further.answers[0]) is None and not first_unmet(checks, further.slots, further.answers)


def test_a_mapping_travels() -> None:
    mapping = learned("thread", 0, 1)

    again = msgspec.json.decode(msgspec.json.encode(mapping), type=PageMapping)

    assert again == mapping


def test_pages_that_the_answers_do_not_account_for_teach_nothing() -> None:
    one, other = shown("article", 0), shown("article", 1)
    strange = ({"visits": 12, "token": "abc"},)

    assert induce([with_answers(one, strange), with_answers(other, strange)]) is None
    assert induce([with_answers(one, strange)]) is None
    assert induce([]) is None


def with_answers(of: Shown, answers: tuple[Any, ...]) -> Shown:
    return Shown(answers=answers, page=of.page, url=of.url, slots={})


@pytest.mark.parametrize(
    ("value", "drift"), [(None, Drift.MISSING), ({"en": "A mug"}, Drift.RETYPED), ("", Drift.EMPTIED)]
)
def test_an_answer_that_is_not_what_it_was_makes_no_page(value: object, drift: Drift) -> None:
    answer = deepcopy(shown("product", 2).answers[0])
    answer["data"]["name"] = value

    with pytest.raises(DriftError) as drifted:
        made(learned("product", 0, 1), shown("product", 2), (answer,))

    assert (drifted.value.drift, drifted.value.where) == (drift, "answers[0].data.name")


def test_an_answer_without_its_list_makes_no_page() -> None:
    answer = deepcopy(shown("listing", 2).answers[0])
    answer["items"] = []

    with pytest.raises(DriftError) as drifted:
        made(learned("listing", 0, 1), shown("listing", 2), (answer,))

    assert (drifted.value.drift, drifted.value.where) == (Drift.EMPTIED, "answers[0].items")


def test_a_plain_value_stays_text() -> None:
    answer = deepcopy(shown("product", 2).answers[0])
    answer["data"]["description"] = "# <script>alert(1)</script> [here](https://evil.example) *now*"

    page = made(learned("product", 0, 1), shown("product", 2), (answer,))

    assert "\\# \\<script>alert(1)\\</script> \\[here\\](https://evil.example) \\*now\\*" in page.markdown.split("\n")
    assert "https://evil.example" not in [link.url for link in page.extracted_links]


def test_html_of_an_answer_is_written_as_that_of_a_page() -> None:
    answer = deepcopy(shown("article", 1).answers[0])
    answer["post"]["html"] = (
        "<p>One <b>word</b>, <a href='/more?utm_source=x'>more</a>.</p><script>alert(1)</script>"
        "<p style='display:none'>Nobody sees it.</p><p><a href='javascript:alert(1)'>No link</a></p>"
    )

    page = made(learned("article", 0, 2), shown("article", 1), (answer,))

    assert "One **word**, [more](https://loom.example/more).\n\nNo link" in page.markdown
    assert "Nobody sees it" not in page.markdown


def test_a_line_that_no_answer_has_teaches_nothing() -> None:
    strange = [
        structs.replace(each, page=structs.replace(each.page, markdown=f"{each.page.markdown}\n\n{words}"))
        for each, words in zip((shown("story", 0), shown("story", 1)), ("Now in blue", "Back again"), strict=True)
    ]

    assert induce(strange) is None


@pytest.mark.parametrize(("field", "value"), [("genre", 12), ("views", 950), ("blocks", [{"type": "quote"}])])
def test_what_was_never_seen_makes_no_page(field: str, value: object) -> None:
    answer = deepcopy(shown("film", 6).answers[0])
    answer["film"][field] = value

    with pytest.raises(DriftError):
        made(learned("film", 0, 1, 2, 3, 4), shown("film", 6), (answer,))


def test_values_may_be_named_by_their_places() -> None:
    mapping = learned("story", 0, 1)
    flat: list[Any] = []

    made_of_flat = made(mapping, shown("story", 2), (flattened(shown("story", 2).answers[0], flat),))

    assert made_of_flat == made(mapping, shown("story", 2))


@pytest.mark.parametrize(
    "answer",
    [
        [{"id": 1, "left": 2}, {"id": 2, "left": 0}, {"id": 1, "left": 1}],
        [{"id": 1}, {"id": 2, "name": "Socks"}, {"id": 0, "name": "Hat"}],
        [{"id": 0}, None, []],
    ],
)
def test_a_list_of_things_with_small_numbers_is_one_of_things(answer: list[Any]) -> None:
    assert unflattened(answer) is answer


def flattened(value: Any, into: list[Any]) -> list[Any]:
    """Write values as the servers of some frameworks send them: each once, named by its place."""
    place = len(into)
    into.append(value)
    if is_object(value):
        into[place] = {name: named_by_place(each, into) for name, each in value.items()}
    elif is_array(value):
        into[place] = [named_by_place(each, into) for each in value]
    return into


def named_by_place(value: Any, into: list[Any]) -> int:
    place = len(into)
    flattened(value, into)
    return place


def test_lists_in_lists_are_given_up_before_they_fill_the_memory() -> None:
    lists = [[[[word] * 5] * 5] * 5 for word in ("loom", "warp", "weft") * 20]
    study = Study(
        "https://loom.example/x", frozenset({"loom", "warp", "weft"}), markdown=True, budget=StepBudget(9_000)
    )

    with pytest.raises(GiveUpError):
        study.index_of_items(lists, [ValueLevel(one, number) for number, one in enumerate(lists, 1)])


def test_a_number_beyond_all_dates_is_a_number() -> None:
    pages = [
        structs.replace(each, answers=({**each.answers[0], "key": 10**400 + each_number},))
        for each_number, each in enumerate((shown("product", 0), shown("product", 1)))
    ]

    assert induce(pages) is not None


def test_agreement_names_what_is_unlike() -> None:
    page = shown("listing", 0).page
    other = structs.replace(page, title="Another", tables=(), text=UNSET, markdown=page.markdown + "\n\nMore words.")

    compared = agreement(other, page)

    assert compared.unlike == ("title", "1 line extra: More words.")
    assert 0.9 < compared.text < 1
    assert not compared.same
    assert agreement(page, page).same


def test_one_wrong_line_is_enough_to_be_unlike() -> None:
    page = shown("article", 0).page
    lines = page.markdown.split("\n\n")
    changed = {
        "missing": lines[:-1],
        "extra": [*lines, "One more."],
        "elsewhere": [*lines[1:], lines[0]],
    }

    for those in changed.values():
        compared = agreement(structs.replace(page, markdown="\n\n".join(those)), page)
        assert compared.lines > 0
        assert not compared.same


@pytest.mark.parametrize(
    ("fields", "same"),
    [
        ({"authors": ("Ann Weaver",), "published": "2021-02-20"}, True),
        ({"authors": ("Bob Weaver",)}, False),
        ({"published": "2021-02-21"}, False),
        ({"product": Product(name="A mug", price="1234.50", currency="EUR")}, True),
        ({"product": Product(name="A mug", price="1234.05", currency="EUR")}, False),
        ({"page_type": PageType.FORUM}, False),
    ],
)
def test_a_field_that_extraction_did_not_find_is_not_wrong_where_the_page_says_it(
    fields: dict[str, Any],
    same: bool,  # noqa: FBT001 - an expectation
) -> None:
    page = WebObservationSummary(
        url="https://loom.example/x",
        title="A mug",
        markdown="By Ann Weaver, February 20, 2021\n\n**1.234,50 €**",
        language="en",
    )
    parts = structs.replace(page.parts, fields=structs.replace(page.parts.fields, **fields))
    more = structs.replace(page, parts=parts)

    assert agreement(more, page).same is same
    assert not agreement(page, more).same
