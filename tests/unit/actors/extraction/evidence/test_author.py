"""Names of authors are read without what stands around them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.extraction.evidence.author import MAX_NAMES, is_organisation, key, looks_personal, people


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ann Lee", ("Ann Lee",)),
        ("By Ann Lee", ("Ann Lee",)),
        ("Written by: Ann Lee", ("Ann Lee",)),
        ("Von Ann Lee und Bo Dahl", ("Ann Lee", "Bo Dahl")),
        ("Ann Lee, Bo Dahl and Cy Twombly", ("Ann Lee", "Bo Dahl", "Cy Twombly")),
        ("By Ann Lee | March 5, 2019", ("Ann Lee",)),
        ("March 5, 2019 | 13:10 | Ann Lee", ("Ann Lee",)),
        ("By Ann Lee on March 5, 2019", ("Ann Lee",)),
        ("By Ann Lee\nUpdated March 5, 2019\n4 min read", ("Ann Lee",)),
        ("Ann Lee, M.D., Ph.D.", ("Ann Lee",)),
        ("By Ann Lee, Chief Technology Officer", ("Ann Lee",)),
        ("Ann Lee (Berlin)", ("Ann Lee",)),
        ("Ann Lee <ann at example.org>", ("Ann Lee",)),
        ("Mrs. Ann Lee", ("Ann Lee",)),
        ("ANN LEE", ("Ann Lee",)),
        ("AFP", ("AFP",)),
        ("Ann Lee, Daily News Staff", ("Ann Lee",)),
        ("Daily News Staff", ("Daily News Staff",)),
        ("von | Ann Lee", ("Ann Lee",)),
        ("by Ann Lee, Ann Lee", ("Ann Lee",)),
        ("https://example.org/ann", ()),
        ("Share on Facebook", ()),
        ("admin", ()),
        ("Log in", ()),
        ("J", ()),
        ("by March 9", ()),
        ("Kept by", ()),
        ("Staff Writer", ("Staff Writer",)),
        ("Sat, 20 Dec 2025", ()),
        ("", ()),
    ],
)
def test_names(text: str, expected: tuple[str, ...]) -> None:
    assert people(text) == expected


def test_spellings_share_a_key() -> None:
    assert key("José-María Núñez") == key("jose maria nunez")


@pytest.mark.parametrize(
    ("name", "personal", "organisation"),
    [
        ("Ann Lee", True, False),
        ("Ludwig van Beethoven", True, False),
        ("ann", False, False),
        ("Example Press", True, True),
        ("example.com", False, True),
        ("Agent 007", False, False),
    ],
)
def test_who_is_a_person(name: str, personal: bool, organisation: bool) -> None:  # noqa: FBT001 - parameters of a test
    assert (looks_personal(name), is_organisation(name)) == (personal, organisation)


@given(st.text(max_size=700))
def test_no_text_is_too_odd(text: str) -> None:
    assert len(people(text)) <= MAX_NAMES
