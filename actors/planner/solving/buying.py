"""Buying: the one of several offers that the words mean, the best of them by a number, and what goes into a cart."""

from __future__ import annotations

import re
from typing import Final

from msgspec import structs

from actors.planner.solution import Solution, StepOver, Unsolved, UserAsked
from actors.planner.solving.attempts import Attempts, succeeded
from actors.planner.solving.exploring import explore
from actors.planner.solving.instructions import Instruction
from actors.planner.solving.kinds import choose_kind
from actors.planner.solving.moves import looking, on
from actors.planner.solving.picking import Wanted, anchors, pick
from actors.planner.solving.queries import fill_query
from actors.planner.solving.scene import Scene
from actors.planner.solving.special import press_specially
from actors.planner.solving.targets import NodeFit, phrase_of, same_thing
from actors.planner.solving.vocabulary import LEAST, MOST, STOP_WORDS
from actors.planner.solving.words import bare, count_of, stems, tokens
from protocol.acting.steps import TakenAction
from protocol.acting.tree import SemanticNode

_FLAGS: Final = re.IGNORECASE
_ONE_OF_EACH: Final = re.compile(r"^(?:one|1)\s+of\s+each(?:\s+item)?\s*:?\s*", _FLAGS)
_OF_KIND: Final = re.compile(r"^(\d+)\s+\w+\s+that\s+(?:are|is|have|has)\s+(.+)$", _FLAGS)
_CONFIDENCE: Final = 0.8
_MINUTES: Final = {"d": 1440.0, "h": 60.0, "m": 1.0}
_DURATION: Final = re.compile(r"(\d+)\s*([dhm])(?:ays?|ours?|rs?|in(?:ute)?s?)?\b", _FLAGS)
_AMOUNT: Final = re.compile(r"[$€£]\s?([\d,]+(?:\.\d+)?)|([\d,]+(?:\.\d+)?)\s?[$€£]")
_BY_TIME: Final = frozenset({"shortest", "longest", "fastest", "duration", "quickest", "slowest", "time"})


def buy(instruction: Instruction, scene: Scene, attempts: Attempts) -> Solution:
    """Return the next action that buys, orders or books what an instruction means."""
    special = press_specially(instruction, scene, attempts)
    if special is not None:
        return special
    ranked = frozenset(tokens(instruction.target))
    offers = _offers(instruction.verb, scene)
    if ranked & (MOST | LEAST):
        return _best_offer(instruction, offers, scene, attempts)
    if _ONE_OF_EACH.match(instruction.target):
        return _one_of_each(instruction, scene, attempts)
    if (kind := _OF_KIND.match(instruction.target)) is not None:
        return _some_of_kind(int(kind[1]), kind[2], instruction, scene, attempts)
    if attempts.has_done("click"):
        return StepOver(why=f"{instruction.words}: done.")
    return _offer_of(instruction.target, offers, instruction, scene, attempts)


def _offers(verb: str, scene: Scene) -> list[SemanticNode]:
    words = {verb.split(" ", maxsplit=1)[0], "buy", "book", "order", "select"}
    return [node for node in scene.of_roles("btn", "link") if words & set(tokens(node.name))]


def _offer_of(
    thing: str, offers: list[SemanticNode], instruction: Instruction, scene: Scene, attempts: Attempts
) -> Solution:
    for anchor in anchors(scene, thing, {node.id for node in offers}):
        section = {node.id for node in scene.in_section_of(anchor)}
        own = [node for node in offers if node.id in section or scene.same_row(node, anchor)]
        if own and own[0].id not in attempts.failed:
            return choose_kind(thing, own[0], anchor.name, scene, attempts) or on(own[0], _CONFIDENCE)
    if len(offers) == 1:
        return choose_kind(thing, offers[0], "", scene, attempts) or on(offers[0], _CONFIDENCE - 0.1)
    return explore(instruction, scene, attempts)


