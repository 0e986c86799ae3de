"""Goals become plans of one instruction for each step, and those that the rules do not understand become none."""

from __future__ import annotations

import pytest

from tests.unit.actors.planner.solving.pages import page, steps_of

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
