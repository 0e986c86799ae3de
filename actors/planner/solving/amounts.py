"""Amounts: sliders and spinners brought to a number, by their value, their keys, or by dragging and looking."""

from __future__ import annotations

import re
from typing import Final

from actors.planner.solution import Solution, StepOver, Unsolved
from actors.planner.solving.attempts import Attempts
from actors.planner.solving.instructions import Instruction
from actors.planner.solving.moves import click_at, drag, on, press_key, put
from actors.planner.solving.pointing import point_of
from actors.planner.solving.scene import Scene, box_of, distance
from actors.planner.solving.targets import phrase_of
from actors.planner.solving.words import number_in
from protocol.acting.tree import SemanticNode

_CONFIDENCE: Final = 0.85
_FIRST_PULL_PX: Final = 20
_MAX_TRIES: Final = 14
_FEW_KEYS: Final = 5
_MAX_KEYS: Final = 25
_LEAST_TRACK_PX: Final = 50.0
_NUMBERS: Final = re.compile(r"-?\d+(?:\.\d+)?")


def is_amount(instruction: Instruction) -> bool:
    """Return whether an instruction is about a slider or a spinner."""
    return bool(re.search(r"\b(?:slider|spinner|schieberegler|curseur|stepper)s?\b", instruction.words, re.IGNORECASE))


def set_amount(instruction: Instruction, scene: Scene, attempts: Attempts) -> Solution:
    """Return the next action that brings a slider or a spinner nearer to its number."""
    numbers = [float(one) for one in _NUMBERS.findall(instruction.value or instruction.target)]
    if not numbers:
        return Unsolved(why=f"“{instruction.words}” names no number.")
    if re.search(r"\bspinner|stepper\b", instruction.words, re.IGNORECASE):
        return _spin(numbers[0], scene, attempts)
    handles = _handles(scene)
    if len(handles) < len(numbers):
        return Unsolved(why="There is no slider on the page.")
    ordinal = phrase_of(instruction.target).ordinal
    if len(numbers) == 1 and ordinal is not None and 0 < ordinal <= len(handles):
        handles = [handles[ordinal - 1]]
    for handle, number in zip(handles, numbers, strict=False):
        solution = _slide(handle, number, scene, attempts)
        if not isinstance(solution, StepOver):
            return solution
    return StepOver(why=f"{instruction.words}: done.")


def _spin(number: float, scene: Scene, attempts: Attempts) -> Solution:
    fields = scene.of_roles("inp", "spin")
    if not fields:
        return Unsolved(why="There is no field for a number.")
    field = fields[0]
    if number_in(field.value or "") == number:
        return StepOver(why=f"The number is {number:g}.", shown=True)
    if not attempts.times("setValue", field.id):
        return put(field, f"{number:g}", _CONFIDENCE)
    shown = number_in(field.value or "")
    if shown is None or len(attempts.taken) > _MAX_KEYS:
        return Unsolved(why=f"The field does not keep {number:g}.")
    if "focused" not in field.states:
        return on(field, _CONFIDENCE, action="focus")
    return press_key("ArrowUp" if number > shown else "ArrowDown", f"The field shows {shown:g}.", _CONFIDENCE)


def _handles(scene: Scene) -> list[SemanticNode]:
    """Return what sliders are moved by, from the top."""
    named = [node for node in scene.nodes if node.role == "slider" or "slider" in node.name.casefold()]
    named = [node for node in named if node.role not in {"text", "h"}]
    unnamed = (
        [node for node in scene.nodes if node.role in {"btn", "span", "div"} and not node.name] if not named else []
    )
    return sorted(named or unnamed, key=lambda one: (box_of(one)[1], box_of(one)[0]))


def _slide(handle: SemanticNode, number: float, scene: Scene, attempts: Attempts) -> Solution:
    shown = _shown(handle, scene)
    if shown == number:
        return StepOver(why=f"The slider is at {number:g}.", shown=True)
    tries = [one.action for one in attempts.taken]
    if len(tries) >= 2 * _MAX_TRIES:
        return Unsolved(why=f"The slider does not come to {number:g}.")
    if handle.role == "slider" and handle.value and not attempts.times("setValue", handle.id):
        return put(handle, f"{number:g}", _CONFIDENCE)
    if shown is None:
        return Unsolved(why="Nothing says where the slider is.")
    if _is_track(handle):
        return _along_track(handle, shown, number, attempts)
    if abs(shown - number) <= _FEW_KEYS or len(tries) >= _MAX_TRIES:
        return _by_keys(handle, shown, number)
    return _by_pulling(handle, shown, number, attempts)


