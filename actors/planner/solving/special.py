"""Targets that no name tells: places on a plane, the middle of things, what a figure is, an order, a condition."""

from __future__ import annotations

import re
from typing import Final

from actors.planner.solution import Solution, StepOver, Unsolved
from actors.planner.solving.attempts import Attempts
from actors.planner.solving.instructions import Instruction
from actors.planner.solving.moves import click_at, on, wait
from actors.planner.solving.picking import Wanted, pick, pick_all
from actors.planner.solving.pointing import point_of
from actors.planner.solving.scene import Scene, box_of, centre_of
from actors.planner.solving.targets import NodeFit, phrase_of
from actors.planner.solving.vocabulary import Deed
from actors.planner.solving.words import bare, number_in
from protocol.acting.tree import SemanticNode

_FLAGS: Final = re.IGNORECASE
_COORDINATE: Final = re.compile(r"\((-?\d+(?:\.\d+)?)\s*,\s*(-?\d+(?:\.\d+)?)\)")
_IN_ORDER: Final = re.compile(
    r"\bin\s+(ascending|increasing|descending|decreasing|numerical|alphabetical)\s+order\b", _FLAGS
)
_MIDDLE: Final = re.compile(r"\b(?:cent(?:er|re)|middle)\s+of\s+(.+)$", _FLAGS)
_BETWEEN: Final = re.compile(r"\bmid-?\s?point\s+between\b", _FLAGS)
_DESCRIBES: Final = re.compile(r"\bthat\s+(?:best\s+|correctly\s+)?(?:describes|names|matches|identifies)\b", _FLAGS)
_CONDITION: Final = re.compile(
    r"\b(?:when|once|until|as soon as|if)\b.*?"
    r"\b(?P<way>less|lower|below|under|smaller|cheaper|greater|more|higher|above"
    r"|over|larger|equal(?:s)?|even|odd)"
    r"(?:\s+(?:than|to))?\s*(?P<limit>[$€£]?\s?-?\d[\d.,]*)?",
    _FLAGS,
)
_LESS: Final = frozenset({"less", "lower", "below", "under", "smaller", "cheaper"})
_MORE: Final = frozenset({"greater", "more", "higher", "above", "over", "larger"})
_MAX_REPEATS: Final = 25
_LOOK_AGAIN_S: Final = 0.3
_CONFIDENCE: Final = 0.75


def press_specially(instruction: Instruction, scene: Scene, attempts: Attempts) -> Solution | None:
    """Return the click on what no name tells; None where an instruction is about no such thing."""
    target = instruction.target
    if _CONDITION.search(instruction.words):
        return _on_condition(instruction, scene, attempts)
    if _IN_ORDER.search(target):
        return _in_order(instruction, scene, attempts)
    point = _point(target, scene)
    if point is not None:
        if attempts.good:
            return StepOver(why=f"{instruction.words}: done.")
        return click_at(*point, _CONFIDENCE, f"Click at {round(point[0])}, {round(point[1])}.")
    if _DESCRIBES.search(target):
        return _described(scene, attempts)
    return None


def _point(target: str, scene: Scene) -> tuple[float, float] | None:
    """Return the point of the window that words mean: by coordinates of a plane, or as the middle of things."""
    if match := _COORDINATE.search(target):
        return _on_plane(float(match[1]), float(match[2]), scene)
    if match := _MIDDLE.search(target):
        picked = pick(scene, Wanted(phrase=phrase_of(match[1])))
        return centre_of(picked.node) if isinstance(picked, NodeFit) and picked.node.shape else None
    if _BETWEEN.search(target):
        points = [centre_of(node) for node in scene.nodes if node.shape in {"circle", "ellipse"}]
        if len(points) == 2:  # noqa: PLR2004 - between two
            return (points[0][0] + points[1][0]) / 2, (points[0][1] + points[1][1]) / 2
    return None


def mark_by_kind(scene: Scene, attempts: Attempts) -> Solution:
    """Return the click beside the next number that says whether it is odd or even."""
    for node in scene.nodes:
        value = _plain_number(node)
        if value is None:
            continue
        word = "odd" if int(value) % 2 else "even"
        own = [
            one for one in scene.of_roles("btn", "radio", "chk") if scene.same_row(one, node) and bare(one.name) == word
        ]
        if own and not attempts.has_clicked(own[0]):
            return on(own[0], _CONFIDENCE)
    return StepOver(why="Each number is marked.") if attempts.good else Unsolved(why="There are no numbers to mark.")


def _on_plane(x: float, y: float, scene: Scene) -> tuple[float, float] | None:
    """Return where a plane has a point, by the numbers along its axes."""
    numbers = [
        (value, centre_of(node))
        for node in scene.nodes
        if node.role == "text" and (value := _plain_number(node)) is not None
    ]
    across = _axis([(value, at[0], at[1]) for value, at in numbers])
    down = _axis([(value, at[1], at[0]) for value, at in numbers])
    if across is None or down is None:
        return None
    there = (across[0] + across[1] * x, down[0] + down[1] * y)
    marks = [centre_of(node) for node in scene.nodes if node.shape in {"circle", "ellipse", "rect"}]
    return min(marks, key=lambda at: (at[0] - there[0]) ** 2 + (at[1] - there[1]) ** 2, default=there)


