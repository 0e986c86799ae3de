"""Actions as the rules choose them: each with its thought, how sure it is, and what it should bring about."""

from __future__ import annotations

from typing import Final

from actors.planner.solution import Chosen
from actors.planner.solving.attempts import LOOKING
from protocol.acting.actions import ActionCall
from protocol.acting.steps import Expectation, ExpectedKind
from protocol.acting.tree import SemanticNode

SECURE_TEXT: Final = 0.9
_LOOKING_CONFIDENCE: Final = 0.7
_VERBS: Final = {
    "click": "Click", "doubleClick": "Double-click", "rightClick": "Right-click", "hover": "Move the pointer over",
    "focus": "Focus", "check": "Check", "uncheck": "Uncheck",
}  # fmt: skip


def named(node: SemanticNode) -> str:
    """Return what a node is called in a thought."""
    return f"“{node.name}”" if node.name else f"the {node.role} {node.id}"


def on(node: SemanticNode, confidence: float, *, action: str = "click", thought: str = "") -> Chosen:
    """Return an action on a node that takes nothing else."""
    return Chosen(
        action=ActionCall(name=action, arguments={"element": node.id}),
        thought=thought or f"{_VERBS.get(action, action)} {named(node)}.",
        confidence=confidence,
        expected=_expected_of(node, action),
    )


def _expected_of(node: SemanticNode, action: str) -> Expectation:
    if action in {"check", "uncheck"} or (action == "click" and node.role in {"chk", "radio", "switch"}):
        on_now = action == "uncheck" or (action == "click" and "checked" in node.states and node.role != "radio")
        return Expectation(kind=ExpectedKind.STATE_CHANGES, element=node.id, value="" if on_now else "checked")
    return Expectation(kind=ExpectedKind.ANY_CHANGE, element=node.id)


def looking(node: SemanticNode, why: str, *, action: str = "click") -> Chosen:
    """Return an action that only brings what is looked for into view."""
    chosen = on(node, _LOOKING_CONFIDENCE, action=action)
    return Chosen(
        action=chosen.action,
        thought=f"{LOOKING}{why} {named(node)}.",
        confidence=_LOOKING_CONFIDENCE,
        expected=Expectation(kind=ExpectedKind.ANY_CHANGE),
    )


def put(node: SemanticNode, text: str, confidence: float) -> Chosen:
    """Return the action that puts a text into a field."""
    return Chosen(
        action=ActionCall(name="setValue", arguments={"element": node.id, "value": text, "clear": True}),
        thought=f"Put the text into {named(node)}.",
        confidence=confidence,
        expected=Expectation(kind=ExpectedKind.VALUE_CHANGES, element=node.id, value=text),
    )


def select(node: SemanticNode, option: str, confidence: float) -> Chosen:
    """Return the action that selects an option of a list."""
    return Chosen(
        action=ActionCall(name="selectDropdown", arguments={"element": node.id, "value": option}),
        thought=f"Select “{option}” in {named(node)}.",
        confidence=confidence,
        expected=Expectation(kind=ExpectedKind.VALUE_CHANGES, element=node.id, value=option),
    )


def press_key(key: str, thought: str, confidence: float, *, looks: bool = False) -> Chosen:
    """Return the pressing of a key where the focus is."""
    return Chosen(
        action=ActionCall(name="press", arguments={"key": key}),
        thought=f"{LOOKING if looks else ''}{thought}",
        confidence=confidence,
        expected=Expectation(kind=ExpectedKind.ANY_CHANGE),
    )


def scroll(
    *, element: str = "", down: bool = True, pages: float = 1.0, thought: str = "", looks: bool = True
) -> Chosen:
    """Return the scrolling of the page, or of a container on it."""
    arguments: dict[str, object] = {"down": down, "pages": pages}
    if element:
        arguments["element"] = element
    return Chosen(
        action=ActionCall(name="scroll", arguments=arguments),
        thought=f"{LOOKING if looks else ''}{thought or 'scroll on.'}",
        confidence=_LOOKING_CONFIDENCE,
        expected=Expectation(kind=ExpectedKind.ANY_CHANGE),
    )


def drag(node: SemanticNode, arguments: dict[str, object], confidence: float, thought: str) -> Chosen:
    """Return the dragging of a node, onto another or to a point."""
    name = "dragAndDrop" if "to" in arguments else "dragTo"
    return Chosen(
        action=ActionCall(name=name, arguments={"element": node.id, **arguments}),
        thought=thought,
        confidence=confidence,
        expected=Expectation(kind=ExpectedKind.ANY_CHANGE),
    )


def click_at(x: float, y: float, confidence: float, thought: str) -> Chosen:
    """Return a click on a point of the window."""
    return Chosen(
        action=ActionCall(name="clickAt", arguments={"x": round(x), "y": round(y)}),
        thought=thought,
        confidence=confidence,
        expected=Expectation(kind=ExpectedKind.ANY_CHANGE),
    )


def wait(seconds: float) -> Chosen:
    """Return a wait."""
    return Chosen(
        action=ActionCall(name="wait", arguments={"seconds": seconds}),
        thought=f"Wait {seconds:g} s.",
        confidence=SECURE_TEXT,
        expected=Expectation(kind=ExpectedKind.NO_CHANGE),
    )
