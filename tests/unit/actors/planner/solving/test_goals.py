"""Goals become plans of one instruction for each step, and those that the rules do not understand become none."""

from __future__ import annotations

import pytest

from actors.planner.solution import Chosen
from tests.unit.actors.planner.solving.pages import next_of, page, steps_of

_PLANS = (
    ("Click button ONE, then click button TWO.", ("Click button ONE", "click button TWO")),
    (
        'Please type "then press Enter" into the note and press Save',
        ('type "then press Enter" into the note', "press Save"),
    ),
    ("Select nb, v8Zs3 and U6 and click Submit.", ("Select nb, v8Zs3 and U6", "click Submit")),
    (
        'Enter the username "ada" and the password "x" into the text fields and press login.',
        ('Enter "ada" into the username field', 'Enter "x" into the password field', "press login"),
    ),
    (
        "Fill in the form with name: Ada Lovelace, email: ada@site.example, city: Paris and submit",
        (
            "Enter Ada Lovelace into the name field",
            "Enter ada@site.example into the email field",
            "Enter Paris into the city field",
            "submit",
        ),
    ),
    *(
        (
            goal,
            (
                f"Enter {user} into the username field",
                "Enter {password} into the password field",
                "Submit log in",
            ),
        )
        for goal, user in (
            ("Log in as ada with {password}", '"ada"'),
            ("Log in with {user} and {password}", "{user}"),
            ("Sign in as {user} with the password {password}", "{user}"),
        )
    ),
    (
        "Log in as ada with password {password} then open the orders",
        (
            'Enter "ada" into the username field',
            "Enter {password} into the password field",
            "Submit log in",
            "open the orders",
        ),
    ),
    (
        'Find the 2nd word in the paragraph, type that into the textbox and press "Submit".',
        ("type the 2nd word in the paragraph into the textbox", 'press "Submit"'),
    ),
    (
        "Find the email by Bo and forward that email to Ida.",
        ("Forward Bo", 'Enter "Ida" into the recipient field', "Send the message"),
    ),
    (
        "Ida should get the message that Bo wrote, so forward it.",
        ("Forward Bo", 'Enter "Ida" into the recipient field', "Send the message"),
    ),
    ('Expand the sections below, to find and click on the link "sit".', ('click on the link "sit"',)),
    ("Klicke auf „Weiter“ und wähle Paris", ("Klicke auf „Weiter“", "wähle Paris")),
    ('Cliquez sur « Suivant » puis saisissez "Ada" dans Nom', ("Cliquez sur « Suivant »", 'saisissez "Ada" dans Nom')),
    ("Win a game of chess.", ()),
    ("Think about it and then click OK.", ()),
)


@pytest.mark.parametrize(("goal", "steps"), _PLANS, ids=[goal[:40] for goal, _ in _PLANS])
def test_a_goal_becomes_its_steps(goal: str, steps: tuple[str, ...]) -> None:
    assert steps_of(goal, page("inp Username", "inp Password")) == steps


_KEPT = (
    ("Enter Dr. No into Name", "Dr. No"),
    ("Enter St. Gallen into Name and click Save", "St. Gallen"),
    ("Enter J. R. R. Tolkien into Name.", "J. R. R. Tolkien"),
    ("Set Name to Ms. Lee", "Ms. Lee"),
    ("Set Name to Ada L.", "Ada L."),
    ("Set Name to Ada L. Click Save.", "Ada L."),
    ("Set Name to Ada. Click Save.", "Ada"),
    ("Set Name to Hello!", "Hello!"),
    ("Enter Hello. World into Name, then click Save", "Hello. World"),
    ("Enter Read and Write into Name", "Read and Write"),
    ("Enter now and then into Name, then click Save", "now and then"),
    ("Set Name to Copy and Paste", "Copy and Paste"),
    ("Enter Rock 'n' Roll into Name", "Rock 'n' Roll"),
    ("Set Name to Her story", "Her story"),
    ("Enter Made in Italy as Name", "Made in Italy"),
    ("Fill in the form with name: Ada L., note: hi", "Ada L."),
)


@pytest.mark.parametrize(("goal", "value"), _KEPT, ids=[goal for goal, _ in _KEPT])
def test_a_value_is_typed_as_it_stands_in_the_goal(goal: str, value: str) -> None:
    tree = page("inp Name", "inp Note", "btn Save")

    chosen = next_of(steps_of(goal, tree)[0], tree)

    assert isinstance(chosen, Chosen), chosen
    assert (chosen.action.name, chosen.action.element, chosen.action.arguments["value"]) == ("setValue", "1", value)