def _best_offer(instruction: Instruction, offers: list[SemanticNode], scene: Scene, attempts: Attempts) -> Solution:
    """Return the click on the offer with the least or the most of what the words rank by, once there are offers."""
    if any(call.name == "click" and call.element in {node.id for node in offers} for call in attempts.good):
        return StepOver(why=f"{instruction.words}: done.")
    most = bool(frozenset(tokens(instruction.target)) & MOST)
    ranked = [(value, node) for node in offers if (value := _rank(node, instruction.target, scene)) is not None]
    if ranked:
        ranked.sort(key=_first)
        return on(ranked[-1 if most else 0][1], _CONFIDENCE)
    query = re.sub(r"^.*?(?=\b(?:from|to)\b)", "", instruction.target, flags=_FLAGS)
    form = fill_query(query, instruction, scene, attempts)
    return form or explore(instruction, scene, attempts)


def _first(pair: tuple[float, SemanticNode]) -> float:
    return pair[0]


def _rank(offer: SemanticNode, words: str, scene: Scene) -> float | None:
    """Return what an offer is ranked by: how long it takes, or what it costs; of all that stands with it."""
    texts = _card_of(offer, scene)
    if _BY_TIME & set(tokens(words)):
        whole = " ".join(texts)
        minutes = sum(float(amount) * _MINUTES[unit.casefold()] for amount, unit in _DURATION.findall(whole))
        return minutes or None
    match = _AMOUNT.search(f"{offer.name} {' '.join(texts)}")
    return float((match[1] or match[2]).replace(",", "")) if match else None


def _card_of(offer: SemanticNode, scene: Scene) -> list[str]:
    """Return the words that belong to an offer: those between the control before it and itself."""
    place = scene.order.get(offer.id, 0)
    words: list[str] = []
    for node in reversed(scene.nodes[:place]):
        if node.role == "btn" and stems(node.name) & stems(offer.name):
            break
        words.append(node.name)
    return words[::-1]


def _one_of_each(instruction: Instruction, scene: Scene, attempts: Attempts) -> Solution:
    """Return the next click on the plus beside a thing, then that which orders."""
    names = [part for part in re.split(r"\s*,\s*(?:and\s+)?", _ONE_OF_EACH.sub("", instruction.target)) if part]
    return _with_plus([(name, 1) for name in names], instruction, scene, attempts)


def _some_of_kind(count: int, kind: str, instruction: Instruction, scene: Scene, attempts: Attempts) -> Solution:
    """Return the next click on the plus of a thing that is marked as of a kind, then that which orders."""
    marks = [node for node in scene.nodes if node.role in {"img", "text"} and same_thing(node.name, kind)]
    pluses = [plus for mark in marks if (plus := _plus_behind(mark, scene)) is not None]
    added = _added("Add one that is ", attempts)
    if not pluses:
        return explore(instruction, scene, attempts)
    if added < count:
        return on(pluses[added % len(pluses)], _CONFIDENCE, thought=f"Add one that is {kind} ({added + 1}).")
    return _ordered(instruction, scene, attempts)


def _added(lead: str, attempts: Attempts) -> int:
    """Count what was added: clicks of a kind that the page has not refused, though it may show nothing of them."""
    return sum(one.thought.startswith(lead) for one in attempts.taken if _is_taken(one))


def _is_taken(taken: TakenAction) -> bool:
    return succeeded(taken) or (taken.status != "error" and taken.verdict is not None and taken.verdict.without_trace)


def _plus_behind(mark: SemanticNode, scene: Scene) -> SemanticNode | None:
    after = scene.nodes[scene.order[mark.id] + 1 :]
    return next((node for node in after if same_thing(node.name, "plus")), None)


def _ordered(instruction: Instruction, scene: Scene, attempts: Attempts) -> Solution:
    order = next((node for node in scene.of_roles("btn") if same_thing(node.name, instruction.verb)), None)
    if order is None or attempts.has_clicked(order):
        return StepOver(why=f"{instruction.words}: done.")
    return on(order, _CONFIDENCE)


