"""Going about: addresses, back and again, scrolling, waiting, marking text, sorting tables."""

from __future__ import annotations

import re
from typing import Final

from actors.planner.solution import Chosen, Solution, StepOver, Unsolved
from actors.planner.solving.attempts import Attempts
from actors.planner.solving.clauses import unquoted
from actors.planner.solving.dragging import sort_things
from actors.planner.solving.exploring import explore
from actors.planner.solving.instructions import Instruction
from actors.planner.solving.moves import on, scroll, select, wait
from actors.planner.solving.picking import Wanted, anchors, pick
from actors.planner.solving.scene import Scene, centre_of
from actors.planner.solving.targets import NodeFit, phrase_of
from actors.planner.solving.values import long_texts
from actors.planner.solving.words import count_of, number_in
from protocol.acting.actions import ActionCall
from protocol.acting.steps import Expectation, ExpectedKind
from protocol.acting.tree import SemanticNode

_FLAGS: Final = re.IGNORECASE
_ADDRESS: Final = re.compile(r"^(?:https?://\S+|(?:[\w-]+\.)+[a-z]{2,}(?:/\S*)?)$", _FLAGS)
_SURE: Final = 0.95
_TO_THE_END: Final = 50.0
_MAX_WAIT_S: Final = 30.0
_SORT_TRIES: Final = 2
_COLUMN_PX: Final = 40
_ORDER_WORDS: Final = re.compile(
    r"[,(]?\s*\b(?:in\s+)?(?:asc\w*|desc\w*|increasing|decreasing|highest|lowest|newest|low to high|high to low|first"
    r"|order|absteigend|aufsteigend)\b.*$",
    _FLAGS,
)


def visit(instruction: Instruction, scene: Scene, attempts: Attempts) -> Solution:
    """Return the going to an address, or the click on what leads to a page of that name."""
    address = unquoted(instruction.target).rstrip(".,")
    if not _ADDRESS.match(address):
        return follow(instruction, scene, attempts)
    if attempts.has_done("navigate"):
        return StepOver(why=f"The page is {address}.", shown=True)
    url = address if "://" in address else f"https://{address}"
    return _doing("navigate", f"Go to {url}.", ExpectedKind.NAVIGATION, value=url, url=url)


def follow(instruction: Instruction, scene: Scene, attempts: Attempts) -> Solution:
    """Return the click on a link or a tab by its name."""
    if attempts.has_done("click"):
        return StepOver(why=f"{instruction.words}: done.")
    words = re.sub(r"\s+(?:page|section|site|tab|screen)$", "", instruction.target, flags=_FLAGS)
    roles = frozenset({"link", "tab", "btn", "menu", "item", "tree"})
    picked = pick(scene, Wanted(phrase=phrase_of(words), roles=roles, without=attempts.failed))
    if isinstance(picked, NodeFit):
        return on(picked.node, picked.score)
    return picked or explore(instruction, scene, attempts)


def history(instruction: Instruction, scene: Scene, attempts: Attempts) -> Solution:
    """Return the step back, or the reading of the page once more."""
    del scene
    name = "refresh" if instruction.deed.value == "refresh" else "goBack"
    if attempts.has_done(name):
        return StepOver(why=f"{instruction.words}: done.")
    return _doing(name, f"{instruction.words.capitalize()}.", ExpectedKind.ANY_CHANGE)


def _doing(name: str, thought: str, kind: ExpectedKind, *, value: str = "", **arguments: object) -> Chosen:
    call = ActionCall(name=name, arguments=dict(arguments))
    return Chosen(action=call, thought=thought, confidence=_SURE, expected=Expectation(kind=kind, value=value))


def scroll_there(instruction: Instruction, scene: Scene, attempts: Attempts) -> Solution:
    """Return the scrolling to an end of the page or of a container, or until something is in view."""
    words = instruction.words
    if attempts.good:
        return StepOver(why=f"{words}: done.")
    up = bool(re.search(r"\b(?:top|up|start|beginning|anfang|oben|haut|arriba)\b", words, _FLAGS))
    ends = bool(re.search(r"\b(?:top|bottom|end|start|beginning|ende|anfang|fin|bas|haut|final)\b", words, _FLAGS))
    container = next((node for node in scene.nodes if node.scroll is not None and _is_named(node, words)), None)
    until = re.search(r"\buntil\b.*?\b(?:see|find|shows?|is visible)\b\s*|\bto\s+(?=[\"“])", words, _FLAGS)
    if until:
        return _scrolled_to(words[until.end() :], instruction, scene, attempts)
    if ends or re.search(r"\b(?:up|down)\b", words, _FLAGS):
        pages = _TO_THE_END if ends else 1.0
        return scroll(element=container.id if container else "", down=not up, pages=pages, thought=words, looks=False)
    return _scrolled_to(re.sub(r"^to\s+", "", instruction.target), instruction, scene, attempts)


