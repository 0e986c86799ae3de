"""Instructions of more than one action: each is chosen by the page as it stands, until the step is over."""

from __future__ import annotations

from typing import Any

import pytest

from actors.planner.solution import Chosen, StepOver, Unsolved, UserAsked
from protocol.acting.actions import ActionCall
from protocol.acting.steps import StepVerdict, TakenAction, VerificationTier
from protocol.acting.tree import PageTree, Viewport
from tests.unit.actors.planner.solving.pages import next_of, page, steps_of

_LIST = page("text Ada | xy=50,70", "text Bo | xy=50,98", "text Cy | xy=50,126", "text Di | xy=50,154")
_BOXES = page(
    "img | sh=circle | c=red | xy=20,20",
    "img | sh=rect | c=red | xy=60,20",
    "img | sh=rect | c=black | xy=200,200 | wh=150,150",
)
_DATE = page("inp Date | v= | s=readonly", "btn Submit")
_DAYS = [f"link {day} | xy={30 * (day % 7)},{100 + 20 * (day // 7)}" for day in range(1, 31)]
_APRIL = page("inp Date | v= | s=readonly", "btn Prev", "btn Next", "text April 2026", *_DAYS)
_PLANE = page(
    *(f"text {number} | xy={100 + 30 * number},130" for number in (-2, -1, 1, 2)),
    *(f"text {number} | xy=95,{130 - 30 * number}" for number in (-2, -1, 1, 2)),
    *(f"img | sh=circle | xy={100 + 30 * x},{130 - 30 * y}" for x in (-1, 0, 1) for y in (-1, 0, 1)),
)
_SORTED = page("text 7 | xy=50,70", "text 3 | xy=50,98", "text 5 | xy=50,126")
_OFFERS = page("text 4h 30m", "text $90", "btn Book flight", "text 1h 5m", "text $120", "btn Book flight")
_FILMS = page("inp Released date", "inp Director name", "inp Genre")
_ROWS = page("text Bo | xy=20,10", "btn Delete | xy=90,10", "text Cy | xy=20,40", "btn Delete | xy=90,40")
_PARAGRAPHS = page("text One is short.", "text Two is longer.")


def _put(value: str) -> dict[str, Any]:
    """Return the arguments of putting a value into the first field."""
    return {"element": "1", "value": value, "clear": True}


_WAYS: tuple[tuple[str, PageTree, str, dict[str, Any]], ...] = (
    ("Drag Bo to the 4th position", _LIST, "dragTo", {"element": "2", "x": 50, "y": 162}),
    ("Drag Cy up by one", _LIST, "dragTo", {"element": "3", "x": 50, "y": 90}),
    ("Drag all circles into the black box", _BOXES, "dragTo", {"element": "1", "x": 162, "y": 170}),
    ("Sort the numbers in increasing order", _SORTED, "dragTo", {"element": "2", "x": 50, "y": 62}),
    ("Select 05/17/2026 as the date", _DATE, "click", {"element": "1"}),
    ("Select 05/17/2026 as the date", _APRIL, "click", {"element": "3"}),
    ("Select 17 April 2026 as the date", _APRIL, "click", {"element": "21"}),
    ("Enter 17 April 2026 as the date", page("inp Date"), "setValue", _put("17 April 2026")),
    ("Click on the point (1,-1)", _PLANE, "clickAt", {"x": 130, "y": 160}),
    ("Click the numbers in ascending order", _SORTED, "click", {"element": "2"}),
    ("Book the shortest flight", _OFFERS, "click", {"element": "6"}),
    ("Book the cheapest flight", _OFFERS, "click", {"element": "3"}),
    ("Set the volume slider to 30", page("slider Volume | v=10"), "setValue", _put("30")),
    ("place the order", page("link Order history", "btn Place order", "btn Order later"), "click", {"element": "2"}),
    ("Press Escape", page("btn Save"), "press", {"key": "Escape"}),
    ("Go to site.example/help", page("btn Save"), "navigate", {"url": "https://site.example/help"}),
    ("go back", page("btn Save"), "goBack", {}),
    ("Scroll down to the bottom", page("btn Save"), "scroll", {"down": True, "pages": 50.0}),
    ("wait 2 seconds", page("btn Save"), "wait", {"seconds": 2.0}),
    ("Highlight the text in the 2nd paragraph", _PARAGRAPHS, "selectText", {"element": "2"}),
    ("Close the dialog", page("btn Cancel", "btn ×"), "click", {"element": "2"}),
    ("Select File > Export", page("menu File", "menu Edit"), "hover", {"element": "1"}),
    ("Sort the table by price", page("h Name", "h Price", "text 3", "text 1"), "click", {"element": "2"}),
    ("Search for drama films directed by Ada from year 1998", _FILMS, "setValue", _put("1998")),
    ("Delete Bo", _ROWS, "click", {"element": "2"}),
    ("Click Buy when the price is less than $50", page("text Price: $51.20", "btn Buy"), "wait", {"seconds": 0.3}),
    ("Click Buy when the price is less than $50", page("text Price: $49.20", "btn Buy"), "click", {"element": "2"}),
    ('Enter an item that starts with "An"', page("inp Tags | v="), "setValue", _put("An")),
)  # fmt: skip


