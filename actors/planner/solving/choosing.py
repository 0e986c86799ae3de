"""Choosing: options of lists, boxes to check, radio buttons, and entries of lists that the page draws itself."""

from __future__ import annotations

import re
from typing import Final

from msgspec import structs

from actors.planner.solution import Chosen, Solution, StepOver, Unsolved, UserAsked
from actors.planner.solving.attempts import LOOKING, Attempts, succeeded
from actors.planner.solving.clauses import quotes_in, unquoted
from actors.planner.solving.colours import COLOUR_CODES
from actors.planner.solving.exploring import explore, uncover
from actors.planner.solving.instructions import Instruction
from actors.planner.solving.moves import on, put, select
from actors.planner.solving.picking import Wanted, pick, pick_all
from actors.planner.solving.pressing import press_each, press_path
from actors.planner.solving.scene import Scene
from actors.planner.solving.special import mark_by_kind
from actors.planner.solving.targets import EXACT, SAME_WORDS, NodeFit, phrase_of
from actors.planner.solving.vocabulary import CHECKS, Deed
from actors.planner.solving.words import bare, folded, likeness, tokens
from protocol.acting.tree import SemanticNode

_SPLIT: Final = re.compile(r"\s*,\s*(?:and\s+|und\s+|et\s+|y\s+)?|\s+(?:and|und|et|y|&)\s+")
_NOTHING: Final = frozenset({"nothing", "none", "no boxes", "nichts", "rien", "nada"})
_OPTION_FITS: Final = 0.84
_MAX_OPTIONS: Final = 20
_OFFERED: Final = 0.8
"""How sure it is that a list which the page draws itself has what is to be chosen of it."""

_PICKABLE: Final = frozenset(
    {"chk", "radio", "switch", "opt", "item", "btn", "link", "menu", "tab", "tree", "text", "img", "sel"}
)


def options_of(node: SemanticNode) -> tuple[str, ...]:
    """Return the options of a list, as the tree tells them."""
    listed = re.split(r"\s+·\s+", node.context)[0]
    return (
        tuple(part.strip() for part in listed.split(" | ") if part.strip())
        if "|" in listed or node.role == "sel"
        else ()
    )


def best_option(node: SemanticNode, words: str) -> tuple[str, float] | None:
    """Return the option of a list that words mean, and how well they fit."""
    wanted = unquoted(words)
    options = options_of(node)
    ways = (
        ([option for option in options if option == wanted], 0.97),
        ([option for option in options if folded(option) == folded(wanted)], 0.96),
        ([option for option in options if bare(option) == bare(wanted)], EXACT),
        ([option for option in options if bare(wanted) and bare(option).startswith(bare(wanted))], 0.8),
    )
    for matching, score in ways:
        if matching:
            return matching[0], score
    close = max(options, key=lambda option: likeness(option, wanted), default="")
    return (close, 0.6) if close and likeness(close, wanted) >= _OPTION_FITS else None


def choose_in(node: SemanticNode, words: str, scene: Scene, attempts: Attempts) -> Solution:
    """Return the selection of an option of a list."""
    option = best_option(node, words)
    text, score = option or (unquoted(words), _OFFERED if _draws_itself(node) else 0.7)
    is_shown = folded(node.value or "") == folded(text)
    if is_shown or attempts.has_done("selectDropdown", node.id):
        return StepOver(why=f"“{text}” is selected.", shown=is_shown)
    may_offer = _draws_itself(node) and not attempts.times("selectDropdown", node.id)
    if option is None and not may_offer and "..." not in node.context and len(node.context) < 280:  # noqa: PLR2004 - all are told
        names = options_of(node)[:_MAX_OPTIONS]
        return UserAsked(question=f"“{node.name}” has no option “{text}”. Which one is meant?", options=names)
    if node.occluded:
        return uncover(scene, attempts)
    return select(node, text, score)


