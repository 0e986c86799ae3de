"""Gestures on a surface: a line drawn through a point, a box pulled larger or smaller by its corner."""

from __future__ import annotations

import re
from typing import Final

from actors.planner.solution import Chosen, Solution, StepOver, Unsolved
from actors.planner.solving.attempts import Attempts
from actors.planner.solving.instructions import Instruction
from actors.planner.solving.picking import Wanted, pick
from actors.planner.solving.scene import Scene, box_of, centre_of
from actors.planner.solving.targets import NodeFit, phrase_of
from protocol.acting.actions import ActionCall
from protocol.acting.steps import Expectation, ExpectedKind
from protocol.acting.tree import SemanticNode

_FLAGS: Final = re.IGNORECASE
_LINE: Final = re.compile(r"\b(vertical|horizontal)\b.*\bline\b(?:.*\bthrough\s+(?:the\s+)?(\w+))?", _FLAGS)
_REACH_PX: Final = 40
_PULL_PX: Final = 25
_CORNER_PX: Final = 4
_CONFIDENCE: Final = 0.75


def draw(instruction: Instruction, scene: Scene, attempts: Attempts) -> Solution:
    """Return the drawing of a line through what an instruction names."""
    if attempts.good:
        return StepOver(why=f"{instruction.words}: done.")
    match = _LINE.search(instruction.target)
    if match is None:
        return Unsolved(why=f"No rule draws {instruction.target}.")
    dots = [node for node in scene.nodes if node.shape in {"circle", "ellipse"}]
    if len(dots) != 1:
        return Unsolved(why="The page does not show one point.")
    x, y = centre_of(dots[0])
    across, down = (0, _REACH_PX) if match[1].casefold() == "vertical" else (_REACH_PX, 0)
    return _pulled(x - across, y - down, x + across, y + down, "Draw the line.")


def resize(instruction: Instruction, scene: Scene, attempts: Attempts) -> Solution:
    """Return the pull at the corner of a box that makes it larger or smaller."""
    if attempts.good:
        return StepOver(why=f"{instruction.words}: done.")
    name = re.split(r"\s+(?:so that|to be|to|until)\b", instruction.target)[0]
    picked = pick(scene, Wanted(phrase=phrase_of(name)))
    node = picked.node if isinstance(picked, NodeFit) else _largest_field(scene)
    if node is None or node.box is None:
        return Unsolved(why=f"Nothing on the page fits “{name}”.")
    grows = bool(re.search(r"\b(?:larger|bigger|wider|taller|higher|greater)\b", instruction.words, _FLAGS))
    wide = bool(re.search(r"\b(?:width|wide|wider|narrower)\b", instruction.words, _FLAGS))
    left, top, width, height = box_of(node)
    pull = _PULL_PX if grows else -_PULL_PX
    x, y = left + width - _CORNER_PX, top + height - _CORNER_PX
    return _pulled(x, y, x + pull * wide, y + pull * (not wide), "Pull at the corner.")


def _largest_field(scene: Scene) -> SemanticNode | None:
    return max(scene.of_roles("inp"), key=_height_of, default=None)


def _height_of(node: SemanticNode) -> float:
    return box_of(node)[3]


def _pulled(x: float, y: float, to_x: float, to_y: float, thought: str) -> Chosen:
    points = {"x": round(x), "y": round(y), "toX": round(to_x), "toY": round(to_y)}
    call = ActionCall(name="dragFrom", arguments=points)
    return Chosen(
        action=call, thought=thought, confidence=_CONFIDENCE, expected=Expectation(kind=ExpectedKind.ANY_CHANGE)
    )
