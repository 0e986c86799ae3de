"""When a page calls for a browser."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from actors.fetchers.lightweight.rendering import SettleResult
from actors.fetchers.lightweight.signals import MARKS, RULE, Observation, Rule, marks, signals

ARTICLE = 300


def page(words: int = ARTICLE, **seen: Any) -> Observation:
    """Return a page with scripts that shows so many words."""
    plain = Observation(words=words, chars=6 * words, scripts=1, text="word " * words)
    return structs.replace(plain, **seen)


def test_an_article_is_believed() -> None:
    assert signals(page()) == ()


@pytest.mark.parametrize(
    ("seen", "name"),
    [
        ({"status": 503}, "status"),
        ({"cut_short": "time"}, "cut_short"),
        ({"settling": SettleResult.SOFT, "layout_reads": 501}, "never_settled"),
        ({"refused_contexts": ("webgl",)}, "context_refused"),
        ({"web_sockets": 1}, "web_socket"),
        ({"event_sources": 1}, "event_source"),
        ({"extended_elements": 1}, "extended_element"),
        ({"oversized_requests": 1}, "oversized_request"),
        ({"lacks": ("thing", "startViewTransition")}, "lacking"),
        ({"tall": 1}, "tall"),
    ],
)
def test_what_the_engine_lacks_is_a_signal_on_every_page(seen: dict[str, Any], name: str) -> None:
    assert signals(page(**seen)) == (name,)


def test_what_a_page_itself_forgot_is_no_signal() -> None:
    assert signals(page(lacks=("jQuery", "track"), errors=2)) == ()


def test_a_page_of_hardly_any_words_is_thin() -> None:
    assert signals(page(RULE.thin_words - 1)) == ("thin",)
    assert signals(page(RULE.thin_words)) == ()


def test_a_page_without_scripts_is_what_it_is() -> None:
    assert signals(page(1, scripts=0, errors=1)) == ()


def test_some_marks_count_only_beside_few_words() -> None:
    few = RULE.few_words - 1

    assert signals(page(few, empty_roots=1)) == ("empty_root",)
    assert signals(page(RULE.few_words, empty_roots=1)) == ()


@pytest.mark.parametrize(
    "words",
    [
        "Your browser is not supported.",
        "This browser is no longer supported",
        "Please upgrade to a newer one",
        "Please update your browser to read this page.",
        "You need to enable JavaScript to run this app.",
        "This view requires WebGL",
        "Unsupported browser",
    ],
)
def test_pages_say_that_they_want_another_browser(words: str) -> None:
    assert signals(page(20, text=words)) == ("unsupported",)


@pytest.mark.parametrize("words", ["The mill supported forty people.", "We support every browser.", "A new upgrade"])
def test_other_words_are_no_such_wish(words: str) -> None:
    assert signals(page(20, text=words)) == ()


def test_a_long_text_about_browsers_is_an_article() -> None:
    assert signals(page(400, text="Your browser is not supported, said the page")) == ()


@given(words=st.integers(0, 500), scripts=st.integers(0, 3), errors=st.integers(0, 3), workers=st.integers(0, 3))
def test_more_words_never_raise_more(words: int, scripts: int, errors: int, workers: int) -> None:
    fewer = Observation(words=words, scripts=scripts, errors=errors, workers=workers)
    more = Observation(words=words + 1, scripts=scripts, errors=errors, workers=workers)

    assert set(signals(more)) <= set(signals(fewer))


def test_a_rule_names_only_marks_that_there_are() -> None:
    assert RULE.alone | RULE.beside <= MARKS.keys()
    assert not RULE.alone & RULE.beside


def test_an_empty_rule_raises_nothing() -> None:
    empty = Rule(alone=frozenset(), beside=frozenset(), thin_words=0, few_words=0)

    assert signals(page(0, status=500, web_sockets=1), empty) == ()
    assert marks(page(0, status=500, web_sockets=1)) == ("status", "web_socket")