def _scrolled_to(target: str, instruction: Instruction, scene: Scene, attempts: Attempts) -> Solution:
    text = unquoted(target)
    if anchors(scene, text):
        return _doing("findText", f"Scroll to “{text}”.", ExpectedKind.ANY_CHANGE, text=anchors(scene, text)[0].name)
    return explore(instruction, scene, attempts)


def _is_named(node: SemanticNode, words: str) -> bool:
    generic = {"inp": r"text\s?area|text|box|field", "list": r"list|area|section|container|panel|box"}.get(
        node.role, ""
    )
    named = any(word in words.casefold() for word in node.name.casefold().split() if len(word) > 2)  # noqa: PLR2004
    return named or bool(generic and re.search(rf"\b(?:{generic})\b", words, _FLAGS))


def pause(instruction: Instruction, scene: Scene, attempts: Attempts) -> Solution:
    """Return a wait for as long as is said."""
    del scene
    if attempts.has_done("wait"):
        return StepOver(why=f"{instruction.words}: done.")
    match = re.search(
        r"(\d+(?:\.\d+)?|\w+)\s*(m?s(?:ec(?:ond)?s?)?|milliseconds|minutes?|sekunden?|secondes?|segundos?)\b",
        instruction.target,
        _FLAGS,
    )
    amount = number_in(match[1]) if match else None
    amount = float(count_of(match[1]) or 1) if match and amount is None else amount
    scale = (
        60.0
        if match and match[2].startswith("min")
        else 0.001
        if match and match[2].startswith(("ms", "milli"))
        else 1.0
    )
    return wait(min((amount or 1.0) * scale, _MAX_WAIT_S))


def mark_text(instruction: Instruction, scene: Scene, attempts: Attempts) -> Solution:
    """Return the selection of a text: that of a paragraph, or of a field."""
    if attempts.taken and attempts.good:
        return StepOver(why=f"{instruction.words}: done.")
    phrase = phrase_of(instruction.target)
    if phrase.quoted:
        picked = pick(scene, Wanted(phrase=phrase, without=attempts.failed))
        nodes = [picked.node] if isinstance(picked, NodeFit) else []
    else:
        nodes = [node for node in long_texts(scene) if node.id not in attempts.failed]
    within = phrase_of(phrase.within).ordinal if phrase.within else None
    place = phrase.ordinal or within or 1
    index = place - 1 if place > 0 else len(nodes) + place
    if not 0 <= index < len(nodes):
        return Unsolved(why=f"The page has no text for “{instruction.words}”.")
    call = ActionCall(name="selectText", arguments={"element": nodes[index].id})
    expected = Expectation(kind=ExpectedKind.ANY_CHANGE, element=nodes[index].id)
    return Chosen(action=call, thought="Select the text.", confidence=0.85, expected=expected)


def sort_by(instruction: Instruction, scene: Scene, attempts: Attempts) -> Solution:
    """Return what sorts: the head of the column, the option of a list, or the drag of what is out of order."""
    match = re.search(r"\b(?:by|nach|par|por)\s+(?:the\s+)?(.+)$", instruction.target, _FLAGS)
    if match is None:
        return sort_things(instruction, scene, attempts)
    falling = bool(
        re.search(r"\b(?:desc\w*|decreasing|highest|largest|newest|z to a|high to low|absteigend)\b", match[1], _FLAGS)
    )
    column = _ORDER_WORDS.sub("", match[1]).strip(" ,")
    for node in scene.of_roles("sel"):
        options = [text for text in node.context.split(" | ") if column.casefold() in text.casefold()]
        way = [text for text in options if bool(re.search(r"desc|high to low|newest|z-a|↓", text, _FLAGS)) == falling]
        if options:
            wanted = (way or options)[0]
            return StepOver(why="It is sorted.", shown=True) if node.value == wanted else select(node, wanted, 0.85)
    picked = pick(scene, Wanted(phrase=phrase_of(column), without=attempts.failed))
    if not isinstance(picked, NodeFit):
        return picked or explore(instruction, scene, attempts)
    done = attempts.times("click")
    if done and (_is_sorted(picked.node, scene, falling=falling) or done >= _SORT_TRIES):
        return StepOver(why=f"It is sorted by {column}.", shown=True)
    return on(picked.node, picked.score)


def _is_sorted(head: SemanticNode, scene: Scene, *, falling: bool) -> bool:
    x, y = centre_of(head)
    cells = [
        node
        for node in scene.nodes
        if node.role == "text" and abs(centre_of(node)[0] - x) < _COLUMN_PX and centre_of(node)[1] > y
    ]
    numbers = [value for node in cells if (value := number_in(node.name)) is not None]
    return numbers == sorted(numbers, reverse=falling)
