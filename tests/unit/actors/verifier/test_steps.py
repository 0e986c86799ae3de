"""The verifier tells by what a page is before and after an action whether the action did what was wanted."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import structs

from actors.verifier.steps.rules import judge_step
from protocol.acting.actions import ActionCall
from protocol.acting.steps import (
    BeforeState,
    BlockerKind,
    ClientEvidence,
    Expectation,
    ExpectedKind,
    StepClaim,
    StepVerdict,
    VerificationTier,
)
from protocol.acting.tree import NodeScroll, ReceivedInput, SemanticNode

URL = "https://shop.example/cart"


def node(
    number: int, role: str, name: str = "", place: tuple[float, float] | None = None, **fields: Any
) -> SemanticNode:
    x, y = place or (40.0, 40.0 * number)
    return SemanticNode(id=str(number), role=role, name=name, box=(x, y, 120.0, 24.0), **fields)


NAME = node(1, "inp", "Name")
CITY = node(2, "inp", "City")
TERMS = node(3, "chk", "I agree")
COLOUR = node(4, "sel", "Colour", value="Red")
SAVE = node(5, "btn", "Save")
CLOCK = node(6, "text", "12:00:01", (900, 10))
ADVERT = node(7, "link", "Cheap flights", (900, 600))
OTHER = node(10, "btn", "Publish")
PAGE = (NAME, CITY, TERMS, COLOUR, SAVE, CLOCK, OTHER, ADVERT)


def state(*nodes: SemanticNode, **fields: Any) -> BeforeState:
    return structs.replace(BeforeState(url=URL, title="Cart", nodes=nodes), **fields)


def changed(*others: SemanticNode) -> tuple[SemanticNode, ...]:
    """Return the page with nodes of the same ids in place of its own, and the new ones behind them."""
    by_id = {one.id: one for one in others}
    return (*(by_id.pop(one.id, one) for one in PAGE), *by_id.values())


def judged(action: ActionCall, after: BeforeState, **fields: Any) -> StepVerdict:
    claim = StepClaim(goal="", step="", action=action, before=state(*PAGE), after=after)
    return judge_step(structs.replace(claim, **fields))


def call(name: str, element: SemanticNode | None = None, **arguments: Any) -> ActionCall:
    return ActionCall(name=name, arguments={"element": element.id, **arguments} if element else arguments)


def received(kind: str, *ids: str, answered: bool = False) -> dict[str, Any]:
    """Return what a page has heard of a click: what it reached, the innermost first."""
    return {"inputs": (ReceivedInput(at=1.0, kind=kind, ids=ids, answered=answered),)}


def scrolled(*nodes: SemanticNode) -> tuple[SemanticNode, ...]:
    """Return nodes as they stand after the page was scrolled far down."""
    places = ((one, one.box or (0.0, 0.0, 0.0, 0.0)) for one in nodes)
    return tuple(structs.replace(one, box=(x, y - 1000.0, width, height)) for one, (x, y, width, height) in places)


MONTH = node(9, "text", "May 2026", (180, 200))
StepRow = tuple[ActionCall, tuple[SemanticNode, ...], dict[str, Any]]
"""An action, the nodes after it, and what else is otherwise then."""

FILL = call("setValue", NAME, value="Ada")
CLICK = call("click", SAVE)

SUCCEEDS: dict[str, StepRow] = {
    "a field that has the value": (FILL, changed(structs.replace(NAME, value="Ada")), {}),
    "a field that writes a date anew": (
        call("setValue", NAME, value="2026-03-04"), changed(structs.replace(NAME, value="03/04/2026")), {},
    ),
    "a box that is checked": (call("check", TERMS), changed(structs.replace(TERMS, state="checked")), {}),
    "an option": (call("selectDropdown", COLOUR, value="Blue"), changed(structs.replace(COLOUR, value="Blue")), {}),
    "a message beside the button": (CLICK, changed(node(8, "text", "Changes saved", (40, 230))), {}),
    "words beside a button that had to be scrolled to": (
        CLICK, scrolled(*changed(node(8, "text", "Two of these", (40, 230)))), {},
    ),
    "what was typed into a terminal": (
        call("type", text="ls"), changed(structs.replace(CLOCK, name="user$ ls")), {},
    ),
    "a message far away that says that it went well": (CLICK, changed(node(8, "aler", "Saved!", (800, 20))), {}),
    "a toast that was gone again": (CLICK, PAGE, {"recent_events": ("[0s ago] Success: 'Saved'",)}),
    "another address": (CLICK, (node(20, "h", "Order 7"),), {"url": "https://shop.example/order/7"}),
    "a dialog of the browser": (CLICK, PAGE, {"dialog": "Really?"}),
    "another tab": (CLICK, PAGE, {"tabs": 2}),
    "a layer over all": (CLICK, tuple(structs.replace(one, occluded=True) for one in PAGE), {}),
    "a row that is gone": (CLICK, tuple(one for one in PAGE if one is not SAVE), {}),
    "a focus on a field": (call("click", NAME), PAGE, {"focused": "1"}),
    "a style that no node tells": (CLICK, PAGE, received("click", "5", answered=True)),
    "a message, with a click that was seen to arrive": (
        CLICK, changed(node(8, "text", "Changes saved", (40, 230))), received("click", "50", "5"),
    ),
    "a focus that Tab has moved": (call("press", key="Tab"), PAGE, {"focused": "2"}),
    "words that are selected": (call("selectText", MONTH), PAGE, {"selection": "May 2026"}),
    "a page that was scrolled": (call("scroll"), PAGE, {"scroll_position": "40%"}),
}  # fmt: skip

FAILS: dict[str, StepRow] = {
    "nothing changed": (CLICK, PAGE, {}),
    "a clock has ticked": (CLICK, changed(structs.replace(CLOCK, name="12:00:02")), {}),
    "an advertisement is another": (CLICK, changed(structs.replace(ADVERT, name="Cheap hotels")), {}),
    "the neighbour has the value": (FILL, changed(structs.replace(CITY, value="Ada")), {}),
    "the field has another value": (FILL, changed(structs.replace(NAME, value="A")), {}),
    "the box is as it was": (call("check", TERMS), changed(structs.replace(COLOUR, value="Blue")), {}),
    "a wrong option": (call("selectDropdown", COLOUR, value="Blue"), changed(structs.replace(COLOUR, value="Tan")), {}),
    "a message that says what is wrong": (CLICK, changed(node(8, "text", "Name is required", (40, 70))), {}),
    "an error that was gone again": (CLICK, PAGE, {"recent_events": ("[1s ago] Error: 'Invalid ZIP code'",)}),
    "the field is marked as invalid": (FILL, changed(structs.replace(NAME, value="Ada", state="invalid")), {}),
    "the page was drawn anew": (CLICK, tuple(structs.replace(one, id=f"9{one.id}") for one in PAGE), {}),
    "the button has the focus, no more": (CLICK, PAGE, {"focused": "5"}),
    "another button has the focus": (CLICK, changed(OTHER, node(8, "text", "Your list", (40, 230))), {"focused": "10"}),
    "what it said before is gone, and the clock ticks": (
        CLICK, changed(structs.replace(CLOCK, name="12:00:02")), {"recent_events": ("[0s ago] Removed: 'Saved'",)},
    ),
    "the click reached the button beside it": (
        CLICK, changed(node(8, "text", "Changes saved", (40, 230))), received("click", "10"),
    ),
    "it was pressed, and moved before a click came of it": (
        CLICK, changed(structs.replace(SAVE, state="pressed")), received("pointerdown", "5"),
    ),
    "somebody wants to chat": (CLICK, changed(node(8, "btn", "Chat with us", (900, 700))), {}),
    "it stayed where it was": (call("navigate", url="https://else.example/"), PAGE, {}),
    "nothing was scrolled": (call("scroll"), changed(structs.replace(CLOCK, name="12:00:09")), {}),
}  # fmt: skip


@pytest.mark.parametrize(("action", "nodes", "fields"), SUCCEEDS.values(), ids=SUCCEEDS)
def test_a_step_succeeds_that_leaves_what_was_wanted(
    action: ActionCall, nodes: tuple[SemanticNode, ...], fields: dict[str, Any]
) -> None:
    verdict = judged(action, state(*nodes, **fields))

    assert (verdict.succeeded, verdict.confidence >= 0.85) == (True, True), verdict


@pytest.mark.parametrize(("action", "nodes", "fields"), FAILS.values(), ids=FAILS)
def test_a_step_fails_that_leaves_nothing_of_its_own(
    action: ActionCall, nodes: tuple[SemanticNode, ...], fields: dict[str, Any]
) -> None:
    verdict = judged(action, state(*nodes, **fields))

    assert (verdict.succeeded, verdict.confidence < 0.5) == (False, True), verdict


@pytest.mark.parametrize(("inputs", "succeeds"), [(received("click", "5"), True), ({}, False)])
def test_other_words_right_beside_a_button_are_its_own_where_a_click_arrived(
    inputs: dict[str, Any], *, succeeds: bool
) -> None:
    later = structs.replace(MONTH, name="June 2026")
    claim = StepClaim(goal="", step="", action=CLICK, before=state(*PAGE, MONTH), after=state(*PAGE, later, **inputs))

    assert judge_step(claim).succeeded is succeeds


def test_where_nothing_changed_and_nobody_saw_anything_the_gate_says_so() -> None:
    verdict = judged(CLICK, state(*PAGE), final=True)

    assert verdict == StepVerdict(
        succeeded=False,
        confidence=0.2,
        tier=VerificationTier.GATE,
        evidence=("Nothing changed.",),
        task_confidence=0.2,
    )


@pytest.mark.parametrize(
    ("expected", "succeeds"),
    [
        (Expectation(kind=ExpectedKind.ELEMENT_APPEARS, value="Order 7"), True),
        (Expectation(kind=ExpectedKind.ELEMENT_APPEARS, value="Order 8"), False),
        (Expectation(kind=ExpectedKind.ELEMENT_DISAPPEARS, value="Cheap flights"), True),
        (Expectation(kind=ExpectedKind.ELEMENT_DISAPPEARS, element="7"), True),
        (Expectation(kind=ExpectedKind.ELEMENT_DISAPPEARS, value="Save"), False),
        (Expectation(kind=ExpectedKind.NAVIGATION, value="/order"), False),
        (Expectation(kind=ExpectedKind.STATE_CHANGES, element="3", value="checked"), True),
        (Expectation(kind=ExpectedKind.STATE_CHANGES, element="3", value="disabled"), False),
        (Expectation(kind=ExpectedKind.DOWNLOAD_STARTS), False),
        (Expectation(kind=ExpectedKind.ANY_CHANGE), True),
    ],
)
def test_what_was_expected_decides(expected: Expectation, *, succeeds: bool) -> None:
    nodes = (*changed(structs.replace(TERMS, state="checked"))[:-1], node(8, "h", "Order 7", (40, 240)))

    assert judged(CLICK, state(*nodes), expected=expected).succeeded is succeeds


@pytest.mark.parametrize(
    ("client", "succeeds", "most"),
    [
        (ClientEvidence(), True, 1.0),
        (ClientEvidence(sentinel=False, errors=("Card declined",)), False, 0.1),
        (ClientEvidence(sentinel=False), False, 0.6),
        (ClientEvidence(element_found=False), False, 0.6),
        (ClientEvidence(status="failure", error_code="ELEMENT_NOT_FOUND"), False, 0.1),
        (ClientEvidence(sentinel=True, successes=("Saved",)), True, 1.0),
    ],
)
def test_what_a_client_has_seen_is_weighed(client: ClientEvidence, most: float, *, succeeds: bool) -> None:
    nodes = changed(node(8, "text", "Your list", (40, 230)))

    verdict = judged(CLICK, state(*nodes), client=client)

    assert (verdict.succeeded, verdict.confidence <= most) == (succeeds, True), verdict


@pytest.mark.parametrize(
    ("client", "final", "succeeds"),
    [
        (ClientEvidence(network=True, mutation=True), False, True),
        (ClientEvidence(network=True, mutation=True), True, False),
        (ClientEvidence(mutation=True), False, False),
        (ClientEvidence(sentinel=True), False, False),
        (ClientEvidence(sentinel=True, successes=("Saved",)), True, True),
        (ClientEvidence(sentinel=True, successes=("Saved",), element_found=False), True, False),
    ],
)
def test_what_is_gone_again_may_have_been_seen_by_a_client(
    client: ClientEvidence, *, final: bool, succeeds: bool
) -> None:
    assert judged(CLICK, state(*PAGE), client=client, final=final).succeeded is succeeds


def test_what_a_client_saw_is_no_match_for_an_error_on_the_page() -> None:
    after = state(*changed(node(8, "text", "Name is required", (40, 70))))

    verdict = judged(
        CLICK, after, client=ClientEvidence(sentinel=True, successes=("Saved",), network=True, mutation=True)
    )

    assert (verdict.succeeded, verdict.confidence < 0.1) == (False, True)


def test_a_value_that_is_secret_is_not_looked_at() -> None:
    after = state(*changed(structs.replace(NAME, value="•••")))

    verdict = judged(FILL, after, typed=("1",))

    assert verdict.succeeded
    assert not any("Ada" in one for one in verdict.evidence)


@pytest.mark.parametrize(
    ("action", "text", "succeeds"),
    [
        (call("getText", NAME), "Ada", True),
        (call("getText", NAME), "", False),
        (call("isVisible", NAME), "false", True),
        (call("wait", seconds=1), "", True),
        (call("waitForElement", NAME), "", True),
        (call("remember", key="a", value="b"), "", True),
    ],
)
def test_what_only_reads_succeeds_by_what_it_returned(action: ActionCall, text: str, *, succeeds: bool) -> None:
    assert judged(action, state(*PAGE), text=text).succeeded is succeeds


def test_a_click_on_another_element_than_the_step_names_is_none() -> None:
    cancel = node(8, "btn", "Cancel")
    before, after = state(*PAGE, cancel), state(*PAGE, cancel, node(9, "text", "Your list", (40, 230)))

    verdict = judged(CLICK, after, before=before, step='Click the "Cancel" button')

    assert not verdict.succeeded
    assert "Cancel" in verdict.evidence[-1]


@pytest.mark.parametrize(("there", "succeeds"), [("Confirm order", True), ("Your list", False)])
def test_the_next_step_needs_what_it_names(there: str, *, succeeds: bool) -> None:
    after = state(*changed(node(8, "btn", there, (800, 500))))

    assert judged(CLICK, after, next_step='Click "Confirm order"').succeeded is succeeds


@pytest.mark.parametrize(("certainty", "done"), [(0.95, True), (0.6, False)])
def test_a_task_is_no_surer_done_than_its_last_action_was_right(certainty: float, *, done: bool) -> None:
    verdict = judged(FILL, state(*changed(structs.replace(NAME, value="Ada"))), final=True, certainty=certainty)

    assert (verdict.succeeded, verdict.task_done) == (True, done)
    assert verdict.task_confidence <= certainty


@pytest.mark.parametrize(
    ("after", "replan"),
    [
        (state(*PAGE), False),
        (state(*PAGE, url=f"{URL}#top"), False),
        (state(*PAGE, url=f"{URL}?page=2"), True),
        (state(*PAGE[:3]), True),
        (state(*(node(number, "link", f"Offer {number}") for number in range(30, 45))), True),
    ],
)
def test_a_plan_is_made_anew_for_another_page(after: BeforeState, *, replan: bool) -> None:
    assert judged(CLICK, after).replan is replan


def test_a_list_that_was_scrolled_is_no_other_page() -> None:
    listed = node(30, "list", "Rows", scroll=NodeScroll(depth="0%", more=True))
    before = state(listed, *(node(number, "item", f"Row {number}") for number in range(31, 40)))
    deeper = structs.replace(listed, scroll=NodeScroll(depth="50%", more=True))
    after = state(deeper, *(node(number, "item", f"Row {number}") for number in range(41, 50)))

    verdict = judged(call("scroll_container", listed), after, before=before)

    assert (verdict.succeeded, verdict.replan) == (True, False)


PASSWORD = node(60, "inp", "Password")
PROSE = tuple(node(number, "link", f"Chapter {number}") for number in range(30, 60))

BLOCKED: dict[BlockerKind, tuple[SemanticNode, ...]] = {
    BlockerKind.LOGIN_FAILED: (PASSWORD, node(61, "text", "Benutzername oder Passwort ist falsch.")),
    BlockerKind.MFA: (node(62, "inp", "Code"), node(61, "h", "Enter the code we sent to your phone")),
    BlockerKind.CAPTCHA: (node(62, "chk", "Je ne suis pas un robot"), *PROSE),
    BlockerKind.RATE_LIMIT: (node(61, "h", "Demasiadas solicitudes"),),
    BlockerKind.SESSION_EXPIRED: (PASSWORD, node(61, "aler", "La sessione è scaduta")),
    BlockerKind.ACCESS_DENIED: (node(61, "h", "Acesso negado"),),
    BlockerKind.PAGE_ERROR: (node(61, "h", "Pagina niet gevonden"), node(62, "link", "Home")),
    BlockerKind.COOKIE_CONSENT: (
        node(61, "text", "We use cookies"),
        node(62, "btn", "Accept all"),
        *(structs.replace(one, occluded=True) for one in PROSE),
    ),
}


@pytest.mark.parametrize(("kind", "nodes"), BLOCKED.items())
def test_what_stands_in_the_way_is_told(kind: BlockerKind, nodes: tuple[SemanticNode, ...]) -> None:
    blocker = judged(CLICK, state(*nodes, url="https://shop.example/login")).blocker

    assert blocker is not None
    assert (blocker.kind, blocker.confidence >= 0.8) == (kind, True)


def test_a_login_that_failed_is_told_in_whatever_words() -> None:
    words = "Wrong user name or password"
    blocker = judged(CLICK, state(PASSWORD, node(61, "aler", words), url="https://shop.example/login")).blocker

    assert blocker is not None
    assert (blocker.kind, blocker.words) == (BlockerKind.LOGIN_FAILED, words)


@pytest.mark.parametrize(
    "nodes",
    [
        (*PROSE, node(61, "h", "Why captchas fail"), node(62, "text", "I'm not a robot, says the box.")),
        (*PROSE, node(61, "text", "How to handle the error 'Too many requests'")),
        (*PROSE, node(61, "link", "Access denied: a short history")),
        (*PROSE, node(61, "inp", "Promotion code"), node(62, "h", "Checkout")),
        (*PROSE, node(61, "text", "We use cookies"), node(62, "btn", "Accept all")),
        (*PROSE, PASSWORD, node(61, "btn", "Sign in")),
        (node(61, "h", "500 ways to bake bread"), *PROSE),
        (node(61, "h", "404 items"),),
        (*PROSE, PASSWORD, node(61, "text", "The wrong size? Users may exchange what they have bought, for a month.")),
    ],
)
def test_a_page_that_only_talks_of_it_is_no_blocker(nodes: tuple[SemanticNode, ...]) -> None:
    assert judged(CLICK, state(*nodes, url="https://shop.example/read")).blocker is None