def _plain_number(node: SemanticNode) -> float | None:
    return number_in(node.name) if re.fullmatch(r"\s*[-−]?\d+(?:\.\d+)?\s*", node.name) else None


def _axis(labels: list[tuple[float, float, float]]) -> tuple[float, float] | None:
    """Return where an axis has its 0, and how long its unit is, by labels (number, place along it, place beside it)."""
    for _, _, beside in labels:
        row = sorted({(value, along) for value, along, other in labels if abs(other - beside) <= 6})  # noqa: PLR2004
        values = [value for value, _ in row]
        if len(row) > 2 and len(set(values)) == len(values):  # noqa: PLR2004 - two may stand so by chance
            unit = (row[-1][1] - row[0][1]) / (row[-1][0] - row[0][0])
            return (row[0][1] - unit * row[0][0], unit) if unit else None
    return None


def _in_order(instruction: Instruction, scene: Scene, attempts: Attempts) -> Solution:
    """Return the click on the next of several things, in the order of their numbers or names."""
    falling = bool(re.search(r"\b(?:descending|decreasing)\b", instruction.target, _FLAGS))
    if re.search("alphabetical", instruction.target, _FLAGS):
        plain = phrase_of(_IN_ORDER.sub("", instruction.target))
        names = sorted(one.node.name for one in pick_all(scene, Wanted(phrase=plain)))
        nodes = [node for name in names for node in scene.controls if node.name == name]
    else:
        numbered = [node for node in scene.nodes if _plain_number(node) is not None]
        nodes = sorted(numbered, key=lambda node: _plain_number(node) or 0.0, reverse=falling)
    if not attempts.taken and nodes:
        following = "; ".join(f"{node.name} at {point_of(node)[0]}, {point_of(node)[1]}" for node in nodes[1:])
        return on(nodes[0], _CONFIDENCE, thought=f"Click {nodes[0].name} in its turn, then {following}.")
    places = re.findall(r"at (-?\d+), (-?\d+)", attempts.taken[0].thought) if attempts.taken else []
    turn = len(attempts.taken) - 1
    if turn < len(places):
        x, y = (float(one) for one in places[turn])
        return click_at(x, y, _CONFIDENCE, f"Click the next in its turn, number {turn + 2}.")
    return StepOver(why=f"{instruction.words}: done.") if places else Unsolved(why="There is nothing in an order.")


def _described(scene: Scene, attempts: Attempts) -> Solution:
    """Return the click on the name of the only figure that a page shows."""
    if attempts.good:
        return StepOver(why="It was clicked.")
    figures = [node for node in scene.nodes if node.shape and node.shape not in {"canvas", "drawing"}]
    if len(figures) != 1:
        return Unsolved(why="The page does not show one figure.")
    names = _names_of(figures[0])
    for node in scene.of_roles("btn", "radio", "link"):
        if bare(node.name) in names:
            return on(node, _CONFIDENCE)
    return Unsolved(why="No name on the page is that of the figure.")


def _names_of(node: SemanticNode) -> frozenset[str]:
    if node.shape == "text":
        return frozenset({"number", "digit"} if node.name.strip().isdigit() else {"letter", "character", "text"})
    _, _, width, height = box_of(node)
    square = {"square"} if abs(width - height) <= 1 else set[str]()
    return frozenset(
        {
            "rect": {"rectangle", *square},
            "circle": {"circle", "round"},
            "triangle": {"triangle"},
            "ellipse": {"ellipse", "oval"},
        }.get(node.shape, {node.shape})
    )


def _on_condition(instruction: Instruction, scene: Scene, attempts: Attempts) -> Solution:
    """Return a click now or later: `until` clicks as often as it takes, `when` waits for its moment."""
    match = _CONDITION.search(instruction.words)
    if match is None:
        return Unsolved(why="There is no condition.")
    repeats = "until" in match[0].casefold()
    holds = _holds(match, scene)
    if (repeats and holds) or (not repeats and attempts.has_done("click")):
        return StepOver(why=f"{instruction.words}: it is so.", shown=True)
    if len(attempts.taken) >= _MAX_REPEATS:
        return Unsolved(why=f"{instruction.words}: it did not come to be so.")
    if not repeats and not holds:
        return wait(_LOOK_AGAIN_S)
    plain = re.sub(r"\s*\b(?:when|once|until|as soon as|if)\b.*$", "", instruction.target, flags=_FLAGS)
    ways = [plain, instruction.verb] if instruction.deed is Deed.PRESS else [instruction.verb, plain]
    named = pick(scene, Wanted(phrase=phrase_of(ways[0]))) or pick(scene, Wanted(phrase=phrase_of(ways[1])))
    return on(named.node, named.score) if isinstance(named, NodeFit) else named or Unsolved(why=f"There is no {plain}.")


def _holds(match: re.Match[str], scene: Scene) -> bool:
    way, limit = match["way"].casefold(), number_in(match["limit"] or "")
    for node in scene.nodes:
        if node.role in {"btn", "link", "inp"}:
            continue
        value = number_in(node.name.split(":")[-1])
        if value is None or not re.fullmatch(r"\s*[$€£]?\s?-?\d[\d.,]*\s*", node.name.split(":")[-1]):
            continue
        if limit is None:
            return way in {"even", "odd"} and int(value) % 2 == (way == "odd")
        return value < limit if way in _LESS else value > limit if way in _MORE else value == limit
    return False
