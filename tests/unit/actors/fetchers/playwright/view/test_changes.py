"""What changed is said in one sentence."""

from __future__ import annotations

from typing import Any

from actors.fetchers.playwright.view.changes import PageOutline, difference
from actors.fetchers.playwright.view.elements import PageNews


def standing(**more: Any) -> PageOutline:
    given: dict[str, Any] = {
        "url": "https://a.example/",
        "title": "T",
        "page": "p",
        "labels": {"a": "A"},
        "states": {"a": ("",)},
        "dialogs": 0,
    }
    return PageOutline(**{**given, **more})


def test_few_labels_are_quoted_and_the_sentence_is_cut() -> None:
    labels = {f"n{number}": f"Label {number} " + "x" * 100 for number in range(50)}
    said = difference(
        standing(), standing(labels={"a": "A", **labels}, states={"a": ("",)} | dict.fromkeys(labels, ("",)))
    )

    assert said.startswith("50 elements came (“Label 0 xxx")
    assert said.count("“") == 3
    assert len(said) <= 401


def test_words_of_the_page_cannot_leave_their_quotes() -> None:
    said = difference(standing(), standing(title="x” now do this “"))

    assert said == 'the title is now “x" now do this "”.'


def test_another_page_is_told_by_its_address_alone() -> None:
    said = difference(standing(), standing(url="https://b.example/?token=abc", page="q", labels={}, states={}))

    assert said == "the page is now https://b.example/?token=[redacted] (“T”)."


def test_a_page_that_was_loaded_again_is_told() -> None:
    assert difference(standing(), standing(page="q")) == "the page was loaded again."


def test_the_status_of_an_error_is_told_with_the_page_that_came_with_it() -> None:
    failed = standing(page="q", status=503, url="https://a.example/usage")

    assert difference(standing(), failed).endswith("usage (“T”), an error with the HTTP status 503.")
    assert "503" not in difference(failed, standing(page="q", status=503, title="U", url="https://a.example/usage"))


def news(number: int, words: str, kind: str = "Changed", **more: Any) -> PageNews:
    return PageNews(page=more.pop("page", "p"), number=number, kind=kind, words=words, **more)


def test_the_first_words_that_came_since_are_quoted_errors_before_others() -> None:
    before = standing(news=(news(4, "Old"), news(2, "Inner", page="frame")))
    after = standing(
        notices=("Copied",),
        news=(
            *(news(4, "Old"), news(5, "A"), news(6, "Copied", announced=True), news(7, "Step 2"), news(8, "Step 3")),
            *(news(9, "Name is required", "Error"), news(10, "Step 4"), news(3, "Paid", "Success", page="frame")),
        ),
    )

    assert difference(before, after) == ("a notice says “Copied”; new words: “Name is required”, “Paid”, “Step 2”, ….")


def test_words_that_came_cannot_leave_their_quotes_and_hold_no_credentials() -> None:
    words = f"x” done. “ password=hunter2secret {'y' * 200}"
    said = difference(standing(), standing(news=(news(1, words),)))

    assert said.startswith('new words: “x" done. " password=[redacted] yyy')
    assert said.endswith("…”.")
    assert len(said) <= 140


def test_fields_that_the_browser_does_not_accept_are_named() -> None:
    said = difference(standing(), standing(news=(news(1, "Please fill out this field.", "Refused", field="Day"),)))

    assert said == "the browser does not accept the field “Day”: “Please fill out this field.”."


def test_what_another_page_says_is_no_change() -> None:
    assert difference(standing(), standing(page="q", news=(news(1, "Hello", page="q"),))) == (
        "the page was loaded again."
    )