def _draws_itself(node: SemanticNode) -> bool:
    """Return whether a list says what it has only once it is opened."""
    return not options_of(node) and bool(node.states & {"collapsed", "expanded"})


def choose(instruction: Instruction, scene: Scene, attempts: Attempts) -> Solution:
    """Return the next choice of what an instruction names: one thing, or each of a list of things."""
    if bare(instruction.value) in _NOTHING:
        return StepOver(why="Nothing is to be chosen.")
    if re.search(r"\S\s*[>›→»]\s*\S", instruction.value) and not quotes_in(instruction.value):
        return press_path(structs.replace(instruction, target=instruction.value), scene, attempts)
    if re.search(r"\bodd or even\b", instruction.words, re.IGNORECASE):
        return mark_by_kind(scene, attempts)
    if (colour := _picked_colour(instruction, scene)) is not None:
        return colour if not attempts.has_done("setValue") else StepOver(why="The colour is set.")
    phrase = phrase_of(instruction.value)
    if phrase.every and (phrase.colour or phrase.shape):
        return press_each(structs.replace(instruction, target=instruction.value), scene, attempts)
    things = _things(instruction, scene)
    undone, shown = list[str](), True
    for thing in things:
        solution = _choose_one(thing, instruction, scene, attempts)
        if isinstance(solution, Chosen | UserAsked):
            return solution
        if isinstance(solution, Unsolved):
            undone.append(thing)
        else:
            shown = shown and solution.shown
    if undone:
        return explore(instruction, scene, attempts)
    return StepOver(why=f"{instruction.words}: done.", shown=shown)


def _picked_colour(instruction: Instruction, scene: Scene) -> Chosen | None:
    """Return the writing of a colour into the field of a colour picker."""
    code = COLOUR_CODES.get(bare(instruction.value))
    if code is None or not re.search(r"\bcolou?r\b", instruction.target, re.IGNORECASE):
        return None
    coded = [node for node in scene.of_roles("inp") if re.fullmatch(r"#?[0-9a-fA-F]{6}", node.value or "")]
    if len(coded) != 1:
        return None
    return put(coded[0], f"{'#' if (coded[0].value or '').startswith('#') else ''}{code}", 0.85)


def _things(instruction: Instruction, scene: Scene) -> tuple[str, ...]:
    """Return what is to be chosen, each for itself; a name with a comma in it stays one where the page has it."""
    words = instruction.value or instruction.target
    quotes = quotes_in(words)
    if len(quotes) > 1:
        return tuple(f'"{quote}"' for quote in quotes)
    if len(quotes) == 1:
        return (words,)
    parts = tuple(part for part in _SPLIT.split(words) if part.strip())
    if len(parts) > 1:
        whole = [one for one in pick_all(scene, Wanted(phrase=phrase_of(words))) if one.score >= SAME_WORDS]
        as_option = [node for node in scene.of_roles("sel") if (best_option(node, words) or ("", 0))[1] >= EXACT]
        if whole or as_option:
            return (words,)
    return parts or (words,)


def _choose_one(thing: str, instruction: Instruction, scene: Scene, attempts: Attempts) -> Solution:
    wanted_on = instruction.deed is not Deed.UNCHECK
    if not instruction.target and (named := _of_named_list(thing, scene)) is not None:
        return choose_in(*named, scene, attempts)
    if wanted_on and _was_clicked(thing, attempts) and not scene.of_roles(*CHECKS):
        return StepOver(why=f"“{unquoted(thing)}” was chosen.")
    lists = _lists_for(thing, instruction, scene)
    picked = pick(
        scene, Wanted(phrase=phrase_of(thing), roles=CHECKS, without=attempts.failed, place=instruction.target)
    )
    if picked is None and lists and wanted_on:
        return _choose_of_list(lists[0], thing, scene, attempts)
    if picked is None:
        roles = _PICKABLE if wanted_on else CHECKS
        picked = pick(
            scene, Wanted(phrase=phrase_of(thing), roles=roles, without=attempts.failed, place=instruction.target)
        )
    return _choose_picked(picked, thing, scene, attempts, wanted_on=wanted_on)