@pytest.mark.parametrize(("instruction", "tree", "name", "arguments"), _WAYS, ids=[one[0] for one in _WAYS])
def test_an_instruction_begins_with_the_action_that_the_page_needs(
    instruction: str, tree: PageTree, name: str, arguments: dict[str, Any]
) -> None:
    chosen = next_of(instruction, tree)

    assert isinstance(chosen, Chosen), chosen
    assert (chosen.action.name, chosen.action.arguments) == (name, arguments)


def test_each_of_several_is_done_once() -> None:
    tree = page("chk Milk | s=checked", "chk Bread", "chk Salt")

    bread = next_of("Select Milk, Bread and Salt", tree)
    over = next_of(
        "Select Milk, Bread and Salt", page("chk Milk | s=checked", "chk Bread | s=checked", "chk Salt | s=checked")
    )

    assert isinstance(bread, Chosen)
    assert bread.action == ActionCall(name="check", arguments={"element": "2"})
    assert isinstance(over, StepOver)


def test_what_is_looked_for_is_looked_for_in_each_place_once() -> None:
    tree = page("tab One | s=selected", "tab Two", "tab Three")
    looks = list[str]()
    taken = list[TakenAction]()
    while isinstance(chosen := next_of('Click the link "sit"', tree, *taken), Chosen):
        looks.append(chosen.action.element)
        taken.append(TakenAction(number=len(taken), step=0, action=chosen.action, string="", thought=chosen.thought))

    assert looks == ["2", "3"]
    assert isinstance(chosen, Unsolved)


def test_words_that_are_no_element_are_clicked_where_they_stand() -> None:
    tree = page("text Ada | xy=50,70", "btn Save")

    chosen = next_of("Click Ada", PageTree(url=tree.url, nodes=tree.nodes, elements={"2": "e2"}))

    assert isinstance(chosen, Chosen)
    assert chosen.action == ActionCall(name="clickAt", arguments={"x": 50, "y": 70})


def test_words_that_do_not_come_into_view_are_not_looked_for_without_end() -> None:
    tree = page("text Ada | xy=50,2000", "btn Save")
    seen = PageTree(url=tree.url, nodes=tree.nodes, elements={"2": "e2"}, viewport=Viewport(width=800, height=600))
    taken = list[TakenAction]()
    while isinstance(chosen := next_of("Click Ada", seen, *taken), Chosen):
        taken.append(TakenAction(number=len(taken), step=0, action=chosen.action, string="", thought=chosen.thought))

    assert [one.action.name for one in taken] == ["findText", "findText"]
    assert isinstance(chosen, Unsolved)


