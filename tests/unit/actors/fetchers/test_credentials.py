"""Credentials of scripts are known by their place in the login, and leave it for the page's own site alone."""

from __future__ import annotations

import pytest

from actors.fetchers.credentials import reference, resolved, same_site
from actors.fetchers.logins import Login
from protocol.sessions import Cookie, OriginStorage

PAGE = "https://app.shop.example/orders/7"
TOKEN = "a1b2c3d4e5f6a7b8"


def login(token: str = TOKEN) -> Login:
    own = Login("work")
    own.origins["https://app.shop.example"] = OriginStorage(
        origin="https://app.shop.example",
        local_storage={"plain": f"plain-{token}", "auth": f'{{"user": {{"id": 4, "to/ken": "json-{token}"}}}}'},
        session_storage={"tab": f"tab-{token}"},
    )
    own.cookies.load([Cookie(name="XSRF-TOKEN", value=f"cookie%3A{token}", domain="app.shop.example", path="/")])
    return own


@pytest.mark.parametrize(
    ("value", "place"),
    [
        (f"Bearer plain-{TOKEN}", "Bearer {local:plain}"),
        (f"Token json-{TOKEN}", "Token {local:auth#/user/to%2Fken}"),
        (f"tab-{TOKEN}", "{session:tab}"),
        (f"cookie:{TOKEN}", "{cookie:XSRF-TOKEN}"),
    ],
)
def test_a_credential_is_known_by_where_the_login_has_it(value: str, place: str) -> None:
    assert reference(value, login(), PAGE) == place
    assert resolved(place, login(), PAGE) == value
    assert resolved(place, login("renewed-token-1"), PAGE) == value.replace(TOKEN, "renewed-token-1")
    assert resolved(place, Login("other"), PAGE) is None


def test_what_the_login_does_not_have_has_no_place() -> None:
    assert reference("Bearer of-another-login", login(), PAGE) == ""
    assert reference(f"Bearer plain-{TOKEN}", login(), "https://other.example/") == ""


def test_credentials_stay_on_the_site_of_the_page() -> None:
    assert same_site("https://api.shop.example/v1/orders/7", PAGE)
    assert not same_site("https://collect.example/v1", PAGE)
