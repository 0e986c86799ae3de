"""What of a goal is kept from everybody, and put in again on its way to the page."""

from __future__ import annotations

import pytest

from actors.planner.page_evidence import stands_in
from actors.planner.values import filled, masked, moved, opened_values, sealed_values
from bus.seal import Seal, new_key
from protocol.acting.actions import ActionCall
from protocol.acting.tree import PageTree, SemanticNode
from protocol.faults import FaultError

TASK = "0a1b2c3d-0000-4000-8000-000000000001"


@pytest.mark.parametrize(
    ("goal", "told", "values"),
    [
        ('Log in as "bob" with password "xyz"', 'Log in as "bob" with password "{password}"', {"password": "xyz"}),
        ("Use the password: hunter", "Use the password: {password}", {"password": "hunter"}),
        ("Log in as bob, password hunter2!", "Log in as bob, password {password}", {"password": "hunter2!"}),
        ('Passwort "geheim", zweimal "geheim"', 'Passwort "{passwort}", zweimal "{passwort}"', {"passwort": "geheim"}),
        ("Pay with 4111 1111 1111 1111", "Pay with {card_number}", {"card_number": "4111 1111 1111 1111"}),
        ('Enter "xyz" as password, click "Go"', 'Enter "{password}" as password, click "Go"', {"password": "xyz"}),
        ('Put "xyz" into "Password", press "Go"', 'Put "{password}" into "Password", press "Go"', {"password": "xyz"}),
        ('Click "Password", then "Go"', 'Click "Password", then "Go"', {}),
        ("Click the password field", "Click the password field", {}),
        ('Enter "{password}" as password "{password}"', 'Enter "{password}" as password "{password}"', {}),
        ("Order number 4111 1111 1111 1112", "Order number 4111 1111 1111 1112", {}),
    ],
)  # fmt: skip
def test_secrets_are_taken_out_of_a_goal(goal: str, told: str, values: dict[str, str]) -> None:
    """They are values from then on, whatever they are called; what only speaks of passwords stays."""
    assert moved(goal, {}) == (told, values)
    assert moved(told, values) == (told, values)


def test_given_secrets_are_taken_out_wherever_they_stand() -> None:
    """By their name; what is none stays readable."""
    values = {"password": "tulip", "city": "Bern"}

    assert moved("Send tulip to Bern", values) == ("Send {password} to Bern", values)


def test_values_are_put_in_and_masked_again() -> None:
    """What the page then shows is written down with the name."""
    action = ActionCall(name="setValue", arguments={"element": "3", "value": "{password}"})
    nodes = (
        SemanticNode(id="3", role="inp", name="Password", value="xyz"),
        SemanticNode(id="4", role="inp", name="Count", value="2"),
    )
    page = PageTree(url="https://a.example/", nodes=nodes)
    values = {"password": "xyz", "number": "2"}

    assert filled(action, {"password": "xyz"}).arguments["value"] == "xyz"
    assert [one.value for one in masked(page, values).nodes] == ["{password}", "2"]
    assert [one.value for one in masked(page, values, ("4",)).nodes] == ["{password}", "{number}"]


def test_values_open_for_their_task_alone() -> None:
    """Nor without the key."""
    seal = Seal.of(new_key())
    given = sealed_values(seal, TASK, {"password": "xyz"})

    assert opened_values(seal, TASK, given) == {"password": "xyz"}
    assert opened_values(None, TASK, b"") == {}
    for other, task in ((seal, TASK[:-1] + "2"), (Seal.of(new_key()), TASK), (None, TASK)):
        with pytest.raises(FaultError):
            opened_values(other, task, given)


def test_what_the_user_has_said_himself() -> None:
    """Is what stands in his words, whatever its case."""
    click = ActionCall(name="click", arguments={"element": "1"})
    go = ActionCall(name="navigate", arguments={"url": "https://shop.example/"})

    assert stands_in(click, "")
    assert stands_in(go, "Open HTTPS://shop.example/ and buy")
    assert not stands_in(go, "Buy a lamp")
