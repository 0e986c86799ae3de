"""What is taken of what a model says of a page: nothing that the page does not have."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import structs

from actors.planner.modelled.prompts import acting, page_lines, planning
from actors.planner.modelled.schemas import action_schema, read_action, read_plan
from protocol.acting.actions import ActionCall
from protocol.acting.steps import PlanStep
from protocol.acting.tasks import TaskState
from protocol.acting.tree import CHARS_PER_TOKEN, PageTree, SemanticNode
from protocol.browsers.operations import MAX_TREE_TOKENS
from protocol.models import TextPart

PAGE = PageTree(
    url="https://shop.example/?token=abcdef0123456789",
    nodes=(SemanticNode(id="1", role="inp", name="Name"), SemanticNode(id="f1_2", role="btn", name="Buy")),
)
STATE = TaskState(task_id="t", caller="me", goal="Buy a lamp", surface="act")
STEP = PlanStep(index=0, description='Click "Buy"')


def written(**more: Any) -> dict[str, Any]:
    """Return an action as a model writes it."""
    return {"thought": "", "action": "click", "element": "", "to": "", "text": "", "name": "", "confidence": 1, **more}


@pytest.mark.parametrize(
    ("data", "action"),
    [
        (written(element="f1_2"), ActionCall(name="click", arguments={"element": "f1_2"})),
        (
            written(action="setValue", element="1", text="Ann"),
            ActionCall(name="setValue", arguments={"element": "1", "value": "Ann"}),
        ),
        (
            written(action="remember", name="price", text="4"),
            ActionCall(name="remember", arguments={"key": "price", "value": "4"}),
        ),
        (written(action="scroll"), ActionCall(name="scroll", arguments={})),
        (written(action="finish", text="4"), ActionCall(name="finish", arguments={"text": "4"})),
    ],
)
def test_an_action_is_read(data: dict[str, Any], action: ActionCall) -> None:
    """With the arguments that it takes."""
    assert read_action(data, PAGE, ours=False)[1] == action


@pytest.mark.parametrize(
    "data",
    [
        written(element="7"),
        written(),
        written(action="clickAt"),
        written(action="buyEverything"),
        written(action="navigate"),
        {"action": "click"},
        None,
    ],
)
def test_what_is_not_there_is_refused(data: Any) -> None:
    """An invented node, a missing argument, an action that is none."""
    with pytest.raises(ValueError, match=r"."):
        read_action(data, PAGE, ours=False)


def test_a_plan_has_so_many_steps() -> None:
    """And each says something."""
    assert read_plan({"steps": [{"description": "Click"}], "question": ""}).steps[0].description == "Click"
    for steps in ([{"description": " "}], [{"description": "Click"}] * 11):
        with pytest.raises(ValueError, match="steps"):
            read_plan({"steps": steps, "question": ""})


def test_ids_are_an_enum_of_the_tree() -> None:
    """So that a model that holds to the schema can invent none."""
    known = structs.replace(PAGE, elements={"1": "textbox-1"})

    assert action_schema(PAGE, ours=False).schema["properties"]["element"]["enum"] == ["1", "f1_2", ""]
    assert action_schema(known, ours=True).schema["properties"]["element"]["enum"] == ["1", ""]


def test_of_a_large_page_what_is_wanted_stays() -> None:
    """In the order of the page, within what a tree may take."""
    rows = tuple(SemanticNode(id=str(at), role="text", name=f"A row of words, number {at}") for at in range(400))
    page = PageTree(url="https://shop.example/", nodes=(*rows[:350], PAGE.nodes[1], *rows[350:]))
    lines = page_lines(page, 'Click "Buy"')

    assert sum(map(len, lines)) < 1.1 * MAX_TREE_TOKENS * CHARS_PER_TOKEN
    assert '"n":"Buy"' in "".join(lines)
    assert "more nodes follow" in lines[-1]


def test_the_page_stands_behind_a_marker_of_its_own() -> None:
    """Its secrets do not leave, and the goal stands outside."""
    for messages in (planning(STATE, PAGE), acting(STATE, STEP, PAGE)):
        system, user = (part.text for one in messages for part in one.parts if isinstance(part, TextPart))
        marker = user.split("<<<")[1].split()[0]
        inside = user.split(f"<<<{marker} page>>>")[1].split(f"<<<{marker} end of page>>>")[0]
        assert marker in system
        assert '"n":"Buy"' in inside
        assert "abcdef0123456789" not in user
        assert "Buy a lamp" not in inside
