"""Reading: what the page says of something, how many there are, and finding a thing."""

from __future__ import annotations

import re
from typing import Final

from actors.planner.solution import Solution, StepOver, Unsolved, UserAsked
from actors.planner.solving.attempts import Attempts
from actors.planner.solving.exploring import explore
from actors.planner.solving.instructions import Instruction
from actors.planner.solving.moves import on
from actors.planner.solving.picking import Wanted, anchors, pick
from actors.planner.solving.scene import Scene
from actors.planner.solving.targets import NodeFit, phrase_of
from actors.planner.solving.values import count_on, value_beside
from actors.planner.solving.vocabulary import LEAST, MOST
from actors.planner.solving.words import bare, tokens

_OF: Final = re.compile(
    r"^(?:the\s+)?(?P<label>.+?)\s+(?:of|for|from|in|on)\s+(?:the\s+)?(?P<thing>.+)$", re.IGNORECASE
)
_FIGURE: Final = re.compile(r"[$€£¥]\s?\d[\d.,]*|\d[\d.,]*\s?(?:[$€£¥]|EUR|USD|CHF)", re.IGNORECASE)
_PRICES: Final = frozenset({"price", "cost", "costs", "preis", "prix", "precio", "how much"})


def read(instruction: Instruction, scene: Scene, attempts: Attempts) -> Solution:
    """Return what the page says of what is asked for, or a look elsewhere."""
    text = answer(instruction, scene)
    if text:
        return StepOver(why=f"The page says: {text}", text=text, shown=True)
    return explore(instruction, scene, attempts)


def answer(instruction: Instruction, scene: Scene) -> str:
    """Return the words of the page that answer a question; "" where it shows none."""
    words = instruction.target.rstrip("?").strip()
    if frozenset(tokens(words)) & (MOST | LEAST):
        best = pick(scene, Wanted(phrase=phrase_of(re.sub(r"\s+(?:is|are|has|have|costs?)\b", "", words))))
        if isinstance(best, NodeFit) and not re.match(r"(?:the\s+)?(?:price|cost|number|value)\b", words):
            return best.node.name
    asked_for = _OF.match(words)
    label, thing = (asked_for["label"], asked_for["thing"]) if asked_for else (words, "")
    priced = instruction.verb.startswith(("how much", "wie viel", "combien", "cuánto")) or bool(
        set(label.casefold().split()) & _PRICES
    )
    if priced:
        return _price_of(thing or re.sub(r"^(?:is|does|the)\s+|\s+cost$", "", label), scene)
    if thing:
        for anchor in anchors(scene, thing)[:2]:
            beside = [*scene.in_section_of(anchor), *(n for n in scene.nodes if scene.same_row(n, anchor))]
            headed = [node for node in beside if node.context and bare(node.context) == bare(label)]
            if headed:
                return headed[0].name
    return value_beside(words, scene) or value_beside(label, scene) or ""


def _price_of(thing: str, scene: Scene) -> str:
    for anchor in anchors(scene, thing)[:3] if thing else []:
        own = _FIGURE.search(anchor.name)
        if own:
            return own[0]
        row = [node for node in scene.nodes if node.id != anchor.id and scene.same_row(node, anchor)]
        for node in (*row, *scene.in_section_of(anchor)):
            if match := _FIGURE.search(f"{node.name} {node.value or ''}"):
                return match[0]
    prices = [match[0] for node in scene.nodes if (match := _FIGURE.search(node.name))]
    return prices[0] if len(prices) == 1 else ""


_COUNTED: Final = 0.75
_BY_SIZE: Final = 0.65
"""What is large is so beside others: too unsure for a task to count as done by itself."""


def count(instruction: Instruction, scene: Scene, attempts: Attempts) -> Solution:
    """Return how many there are; where the page offers numbers to choose from, the click on the right one."""
    if attempts.has_done("click"):
        return StepOver(why="The number was chosen.")
    what = re.sub(r"\s+(?:are|is|do|does|can)\b.*$", "", instruction.target.rstrip("?"), flags=re.IGNORECASE)
    number = count_on(what, scene)
    if number is None:
        return explore(instruction, scene, attempts)
    offers = [node for node in scene.of_roles("btn", "radio", "link") if bare(node.name).isdigit()]
    if len(offers) > 1:
        chosen = next((node for node in offers if bare(node.name) == str(number)), None)
        if chosen is None:
            return Unsolved(why=f"{number} is not among the numbers on the page.")
        return on(chosen, _BY_SIZE if phrase_of(what).size else _COUNTED)
    return StepOver(why=f"The page shows {number}.", text=str(number), shown=True)


def find(instruction: Instruction, scene: Scene, attempts: Attempts) -> Solution:
    """Return that something is in view, or the next look for it."""
    text = answer(instruction, scene) if _OF.match(instruction.target) else ""
    if text:
        return StepOver(why=f"The page says: {text}", text=text, shown=True)
    picked = pick(scene, Wanted(phrase=phrase_of(instruction.target)))
    if isinstance(picked, NodeFit | UserAsked) or anchors(scene, instruction.target):
        return StepOver(why=f"“{instruction.target}” is on the page.", shown=True)
    return explore(instruction, scene, attempts)
