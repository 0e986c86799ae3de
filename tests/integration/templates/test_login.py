"""Logging in by forms of every kind in a real browser: what comes of it, and which step says why where nothing does."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from typing import Any

import anyio
import pytest
from msgspec import structs

from actors.runner.login_types import LoginState
from protocol.browsers.operations import CreateSession, GetPageContent, ListTabs, Navigate
from protocol.browsers.results import Navigated, Tabs
from protocol.faults import Code
from tests.integration.templates.logging_in import Here, LoginRun, here, shared
from tests.requirements import requirement
from tests.support.scale import first
from tests.support.sharing import Shared, inside

pytestmark = [pytest.mark.browser, pytest.mark.slow]

KINDS = ("plain", "slow", "script", "stays", "labels", "enter", "covered", "crowded")
AT_ONCE = 3
SELECTORS = {
    "mode": "selector",
    "usernameSelector": "form[method=post] input[name=user]",
    "passwordSelector": "form[method=post] input[type=password]",
    "submitSelector": "#go",
}


@pytest.fixture(scope="module")
def one_browser() -> Generator[Shared[Here]]:
    with shared() as one:
        yield one


@pytest.fixture
def it(one_browser: Shared[Here]) -> Generator[Shared[Here]]:
    yield one_browser
    one_browser.run(Here.anew)


def posts(it: Here, kind: str) -> int:
    """Count how often a form was sent."""
    return sum(ask.method == "POST" and ask.path == f"/members/{kind}/login" for ask in it.site.asked)


def failure(run: LoginRun) -> tuple[str, str, Code | None]:
    """Return where a run has failed: the step, the code of the tool layer, and ours."""
    _, failed = run.told()
    assert failed is not None
    assert failed.message
    return failed.name, failed.step_code, failed.code


@pytest.mark.full
@requirement("002.12.login")
@pytest.mark.parametrize(
    "indicator",
    first(1, [{}, {"type": "urlContains", "value": "/home"}, {"type": "selector", "value": "a[href*=out]"}]),
    ids=str,
)
@inside
async def test_every_form_is_passed_at_the_first_try(it: Here, indicator: dict[str, str]) -> None:
    kinds = [kind for kind in KINDS if kind != "stays" or indicator.get("type") != "urlContains"]
    runs = dict[str, LoginRun]()
    room = anyio.CapacityLimiter(AT_ONCE)

    async def log_in(kind: str) -> None:
        async with room:
            more: dict[str, Any] = {"successIndicator": indicator} if indicator else {}
            runs[kind] = await it.run(kind, f"user-{kind}", profile=kind, **more).to()

    async with anyio.create_task_group() as tasks:
        for kind in kinds:
            tasks.start_soon(log_in, kind)

    for kind in kinds:
        told, failed = runs[kind].told()
        assert failed is None, (kind, failed)
        assert told is not None
        assert (told.success, told.session_id, told.login_state) == (
            True,
            runs[kind].session,
            LoginState.AUTHENTICATED,
        )
        assert told.final_url == it.site.url(f"/members/{kind}/{'login' if kind == 'stays' else 'home'}")
        assert (told.cookies_saved, told.profile, posts(it, kind)) == (2, kind, 1)


@pytest.mark.full
@pytest.mark.parametrize(
    "fields",
    first(
        1,
        [
            {"fields": SELECTORS},
            {
                "fields": {
                    "mode": "selector",
                    "usernameSelector": "input[name=user]",
                    "passwordSelector": "[type=password]",
                }
            },
            {"fields": {"usernameQuery": "user name", "passwordQuery": "password", "submitQuery": "log in"}},
            {
                "locateMode": "selector",
                "selectors": {"username": "[name=user]", "password": "[name=password]", "submit": "button"},
            },
            {
                "locateMode": "semantic",
                "semanticHints": {"username": "user name", "password": "password", "submit": "log in"},
            },
        ],
    ),
    ids=["selectors", "without a button", "queries", "older selectors", "older hints"],
)
@inside
async def test_fields_are_found_as_the_caller_says(it: Here, fields: dict[str, Any]) -> None:
    run = await it.run("plain", **fields).to()

    told, failed = run.told()
    assert failed is None
    assert told is not None
    assert told.title == "The mill"


@pytest.mark.full
@inside
async def test_of_two_forms_it_is_the_one_to_log_in_by(it: Here) -> None:
    run = await it.run("crowded", fields=SELECTORS).to(1)
    by_words = await it.run("crowded", fields={"passwordQuery": "password", "usernameQuery": "user name"}).to(1)

    assert run.told()[1] is None
    assert run.done[1].output["password"] == by_words.done[1].output["password"]
    assert run.done[1].output["username"] == by_words.done[1].output["username"]


@pytest.mark.parametrize("kind", first(1, ["plain", "script"]))
@inside
async def test_a_wrong_password_is_told_and_sent_once(it: Here, kind: str) -> None:
    run = await it.run(kind, credentials={"username": "smith", "password": "not it"}).to()

    assert failure(run) == ("verify_login", "EXECUTION_ERROR", Code.AUTH_INVALID_CREDENTIALS)
    assert posts(it, kind) == 1
    told, _ = run.told()
    assert told is not None
    assert (told.success, told.session_id, told.login_state) == (False, run.session, LoginState.UNKNOWN)


@pytest.mark.parametrize(
    ("fields", "named"),
    first(
        1,
        [
            (SELECTORS | {"usernameSelector": "#nobody"}, "fields.usernameSelector"),
            (SELECTORS | {"passwordSelector": "#go"}, "fields.passwordSelector"),
            (SELECTORS | {"submitSelector": "#nothing"}, "fields.submitSelector"),
            ({"usernameQuery": "zebra quux"}, "fields.usernameQuery"),
        ],
    ),
    ids=lambda value: value if isinstance(value, str) else "",
)
@inside
async def test_a_field_that_is_not_there_is_named(it: Here, fields: dict[str, str], named: str) -> None:
    run = await it.run("plain", fields=fields).to()

    assert failure(run) == ("find_fields", "TPL_LOGIN_FIELD_NOT_FOUND", Code.TPL_LOGIN_FIELD_NOT_FOUND)
    assert f"inputs.{named}:" in (run.done[1].message)


@pytest.mark.full
@inside
async def test_what_cannot_begin_says_where(it: Here) -> None:
    nowhere = await it.run("plain", startUrl=it.site.url("/hangup")).to()
    no_form = await it.run("plain", startUrl=it.site.url("/article")).to()
    no_selector = await it.run("plain", fields=SELECTORS | {"submitSelector": "p >>> ["}).to()
    no_sign = await it.run("plain", successIndicator={"type": "selector", "value": "["}).to()

    assert failure(nowhere) == ("open_login_page", "EXECUTION_ERROR", Code.NETWORK_CONNECTION_FAILED)
    assert nowhere.told()[0] is None
    assert failure(no_form)[::2] == ("find_fields", Code.TPL_LOGIN_FIELD_NOT_FOUND)
    assert "password" in no_form.done[1].message
    assert failure(no_selector) == ("find_fields", "INVALID_PARAMETER", Code.VALIDATION_INVALID_REQUEST)
    assert failure(no_sign) == ("verify_login", "INVALID_PARAMETER", Code.VALIDATION_INVALID_REQUEST)


@pytest.mark.full
@inside
async def test_a_sign_that_never_shows_is_looked_for_twice(it: Here) -> None:
    run = await it.run("plain", successIndicator={"type": "selector", "value": "#nothing"}).to()

    assert failure(run) == ("verify_login", "ELEMENT_NOT_FOUND", Code.ELEMENT_NOT_FOUND)
    assert posts(it, "plain") == 1


@inside
async def test_another_runner_goes_on_after_any_step(it: Here) -> None:
    run = it.run("plain")
    for last in range(5):
        await run.to(last)

    assert run.told()[1] is None
    assert posts(it, "plain") == 1


@inside
async def test_a_step_whose_outcome_was_lost_is_done_again(it: Here) -> None:
    run = await it.run("plain").to(0)
    del run.done[0]
    await run.to(3)
    del run.done[3]
    await run.to()

    assert run.told()[1] is None
    assert posts(it, "plain") == 1


@pytest.mark.full
async def test_a_form_that_went_with_its_browser_is_not_sent_empty() -> None:
    async with here() as it:
        run = await it.run("plain").to(2)
        await it.replicas[0].dies()
        await it.lives("r2")
        await run.to()

        assert failure(run) == ("submit", "EXECUTION_ERROR", Code.EXECUTION_ERROR)
        assert posts(it, "plain") == 0


@pytest.mark.full
@inside
async def test_a_runner_that_does_not_know_the_credentials_says_so_where_it_needs_them(it: Here) -> None:
    run = await it.run("plain").to(1)
    unknowing = replace(run, inputs=structs.replace(run.inputs, credentials=None))
    lost = await replace(unknowing, done=dict(run.done)).to()
    await run.to(2)
    on = await unknowing.to()

    assert failure(lost) == ("fill_credentials", "INVALID_PARAMETER", Code.VALIDATION_INVALID_REQUEST)
    assert "run the template again" in lost.done[2].message
    assert on.told()[1] is None


@pytest.mark.full
@inside
async def test_without_a_sign_of_success_the_end_of_the_form_is_told_as_that(it: Here) -> None:
    silent = await it.run("silent").to()
    wrong = await it.run("silent", credentials={"username": "smith", "password": "not it"}).to()

    told, failed = silent.told()
    assert failed is None
    assert told is not None
    assert (told.success, told.login_state) == (True, LoginState.UNKNOWN)
    assert failure(wrong) == ("verify_login", "EXECUTION_ERROR", Code.AUTH_INVALID_CREDENTIALS)


@pytest.mark.full
async def test_a_login_outlives_its_browser() -> None:
    async with here() as it:
        run = await it.run("plain").to(3)
        await it.replicas[0].dies()
        await it.lives("r2")
        await run.to()

        told, failed = run.told()
        assert failed is None
        assert told is not None
        assert told.title == "The mill"


@pytest.mark.full
@inside
async def test_in_a_session_of_the_caller_it_works_in_a_tab_of_its_own(it: Here) -> None:
    begun = await it.do(CreateSession(url=it.site.url("/article")))
    run = await it.run("plain", session=begun.session_id).to()
    tabs = await it.do(ListTabs(session_id=begun.session_id))
    gone = await it.run("plain", session="sess_" + "A" * 22).to()

    told, failed = run.told()
    assert failed is None
    assert told is not None
    assert told.session_id == begun.session_id
    assert isinstance(tabs, Tabs)
    assert [tab.url for tab in tabs.tabs] == [it.site.url("/article"), it.site.url("/members/plain/home")]
    assert failure(gone) == ("open_login_page", "SESSION_NOT_FOUND", Code.SESSION_NOT_FOUND)


@inside
async def test_the_session_and_the_saved_login_are_good_for_what_follows(it: Here) -> None:
    home = it.site.url("/members/plain/home")
    run = await it.run("plain", "jones", profile="mill").to()
    there = await it.do(Navigate(session_id=run.session, url=home))
    words = await it.do(GetPageContent(session_id=run.session))
    fetched = await it.fetch(home, "mill")
    other = await it.run("plain", "miller", profile="mill").to()
    anew = await it.fetch(home, "mill")

    assert isinstance(there, Navigated)
    assert (there.status_code, "Hello, jones" in str(words)) == (200, True)
    assert (fetched.status, "Hello, jones" in str(fetched.document)) == (200, True)
    assert other.told()[1] is None
    assert "Hello, miller" in str(anew.document)
