"""What a visitor may want is judged by what there is."""

from __future__ import annotations

import pytest

from actors.fetchers.playwright.view.intents import intents
from actors.fetchers.playwright.view.spots import Spot
from tests.unit.actors.fetchers.playwright.view.looks import spot

MAIL = spot("input_email", "Email", "input", input="email", region="form:x")
PASSWORD = spot("input_password", "Password", "input", input="password", region="form:x")
AGAIN = spot("input_again", "Repeat password", "input", input="password", region="form:x")
ODD = spot("button_help", "Help", input="button", region="form:x")


def send(label: str) -> Spot:
    return spot("send", label, input="submit", region="form:x")


@pytest.mark.parametrize(
    ("spots", "intent", "ids"),
    [
        ((MAIL, PASSWORD, ODD, send("Weiter")), "login", ("input_email", "input_password", "send")),
        ((MAIL, PASSWORD, ODD, send("Sign in")), "login", ("input_email", "input_password", "send")),
        ((MAIL, PASSWORD, AGAIN, send("Join")), "register", ("input_email", "input_password", "input_again", "send")),
        ((spot("q", "Search", "input", input="search"), spot("go", "Search")), "search", ("q", "go")),
        ((spot("add", "Add to cart"),), "add_to_cart", ("add",)),
        ((spot("cc", "Card", "input", marks=("cc number",)), spot("pay", "Pay now")), "checkout", ("cc", "pay")),
        ((spot("x", "Close", region="dialog:news"),), "close_dialog", ("x",)),
        ((spot("a", "Accept all"), spot("r", "Reject all")), "manage_consent", ("a", "r")),
        ((spot("f", "Picture", "file", input="file"),), "upload", ("f",)),
        ((spot("n", "Next page", "link"),), "next_page", ("n",)),
        ((spot("s", "Sort by", "select"),), "sort", ("s",)),
        ((spot("o", "Log out", "link"),), "logout", ("o",)),
        ((MAIL, spot("sub", "Subscribe", input="submit", region="form:x")), "subscribe", ("input_email", "sub")),
    ],
)
def test_an_intent_comes_with_the_elements_for_it(spots: tuple[Spot, ...], intent: str, ids: tuple[str, ...]) -> None:
    found = {one.intent: one.suggested_element_ids for one in intents(spots)}

    assert found[intent] == ids


@pytest.mark.parametrize("state", ["disabled", "covered", "hidden"])
def test_what_cannot_be_acted_on_now_is_not_recommended(state: str) -> None:
    assert intents([spot("add", "Add to cart", states=(state,))]) == ()


def test_words_within_words_say_nothing() -> None:
    assert intents([spot("a", "Research"), spot("b", "Nextdoor"), spot("c", "Display")]) == ()
