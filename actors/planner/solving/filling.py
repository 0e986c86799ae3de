"""Filling fields: the field that the words name, the only one, or each of several."""

from __future__ import annotations

import re
from typing import Final

from msgspec import structs

from actors.planner.solution import Chosen, Solution, StepOver, Unsolved, UserAsked
from actors.planner.solving.attempts import Attempts
from actors.planner.solving.choosing import choose_in, options_of
from actors.planner.solving.clauses import quotes_in
from actors.planner.solving.dates import date_in, time_in
from actors.planner.solving.exploring import explore, uncover
from actors.planner.solving.instructions import Instruction, other_placings
from actors.planner.solving.moves import on, press_key, put
from actors.planner.solving.picking import Wanted, pick, pick_all
from actors.planner.solving.scene import Scene, box_of
from actors.planner.solving.targets import NodeFit, TargetPhrase, fit, phrase_of, same_thing
from actors.planner.solving.values import value_beside, value_of
from actors.planner.solving.words import bare, folded, ordinal_of, tokens
from protocol.acting.actions import ActionCall
from protocol.acting.steps import Expectation, ExpectedKind
from protocol.acting.tree import SemanticNode

_FIELDS: Final = frozenset({"inp", "sel", "slider"})
_GENERIC: Final = frozenset(
    "text field input box textbox textfield textarea area form page search bar number value".split()
)
_MAX_FAILURES: Final = 4
_ONLY_FIELD: Final = 0.9
_NAMES_A_FIELD: Final = 0.8
_EACH_LABEL: Final = re.compile(r"\bvalues?\b.*\b(?:each|every|the)\s+(?:label|field|name)s?\b", re.IGNORECASE)
_BEGINS: Final = re.compile(r"\b(?:starts?|begins?|starting|beginning)\s+with\b", re.IGNORECASE)
_ENDS: Final = re.compile(r"\b(?:ends?|ending)\s+with\b", re.IGNORECASE)
_OF_PAGE_TEXT: Final = re.compile(r"^the\s+(?:(?:\w+\s+)?word|text)\b.*\b(?:area|textarea|box|field)\b", re.IGNORECASE)
_TOUCHING_PX: Final = 8.0
_ONLY_EMPTY: Final = 0.8
_FIRST_EMPTY: Final = 0.65


def fill(instruction: Instruction, scene: Scene, attempts: Attempts) -> Solution:
    """Return the putting of a value into the field that is meant, or that which brings it into view."""
    instruction = _as_placed(instruction, scene)
    if _EACH_LABEL.search(instruction.value):
        return _fill_by_labels(instruction, scene, attempts)
    if _BEGINS.search(instruction.value or instruction.target):
        return _complete(instruction, scene, attempts)
    whole = _whole_text_of(instruction.value, scene, attempts)
    if whole is not None:
        return whole
    meant = value_of(instruction.value or instruction.target, scene, texts=_texts_read(attempts))
    if meant is None:
        return Unsolved(why=f"The page does not show {instruction.value}.")
    if len(attempts.bad) >= _MAX_FAILURES:
        return Unsolved(why=f"{instruction.words}: {_MAX_FAILURES} ways were tried.")
    return _fill_with(*meant, instruction, scene, attempts)


def _as_placed(instruction: Instruction, scene: Scene) -> Instruction:
    """Return an instruction whose value ends where the name of a field begins, if another word led elsewhere before."""
    if not instruction.target or quotes_in(instruction.words) or _names_field(instruction, scene):
        return instruction
    return next((one for one in other_placings(instruction) if _names_field(one, scene)), instruction)


def _names_field(instruction: Instruction, scene: Scene) -> bool:
    phrase = phrase_of(instruction.target)
    return any(fit(phrase, node) >= _NAMES_A_FIELD for node in scene.nodes if node.role in _FIELDS)


def _fill_with(value: str, certainty: float, instruction: Instruction, scene: Scene, attempts: Attempts) -> Solution:
    target = instruction.target if instruction.value else ""
    if phrase_of(target).every:
        return _fill_each(instruction, scene, attempts, value)
    put_before = [call for call in attempts.good if call.arguments.get("value") in _writings(value)]
    if put_before:
        node = scene.page.node(put_before[-1].element)
        offer = suggestion_for(node, value, scene) if node else None
        if offer is not None and not offer.occluded and not attempts.has_done("click"):
            return on(offer, 0.8, thought=f"Take the suggestion “{offer.name}”.")
        return StepOver(why=f"{instruction.words}: done.")
    field = field_for(target, scene, attempts, place=instruction.place)
    if isinstance(field, UserAsked):
        return field
    if field is None:
        return explore(structs.replace(instruction, target=target), scene, attempts)
    if field.node.occluded:
        return uncover(scene, attempts)
    return put_into(field, value, certainty, scene, attempts)


