"""What is kept of a step: nothing secret, names in place of values; and what is found again, or left alone."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from msgspec import structs

from actors.flows.consequences import is_true
from actors.flows.finding import FoundNode, NotFound, find
from actors.flows.inputs import values_of
from actors.flows.recording import BY_KEYS, DoneOperation, Recording, recorded
from actors.flows.wording import filled, has_shape, shape_of, slug
from protocol.acting.tree import ElementMarks, PageTree, SemanticNode
from protocol.browsers.operations import Click, Operation, PressKey, SetValue, TypeText
from protocol.faults import FaultError
from protocol.flows import AddressIs, AnyAppears, FieldHolds, FlowDraft, FlowParameter, FlowStep, FlowTarget
from protocol.policy import FieldFacts

URL = "https://club.example/login"
SECRET = "heddle-4417"
FIELD = SemanticNode(id="1", role="inp", name="Password", value="", marks=ElementMarks(type="password", secret="yes"))
NAME = SemanticNode(id="2", role="inp", name="Full name", value="", marks=ElementMarks(id="name", beside="Full name"))
JOIN = SemanticNode(id="3", role="btn", name="Join", marks=ElementMarks(beside="Password"))
PAD = FieldFacts(page_url=URL, tag="button", type="button", label="4", heading="Enter your PIN")
PAGE = PageTree(url=URL, nodes=(FIELD, NAME, JOIN), elements={"1": "e1", "2": "e2", "3": "e3"}, hash="a")


def facts(label: str, kind: str = "text") -> FieldFacts:
    """Return what a browser says of a field."""
    return FieldFacts(page_url=URL, tag="input", type=kind, label=label)


def step(operation: Operation, so_far: Recording | None = None, **more: Any) -> Recording:
    """Record one operation, on the page as it is unless another one is named."""
    given: dict[str, Any] = {"before": PAGE, "after": PAGE, **more}
    return recorded(so_far or Recording(FlowDraft()), DoneOperation(operation=operation, **given))


def test_a_secret_stands_in_nothing_that_is_recorded() -> None:
    """Neither where it was typed, nor in what pages say after it, nor in their addresses."""
    typed = step(TypeText(element_id="e1", text=SECRET), facts=facts("Password", "password"), words=SECRET)
    shown = SemanticNode(id="9", role="h", name=f"Welcome, {SECRET}")
    after = structs.replace(PAGE, url=f"https://club.example/in/{SECRET}", nodes=(shown,))
    joined = step(Click(element_id="e3"), typed, after=after)
    named = structs.replace(JOIN, name=f"Go on as {SECRET}", marks=ElementMarks(near=f"{SECRET} is yours"))
    last = step(Click(element_id="e3"), joined, before=structs.replace(PAGE, nodes=(named,)))

    assert SECRET.encode() not in msgspec.json.encode(last.draft)
    assert SECRET not in repr(last)
    assert last.draft.parameters == (FlowParameter(name="password", label="Password", required=True, secret=True),)


@pytest.mark.parametrize(
    ("operation", "what"),
    [
        (PressKey(key="4"), facts("Password", "password")),
        (Click(element_id="e3"), PAD),
    ],
)
def test_a_secret_that_comes_in_pieces_is_an_obstacle(operation: Operation, what: FieldFacts) -> None:
    """Keys into a password field, and those of a pad for a PIN."""
    assert step(operation, facts=what).draft.steps[0].obstacle == BY_KEYS


def test_what_nothing_is_known_of_counts_as_secret() -> None:
    """So does what has come sealed, and a value that was set is typed when it is put in again."""
    unknown = step(SetValue(element_id="e2", value="blue"), words="blue").draft
    sealed = step(TypeText(element_id="e2", text=""), words="blue", sealed=True, facts=facts("Full name")).draft

    assert [one.parameters[0].default for one in (unknown, sealed)] == [None, None]
    assert unknown.steps[0].tool == "type_text"


def test_words_that_were_typed_are_names_wherever_they_stand() -> None:
    """In what appears, in addresses and in names of elements; other values are looked for in their place."""
    typed = step(TypeText(element_id="e2", text="Ann Bell"), facts=facts("Full name"), words="Ann Bell")
    hello = SemanticNode(id="9", role="h", name="Hello Ann Bell!")
    joined = step(Click(element_id="e3"), typed, after=structs.replace(PAGE, nodes=(*PAGE.nodes, hello)))
    (check,) = joined.draft.steps[-1].checks
    other = structs.replace(PAGE, nodes=(structs.replace(hello, name="Hello Bo Hill!"),))

    assert check == AnyAppears(nodes=(("h", "Hello {full_name}!"),))
    assert is_true(check, PAGE, other, None, {"full_name": "Bo Hill"})
    assert not is_true(check, PAGE, other, None, {"full_name": "Somebody else entirely"})
    assert filled("{a} {b}", {"a": "{b}", "b": "x"}) == "{b} x"


def test_addresses_are_compared_by_their_shape() -> None:
    """A segment with a number names one thing of many; a query has its names at least."""
    shape = shape_of("https://a.example/order/81723/done?id=7", {})

    assert shape is not None
    assert shape == AddressIs(host="a.example", path="/order/*/done", query=("id",))
    assert has_shape("https://a.example/order/9/done?id=1&x=2", shape, {})
    assert not has_shape("https://a.example/order/9/failed?id=1", shape, {})
    assert not has_shape("https://b.example/order/9/done?id=1", shape, {})
    assert slug("Straße & Nr.*") == "strasse_nr"


JOINING = FlowTarget(role="btn", name="Join", marks=ElementMarks(id="join", beside="Password"), others=("Leave",))


@pytest.mark.parametrize(
    ("nodes", "found"),
    [
        ((structs.replace(JOIN, marks=ElementMarks(id="join", beside="Password")),), "3"),
        ((structs.replace(JOIN, role="link", marks=ElementMarks(beside="Password")),), "3"),
        ((structs.replace(JOIN, name="Enrol", marks=ElementMarks(id="join", beside="Password")),), None),
        ((structs.replace(JOIN, name="Leave", marks=ElementMarks(id="join", beside="Password")),), None),
        ((structs.replace(JOIN, name="Help", marks=ElementMarks(beside="Password")),), None),
        ((JOIN, structs.replace(JOIN, id="4")), None),
        ((), None),
    ],
)
def test_an_element_is_found_by_what_is_its_own(nodes: tuple[SemanticNode, ...], found: str | None) -> None:
    """Not by its place alone, not under the name of another, and never one of two."""
    result = find(JOINING, structs.replace(PAGE, nodes=nodes), {})

    assert (result.node.id if isinstance(result, FoundNode) else None) == found


def test_words_go_into_no_field_for_secrets_and_secrets_into_no_other() -> None:
    """Whatever such a field is called."""
    plain = FlowTarget(role="inp", name="Password")
    secret = FlowTarget(role="inp", name="Full name", marks=ElementMarks(id="name", secret="yes"))

    assert isinstance(find(plain, PAGE, {}), NotFound)
    assert isinstance(find(secret, PAGE, {}), NotFound)


def test_inputs_are_those_that_the_flow_takes() -> None:
    """Each is named that is missing or unknown, and no value is."""
    takes = (FlowParameter(name="q", default="x"), FlowParameter(name="pin", secret=True, required=True))

    assert values_of(takes, {}, {"pin": "1"}) == {"q": "x"}
    for given, secrets, field in (
        ({"z": "v"}, {"pin": "1"}, "parameters.z"),
        ({"pin": "v"}, {}, "parameters.pin"),
        ({}, {}, "secrets.pin"),
        ({}, {"pin": "1", "q": "v"}, "secrets.q"),
    ):
        with pytest.raises(FaultError) as raised:
            values_of(takes, given, secrets)
        assert raised.value.fault.field == field


def test_a_step_names_what_it_cannot_do_again() -> None:
    """A field that was not to be seen is no element to look for."""
    assert step(Click(element_id="gone")).draft.steps == (
        FlowStep(tool="click", obstacle="What it was done to was not to be seen on the page."),
    )


def test_a_field_that_is_emptied_holds_nothing() -> None:
    """Where the caller gives no words for it; what a secret has left there may be anything."""
    full = structs.replace(PAGE, nodes=(structs.replace(NAME, value="Ann Bell"),))

    given, secret = FieldHolds(value="{full_name}"), FieldHolds()
    assert [is_true(given, PAGE, one, NAME, {"full_name": ""}) for one in (PAGE, full)] == [True, False]
    assert [is_true(secret, PAGE, one, NAME, {}) for one in (PAGE, full)] == [False, True]


def test_keys_are_about_what_has_the_focus_and_nothing_else() -> None:
    """Words of a page are no element of a step that names none."""
    words = SemanticNode(id="7", role="h", name="Welcome to the club")
    page = structs.replace(PAGE, nodes=(words, *PAGE.nodes))
    held, loose = (
        step(PressKey(key="Enter"), before=one, facts=facts("Full name")).draft.steps[0].target
        for one in (structs.replace(page, focused="2"), page)
    )

    assert (held.name if held else "", loose) == ("Full name", None)
