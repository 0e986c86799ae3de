"""A page is told by what it is for."""

from __future__ import annotations

from typing import Any

import pytest

from actors.fetchers.playwright.view.intents import intents
from actors.fetchers.playwright.view.kinds import Seen, summary, type_of
from actors.fetchers.playwright.view.spots import Look
from protocol.browsers.pageinfo import ViewType
from tests.unit.actors.fetchers.playwright.view.looks import look, spot

PASSWORD = spot("p", "Password", "input", input="password")
FIELD = spot("f", "Name", "input", input="text")
SEARCH = spot("q", "Search", "input", input="search")
SEND = spot("s", "Send", input="submit")


def judged(seen: Look, status: int = 200) -> ViewType:
    return type_of(Seen(seen, intents(seen.elements), status))


@pytest.mark.parametrize(
    ("spots", "more", "kind"),
    [
        ((PASSWORD,), {}, ViewType.LOGIN),
        ((FIELD,), {"title": "Sign in"}, ViewType.LOGIN),
        ((PASSWORD, PASSWORD), {}, ViewType.REGISTRATION),
        ((PASSWORD, FIELD), {"title": "Create an account"}, ViewType.REGISTRATION),
        ((SEARCH,), {}, ViewType.SEARCH),
        ((SEARCH,), {"url": "https://a.example/?q=x", "rows": 9}, ViewType.SEARCH_RESULTS),
        ((SEARCH,), {"rows": 20}, ViewType.LIST),
        ((), {"kinds": ("Product",)}, ViewType.PRODUCT),
        ((spot("c", "Add to cart"),), {"prices": 2}, ViewType.PRODUCT),
        ((spot("c", "Card", "input", marks=("cc number",)),), {}, ViewType.CHECKOUT),
        ((FIELD, FIELD, FIELD, SEND), {}, ViewType.FORM),
        ((FIELD, SEND), {}, ViewType.FORM),
        ((), {"kinds": ("NewsArticle",), "prose": 900}, ViewType.ARTICLE),
        ((), {"prose": 5_000}, ViewType.ARTICLE),
        ((), {"title": "Admin dashboard"}, ViewType.DASHBOARD),
        ((), {"media": True}, ViewType.MEDIA),
        ((), {"title": "Page not found"}, ViewType.ERROR),
        ((), {}, ViewType.OTHER),
    ],
)
def test_the_purpose_follows_from_what_is_there(spots: tuple[Any, ...], more: dict[str, Any], kind: ViewType) -> None:
    assert judged(look(*spots, **more)) is kind


def test_the_status_of_the_site_has_the_last_word() -> None:
    assert judged(look(PASSWORD), 500) is ViewType.ERROR


def test_an_article_about_errors_is_no_error() -> None:
    assert judged(look(title="What 404 means", prose=9_000)) is ViewType.ARTICLE


@pytest.mark.parametrize(
    ("spots", "dialogs", "said"),
    [
        ((), 0, "A page with nothing to act on."),
        ((SEND,), 0, "A page with 1 button."),
        ((FIELD, FIELD, SEND), 1, "A page with 2 fields and 1 button. A dialog is open."),
        ((FIELD, SEND, spot("l", "x", "link"), spot("t", "y", "tab")), 2,
         "A page with 1 field, 1 button, 1 link and 1 other control. 2 dialogs are open."),
    ],
)  # fmt: skip
def test_the_summary_counts_in_words_of_ours(spots: tuple[Any, ...], dialogs: int, said: str) -> None:
    assert summary(ViewType.OTHER, spots, dialogs) == said
