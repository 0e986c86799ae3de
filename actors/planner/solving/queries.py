"""Searches of several fields: which word of the goal belongs into which field, by the words around it."""

from __future__ import annotations

import re
from typing import Final

from actors.planner.solution import Solution, StepOver, Unsolved
from actors.planner.solving.attempts import Attempts
from actors.planner.solving.calendars import pick_date
from actors.planner.solving.dates import date_in
from actors.planner.solving.filling import put_into, suggestion_for
from actors.planner.solving.instructions import Instruction
from actors.planner.solving.moves import on
from actors.planner.solving.scene import Scene
from actors.planner.solving.targets import NodeFit, same_thing
from actors.planner.solving.vocabulary import STOP_WORDS
from actors.planner.solving.words import stem, tokens
from protocol.acting.tree import SemanticNode

_CUES: Final = re.compile(
    r"\b(?P<cue>(?:\w+ed\s+by|from(?:\s+(?:the\s+)?year)?|to|by|with(?:\s+(?:the\s+)?\w+)?|in(?:\s+(?:the\s+)?year)?|on|at|year|called|named|titled))\b:?\s*",
    re.IGNORECASE,
)
_LEAST_FIELDS: Final = 2
_YEARLY: Final = frozenset({"year", "date", "released", "jahr", "année", "año"})


def attributes_in(words: str) -> tuple[tuple[str, str], ...]:
    """Return the parts of a description, each with the word before it that says what it is; "" for the first."""
    parts: list[tuple[str, str]] = []
    place, cue = 0, ""
    for match in _CUES.finditer(words):
        parts.append((cue, words[place : match.start()].strip(" ,.")))
        cue, place = match["cue"], match.end()
    parts.append((cue, words[place:].strip(" ,.")))
    return tuple((cue, value) for cue, value in parts if value)


def matched_fields(words: str, scene: Scene) -> tuple[tuple[SemanticNode, str], ...]:
    """Return fields with what belongs into each, in the order of the page."""
    fields = [node for node in scene.of_roles("inp", "sel") if "disabled" not in node.states]
    left = list(attributes_in(words))
    pairs: dict[str, str] = {}
    for judge in (_by_cue, _by_date):
        for node in fields:
            best = next((part for part in left if node.id not in pairs and judge(part, node)), None)
            if best is not None:
                pairs[node.id] = best[1]
                left.remove(best)
    rest = [node for node in fields if node.id not in pairs]
    unnamed = [value for cue, value in left if not cue]
    if len(rest) == 1 and unnamed:
        pairs[rest[0].id] = _adjective(unnamed[0])
    return tuple((node, pairs[node.id]) for node in fields if node.id in pairs)


def _by_cue(part: tuple[str, str], node: SemanticNode) -> bool:
    cue, value = part
    names = {stem(word) for word in tokens(f"{node.name} {node.context if node.role != 'sel' else ''}")} - STOP_WORDS
    wanted = {stem(word) for word in tokens(cue)}
    if names & (wanted - STOP_WORDS - {"from", "to", "by", "on", "in"}):
        return True
    plain = set(tokens(node.name))
    if cue.casefold() in {"from", "to"} and date_in(value) is None:
        return cue.casefold() in plain or same_thing(cue, node.name)
    return bool(plain & _YEARLY) and bool(re.fullmatch(r"\d{4}", value))


def _by_date(part: tuple[str, str], node: SemanticNode) -> bool:
    return date_in(part[1]) is not None and ("date" in node.name.casefold() or "readonly" in node.states)


def _adjective(words: str) -> str:
    """Return what comes before the noun: `action` of `action movies`."""
    parts = [word for word in words.split() if word.casefold() not in STOP_WORDS]
    return " ".join(parts[:-1]) if len(parts) > 1 else words


def fill_query(words: str, instruction: Instruction, scene: Scene, attempts: Attempts) -> Solution | None:
    """Return the next action of a search of several fields; None where the page has no such form."""
    pairs = matched_fields(words, scene)
    if len(pairs) < _LEAST_FIELDS:
        return None
    thoughts = {one.thought for one in attempts.taken}
    for node, value in pairs:
        day = date_in(value)
        if day is not None:
            solution = pick_date(instruction, day, node, scene, attempts)
        elif attempts.has_done("setValue", node.id) or attempts.has_done("selectDropdown", node.id):
            offer = suggestion_for(node, value, scene)
            if offer is None or offer.occluded or f"Take the suggestion “{offer.name}”." in thoughts:
                continue
            return on(offer, 0.8, thought=f"Take the suggestion “{offer.name}”.")
        else:
            solution = put_into(NodeFit(node=node, score=0.85), value, 0.85, scene, attempts)
        if not isinstance(solution, StepOver):
            return solution
    return _sent(scene, attempts)


def _sent(scene: Scene, attempts: Attempts) -> Solution:
    for word in ("search", "submit", "go"):
        for node in scene.nodes:
            if node.role not in {"inp", "h"} and same_thing(node.name, word) and node.id not in attempts.failed:
                return on(node, 0.85)
    buttons = scene.of_roles("btn")
    return on(buttons[0], 0.7) if len(buttons) == 1 else Unsolved(why="Nothing on the page sends the search.")
