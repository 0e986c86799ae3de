"""The schemas of what models answer: an action can be about no node but those of the tree, and have no other name."""

from __future__ import annotations

from typing import Any, Final

import msgspec
from msgspec import Struct

from actors.model_prompts import object_schema
from protocol.acting.actions import ACTIONS, ActionCall, Parameter
from protocol.acting.tree import PageTree
from protocol.models import OutputSchema

MOST_PLAN_STEPS: Final = 10
FEWEST_PLAN_STEPS: Final = 3
MAX_THOUGHT_CHARS: Final = 500
MAX_TEXT_CHARS: Final = 10_000

LEFT_OUT: Final = frozenset(
    {
        "clickAt",
        "dragTo",
        "dragFrom",
        "close",
        "switch",
        "getTabs",
        "createTab",
        "screenshot",
        "verifySuccess",
        "recall",
    }
)
"""The actions that no model is offered: by coordinates, which nobody checks, and about tabs that it does not see."""

OFFERED: Final = tuple(name for name in ACTIONS if name not in LEFT_OUT)
NONE: Final = ""
"""The id of no node."""

_PLACES: Final = ("text", "url", "query", "value", "key", "name", "question", "reason")
"""The parameters that are one text: where an action takes two, the first is `name`."""


class WrittenStep(Struct, frozen=True, forbid_unknown_fields=True):
    """A step as a model writes it."""

    description: str
    reasoning: str = ""


class WrittenPlan(Struct, frozen=True, forbid_unknown_fields=True):
    """A plan as a model writes it; without steps it asks the user something."""

    steps: tuple[WrittenStep, ...]
    question: str = ""


class WrittenAction(Struct, frozen=True, forbid_unknown_fields=True):
    """An action as a model writes it: `element` and `to` are ids of the tree, `text` and `name` what it takes."""

    thought: str
    action: str
    element: str = NONE
    to: str = NONE
    text: str = ""
    name: str = ""
    confidence: float = 0.5


def plan_schema() -> OutputSchema:
    """Return the schema of a plan."""
    step = object_schema(description={"type": "string"}, reasoning={"type": "string"})
    steps = {"type": "array", "items": step, "maxItems": MOST_PLAN_STEPS}
    return OutputSchema(name="page_plan", schema=object_schema(steps=steps, question={"type": "string"}))


def action_schema(page: PageTree, *, ours: bool) -> OutputSchema:
    """Return the schema of an action on a page; `ours`: in a browser of ours, which knows what can be acted on."""
    ids = {"type": "string", "enum": [*_ids(page, ours=ours), NONE]}
    schema = object_schema(
        thought={"type": "string"},
        action={"type": "string", "enum": list(OFFERED)},
        element=ids,
        to=ids,
        text={"type": "string"},
        name={"type": "string"},
        confidence={"type": "number", "minimum": 0, "maximum": 1},
    )
    return OutputSchema(name="page_action", schema=schema)


def read_plan(data: Any) -> WrittenPlan:
    """Return a plan that a model has written.

    Raises:
        ValueError: it is none.
    """
    plan = msgspec.convert(data, WrittenPlan)
    if len(plan.steps) > MOST_PLAN_STEPS or not all(one.description.strip() for one in plan.steps):
        msg = "a plan has so many steps, and each says something"
        raise ValueError(msg)
    return plan


def read_action(data: Any, page: PageTree, *, ours: bool) -> tuple[WrittenAction, ActionCall]:
    """Return an action that a model has written, checked by what the page has.

    Raises:
        ValueError: it is none, or about what is not there.
    """
    written = msgspec.convert(data, WrittenAction)
    if written.action not in OFFERED:
        msg = "no such action is offered"
        raise ValueError(msg)
    return written, ActionCall(name=written.action, arguments=_arguments(written, _ids(page, ours=ours)))


def _ids(page: PageTree, *, ours: bool) -> list[str]:
    return [one.id for one in page.nodes if one.id in page.elements or not ours]


def _arguments(written: WrittenAction, ids: list[str]) -> dict[str, Any]:
    kind = ACTIONS[written.action]
    texts = [name for name, what in kind.parameters if what is Parameter.TEXT]
    arguments = dict[str, Any]()
    for at, (name, what) in enumerate(kind.parameters):
        needed = at < kind.required
        match what:
            case Parameter.ELEMENT:
                element = written.to if name == "to" else written.element
                if element in ids:
                    arguments[name] = element
                elif needed:
                    msg = f"{name} names no node of the page"
                    raise ValueError(msg)
            case Parameter.TEXT:
                text = written.name if len(texts) > 1 and name == texts[0] else written.text
                if len(text) > MAX_TEXT_CHARS or (needed and not text and name != "value"):
                    msg = f"{name} is missing, or too long"
                    raise ValueError(msg)
                if text or needed:
                    arguments[name] = text
            case Parameter.FLAG | Parameter.NUMBER | Parameter.KEYS:
                pass
    return arguments