def _by_keys(handle: SemanticNode, shown: float, number: float) -> Solution:
    if "focused" not in handle.states:
        return on(handle, _CONFIDENCE, action="focus")
    key = "ArrowRight" if number > shown else "ArrowLeft"
    return press_key(key, f"The slider is at {shown:g}.", _CONFIDENCE)


def _by_pulling(handle: SemanticNode, shown: float, number: float, attempts: Attempts) -> Solution:
    """Return a drag by as many pixels as the last drags say that the difference comes to."""
    x, y = point_of(handle)
    scale = _scale(handle, shown, attempts)
    pull = _FIRST_PULL_PX * (1 if number > shown else -1) if scale is None else round((number - shown) / scale)
    return drag(handle, {"x": x + (pull or 1), "y": y}, _CONFIDENCE, f"slider {handle.id} at x={x} shows {shown:g}.")


def _scale(handle: SemanticNode, shown: float, attempts: Attempts) -> float | None:
    """Return what a pixel comes to, from where the slider stood before and what it showed there."""
    x, _ = point_of(handle)
    for one in attempts.taken:
        match = re.fullmatch(rf"slider {re.escape(handle.id)} at x=(-?\d+) shows (-?[\d.]+)\.", one.thought)
        if match and int(match[1]) != x and float(match[2]) != shown:
            return (shown - float(match[2])) / (x - int(match[1]))
    return None


def _is_track(node: SemanticNode) -> bool:
    _, _, width, height = box_of(node)
    return max(width, height) >= _LEAST_TRACK_PX and max(width, height) >= 3 * min(width, height)


def _along_track(track: SemanticNode, shown: float, number: float, attempts: Attempts) -> Solution:
    """Return a click on the track where the number should be by what clicks before have shown, then single keys."""
    samples = _samples(track, shown, attempts)
    last = attempts.last()
    if last is not None and f"slider {track.id} " in last.thought and abs(shown - number) <= _FEW_KEYS:
        return _key(track, shown, number)
    left, top, width, height = box_of(track)
    lying = width >= height
    begin, length = (left, width) if lying else (top, height)
    places = sorted(dict(samples).items())
    if len(places) < 2:  # noqa: PLR2004 - two points make a line
        share = 0.75 if places else 0.3
        along = begin + length * share
    else:
        (first, low), (second, high) = places[0], places[-1]
        if low == high:
            return Unsolved(why="The slider does not follow clicks.")
        along = first + (number - low) * (second - first) / (high - low)
    along = round(min(max(along, begin + 1), begin + length - 1))
    if any(place == along for place, _ in samples):
        return _key(track, shown, number)
    x, y = (along, top + height / 2) if lying else (left + width / 2, along)
    return click_at(x, y, _CONFIDENCE, f"slider {track.id} shows {shown:g}; click at {along}.")


def _key(track: SemanticNode, shown: float, number: float) -> Solution:
    key = "ArrowRight" if number > shown else "ArrowLeft"
    return press_key(key, f"slider {track.id} shows {shown:g}.", _CONFIDENCE)


def _samples(track: SemanticNode, shown: float, attempts: Attempts) -> list[tuple[int, float]]:
    """Return where a track was clicked, each with the number that it showed then."""
    pattern = re.compile(rf"slider {re.escape(track.id)} shows (-?[\d.]+)(?:; click at (-?\d+))?\.$")
    matches = [match for one in attempts.taken if (match := pattern.match(one.thought))]
    after = [*(float(match[1]) for match in matches[1:]), shown][: len(matches)]
    return [(int(match[2]), value) for match, value in zip(matches, after, strict=True) if match[2]]


def _shown(handle: SemanticNode, scene: Scene) -> float | None:
    """Return the number that a slider shows: its own, or that of the words that belong to it."""
    own = number_in(handle.value or "")
    if own is not None:
        return own
    texts = [node for node in scene.of_roles("text", "h") if re.fullmatch(r"\s*-?\d+(?:\.\d+)?\s*", node.name)]
    handles = _handles(scene)
    if len(texts) == len(handles) and handle in handles:
        return number_in(sorted(texts, key=lambda one: box_of(one)[1])[handles.index(handle)].name)
    nearest = min(texts, key=lambda one: distance(one, handle), default=None)
    return number_in(nearest.name) if nearest is not None else number_in(handle.name)
