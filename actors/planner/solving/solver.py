"""What is done next for a step, by rules: the instruction is read again and carried out on the page as it stands."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from actors.planner.solution import Chosen, Solution, TaskSoFar, Unsolved, UserAsked
from actors.planner.solving.amounts import is_amount, set_amount
from actors.planner.solving.attempts import Attempts
from actors.planner.solving.browsing import history, mark_text, pause, scroll_there, sort_by, visit
from actors.planner.solving.buying import add, buy
from actors.planner.solving.calendars import pick_date
from actors.planner.solving.choosing import choose
from actors.planner.solving.dates import date_in
from actors.planner.solving.dragging import drag_things
from actors.planner.solving.filling import field_for, fill
from actors.planner.solving.gestures import draw, resize
from actors.planner.solving.instructions import Instruction, read_instruction
from actors.planner.solving.pointing import pointed
from actors.planner.solving.pressing import close, press, press_on_item, submit
from actors.planner.solving.reading import count, find, read
from actors.planner.solving.scene import Scene
from actors.planner.solving.searching import search
from actors.planner.solving.vocabulary import COLOURS, Deed
from actors.planner.solving.words import tokens
from protocol.acting.actions import ActionCall
from protocol.acting.steps import PlanStep
from protocol.acting.tree import PageTree

_Carry = Callable[[Instruction, Scene, Attempts], Solution]

_RULES: Final[Mapping[Deed, _Carry]] = MappingProxyType(
    {
        Deed.PRESS: press,
        Deed.DOUBLE: press,
        Deed.CONTEXT_MENU: press,
        Deed.HOVER: press,
        Deed.FOCUS: press,
        Deed.EXPAND: press,
        Deed.CLOSE: close,
        Deed.FILL: fill,
        Deed.SET: fill,
        Deed.CHOOSE: choose,
        Deed.UNCHECK: choose,
        Deed.SUBMIT: submit,
        Deed.CONFIRM: submit,
        Deed.ON_ITEM: press_on_item,
        Deed.SEARCH: search,
        Deed.READ: read,
        Deed.COUNT: count,
        Deed.FIND: find,
        Deed.VISIT: visit,
        Deed.BACK: history,
        Deed.REFRESH: history,
        Deed.SCROLL: scroll_there,
        Deed.WAIT: pause,
        Deed.HIGHLIGHT: mark_text,
        Deed.SORT: sort_by,
        Deed.DRAG: drag_things,
        Deed.BUY: buy,
        Deed.DRAW: draw,
        Deed.RESIZE: resize,
        Deed.ADD: add,
    }
)
_MOST_FINDS: Final = 2
"""How often the same words are brought into view."""

_PUTTING: Final = frozenset({Deed.CHOOSE, Deed.SET, Deed.FILL})
_COLOUR_WORDS: Final = frozenset({"colour", "color", "colored", "coloured", "shade", "shades", "farbe", "couleur"})


def wants_colours(goal: str) -> bool:
    """Return whether the colours of a page must be known for a goal (AskTree.colours)."""
    return bool(frozenset(tokens(goal)) & (COLOURS | _COLOUR_WORDS))


def understood(description: str) -> bool:
    """Return whether there is a rule that carries out an instruction."""
    instruction = read_instruction(description)
    return instruction is not None and instruction.deed in _RULES


def solve(step: PlanStep, page: PageTree, so_far: TaskSoFar) -> Solution:
    """Return what is done next for a step: an action, a question to the user, or that it is over."""
    instruction = read_instruction(step.description)
    if instruction is None:
        return Unsolved(why=f"No rule reads “{step.description}”.")
    scene = Scene(page, so_far.goal, so_far.user_words)
    attempts = Attempts.of(step, so_far)
    if page.dialog:
        return _answer_dialog(page, so_far)
    solution = _carried_out(instruction, scene, attempts)
    if not isinstance(solution, Chosen):
        return solution
    chosen = pointed(solution, scene)
    if chosen.action.name == "findText" and attempts.looked.count(chosen.action) >= _MOST_FINDS:
        return Unsolved(why=f"“{instruction.words}”: what it is about does not come into view.")
    return chosen


def _carried_out(instruction: Instruction, scene: Scene, attempts: Attempts) -> Solution:
    """Return what the rule for an instruction says."""
    rule = _RULES.get(instruction.deed)
    if rule is None:
        return Unsolved(why=f"No rule knows how to {instruction.verb}.")
    if instruction.deed in _PUTTING and is_amount(instruction):
        return set_amount(instruction, scene, attempts)
    day = date_in(instruction.value) if instruction.deed in _PUTTING else None
    if day is not None:
        field = field_for(instruction.target, scene, attempts)
        if not isinstance(field, UserAsked):
            return pick_date(instruction, day, field.node if field else None, scene, attempts)
    return rule(instruction, scene, attempts)


def _answer_dialog(page: PageTree, so_far: TaskSoFar) -> Solution:
    """Return the answer to a dialog of the browser, where the goal says it; a mere notice is accepted."""
    words = frozenset(tokens(so_far.goal))
    if words & {"dismiss", "cancel", "decline", "abbrechen", "annuler", "cancelar"}:
        return Chosen(action=ActionCall(name="dismissDialog"), thought="Dismiss the dialog.", confidence=0.9)
    if words & {"accept", "confirm", "ok", "agree", "yes", "bestätige", "accepte", "acepta"} or page.dialog.startswith(
        "alert"
    ):
        return Chosen(action=ActionCall(name="acceptDialog"), thought="Accept the dialog.", confidence=0.85)
    return UserAsked(question=f"The page asks: “{page.dialog}”. Shall it be accepted?", options=("accept", "dismiss"))
