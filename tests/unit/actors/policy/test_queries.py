"""What is not sent to a search engine unasked, and what is."""

from __future__ import annotations

import tomllib

import pytest

from actors.policy.queries import sensitive_query
from tests.hostile.corpus import FOLDER

QUERIES = tomllib.loads((FOLDER / "queries.toml").read_text("utf-8"))
MOST_FALSE_ASKS = 0.02


@pytest.mark.parametrize("query", QUERIES["sensitive"])
def test_queries_that_say_something_of_a_person_are_asked_about(query: str) -> None:
    assert sensitive_query(query) is not None


def test_hardly_any_other_query_is_asked_about() -> None:
    asked = {query: why for query in QUERIES["harmless"] if (why := sensitive_query(query)) is not None}

    assert len(asked) <= MOST_FALSE_ASKS * len(QUERIES["harmless"]), asked


@pytest.mark.parametrize(("query", "is_sensitive"), [("acct 123", False), ("acct 1234", True), ("555 123", False)])
def test_the_limits_are_those_of_003(query: str, is_sensitive: bool) -> None:  # noqa: FBT001 - a parameter of the test
    assert (sensitive_query(query) is not None) is is_sensitive
