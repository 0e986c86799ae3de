"""A page is told by what it is for."""

from __future__ import annotations

from typing import Any

import pytest

from actors.fetchers.playwright.view.elements import PageSnapshot
from actors.fetchers.playwright.view.intents import intents
from actors.fetchers.playwright.view.kinds import PageFacts, summary, type_of
from protocol.browsers.pageinfo import ViewType
from tests.unit.actors.fetchers.playwright.view.snapshots import element, snapshot

PASSWORD = element("p", "Password", "input", input="password")
FIELD = element("f", "Name", "input", input="text")
SEARCH = element("q", "Search", "input", input="search")
SEND = element("s", "Send", input="submit")


def judged(page: PageSnapshot, status: int = 200) -> ViewType:
    return type_of(PageFacts(page, intents(page.elements), status))


@pytest.mark.parametrize(
    ("elements", "more", "kind"),
    [
        ((PASSWORD,), {}, ViewType.LOGIN),
        ((FIELD,), {"title": "Sign in"}, ViewType.LOGIN),
        ((PASSWORD, PASSWORD), {}, ViewType.REGISTRATION),
        ((PASSWORD, FIELD), {"title": "Create an account"}, ViewType.REGISTRATION),
        ((SEARCH,), {}, ViewType.SEARCH),
        ((SEARCH,), {"url": "https://a.example/?q=x", "rows": 9}, ViewType.SEARCH_RESULTS),
        ((SEARCH,), {"rows": 20}, ViewType.LIST),
        ((), {"kinds": ("Product",)}, ViewType.PRODUCT),
        ((element("c", "Add to cart"),), {"prices": 2}, ViewType.PRODUCT),
        ((element("c", "Card", "input", marks=("cc number",)),), {}, ViewType.CHECKOUT),
        ((element("c", "Card", "input", marks=("billing cc number",)),), {}, ViewType.CHECKOUT),
        (
            (element("cc", "Accept all", marks=("cc accept",)), element("cc2", "Ads", "checkbox", marks=("cc ads",))),
            {},
            ViewType.OTHER,
        ),
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
def test_the_purpose_follows_from_what_is_there(
    elements: tuple[Any, ...], more: dict[str, Any], kind: ViewType
) -> None:
    assert judged(snapshot(*elements, **more)) is kind


def test_the_status_of_the_site_has_the_last_word() -> None:
    assert judged(snapshot(PASSWORD), 500) is ViewType.ERROR


def test_an_article_about_errors_is_no_error() -> None:
    assert judged(snapshot(title="What 404 means", prose=9_000)) is ViewType.ARTICLE


@pytest.mark.parametrize(
    ("elements", "dialogs", "said"),
    [
        ((), 0, "A page with nothing to act on."),
        ((SEND,), 0, "A page with 1 button."),
        ((FIELD, FIELD, SEND), 1, "A page with 2 fields and 1 button. A dialog is open."),
        ((FIELD, SEND, element("l", "x", "link"), element("t", "y", "tab")), 2,
         "A page with 1 field, 1 button, 1 link and 1 other control. 2 dialogs are open."),
    ],
)  # fmt: skip
def test_the_summary_counts_in_words_of_ours(elements: tuple[Any, ...], dialogs: int, said: str) -> None:
    assert summary(ViewType.OTHER, elements, dialogs) == said
