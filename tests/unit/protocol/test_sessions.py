"""A login in Playwright's form and in ours is the same login."""

from __future__ import annotations

import msgspec

from protocol.sessions import Cookie, OriginStorage, SessionState, StorageState, from_storage_state, to_storage_state

STATE = SessionState(
    cookies=(
        Cookie(name="sid", value="1", domain="example.com", expires=2e9, secure=True, http_only=True, same_site="Lax"),
        Cookie(name="here", value="", domain="www.example.com", path="/a", host_only=True),
    ),
    origins=(
        OriginStorage(
            origin="https://example.com",
            local_storage={"token": "a"},
            session_storage={"tab": "b"},
            indexed_db='[{"name":"db"}]',
        ),
    ),
)


def test_there_and_back_again() -> None:
    written = msgspec.json.encode(to_storage_state(STATE))

    assert from_storage_state(msgspec.json.decode(written, type=StorageState)) == STATE


def test_it_is_written_as_playwright_writes_it() -> None:
    written = msgspec.json.decode(msgspec.json.encode(to_storage_state(STATE)))

    assert written == {
        "cookies": [
            {
                "name": "sid",
                "value": "1",
                "domain": ".example.com",
                "path": "/",
                "expires": 2e9,
                "httpOnly": True,
                "secure": True,
                "sameSite": "Lax",
            },
            {
                "name": "here",
                "value": "",
                "domain": "www.example.com",
                "path": "/a",
                "expires": -1,
                "httpOnly": False,
                "secure": False,
                "sameSite": None,
            },
        ],
        "origins": [
            {
                "origin": "https://example.com",
                "localStorage": [{"name": "token", "value": "a"}],
                "sessionStorage": [{"name": "tab", "value": "b"}],
                "indexedDB": [{"name": "db"}],
            }
        ],
    }


def test_what_is_left_out_is_as_browsers_have_it() -> None:
    read = msgspec.json.decode(b'{"cookies":[{"name":"a","value":"b","domain":".Example.com"}]}', type=StorageState)

    assert from_storage_state(read) == SessionState(cookies=(Cookie(name="a", value="b", domain="example.com"),))