def put_into(field: NodeFit, value: str, certainty: float, scene: Scene, attempts: Attempts) -> Solution:
    """Return the putting of a value into a field, as its kind takes it, in the next way that has not failed."""
    node = field.node
    if attempts.was_covered:
        return uncover(scene, attempts)
    if node.role == "sel" and options_of(node):
        return choose_in(node, value, scene, attempts)
    if node.value is not None and folded(node.value) == folded(value):
        return StepOver(why=f"“{node.name}” has that value.", shown=True)
    tried = {call.arguments.get("value") for call in attempts.bad if call.element == node.id}
    for writing in _writings(value):
        if writing not in tried:
            return put(node, writing, round(min(field.score, certainty), 3))
    if attempts.times("click", node.id):
        return Unsolved(why=f"“{node.name}” does not take the value.")
    return on(node, field.score / 2)


def suggestion_for(field: SemanticNode, value: str, scene: Scene) -> SemanticNode | None:
    """Return the suggestion for a value that a page has opened right below its field."""
    left, top, width, height = box_of(field)
    for node in scene.nodes:
        x, y, _, _ = box_of(node)
        below = -_TOUCHING_PX <= y - top - height <= _TOUCHING_PX + height and left - width <= x <= left + width
        offered = frozenset(tokens(value)) <= frozenset(tokens(node.name))
        if below and offered and node.role not in {"inp", "h", "text"} and bare(value):
            return node
    return None


def _writings(value: str) -> tuple[str, ...]:
    """Return the ways in which a value may be written: a date and a time also as the native fields want them."""
    day, moment = date_in(value), time_in(value)
    whole = re.fullmatch(r"[\d/.\-]+|[\d:]+\s*(?:[ap]\.?m\.?)?", value.strip(), re.IGNORECASE)
    native = day.isoformat() if day and whole else f"{moment[0]:02}:{moment[1]:02}" if moment and whole else ""
    return (value, native) if native and native != value else (value,)


def field_for(words: str, scene: Scene, attempts: Attempts, *, place: str = "") -> NodeFit | UserAsked | None:
    """Return the field that words mean: by its name, by its order, the only one, else the first that is empty."""
    phrase = phrase_of(words)
    if telling_words(phrase) or phrase.quoted or phrase.ordinal is not None:
        asked_for = phrase
        if phrase.ordinal is not None:
            asked_for = structs.replace(
                phrase, words=tuple(word for word in phrase.words if word not in _GENERIC), kinds=frozenset({"inp"})
            )
        wanted = Wanted(phrase=asked_for, roles=_FIELDS, place=place)
        picked = pick(scene, wanted) or _by_label(words, scene)
        failed = picked.node.id in attempts.failed if isinstance(picked, NodeFit) else False
        if picked is not None and not failed:
            return picked
        others = [one for one in pick_all(scene, wanted) if one.node.id not in attempts.failed]
        if others or picked:
            return others[0] if others else picked
        alone = [node for node in scene.of_roles("inp") if not node.states & {"disabled", "readonly"}]
        return NodeFit(node=alone[0], score=_ONLY_EMPTY) if len(alone) == 1 and not alone[0].value else None
    fields = [node for node in scene.of_roles("inp") if not node.states & {"disabled", "readonly"}]
    if len(fields) == 1:
        return NodeFit(node=fields[0], score=_ONLY_FIELD)
    focused = [node for node in fields if "focused" in node.states]
    empty = [node for node in fields if not node.value]
    for one in (*focused, *empty):
        return NodeFit(node=one, score=_ONLY_EMPTY if empty == [one] else _FIRST_EMPTY)
    return None


def telling_words(phrase: TargetPhrase) -> tuple[str, ...]:
    """Return the words of a phrase for a field that tell it from other fields."""
    return tuple(word for word in phrase.words if word not in _GENERIC)


def _by_label(words: str, scene: Scene) -> NodeFit | None:
    """Return the field beside or behind the text that names it."""
    plain = " ".join(telling_words(phrase_of(words)))
    for label in scene.of_roles("text", "h"):
        if not same_thing(label.name, plain) and folded(label.name) != folded(plain):
            continue
        after = scene.nodes[scene.order[label.id] + 1 :]
        field = next((node for node in after if node.role in _FIELDS), None)
        if field is not None:
            return NodeFit(node=field, score=0.85)
    return None


