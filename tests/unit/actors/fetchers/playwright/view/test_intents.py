"""What a visitor may want is judged by what there is."""

from __future__ import annotations

import pytest

from actors.fetchers.playwright.view.elements import PageElement
from actors.fetchers.playwright.view.intents import intents
from tests.unit.actors.fetchers.playwright.view.snapshots import element

MAIL = element("input_email", "Email", "input", input="email", region="form:x")
PASSWORD = element("input_password", "Password", "input", input="password", region="form:x")
AGAIN = element("input_again", "Repeat password", "input", input="password", region="form:x")
ODD = element("button_help", "Help", input="button", region="form:x")


def send(label: str) -> PageElement:
    return element("send", label, input="submit", region="form:x")


@pytest.mark.parametrize(
    ("elements", "intent", "ids"),
    [
        ((MAIL, PASSWORD, ODD, send("Weiter")), "login", ("input_email", "input_password", "send")),
        ((MAIL, PASSWORD, ODD, send("Sign in")), "login", ("input_email", "input_password", "send")),
        ((MAIL, PASSWORD, AGAIN, send("Join")), "register", ("input_email", "input_password", "input_again", "send")),
        ((element("q", "Search", "input", input="search"), element("go", "Search")), "search", ("q", "go")),
        ((element("add", "Add to cart"),), "add_to_cart", ("add",)),
        ((element("cc", "Card", "input", marks=("cc number",)), element("pay", "Pay now")), "checkout", ("cc", "pay")),
        ((element("x", "Close", region="dialog:news"),), "close_dialog", ("x",)),
        ((element("a", "Accept all"), element("r", "Reject all")), "manage_consent", ("a", "r")),
        ((element("f", "Picture", "file", input="file"),), "upload", ("f",)),
        ((element("n", "Next page", "link"),), "next_page", ("n",)),
        ((element("s", "Sort by", "select"),), "sort", ("s",)),
        ((element("o", "Log out", "link"),), "logout", ("o",)),
        ((MAIL, element("sub", "Subscribe", input="submit", region="form:x")), "subscribe", ("input_email", "sub")),
    ],
)
def test_an_intent_comes_with_the_elements_for_it(
    elements: tuple[PageElement, ...], intent: str, ids: tuple[str, ...]
) -> None:
    found = {one.intent: one.suggested_element_ids for one in intents(elements)}

    assert found[intent] == ids


@pytest.mark.parametrize("state", ["disabled", "covered", "hidden"])
def test_what_cannot_be_acted_on_now_is_not_recommended(state: str) -> None:
    assert intents([element("add", "Add to cart", states=(state,))]) == ()


def test_words_within_words_say_nothing() -> None:
    assert intents([element("a", "Research"), element("b", "Nextdoor"), element("c", "Display")]) == ()