def _with_plus(wanted: list[tuple[str, int]], instruction: Instruction, scene: Scene, attempts: Attempts) -> Solution:
    done = {one.thought for one in attempts.taken if _is_taken(one)}
    for name, count in wanted:
        anchor = next(iter(anchors(scene, name)), None)
        if anchor is None:
            return explore(instruction, scene, attempts)
        plus = _plus_of(anchor, scene)
        for number in range(count):
            thought = f"Add “{name}” ({number + 1})."
            if thought not in done:
                return on(plus, _CONFIDENCE, thought=thought) if plus else Unsolved(why=f"Nothing adds “{name}”.")
    return _ordered(instruction, scene, attempts)


def _plus_of(anchor: SemanticNode, scene: Scene) -> SemanticNode | None:
    named = bare(anchor.name)
    section = [
        node
        for node in scene.in_section_of(anchor)
        if same_thing(node.name, "plus") and (not node.context or named in bare(node.context))
    ]
    beside = [node for node in scene.nodes if same_thing(node.name, "plus") and scene.same_row(node, anchor)]
    return next(iter(beside or section), None)


def add(instruction: Instruction, scene: Scene, attempts: Attempts) -> Solution:
    """Return what adds a thing to a cart or a list: the control in its row, else on the page of its own."""
    added = _added("Add “", attempts)
    if added >= (count_of(instruction.value) or 1):
        return StepOver(why=f"{instruction.words}: done.")
    if frozenset(tokens(instruction.target)) & (MOST | LEAST):
        best = pick(scene, Wanted(phrase=phrase_of(instruction.target)))
        if isinstance(best, NodeFit):
            instruction = structs.replace(instruction, target=best.node.name)
    place = instruction.place or "cart"
    adders = [node for node in scene.of_roles("btn", "link") if _adds(node, place)]
    for anchor in anchors(scene, instruction.target, {node.id for node in adders}):
        section = {node.id for node in scene.in_section_of(anchor)}
        own = [node for node in adders if node.id in section or scene.same_row(node, anchor)]
        own = own or [node for node in adders if stems(instruction.target) <= stems(f"{node.name} {node.context}")]
        if own and own[0].id not in attempts.failed:
            return _add_by(NodeFit(node=own[0], score=0.85), anchor.name, instruction, scene, attempts)
    if len(adders) == 1 and attempts.looked:
        return _add_by(NodeFit(node=adders[0], score=_CONFIDENCE), "", instruction, scene, attempts)
    picked = pick(scene, Wanted(phrase=phrase_of(instruction.target), roles=frozenset({"link", "item", "img"})))
    if isinstance(picked, NodeFit) and not attempts.looked:
        return looking(picked.node, "open")
    if len(adders) == 1:
        return _add_by(NodeFit(node=adders[0], score=_CONFIDENCE - 0.1), "", instruction, scene, attempts)
    return picked if isinstance(picked, UserAsked) else explore(instruction, scene, attempts)


def _add_by(adder: NodeFit, thing: str, instruction: Instruction, scene: Scene, attempts: Attempts) -> Solution:
    """Return the click that adds a thing, or the choice of its kind before that."""
    chosen = choose_kind(instruction.target, adder.node, thing, scene, attempts)
    return chosen or on(adder.node, adder.score, thought=f"Add “{instruction.target}”.")


def _adds(node: SemanticNode, place: str) -> bool:
    """Return whether a control adds something to a place; to a cart also where it does not say to what."""
    named = "add" in tokens(node.name) and bool(stems(place) & stems(node.name))
    return named or same_thing(node.name, "plus") or (_is_cart(place) and same_thing(node.name, "add to cart"))


def _is_cart(place: str) -> bool:
    words = [word for word in tokens(place) if word not in STOP_WORDS]
    return not words or any(same_thing(word, "cart") for word in words)
