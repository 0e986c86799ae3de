"""Searching: the words into the search field, then its button or the enter key."""

from __future__ import annotations

from typing import Final

from actors.planner.solution import Solution, StepOver
from actors.planner.solving.attempts import Attempts
from actors.planner.solving.clauses import unquoted
from actors.planner.solving.exploring import explore, uncover
from actors.planner.solving.instructions import Instruction
from actors.planner.solving.moves import on, press_key, put
from actors.planner.solving.queries import fill_query
from actors.planner.solving.scene import Scene
from actors.planner.solving.targets import same_thing
from actors.planner.solving.words import folded
from protocol.acting.tree import SemanticNode

_FIELD_WORDS: Final = ("search", "query", "find", "suche", "recherche", "buscar", "keyword", "q")


def search(instruction: Instruction, scene: Scene, attempts: Attempts) -> Solution:
    """Return the next action of a search for given words."""
    if attempts.has_done("click") or attempts.has_done("press"):
        return StepOver(why=f"{instruction.words}: done.")
    words = unquoted(instruction.target)
    several = fill_query(instruction.target, instruction, scene, attempts)
    if several is not None:
        return several
    field = search_field(scene)
    if field is None:
        opener = next((node for node in scene.controls if same_thing(node.name, "search")), None)
        return on(opener, 0.7) if opener and not attempts.taken else explore(instruction, scene, attempts)
    if field.occluded:
        return uncover(scene, attempts)
    if not attempts.has_done("setValue", field.id) and folded(field.value or "") != folded(words):
        return put(field, words, 0.9)
    return _sent(field, scene)


def search_field(scene: Scene) -> SemanticNode | None:
    """Return the field for words to search for."""
    fields = scene.of_roles("inp")
    for node in fields:
        if any(word in node.name.casefold().split() or word == node.context.casefold() for word in _FIELD_WORDS):
            return node
    return fields[0] if len(fields) == 1 else None


def _sent(field: SemanticNode, scene: Scene) -> Solution:
    buttons = [
        node for node in scene.of_roles("btn", "img", "link") if same_thing(node.name, "search") and not node.occluded
    ]
    near = [node for node in buttons if scene.same_row(node, field)] or buttons
    return on(near[0], 0.9) if near else press_key("Enter", "Send the search.", 0.85)
