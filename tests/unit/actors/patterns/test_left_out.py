"""What extraction leaves out of a page, though the page shows it, does not keep others of its kind from being made."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec import structs

from actors.extraction.page import extract_html
from actors.extraction.parse import tree
from actors.fetchers.sampling import shown_lines
from actors.patterns.mapping import Shown, agreement, induce, render
from tests.unit.actors.patterns.made_up_pages import KINDS, Words

Cut = Callable[[str], str]


def product(seed: int, cut: Cut = str) -> Shown:
    """Return a product as it is shown; `cut` is what else extraction does to its Markdown."""
    maker, url = KINDS["product"], f"https://loom.example/x/{seed}"
    answer = maker.answer(Words(seed))
    page = extract_html(html := maker.html(answer), url).summary
    page = structs.replace(page, markdown=cut(page.markdown), tables=())
    return Shown((answer,), page, url, {"id": str(seed)}, shown_lines(tree.read(html, url)))


def without_price(markdown: str) -> str:
    return "\n\n".join(line for line in markdown.split("\n\n") if not line.startswith("€ "))


def without_words(markdown: str) -> str:
    return markdown.replace("Made by ", "")


@pytest.mark.parametrize("cut", [without_price, without_words])
def test_a_line_that_was_left_out_of_some_pages_is_made_of_all(cut: Cut) -> None:
    mapping = induce([product(0, cut), product(3), product(2, cut)])
    assert mapping is not None

    made = render(mapping, (of := product(1)).answers, of.url, of.slots)
    assert made.markdown == of.page.markdown


def test_a_line_that_pages_do_not_show_is_no_part_of_them() -> None:
    some = [product(0, without_price), product(3), product(2, without_price)]

    assert induce([structs.replace(one, lines=()) for one in some]) is None


PRICE = "€ 1,066.51"


@pytest.mark.parametrize(
    ("line", "blocks", "same"),
    [
        ("", [PRICE], True),
        ("", ["€", " 1,066.51"], True),
        ("", ["€ 1,066.52"], False),
        ("", ["€ 1,066.51 each"], False),
        ("", [], False),
        ("€ 1,066.52", [PRICE], False),
    ],
)
def test_a_line_that_was_not_extracted_is_right_where_the_page_shows_it(
    line: str,
    blocks: list[str],
    same: bool,  # noqa: FBT001 - an expectation
) -> None:
    page = product(0).page
    rendered = structs.replace(page, markdown=page.markdown.replace(PRICE, line, 1), text=page.text)
    shown = [block for one in product(0).lines for block in (blocks if one == PRICE else [one])]

    assert agreement(page, rendered, shown).same is same


def test_a_line_that_stands_elsewhere_on_the_page_is_wrong() -> None:
    page = product(0).page
    rendered = structs.replace(page, markdown=without_price(page.markdown))
    shown = [one for one in product(0).lines if one != PRICE]

    assert not agreement(page, rendered, [*shown, PRICE]).same


def test_what_a_page_shows_is_sampled_within_bounds() -> None:
    html = "<nav>Home</nav><p hidden>Nobody</p><main><p>One <b>word</b></p></main>" + f"<p>{'x' * 9_000}</p>" * 9

    lines = shown_lines(tree.read(html, "https://loom.example/"))
    assert (lines[:2], len(lines)) == (("Home", "One word"), 9)
