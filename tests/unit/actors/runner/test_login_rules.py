"""What is judged of pages with login forms."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.runner import login_rules
from actors.runner.login_rules import LoginField
from actors.runner.login_types import Credentials, LoginForm, LoginInputs
from actors.runner.templates.login_keep_session import LOGIN
from protocol.browsers.pageinfo import MASK, Box, Candidate, Element, ElementKind, Intent, PageSummary, ViewType
from protocol.browsers.results import PageInfo
from protocol.faults import Code, FaultError

URL = "https://mill.example/login"
WHO = Credentials(username="smith", password="warp & weft/7")
FORM = LoginForm(tab_id=1, url=URL, username="user", password="secret", submit="go")


def element(name: str, kind: ElementKind = ElementKind.INPUT, *, y: int = 0, **more: Any) -> Element:
    given: dict[str, Any] = {"label": name, "region": "form:login", **more}
    return Element(id=name, type=kind, box=Box(x=0, y=y, width=10, height=10), **given)


def page(*elements: Element, url: str = URL, kind: ViewType = ViewType.LOGIN, **intents: tuple[str, ...]) -> PageInfo:
    wanted = tuple(Intent(intent=name, suggested_element_ids=ids) for name, ids in intents.items())
    return PageInfo(
        page=PageSummary(url=url, title="", type=kind, summary=""),
        elements=elements,
        total_elements=len(elements),
        intents=tuple(intents),
        recommended_by_intent=wanted,
    )


def candidate(name: str, kind: ElementKind = ElementKind.INPUT, score: float = 0.9) -> Candidate:
    return Candidate(id=name, label=name, type=kind, score=score, match_reason="")


def inputs(**more: object) -> LoginInputs:
    values = {"startUrl": URL, "credentials": {"username": "smith", "password": "x"}, **more}
    return msgspec.convert(values, LoginInputs)


USER, SECRET, GO = element("user", y=1), element("secret", y=2), element("go", ElementKind.BUTTON, y=3)


@pytest.mark.parametrize(
    ("ids", "found"),
    [
        (("user", "secret", "go"), {LoginField.USERNAME: USER, LoginField.PASSWORD: SECRET, LoginField.SUBMIT: GO}),
        (("secret", "go"), {LoginField.PASSWORD: SECRET, LoginField.SUBMIT: GO}),
        (("secret",), {LoginField.PASSWORD: SECRET}),
        (("go",), {}),
        ((), {}),
    ],
    ids=str,
)
def test_what_the_page_suggests_is_told_by_its_kind(ids: tuple[str, ...], found: dict[LoginField, Element]) -> None:
    assert login_rules.suggested(page(USER, SECRET, GO, login=ids)) == found


def test_of_those_that_fit_one_near_the_password_is_chosen_then_one_in_a_small_form() -> None:
    join = [element(name, region="form:join") for name in ("new", "mail", "one")]
    info = page(USER, SECRET, GO, *join)

    assert (
        login_rules.best(LoginField.USERNAME, [candidate("new"), candidate("user", score=0.5)], info, "secret")
        == "user"
    )
    assert login_rules.best(LoginField.PASSWORD, [candidate("one"), candidate("secret")], info) == "secret"
    assert login_rules.best(LoginField.PASSWORD, [candidate("go", ElementKind.LINK)], info) == ""
    assert login_rules.best(LoginField.USERNAME, [candidate("secret")], info, "secret") == ""


def test_the_field_before_the_password_is_the_user() -> None:
    elsewhere = element("search", y=1, region="navigation")

    assert login_rules.beside(page(element("first", y=0), USER, elsewhere, SECRET), "secret") == "user"
    assert login_rules.beside(page(elsewhere, SECRET), "secret") == ""
    assert login_rules.beside(page(USER), "secret") == ""


def test_a_banner_is_refused_and_never_accepted() -> None:
    accept = element("accept", ElementKind.BUTTON, label="Accept all cookies")
    reject = element("reject", ElementKind.BUTTON, label="Reject all")

    assert login_rules.refusal(page(accept, reject, manage_consent=("accept", "reject"))) == "reject"
    assert login_rules.refusal(page(accept, manage_consent=("accept",))) == ""
    assert login_rules.refusal(page(reject)) == ""


@pytest.mark.parametrize(
    ("values", "filled"),
    [((MASK, MASK), True), ((MASK, ""), False), (("", MASK), False), ((), None)],
    ids=str,
)
def test_a_form_is_filled_where_both_fields_hold_something(values: tuple[str, ...], *, filled: bool | None) -> None:
    fields = [element(name, value=value) for name, value in zip(("user", "secret"), values, strict=False)]

    assert login_rules.is_filled(page(*fields), FORM) is filled


@pytest.mark.parametrize(
    ("info", "asks"),
    [
        (page(USER, SECRET, GO, login=("user", "secret", "go")), True),
        (page(SECRET), True),
        (page(SECRET, url=f"{URL}?failed=1#form"), True),
        (page(SECRET, url="https://mill.example/settings"), False),
        (page(GO, login=("go",)), False),
        (page(), False),
    ],
)
def test_a_page_asks_again_where_it_has_the_form_or_another(info: PageInfo, *, asks: bool) -> None:
    assert login_rules.asks_again(info, FORM) is asks


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        (URL, URL),
        (f"{URL}?user=smith", f"{URL}?user=smith"),
        (f"{URL}?user=smith&password=warp+%26+weft%2F7", URL),
        (f"{URL}?password=warp%20%26%20weft/7", URL),
        (f"{URL}#warp & weft/7", URL),
    ],
)
def test_an_address_with_the_password_in_it_loses_that(url: str, shown: str) -> None:
    assert login_rules.without_password(url, WHO) == shown
    assert login_rules.without_password(url, None) == url


@given(st.text(min_size=1, max_size=30), st.text(max_size=30))
def test_credentials_tell_nothing_of_themselves(username: str, password: str) -> None:
    told = repr(Credentials(username=username, password=password))

    assert told == "Credentials(...)"


@pytest.mark.parametrize(
    ("more", "queries", "named"),
    [
        ({}, (None, None, None), "fields.usernameQuery"),
        (
            {"fields": {"mode": "selector", "usernameSelector": "#u", "passwordSelector": "#p"}},
            ("css=#u", "css=#p", None),
            "fields.usernameSelector",
        ),
        ({"fields": {"usernameQuery": "member"}}, ("member", None, None), "fields.usernameQuery"),
        (
            {"locateMode": "selector", "selectors": {"username": "#u", "password": "#p", "submit": "#s"}},
            ("css=#u", "css=#p", "css=#s"),
            "selectors.username",
        ),
        ({"selectors": {"username": "#u", "password": "#p"}}, ("css=#u", "css=#p", None), "selectors.username"),
        (
            {"locateMode": "semantic", "semanticHints": {"username": "member"}},
            ("member", None, None),
            "semanticHints.username",
        ),
    ],
    ids=str,
)
def test_inputs_say_in_either_form_what_is_looked_for(
    more: dict[str, object], queries: tuple[str | None, ...], named: str
) -> None:
    by_field = login_rules.field_queries(inputs(**more))

    assert tuple(by_field[field].query for field in LoginField) == queries
    assert by_field[LoginField.USERNAME].named == named
    LOGIN.check(inputs(**more))


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({"credentials": None}, "inputs.credentials"),
        ({"fields": {"mode": "selector", "passwordSelector": "#p"}}, "inputs.fields.usernameSelector"),
        ({"locateMode": "selector", "selectors": {"username": "#u"}}, "inputs.fields.passwordSelector"),
        ({"selectors": {"password": "#p"}}, "inputs.fields.usernameSelector"),
        ({"successIndicator": {"type": "selector"}}, "inputs.successIndicator.value"),
        ({"successIndicator": {"type": "urlContains"}}, "inputs.successIndicator.value"),
    ],
    ids=str,
)
def test_inputs_that_cannot_do_are_refused_by_name(more: dict[str, object], field: str) -> None:
    with pytest.raises(FaultError) as caught:
        LOGIN.check(inputs(**more))

    assert (caught.value.fault.code, caught.value.fault.field) == (Code.VALIDATION_INVALID_REQUEST, field)
    assert caught.value.fault.message.startswith(f"{field}: ")