def _fill_each(instruction: Instruction, scene: Scene, attempts: Attempts, value: str) -> Solution:
    """Return the filling of the next of all fields that are meant."""
    done = {call.element for call in attempts.good if call.name == "setValue"}
    for node in _fields_meant(instruction, scene):
        if node.id not in done and node.id not in attempts.failed:
            return put(node, value, _ONLY_FIELD)
    return StepOver(why=f"{instruction.words}: each was filled.") if done else Unsolved(why="There is no field for it.")


def _fill_by_labels(instruction: Instruction, scene: Scene, attempts: Attempts) -> Solution:
    """Return the filling of the next field with what the page says beside the same label elsewhere."""
    for node in scene.of_roles("inp"):
        if node.value or node.id in attempts.failed:
            continue
        value = value_beside(node.name.rstrip(": "), without_fields(scene))
        if value:
            return put(node, value, 0.85)
    return StepOver(why=f"{instruction.words}: done.") if attempts.good else Unsolved(why="No label has a value.")


def without_fields(scene: Scene) -> Scene:
    """Return a scene without fields and without the labels that stand beside them."""
    fields = scene.of_roles("inp", "sel")
    labels = {folded(node.name) for node in fields}
    beside = {
        node.id
        for node in scene.nodes
        if folded(node.name) in labels and any(scene.same_row(node, one) for one in fields)
    }
    kept = tuple(node for node in scene.nodes if node not in fields and node.id not in beside)
    return Scene(structs.replace(scene.page, nodes=kept), scene.goal)


def _complete(instruction: Instruction, scene: Scene, attempts: Attempts) -> Solution:
    """Return the typing of how a thing begins, then the click on the suggestion that also ends as it should."""
    if any(call.name in {"click", "clickAt"} for call in attempts.good):
        return StepOver(why=f"{instruction.words}: done.")
    words = instruction.value or instruction.target
    begin, _, end = _BEGINS.sub("\n", words, count=1).partition("\n")[2].partition("\n")[0], "", ""
    ends = _ENDS.split(begin)
    starts_with = (quotes_in(ends[0]) or (ends[0].strip(),))[0]
    ends_with = (quotes_in(ends[1]) or ("",))[0] if len(ends) > 1 else end
    suggestions = [
        node
        for node in scene.nodes
        if node.role != "inp"
        and node.name.casefold().startswith(starts_with.casefold())
        and node.name.casefold().rstrip(".").endswith(ends_with.casefold())
    ]
    if suggestions and attempts.good:
        return on(suggestions[0], 0.85)
    fields = scene.of_roles("inp")
    if not fields:
        return Unsolved(why="There is no field for it.")
    if not attempts.has_done("setValue"):
        return put(fields[0], starts_with, _ONLY_FIELD)
    if attempts.times("press") < 2:  # noqa: PLR2004 - lists that open by keys alone
        return press_key("ArrowDown", "Open the suggestions.", 0.7, looks=True)
    return Unsolved(why=f"The page suggests nothing that begins with “{starts_with}”.")


def _whole_text_of(words: str, scene: Scene, attempts: Attempts) -> Solution | None:
    """Return the reading of a field whose value is longer than what the tree shows of it, where that is needed."""
    if not _OF_PAGE_TEXT.match(words) or attempts.taken:
        return None
    fields = [node for node in scene.of_roles("inp") if node.value]
    cut = (
        fields
        if words.startswith("the text")
        else [node for node in fields if (node.value or "").endswith(("…", "..."))]
    )
    if not cut:
        return None
    ordinals = (ordinal_of(word) for word in tokens(words) if "word" not in words)
    place = next((one for one in ordinals if one is not None), None)
    node = cut[(place or 1) - 1] if (place or 1) <= len(cut) else cut[0]
    return Chosen(
        action=ActionCall(name="getText", arguments={"element": node.id}),
        thought=f"Read all of “{node.name}”.",
        confidence=_ONLY_FIELD,
        expected=Expectation(kind=ExpectedKind.NO_CHANGE, element=node.id),
    )


def _texts_read(attempts: Attempts) -> tuple[str, ...]:
    return tuple(one.text for one in attempts.taken if one.action.name == "getText" and one.text)


def _fields_meant(instruction: Instruction, scene: Scene) -> tuple[SemanticNode, ...]:
    words = telling_words(phrase_of(instruction.target))
    fields = scene.of_roles("inp")
    own = tuple(node for node in fields if words and all(word in node.name.casefold() for word in words))
    return own or fields
