"""Waiting in a browser session: for a time, for a condition, or for rest, and never for ever."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from protocol.browsers.operations import Wait, WaitForStable
from protocol.browsers.results import Acted, Stable
from protocol.faults import Code
from tests.integration.playwright.browsing import Browsing
from tests.integration.playwright.driving import Driving, code, driving, site_and_browser
from tests.support.scale import first

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.full]

LATER = "<p id=old>Old</p><script>setTimeout(() => { old.remove(); document.body.append(%s) }, 3600)</script>"
COMES = LATER % "Object.assign(document.createElement('p'), {id: 'new', textContent: 'New'})"
BUSY = "<script>setInterval(() => fetch('/told?n=' + Math.random()), 100)</script>"
MOVING = "<p id=n>0</p><script>setInterval(() => { n.textContent++ }, 50)</script>"


@pytest.fixture(scope="module")
def web() -> Generator[Browsing]:
    with site_and_browser() as running:
        yield running


@pytest.fixture(scope="module")
def it(web: Browsing) -> Generator[Driving]:
    with driving(web) as driven:
        yield driven


def test_a_time_is_waited(it: Driving) -> None:
    it.show("<script>const from = performance.now()</script>")
    before = float(it.js("performance.now()"))
    waited = it.do(Wait(milliseconds=400), Acted)

    assert waited.success
    assert float(it.js("performance.now()")) - before >= 400


@pytest.mark.parametrize(
    "do",
    first(
        1,
        [
            Wait(selector="#new"),
            Wait(selector="#new", condition="selector"),
            Wait(selector="#old", condition="element_hidden"),
        ],
    ),
    ids=["selector alone", "selector", "hidden"],
)
def test_a_condition_is_waited_for(it: Driving, do: Wait) -> None:
    it.show(COMES)
    it.do(do, Acted)

    assert it.js("document.body.innerText.trim()") == "New"


def test_an_idle_network_is_waited_for(it: Driving) -> None:
    it.show("<button onclick=\"fetch('/slow?ms=1500').then(() => { window.came = 1 })\">Load</button>")
    it.js("document.querySelector('button').click()")
    it.do(Wait(condition="networkidle"), Acted)

    assert it.js("window.came") == 1


@pytest.mark.parametrize(
    ("markup", "do", "expected", "field", "words"),
    first(
        1,
        [
            ("<p>x</p>", Wait(selector="#none", milliseconds=300), Code.ELEMENT_NOT_FOUND, "selector", "After 300 ms"),
            (
                "<p id=stays>x</p>",
                Wait(selector="#stays", condition="element_hidden", milliseconds=300),
                Code.EXECUTION_ERROR,
                "selector",
                "still shown",
            ),
            (
                BUSY,
                Wait(condition="networkidle", milliseconds=600),
                Code.EXECUTION_ERROR,
                None,
                "not idle within 600 ms",
            ),
            (
                "<p>x</p>",
                Wait(condition="selector"),
                Code.VALIDATION_INVALID_REQUEST,
                "selector",
                "takes the CSS selector",
            ),
            (
                "<p>x</p>",
                Wait(selector="p[", milliseconds=300),
                Code.VALIDATION_INVALID_REQUEST,
                "selector",
                "no selector",
            ),
        ],
    ),
    ids=["none comes", "none goes", "never idle", "no selector", "broken selector"],
)
def test_a_condition_that_is_not_met_says_so(  # noqa: PLR0913, PLR0917 - what is asked, and what comes of it
    it: Driving, markup: str, do: Wait, expected: Code, field: str | None, words: str
) -> None:
    it.show(markup)
    fault = it.fault(do)

    assert code(fault) == (expected, field)
    assert words in fault.message


def test_what_rests_is_stable(it: Driving) -> None:
    it.show("<p>Still</p>")

    assert it.do(WaitForStable(), Stable) == Stable(
        session_id=it.session, tab_id=1, stable=True, dom_stable=True, network_pending=0, load_state="complete"
    )


def test_what_comes_to_rest_later_is_waited_for(it: Driving) -> None:
    it.show(f"{MOVING}<script>setTimeout(() => clearInterval(1), 3800)</script>")
    told = it.do(WaitForStable(timeout=20_000), Stable)

    assert told.stable


@pytest.mark.parametrize(("markup", "dom"), first(1, [(MOVING, False), (BUSY, True)]), ids=["moves", "asks"])
def test_what_never_rests_is_told_and_no_error(it: Driving, markup: str, dom: bool) -> None:  # noqa: FBT001
    it.show(markup)
    told = it.do(WaitForStable(timeout=1_500), Stable)

    assert (told.stable, told.dom_stable, told.load_state) == (False, dom, "complete")


def test_a_number_with_arrows_is_no_sign_that_a_page_loads(it: Driving) -> None:
    spinner = "<span class=ui-spinner><input aria-label=Amount value=1><a role=button class=ui-spinner-up>+</a></span>"

    assert not it.show(f"{spinner}<script>0</script>").partial
