"""Dragging: one thing or each of several, onto another, a way along, or to its place in an order."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final

from msgspec import structs

from actors.planner.solution import Solution, StepOver, Unsolved, UserAsked
from actors.planner.solving.attempts import Attempts
from actors.planner.solving.colours import of_colour
from actors.planner.solving.instructions import Instruction
from actors.planner.solving.moves import drag
from actors.planner.solving.picking import Wanted, has_shape, pick, pick_all
from actors.planner.solving.pointing import point_of
from actors.planner.solving.scene import Scene, box_of, centre_of
from actors.planner.solving.targets import NodeFit, phrase_of
from actors.planner.solving.words import bare, count_of, number_in, ordinal_of, tokens
from protocol.acting.tree import SemanticNode

_FLAGS: Final = re.IGNORECASE
_WAYS: Final = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}
_WAY: Final = re.compile(r"\b(up|down|left|right)(?:wards?)?\b", _FLAGS)
_PLACE: Final = re.compile(r"\b(?:top|bottom|upper|lower|middle|center|centre)\b", _FLAGS)
_FREELY_PX: Final = 70
_CONFIDENCE: Final = 0.8
_NEAR_PX: Final = 14.0
_PAST_PX: Final = 5
"""How far past its middle something is let go on another, so that a list makes room for it."""

_ROW_PX: Final = 8.0


def drag_things(instruction: Instruction, scene: Scene, attempts: Attempts) -> Solution:
    """Return the next drag that an instruction wants."""
    if re.search(r"^(?:all|every|each)\b|\beverything\b", instruction.target, _FLAGS):
        return _drag_each(instruction, scene, attempts)
    if attempts.good:
        return StepOver(why=f"{instruction.words}: done.")
    named = [node for node in scene.nodes if bare(node.name) == bare(instruction.target) != ""]
    if len(named) == 1 and named[0].id not in attempts.failed:
        return _moved(named[0], instruction, scene)
    picked = pick(scene, Wanted(phrase=phrase_of(instruction.target), without=attempts.failed))
    if isinstance(picked, UserAsked):
        return picked
    node = picked.node if picked else _only_thing(scene)
    if node is None:
        return Unsolved(why=f"Nothing on the page fits “{instruction.target}”.")
    return _moved(node, instruction, scene)


def _only_thing(scene: Scene) -> SemanticNode | None:
    drawn = [node for node in scene.nodes if node.shape and node.shape != "canvas"]
    return drawn[0] if len(drawn) == 1 else None


def _moved(node: SemanticNode, instruction: Instruction, scene: Scene) -> Solution:
    way = instruction.value
    destination = _destination(node, way, scene)
    if isinstance(destination, SemanticNode):
        return drag(node, {"to": destination.id}, _CONFIDENCE, f"Drag “{node.name}” {way}.")
    if destination is None:
        return Unsolved(why=f"There is no place {way}.")
    x, y = destination
    return drag(node, {"x": x, "y": y}, _CONFIDENCE, f"Drag “{node.name}” {way}.")


def _destination(node: SemanticNode, way: str, scene: Scene) -> SemanticNode | tuple[int, int] | None:
    """Return where something is to go: a node, or a point."""
    peers = peers_of(node, scene)
    words = tokens(way)
    order = next((place for word in words if (place := ordinal_of(word)) is not None), None)
    if order is not None and len(peers) > 1:
        index = order - 1 if order > 0 else len(peers) + order
        return _beyond(node, peers[index]) if 0 <= index < len(peers) else None
    if _PLACE.search(way) and len(peers) > 1:
        return _corner(node, peers, frozenset(words))
    if (match := _WAY.search(way)) and not re.search(r"\b(?:box|side|column|area|list)\b", way, _FLAGS):
        steps = next((count for word in words if (count := count_of(word)) is not None), 1)
        return _along(node, peers, match[1].casefold(), steps)
    inside = re.sub(r"^.*?\b(?:inside|into|onto|in|on|to|over|vers|auf|dans|hasta)\s+", "", way, flags=_FLAGS)
    target = pick(scene, Wanted(phrase=phrase_of(inside), without=frozenset({node.id})))
    return target.node if isinstance(target, NodeFit) else None


def peers_of(node: SemanticNode, scene: Scene) -> list[SemanticNode]:
    """Return the things of one list or grid with a node, itself among them, in the order of the page."""
    height = box_of(node)[3]
    alike = [
        one
        for one in scene.nodes
        if one.role == node.role and one.shape == node.shape and abs(box_of(one)[3] - height) <= 2  # noqa: PLR2004
    ]
    if node.role == "text" and number_in(node.name) is None:
        alike = [one for one in alike if len(one.name.split()) <= 2]  # noqa: PLR2004 - names, no sentences
    return sorted(alike, key=lambda one: (round(centre_of(one)[1] / _ROW_PX), centre_of(one)[0]))


def _beyond(node: SemanticNode, target: SemanticNode) -> tuple[int, int]:
    """Return a point a bit past the middle of a node, seen from another: there lists let it in before or behind."""
    (x, y), (to_x, to_y) = point_of(node), point_of(target)
    height = max(box_of(target)[3], 2 * _ROW_PX) / 2
    past = 0 if to_y == y else height if to_y > y else -height
    return (to_x if abs(to_x - x) > 2 * height else x, round(to_y + past))


def _corner(node: SemanticNode, peers: list[SemanticNode], words: frozenset[str]) -> tuple[int, int] | None:
    xs, ys = sorted({round(centre_of(one)[0]) for one in peers}), sorted({round(centre_of(one)[1]) for one in peers})
    low, high = min(xs), max(xs)
    top, bottom = ys[0], ys[-1]
    x = low if "left" in words else high if "right" in words else (low + high) / 2
    y = top if words & {"top", "upper"} else bottom if words & {"bottom", "lower"} else (top + bottom) / 2
    others = [one for one in peers if one.id != node.id] or peers
    nearest = min(others, key=lambda one: abs(centre_of(one)[0] - x) + abs(centre_of(one)[1] - y))
    return _onto(node, nearest, peers)


def _onto(node: SemanticNode, target: SemanticNode, peers: list[SemanticNode]) -> tuple[int, int]:
    """Return where a thing is let go to be where another one of its list or grid is: in the half of it that lies ahead.

    There lists make room. Words do not tell how large the thing is that they stand in, but the next ones do.
    """
    (x, y), (to_x, to_y) = centre_of(node), centre_of(target)
    left, top, width, height = box_of(target)
    wide, high = max(_pitch(peers, 0), width), max(_pitch(peers, 1), height)
    if node.role != "text":
        left, top = to_x - wide / 2, to_y - high / 2
    ahead = to_x > x + _NEAR_PX or (abs(to_x - x) <= _NEAR_PX and to_y > y)
    below = to_y > y + _NEAR_PX or (abs(to_y - y) <= _NEAR_PX and ahead)
    across = left + wide / 2 + _PAST_PX if to_x > x + _NEAR_PX else to_x if abs(to_x - x) <= _NEAR_PX else left + 2
    return round(across), round(top + high / 2 + _PAST_PX if below else top + 2)


def _pitch(peers: list[SemanticNode], axis: int) -> float:
    """Return how far the columns (0) or rows (1) of some things are from one another; 0 where there is just one."""
    at = sorted({round(box_of(one)[axis] / _ROW_PX) for one in peers})
    return min((after - before for before, after in pairwise(at)), default=0) * _ROW_PX


def _along(node: SemanticNode, peers: list[SemanticNode], way: str, steps: int) -> tuple[int, int] | None:
    """Return a point so many places along a way, or a good piece of it where there are no places."""
    across, down = _WAYS[way]
    x, y = centre_of(node)
    ahead = [
        one
        for one in peers
        if (centre_of(one)[0] - x) * across + (centre_of(one)[1] - y) * down > _ROW_PX
        and (abs(centre_of(one)[1] - y) < _NEAR_PX if across else abs(centre_of(one)[0] - x) < 2 * _NEAR_PX)
    ]
    ahead.sort(key=lambda one: abs(centre_of(one)[0] - x) + abs(centre_of(one)[1] - y))
    if len(peers) > 1:
        if len(ahead) < steps:
            return None
        target = ahead[steps - 1]
        return _beyond(node, target) if down and not _is_grid(peers) else _onto(node, target, peers)
    return round(x + across * _FREELY_PX), round(y + down * _FREELY_PX)


def _is_grid(peers: list[SemanticNode]) -> bool:
    first = peers[0]
    return any(abs(centre_of(one)[1] - centre_of(first)[1]) < _ROW_PX for one in peers[1:])


# -- each of several ---------------------------------------------------------------------------------------------------


def _drag_each(instruction: Instruction, scene: Scene, attempts: Attempts) -> Solution:
    """Return the drag of the next thing that is not yet where it belongs."""
    boxes: set[str] = set()
    pairs: list[tuple[str, SemanticNode]] = []
    rest_into = re.search(
        r"(.*?),?\s*\b(?:and\s+)?(?:everything else|the rest|all others?)\s+(.+)$", instruction.value, _FLAGS
    )
    ways = [(instruction.target, rest_into[1] if rest_into else instruction.value)]
    if rest_into:
        ways.append(("", rest_into[2]))
    for what, way in ways:
        inside = re.sub(r"^.*?\b(?:inside|into|onto|in|on|to)\s+", "", way.strip(), flags=_FLAGS)
        box = _container(inside, scene)
        if box is None:
            return Unsolved(why=f"There is no place {way}.")
        boxes.add(box.id)
        pairs.append((what, box))
    things = [
        node for node in scene.nodes if node.shape and node.shape not in {"canvas", "line"} and not _holds(node, scene)
    ]
    wanted = re.sub(r"^(?:all|every|each)\s+(?:the\s+)?", "", pairs[0][0], flags=_FLAGS)
    for node in things:
        own = _is_wanted(node, wanted)
        box = pairs[0][1] if own else pairs[1][1] if len(pairs) > 1 else None
        if (
            box is not None
            and node.id not in boxes
            and not scene.inside(box, node)
            and len(attempts.taken) < 2 * len(things)
        ):
            return drag(
                node, _free_place(box, len(attempts.taken)), _CONFIDENCE, f"Drag the {node.shape} into its box."
            )
    return StepOver(why=f"{instruction.words}: done.")


def _holds(node: SemanticNode, scene: Scene) -> bool:
    _, _, width, height = box_of(node)
    drawn = [box_of(one) for one in scene.nodes if one.shape and one.id != node.id]
    return bool(drawn) and width * height > 4 * min(w * h for _, _, w, h in drawn)


def _is_wanted(node: SemanticNode, words: str) -> bool:
    phrase = phrase_of(words)
    by_colour = not phrase.colour or bool(of_colour([node], phrase.colour))
    return by_colour and (not phrase.shape or has_shape(node, phrase.shape))


def _container(words: str, scene: Scene) -> SemanticNode | None:
    """Return the box that words mean, among the drawings large enough to hold others."""
    large = [node for node in scene.nodes if node.shape and _holds(node, scene)]
    phrase = structs.replace(phrase_of(words), size="")
    if phrase.position:
        key = {"left": 1, "right": -1}.get(next(iter(phrase.position & {"left", "right"}), ""), 0)
        return min(large, key=lambda one: key * centre_of(one)[0], default=None)
    coloured = of_colour(large, phrase.colour) if phrase.colour else []
    named = [one.node for one in pick_all(scene, Wanted(phrase=phrase)) if one.node in large]
    return next(iter(coloured or named or (large if len(large) == 1 else [])), None)


def _free_place(box: SemanticNode, turn: int) -> dict[str, object]:
    """Return a place within a box, another one for each turn, so that nothing lies upon what was put there before."""
    left, top, width, height = box_of(box)
    column, row = turn % 3, (turn // 3) % 3
    return {"x": round(left + width * (0.25 + 0.25 * column)), "y": round(top + height * (0.3 + 0.2 * row))}


# -- an order ----------------------------------------------------------------------------------------------------------


def sort_things(instruction: Instruction, scene: Scene, attempts: Attempts) -> Solution:
    """Return the drag that brings the first thing that is out of its order into its place."""
    falling = bool(
        re.search(r"\b(?:descending|decreasing|highest (?:to|first)|largest first|z to a)\b", instruction.words, _FLAGS)
    )
    numbers = [node for node in scene.nodes if re.fullmatch(r"\s*-?\d[\d.,]*\s*", node.name)]
    items = sorted(numbers, key=lambda one: centre_of(one)[1])
    wanted = sorted(items, key=lambda one: number_in(one.name) or 0.0, reverse=falling)
    if len(items) < 2:  # noqa: PLR2004 - nothing to sort
        return Unsolved(why="There is no list of numbers to sort.")
    for place, (is_there, should) in enumerate(zip(items, wanted, strict=True)):
        if number_in(is_there.name) != number_in(should.name):
            if len(attempts.taken) > 2 * len(items):
                return Unsolved(why="The list does not let itself be sorted.")
            x, y = _beyond(should, items[place])
            return drag(should, {"x": x, "y": y}, _CONFIDENCE, f"Drag {should.name} to place {place + 1}.")
    return StepOver(why="The numbers are in order.", shown=True)
