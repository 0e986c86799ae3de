"""Patterns are filled and matched as NATS does it, and the table is without contradictions."""

from __future__ import annotations

import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.pages import Fetched, FetchPage
from protocol.subject_kinds import Call, Subject, Work, fill, matches
from protocol.subjects import BROWSE, FETCH, VERIFY_PAGE, table

TOKEN = st.from_regex(r"[A-Za-z0-9_-]{1,5}", fullmatch=True)
FEW = st.sampled_from(["a", "b", "c"])
SUBJECT = st.lists(FEW, min_size=1, max_size=4).map(".".join)
TOKENS = st.lists(FEW | st.just("*"), min_size=1, max_size=4).map(".".join)
WILDCARD = TOKENS | TOKENS.map(lambda tokens: f"{tokens}.>")
ENTRIES = [(name, entry) for name, entry in table() if isinstance(entry, Subject)]


def as_regex(wildcard: str) -> re.Pattern[str]:
    """Put the rules of NATS in other words: `*` is one token, a last `>` is one or more."""
    pieces = {"*": r"[^.]+", ">": r"[^.]+(?:\.[^.]+)*"}
    return re.compile(r"\.".join(pieces.get(token, re.escape(token)) for token in wildcard.split(".")))


def test_nobody_has_all_places_of_any_work() -> None:
    shares = {name: entry.share for name, entry in ENTRIES if isinstance(entry, Work)}

    assert [name for name, share in shares.items() if share is None] == []
    assert len(shares) == 4


@given(SUBJECT, WILDCARD)
def test_matching_is_that_of_nats(subject: str, wildcard: str) -> None:
    assert matches(subject, wildcard) == bool(as_regex(wildcard).fullmatch(subject))


@pytest.mark.parametrize(
    ("subject", "wildcard", "delivered"),
    [
        ("web.fetch.lightweight", "web.fetch.*", True),
        ("web.fetch", "web.fetch.*", False),
        ("web.fetch.a.b", "web.fetch.*", False),
        ("web.fetch.a.b", "web.>", True),
        ("web", "web.>", False),
        ("web", "web", True),
        ("web", "Web", False),
        ("webfetch", "web*", False),
        ("anything.at.all", ">", True),
    ],
)
def test_a_subject_is_delivered_or_not(subject: str, wildcard: str, delivered: bool) -> None:  # noqa: FBT001 - a table
    assert matches(subject, wildcard) is delivered


@given(TOKEN, TOKEN)
def test_what_is_filled_is_matched_by_the_wildcard(one: str, two: str) -> None:
    subject = Subject("web.{a}.part.{b}", FetchPage)

    filled = fill(subject.pattern, {"a": one, "b": two})

    assert filled == f"web.{one}.part.{two}"
    assert matches(filled, subject.wildcard)


@given(st.text())
def test_a_token_is_one_token_or_refused(token: str) -> None:
    try:
        filled = fill("web.{a}", {"a": token})
    except ValueError:
        assert not re.fullmatch(r"[A-Za-z0-9_-]+", token)
    else:
        assert re.fullmatch(r"web\.[A-Za-z0-9_-]+", filled)


@pytest.mark.parametrize("token", ["", "a.b", "*", ">", "a b", "a\n", "ä", "{a}"])
def test_a_token_that_nats_would_read_otherwise_is_refused(token: str) -> None:
    with pytest.raises(ValueError, match="is not one token"):
        fill("web.{a}", {"a": token})


@pytest.mark.parametrize(
    ("tokens", "complaint"),
    [
        ({}, "web.{a}.{b} has open slots"),
        ({"a": "x"}, "web.x.{b} has open slots"),
        ({"a": "x", "c": "y"}, "web.x.{b} has no slot c"),
    ],
)
def test_every_slot_has_a_token_and_every_token_a_slot(tokens: dict[str, str], complaint: str) -> None:
    with pytest.raises(ValueError, match=re.escape(complaint)):
        fill("web.{a}.{b}", tokens)


def test_a_call_is_filled_for_one_tier() -> None:
    filled = FETCH.at(tier="lightweight")

    assert filled == Call("web.fetch.lightweight", FetchPage, Fetched, form="web.fetch.{tier}")
    assert (filled.slots, filled.wildcard, filled.task) == ((), "web.fetch.lightweight", "web.fetch")
    assert (FETCH.slots, FETCH.wildcard, FETCH.task) == (("tier",), "web.fetch.*", "web.fetch")


def test_a_call_without_slots_is_its_own_wildcard() -> None:
    assert (VERIFY_PAGE.slots, VERIFY_PAGE.wildcard, VERIFY_PAGE.task) == ((), "verify.page", "verify.page")


def test_the_names_and_patterns_of_the_table_are_unique() -> None:
    names = [name for name, _ in table()]
    patterns = [entry.pattern for _, entry in ENTRIES]
    tasks = [entry.task for _, entry in ENTRIES]

    assert BROWSE in [entry for _, entry in table()]
    assert all(name.isupper() for name in names)
    assert sorted(set(names)) == sorted(names)
    assert sorted(set(patterns)) == sorted(patterns)
    assert sorted(set(tasks)) == sorted(tasks)


def test_no_subject_belongs_to_two_entries() -> None:
    def filled(entry: Subject[object]) -> str:
        return fill(entry.pattern, dict.fromkeys(entry.slots, "x"))

    both = [
        (one, other)
        for (one, first), (other, second) in itertools.permutations(ENTRIES, 2)
        if matches(filled(first), second.wildcard)
    ]

    assert both == []


@pytest.mark.parametrize(("name", "entry"), ENTRIES)
def test_every_pattern_is_tokens_and_slots(name: str, entry: Subject[object]) -> None:
    assert re.fullmatch(r"[a-z_]+(\.([a-z_]+|\{[a-z_]+\}))*", entry.pattern)
    assert entry.pattern.count("{") == len(set(entry.slots))
