"""Two fetches change the same login, and nothing of either is lost."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from actors.login_merge import MAX_COOKIES, fitting, merged
from protocol.sessions import Cookie, OriginStorage, SessionState

ORIGIN = "https://example.com"
NAMES = st.sampled_from(["a", "b", "c", "d"])
MAPS = st.dictionaries(NAMES, st.sampled_from(["1", "2", "3"]))


def state(cookies: dict[str, str], local: dict[str, str] | None = None, database: str = "") -> SessionState:
    storage = OriginStorage(origin=ORIGIN, local_storage=local or {}, indexed_db=database)
    return SessionState(
        cookies=tuple(Cookie(name=name, value=value, domain="example.com") for name, value in cookies.items()),
        origins=(storage,) if local or database else (),
    )


def values(one: SessionState) -> dict[str, str]:
    return {cookie.name: cookie.value for cookie in one.cookies}


@given(MAPS, MAPS, MAPS)
def test_every_cookie_is_what_was_done_to_it_last(
    before: dict[str, str], after: dict[str, str], latest: dict[str, str]
) -> None:
    result = values(merged(state(before), state(after), state(latest)))

    for name in "abcd":
        touched = before.get(name) != after.get(name)
        assert result.get(name) == (after if touched else latest).get(name)


@given(MAPS, MAPS, MAPS)
def test_every_entry_of_storage_is_what_was_done_to_it_last(
    before: dict[str, str], after: dict[str, str], latest: dict[str, str]
) -> None:
    result = merged(state({}, before), state({}, after), state({}, latest))

    entries = result.origins[0].local_storage if result.origins else {}
    for name in "abcd":
        touched = before.get(name) != after.get(name)
        assert entries.get(name) == (after if touched else latest).get(name)


def test_a_database_is_replaced_whole_where_it_was_changed() -> None:
    old, new, others = state({}, database="[1]"), state({}, database="[2]"), state({}, database="[3]")

    assert merged(old, new, others) == new
    assert merged(old, old, others) == others


def test_cookies_of_the_same_name_live_side_by_side() -> None:
    host = Cookie(name="a", value="1", domain="example.com", host_only=True)
    wide = Cookie(name="a", value="2", domain="example.com")
    deep = Cookie(name="a", value="3", domain="example.com", path="/deep")
    nothing, three = SessionState(), SessionState(cookies=(host, wide, deep))

    assert merged(nothing, three, nothing) == three


def test_the_oldest_cookies_make_room() -> None:
    many = {str(number): "" for number in range(MAX_COOKIES + 5)}

    result = merged(state({}), state({"new": ""}), state(many))

    assert len(result.cookies) == MAX_COOKIES
    assert "new" in values(result)
    assert "0" not in values(result)


def test_what_fits_is_left_as_it_is() -> None:
    whole = state({"a": "1"}, {"b": "2"}, "[1]")

    assert fitting(whole) is whole


def test_of_what_does_not_fit_databases_go_first_and_cookies_never() -> None:
    small = OriginStorage(origin="https://small.example", local_storage={"a": "1"})
    large = OriginStorage(origin="https://large.example", local_storage={"b": "2"}, indexed_db=f"[{'0,' * 900}1]")
    huge = OriginStorage(origin="https://huge.example", local_storage={"c": "x" * 2_000})
    cookies = (Cookie(name="sid", value="1", domain="example.com"),)

    result = fitting(SessionState(cookies=cookies, origins=(huge, large, small)), 1_000)

    assert result.cookies == cookies
    assert {origin.origin: origin.indexed_db for origin in result.origins} == {small.origin: "", large.origin: ""}