def test_a_pronoun_stands_for_what_was_named_before() -> None:
    steps = steps_of("Find the lamp Nova, add it to the cart and tell me its price")

    assert steps == (
        "Find the lamp Nova",
        "add the lamp Nova to the cart",
        "tell me the price of the lamp Nova",
    )


_LAMPS = page(
    "h Lamps", "link Blue lamp", "text $30.00", "btn Add to cart | t=Blue lamp",
    "link Red lamp", "text $20.00", "btn Add to cart | t=Red lamp",
)  # fmt: skip
_PEOPLE = page(
    "text Ada | xy=50,30 | t=Name", "text ada@x.example | xy=200,30 | t=Email",
    "text Bo | xy=50,50 | t=Name", "text bo@x.example | xy=200,50 | t=Email",
)  # fmt: skip
_ANSWERS = (
    ("What is the email of Bo?", _PEOPLE, "bo@x.example"),
    ("How much is the red lamp?", _LAMPS, "$20.00"),
    ("Find the price of the blue lamp", _LAMPS, "$30.00"),
    ("Which lamp is the cheapest?", _LAMPS, "Red lamp"),
    ("How many lamps are there?", _LAMPS, "2"),
)


@pytest.mark.parametrize(("question", "tree", "text"), _ANSWERS, ids=[one[0] for one in _ANSWERS])
def test_a_question_is_answered_by_what_stands_beside_its_thing(question: str, tree: PageTree, text: str) -> None:
    answer = next_of(question, tree)

    assert isinstance(answer, StepOver), answer
    assert answer.text == text


def test_a_thing_is_put_into_the_cart_by_the_control_of_its_card() -> None:
    chosen = next_of("Add the cheapest lamp to the cart", _LAMPS)

    assert isinstance(chosen, Chosen)
    assert chosen.action.element == "7"


def _product(colour: str, size: str) -> PageTree:
    """Return the page of a product as it stands once a colour and a size are chosen."""
    on = {name: " | s=checked" if name == colour else "" for name in ("Black", "Blue")}
    return page(
        "sel Language | v=English | t=English/Blue",
        "h Trail Runner",
        *(f"radio {name}{state}" for name, state in on.items()),
        f"sel Size | v={size} | t=Choose/41/44",
        "btn Add to cart",
    )


_ADD = "Add the blue shoe in size 44 to the cart"
_KINDS = (
    (_product("Black", "Choose"), ("click", "4")),
    (_product("Blue", "Choose"), ("selectDropdown", "5")),
    (_product("Blue", "44"), ("click", "6")),
)


@pytest.mark.parametrize(("tree", "action"), _KINDS)
def test_a_thing_is_put_into_the_cart_in_the_kind_that_is_wanted(tree: PageTree, action: tuple[str, str]) -> None:
    chosen = next_of(_ADD, tree)

    assert isinstance(chosen, Chosen), chosen
    assert (chosen.action.name, chosen.action.element) == action


@pytest.mark.parametrize("goal", ["Add the green shoe to the cart", "Add the blue shoe in size 47 to the cart"])
def test_a_kind_that_a_page_has_not_is_asked_about_before_anything_is_chosen(goal: str) -> None:
    asked = next_of(goal, _product("Black", "Choose"))

    assert isinstance(asked, UserAsked), asked
    assert ("green" in asked.question, "47" in asked.question) == ("green" in goal, "47" in goal)


def test_what_the_page_has_refused_was_not_put_into_the_cart() -> None:
    tree, refusal = page("h Shoe", "btn Add to cart"), ("The page says: 'Choose a size'.",)
    verdict = StepVerdict(succeeded=False, confidence=0.02, tier=VerificationTier.RULES, evidence=refusal, changed=True)
    added = next_of("Add to cart", tree)
    assert isinstance(added, Chosen)
    taken = TakenAction(number=0, step=0, action=added.action, string="", thought=added.thought, verdict=verdict)

    again = next_of("Add to cart", tree, taken)

    assert not isinstance(again, StepOver), again