def _choose_picked(
    picked: NodeFit | UserAsked | None, thing: str, scene: Scene, attempts: Attempts, *, wanted_on: bool
) -> Solution:
    match picked:
        case None:
            return Unsolved(why=f"The page has no “{unquoted(thing)}”.")
        case UserAsked():
            return picked
        case NodeFit(node=node, score=score) if node.role in CHECKS:
            return _toggle(node, score, scene, attempts, wanted_on=wanted_on)
        case NodeFit(node=node, score=score):
            if attempts.has_clicked(node) or "selected" in node.states:
                return StepOver(why=f"“{node.name}” is chosen.", shown="selected" in node.states)
            if node.role == "sel" and (rest := _without_name(node, thing)):
                return choose_in(node, rest, scene, attempts)
            return uncover(scene, attempts) if node.occluded else on(node, score)


def _of_named_list(thing: str, scene: Scene) -> tuple[SemanticNode, str] | None:
    """Return the list that words begin or end with the name of, and its option that they name: `size 44`."""
    for node in scene.of_roles("sel"):
        rest = _without_name(node, thing)
        if rest and rest != thing and ((best_option(node, rest) or ("", 0.0))[1] >= EXACT or _draws_itself(node)):
            return node, rest
    return None


def _without_name(node: SemanticNode, thing: str) -> str:
    """Return what is left of words without those that a list is called by; all of them where they are quoted."""
    own = frozenset(tokens(node.name))
    return thing if quotes_in(thing) else " ".join(word for word in thing.split() if not own & set(tokens(word)))


def _was_clicked(thing: str, attempts: Attempts) -> bool:
    """Return whether something of that name was clicked, which may have another id by now."""
    clicks = (one for one in attempts.taken if one.action.name in {"click", "clickAt"} and succeeded(one))
    return any(f"“{unquoted(thing)}”" in one.thought and not one.thought.startswith(LOOKING) for one in clicks)


def _toggle(node: SemanticNode, score: float, scene: Scene, attempts: Attempts, *, wanted_on: bool) -> Solution:
    """Return the click that brings a box into the state that is wanted."""
    is_on = bool(node.states & {"checked", "selected", "pressed"})
    if is_on == wanted_on:
        return StepOver(why=f"“{node.name}” is {'on' if is_on else 'off'}.", shown=True)
    if node.occluded:
        return uncover(scene, attempts)
    action = "click" if node.role == "radio" else "check" if wanted_on else "uncheck"
    if attempts.times(action, node.id):
        action = "click"
    return on(node, score, action=action)


def _lists_for(thing: str, instruction: Instruction, scene: Scene) -> tuple[SemanticNode, ...]:
    """Return the lists that have such an option, the one that the instruction names first."""
    lists = [node for node in scene.of_roles("sel") if best_option(node, thing) is not None]
    if instruction.value and instruction.target:
        named = pick(scene, Wanted(phrase=phrase_of(instruction.target), roles=frozenset({"sel"})))
        if isinstance(named, NodeFit) and (named.node in lists or not lists):
            return (named.node,)
    return tuple(lists)


def _choose_of_list(node: SemanticNode, thing: str, scene: Scene, attempts: Attempts) -> Solution:
    option = best_option(node, thing)
    text = option[0] if option else unquoted(thing)
    done = any(call.name == "selectDropdown" and call.arguments.get("value") == text for call in attempts.good)
    if done:
        return StepOver(why=f"“{text}” is selected.")
    if option is None and _draws_itself(node) and attempts.times("selectDropdown", node.id):
        return Unsolved(why=f"“{node.name}” offers no “{text}”.")
    if option is None:
        return choose_in(node, thing, scene, attempts)
    if "multiple" in node.states:
        return select(node, text, option[1])
    return choose_in(node, thing, scene, attempts)
