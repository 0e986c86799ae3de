"""What has changed between two versions of a page, and what is kept of a long one."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.runner.collections.sections import sampled, section_changes
from protocol.collections import SectionChange

FENCE = "```python\n" + "x = 1\n" * 400 + "```\n"


def page(*blocks: str) -> str:
    return "\n\n".join(blocks) + "\n"


def paragraphs(count: int, first: int = 0) -> list[str]:
    return [f"Paragraph {first + number} says one thing of looms." for number in range(count)]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (page("# A", "one"), page("# A", "one"), ()),
        (page("# A", "one"), page("# A", "", "one  "), ()),
        (
            page("# A", "one"),
            page("# A", "two", "three"),
            (SectionChange(heading="A", change="changed", added_lines=2, removed_lines=1),),
        ),
        (page("# A", "one"), page("# A", "one", "## B"), (SectionChange(heading="B", change="added", added_lines=1),)),
        (
            page("lead", "# A", "one", "## B", "two"),
            page("other", "# A", "one"),
            (
                SectionChange(heading="", change="changed", added_lines=1, removed_lines=1),
                SectionChange(heading="B", change="removed", removed_lines=1),
            ),
        ),
        (page("# A", "```\n# no heading\n```"), page("# A", "```\n# no heading\n```"), ()),
        (
            page("# A", "```\n# one\n```"),
            page("# A", "```\n# two\n```"),
            (SectionChange(heading="A", change="changed", added_lines=1, removed_lines=1),),
        ),
    ],
)
def test_changes_are_told_by_the_headings_that_they_stand_under(
    before: str, after: str, expected: tuple[SectionChange, ...]
) -> None:
    assert section_changes(before, after) == expected


def test_a_short_page_is_kept_whole() -> None:
    assert sampled("# A\n\nwords\n", 100) == ("# A\n\nwords\n", False)


def test_of_a_long_page_its_head_middle_and_end_are_kept_with_marks_between() -> None:
    words = page("# Looms", *paragraphs(500))

    kept, truncated = sampled(words, 4_000)

    numbers = [int(number) for number in re.findall(r"Paragraph (\d+)", kept)]
    gaps = [second - first for first, second in pairwise(numbers) if second - first > 1]
    assert truncated
    assert len(kept) <= 4_000
    assert len(kept) > 3_500
    assert (numbers[0], numbers[-1], len(gaps)) == (0, 499, 2)
    assert any(200 < number < 300 for number in numbers)
    assert len(re.findall(r"\*\[… [\d,]+ of [\d,]+ characters are left out here …\]\*", kept)) == 2


def test_little_is_kept_of_long_paragraphs_where_little_is_wanted() -> None:
    words = page("# Looms", *("A loom weaves cloth of yarn. " * 60 for _ in range(20)))

    for most in (600, 1_000, 3_000):
        kept, _ = sampled(words, most)

        assert most * 0.5 < len(kept) <= most
        assert kept.startswith("# Looms\n\nA loom weaves")


def test_a_fence_of_code_is_kept_whole_or_not_at_all() -> None:
    words = page("# Looms", *paragraphs(20), FENCE, *paragraphs(200, 20), FENCE, *paragraphs(20, 220))

    joined = page("# Looms", *paragraphs(20), f"Like this:\n{FENCE}", *paragraphs(200, 20))

    for whole in (words, joined):
        for most in range(2_000, 16_000, 700):
            kept, _ = sampled(whole, most)

            assert kept.count("```") % 2 == 0
            assert kept.count("x = 1") in {0, 400, 800}


@given(
    st.lists(st.sampled_from(["# A", "words " * 60, "~~~", "```", "- item", "", "x" * 5_000]), max_size=60),
    st.integers(500, 6_000),
)
def test_what_is_kept_is_bounded_and_comes_from_the_page(blocks: list[str], most: int) -> None:
    words = page(*blocks)

    kept, truncated = sampled(words, most)

    assert len(kept) <= max(most, 1) + 1
    assert truncated == (len(words) > most)
    assert all(line in words for line in kept.split("\n") if not line.startswith("*[…"))
