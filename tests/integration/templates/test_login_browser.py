"""What a browser session does for whoever logs in: elements by selectors, words that come sealed, a fresh beginning."""

from __future__ import annotations

from collections.abc import Generator
from typing import TypeVar
from urllib.parse import urlencode

import pytest

from bus.seal import Seal, new_key
from protocol.browsers.operations import (
    CreateSession,
    DescribeField,
    ExecuteJavascript,
    FindElement,
    GetPageContent,
    GetPageInfo,
    ListTabs,
    Navigate,
    Operation,
    TypeText,
    typed_in,
)
from protocol.browsers.pageinfo import MASK
from protocol.browsers.results import Acted, Evaluated, FieldDescribed, Found, PageInfo, Tabs
from protocol.faults import Code, FaultError
from tests.integration.templates.logging_in import Here, shared
from tests.support.scale import first
from tests.support.sharing import Shared, inside

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.full]

NEEDLE = "needle & haystack"
FORM = (
    "<title>Form</title><img name=querySelectorAll><form id=f name=forms><label>User <input name=user></label>"
    "<label>Hidden <input name=gone style='display:none'></label><button id=go><b class=inner>Go</b></button></form>"
    "<p class=words>Words</p><input type=date id=day aria-label=Day>"
    "<script>window.ran = 0; Document.prototype.querySelectorAll = () => { ran++; return [] }</script>"
)

D = TypeVar("D")


@pytest.fixture(scope="module")
def one_browser() -> Generator[Shared[Here]]:
    with shared() as one:
        yield one


@pytest.fixture
def it(one_browser: Shared[Here]) -> Generator[Shared[Here]]:
    yield one_browser
    one_browser.run(Here.anew)


async def form(it: Here) -> str:
    """Show a form, and return its session."""
    return (await it.do(CreateSession(url=it.site.url(f"/asked?{urlencode({'body': FORM})}")))).session_id


async def come(it: Here, do: Operation, kind: type[D]) -> D:
    """Do something that comes to an answer of this kind."""
    done = await it.do(do)
    assert isinstance(done, kind)
    return done


async def code(it: Here, do: Operation) -> tuple[Code, str | None]:
    """Do something that fails."""
    with pytest.raises(FaultError) as caught:
        await it.do(do)
    return caught.value.fault.code, caught.value.fault.field


@inside
async def test_elements_are_found_by_selectors_and_no_script_of_the_page_hears_of_it(it: Here) -> None:
    session = await form(it)
    found = dict[str, list[str]]()
    for selector in ("input[name=user]", "#go", ".inner", "form *", ".words", "[name=gone]", "#nobody"):
        told = await come(it, FindElement(session_id=session, query=f"css={selector}"), Found)
        found[selector] = [one.id for one in told.candidates]
    by_words = await come(it, FindElement(session_id=session, query="User"), Found)
    ran = await come(it, ExecuteJavascript(session_id=session, script="ran"), Evaluated)

    user, go = by_words.candidates[0].id, found["#go"][0]
    assert found == {
        "input[name=user]": [user],
        "#go": [go],
        ".inner": [go],
        "form *": [user, go],
        ".words": [],
        "[name=gone]": [],
        "#nobody": [],
    }
    assert ran.result == 0


@pytest.mark.parametrize("selector", first(2, ["a >> b", "[", "xpath=//a", "text=Go", "p:has-text('x')", " "]))
@inside
async def test_what_is_no_selector_of_css_is_refused(it: Here, selector: str) -> None:
    session = await form(it)
    asked = FindElement(session_id=session, query=f"css={selector}")

    assert await code(it, asked) == (Code.VALIDATION_INVALID_REQUEST, "query")


@inside
async def test_what_came_sealed_is_typed_and_told_to_nobody(it: Here) -> None:
    session = await form(it)
    user = (await come(it, FindElement(session_id=session, query="css=[name=user]"), Found)).candidates[0].id
    sealed = Seal.of(it.key).seal(NEEDLE.encode(), typed_in(session))
    done = await come(it, TypeText(session_id=session, element_id=user, text="", sealed=sealed), Acted)
    holds = await come(it, ExecuteJavascript(session_id=session, script="f.user.value"), Evaluated)
    info = await come(it, GetPageInfo(session_id=session), PageInfo)
    content = await it.do(GetPageContent(session_id=session))

    assert holds.result == NEEDLE
    assert [one.value for one in info.elements if one.id == user] == [MASK]
    assert not [told for told in (done, info, content) if NEEDLE in str(told)]


@inside
async def test_what_came_sealed_goes_into_the_very_field_that_was_decided_about(it: Here) -> None:
    session = await form(it)
    user = (await come(it, FindElement(session_id=session, query="css=[name=user]"), Found)).candidates[0].id
    facts = (await come(it, DescribeField(session_id=session, element_id=user), FieldDescribed)).facts
    sealed = Seal.of(it.key).seal(NEEDLE.encode(), typed_in(session))
    typed = TypeText(session_id=session, element_id=user, text="", sealed=sealed, submit=True)
    done = await it.do(typed, expects=facts.digest)

    assert isinstance(done, Acted)
    assert done.page is not None
    assert "user=" in done.page.url


@inside
async def test_what_was_sealed_for_elsewhere_is_not_typed(it: Here) -> None:
    session = await form(it)
    user = (await come(it, FindElement(session_id=session, query="css=[name=user]"), Found)).candidates[0].id
    day = (await come(it, FindElement(session_id=session, query="css=#day"), Found)).candidates[0].id
    ours = Seal.of(it.key)
    wrong = [
        ours.seal(b"x", typed_in("sess_" + "B" * 22)),
        Seal.of(new_key()).seal(b"x", typed_in(session)),
        b"",
    ]
    refused = [
        await code(it, TypeText(session_id=session, element_id=user, text="", sealed=sealed)) for sealed in wrong
    ]
    no_words = TypeText(session_id=session, element_id=day, text="", sealed=ours.seal(b"x", typed_in(session)))

    assert refused == [(Code.VALIDATION_INVALID_REQUEST, "sealed")] * 3
    assert await code(it, no_words) == (Code.EXECUTION_ERROR, "element_id")
    holds = await come(it, ExecuteJavascript(session_id=session, script="f.user.value"), Evaluated)
    assert holds.result == ""


@inside
async def test_a_fresh_session_begins_without_what_was_saved_and_adds_to_it(it: Here) -> None:
    echo, url = it.site.url("/cookies/echo"), it.site.url("/account/login?user=smith")
    await it.do(CreateSession(url=url, profile="mill"))
    fresh = await it.do(CreateSession(url=echo, profile="mill", fresh=True))
    without = await it.do(GetPageContent(session_id=fresh.session_id))
    none = await come(it, ListTabs(session_id=fresh.session_id), Tabs)
    await it.do(Navigate(session_id=fresh.session_id, url=it.site.url("/cookies/set")))
    some = await come(it, ListTabs(session_id=fresh.session_id), Tabs)
    later = await it.do(CreateSession(url=echo, profile="mill"))
    with_both = await it.do(GetPageContent(session_id=later.session_id))

    assert "none" in str(without)
    assert (none.cookies, some.cookies) == (0, 1)
    assert "kept=yes" in str(with_both)
    assert "session_id=smith" in str(with_both)
