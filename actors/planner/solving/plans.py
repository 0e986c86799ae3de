"""The plan of a goal by rules: one step for each clause, each an instruction that can be read again by itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from actors.planner.solution import TaskSoFar
from actors.planner.solving.clauses import MaskedText, clauses_of, quotes_in
from actors.planner.solving.correspondence import correspondence_steps
from actors.planner.solving.entries import entries_in, entries_of_fields, login_steps
from actors.planner.solving.instructions import Instruction, read_instruction
from actors.planner.solving.solver import understood
from actors.planner.solving.targets import same_thing
from actors.planner.solving.vocabulary import CHECKS, CONTROLS, VERB, Deed
from actors.planner.solving.words import folded
from protocol.acting.actions import ToolKind
from protocol.acting.steps import PlanStep
from protocol.acting.tree import PageTree

_FLAGS: Final = re.IGNORECASE
_FIND_AND: Final = re.compile(r"\bfind\s+and\s+(?=(?:click|press|tap|pick|select|choose|open|push|hit)\b)", _FLAGS)
_USE_TO: Final = re.compile(
    r"^(?:use|using)\s+(?P<tool>the\s+[^,.]+?)(?:\s+to|,)\s+(?P<verb>enter|type|write)\s+(?P<value>⟦\d+⟧)", _FLAGS
)
_BY_PRESSING: Final = re.compile(
    r"^(?:close|open|dismiss|submit|finish|confirm)\b[^.]*?\bby\s+(click|press|tapp?)ing\s+(?:on\s+)?", _FLAGS
)
_PRONOUN: Final = re.compile(
    r"\b(?:it|that|them|this|the result|the answer you find)\b(?!\s+(?:is|are|email|message|\w+ed)\b)", _FLAGS
)
_THEIR: Final = re.compile(r"\b(?:their|his|her|its)\b", _FLAGS)
_ASKED_WAY: Final = re.compile(r"^(?:navigate|browse|look|go|search)\s+(?:through|around|in|within)\b", _FLAGS)
_ENTERING: Final = frozenset({Deed.FILL, Deed.SET, Deed.CHOOSE, Deed.UNCHECK, Deed.DRAG, Deed.SORT})
_TYPED: Final = frozenset({Deed.FILL, Deed.SET})
_READ_HERE: Final = frozenset({Deed.READ, Deed.COUNT})
_NAMING: Final = frozenset({Deed.FIND, Deed.SCROLL})
_SOURCES: Final = frozenset({Deed.FIND, Deed.COPY, Deed.READ})


def make_plan(goal: str, page: PageTree, so_far: TaskSoFar) -> tuple[PlanStep, ...]:
    """Return the steps of a goal; none where the rules do not understand all of it."""
    del so_far
    special = correspondence_steps(goal) or login_steps(goal, page)
    descriptions = special or tuple(_called_out(one, page) for one in _steps_of(goal, page))
    if descriptions and _needs_sending(descriptions, page):
        descriptions = (*descriptions, "Submit the form")
    if not descriptions or not all(understood(one) for one in descriptions):
        return ()
    return tuple(
        PlanStep(index=index, description=one, tool_type=_tool_type(one)) for index, one in enumerate(descriptions)
    )


def _tool_type(description: str) -> ToolKind:
    """Return who takes a step: what is read is read here, after the looks on the page that it may take."""
    instruction = read_instruction(description)
    return ToolKind.MIXED if instruction is not None and instruction.deed in _READ_HERE else ToolKind.DOM


def _steps_of(goal: str, page: PageTree) -> tuple[str, ...]:
    clauses = _joined(clauses_of(_plainer(goal)))
    for rewrite in (_with_sources, _without_hints):
        clauses = tuple(rewrite(clauses))
    return tuple(_with_entries(clauses, page))


def _needs_sending(descriptions: tuple[str, ...], page: PageTree) -> bool:
    """Return whether a goal only fills in a page that is one form, which takes nothing until it is submitted.

    Only a button that says so and has no other beside it that could be meant will do.
    """
    instructions = [read_instruction(one) for one in descriptions]
    if not all(one is not None and one.deed in _ENTERING for one in instructions):
        return False
    buttons = [node for node in page.nodes if node.role in {"btn", "link"} and node.name and not node.shape]
    senders = [node for node in buttons if same_thing(node.name, "submit")]
    return len(senders) == 1 and folded(senders[0].name) == "submit"


def _called_out(clause: str, page: PageTree) -> str:
    """Return a clause whose verb no rule knows, but a button of the page has as its name, as a click on that."""
    verb, _, rest = clause.partition(" ")
    if read_instruction(clause) is not None:
        return clause
    named = [node for node in page.nodes if node.role in CONTROLS and folded(node.name) == folded(clause)]
    if len(named) == 1:
        return f'{"Check" if named[0].role in CHECKS else "Click"} "{named[0].name}"'
    buttons = [node.name for node in page.nodes if node.role == "btn" and folded(node.name) == folded(verb)]
    if not buttons or not rest:
        return clause
    condition = re.search(
        r"\b(?:less|lower|smaller|greater|more|higher|larger)\s+than\b.*$|\b(?:even|odd)\b", rest, _FLAGS
    )
    return f'Click "{buttons[0]}"' + (f" until it is {condition[0]}" if condition else "")


def _plainer(goal: str) -> str:
    """Return a goal without the words that only say how to come to what is wanted."""
    masked = MaskedText(re.sub(r"\s+", " ", goal.strip()))
    text = _FIND_AND.sub("", masked.text)
    text = _USE_TO.sub(lambda match: f"{match['verb']} {match['value']} into {match['tool']}", text)
    text = _BY_PRESSING.sub("click ", text)
    shown = re.match(
        r"^(?:expand|switch|navigate|browse|look|scroll|open)\b[^.⟦]*?(?:,\s*|\s+)to\s+(?=(?:click|find|press|select)\b)",
        text,
        _FLAGS,
    )
    if shown and VERB.match(text, shown.end()):
        text = text[shown.end() :]
    return masked.whole(text)


def _joined(clauses: tuple[str, ...]) -> tuple[str, ...]:
    """Return clauses with those that only say where (`For the user X`) put before the one that they belong to."""
    result: list[str] = []
    lead = ""
    for clause in clauses:
        if read_instruction(f"{lead}{clause}") is None and re.match(
            r"(?:for|in|on|under|within|at|using|with)\s", clause, _FLAGS
        ):
            lead = f"{clause}, "
            continue
        if read_instruction(clause) is None and result and not lead and len(clause.split()) <= 6:  # noqa: PLR2004
            result[-1] = f"{result[-1]}, {clause}"
            continue
        result.append(f"{lead}{clause}")
        lead = ""
    return tuple(result)


def _with_sources(clauses: tuple[str, ...]) -> Iterator[str]:
    """Yield clauses whose pronouns stand for what the clause before them finds or copies, in place of that clause."""
    source = ""
    noun = ""
    for place, spoken in enumerate(clauses):
        clause = _with_noun(spoken, noun)
        instruction = read_instruction(clause)
        noun = _noun_of(instruction) if instruction and instruction.deed in _NAMING else noun
        following = clauses[place + 1] if place + 1 < len(clauses) else ""
        if instruction is None:
            yield clause
            continue
        if instruction.deed is Deed.SOLVE and re.search(r"\b(?:your|the)\s+(?:answer|solution|result)\b", following):
            continue
        if instruction.deed in _SOURCES and _is_taken_up(following):
            source = _noun_of(instruction)
            continue
        if source and _PRONOUN.search(clause):
            clause = re.sub(r"^paste\b", "enter", _replaced(_PRONOUN, source, clause), flags=_FLAGS)
            source = ""
        is_own = bool(_THEIR.search(instruction.value)) and (place == 0 or not source)
        yield clause if is_own and instruction.deed in _TYPED else _THEIR.sub("the", clause)


def _with_noun(clause: str, noun: str) -> str:
    """Return a clause in which `it` and `its price` stand for the thing that was named before."""
    if not noun or quotes_in(clause):
        return clause
    clause = re.sub(
        r"\b(?:its|their|his|her)\s+(\w+(?:\s\w+)?)$", lambda match: f"the {match[1]} of {noun}", clause, flags=_FLAGS
    )
    return re.sub(
        r"^(\S+(?:\s+on|\s+over)?)\s+(?:it|them|this one|that one)\b(?!\s+is)",
        lambda match: f"{match[1]} {noun}",
        clause,
    )


def _replaced(pattern: re.Pattern[str], text: str, clause: str) -> str:
    return pattern.sub(lambda _: text, clause, count=1)


def _is_taken_up(following: str) -> bool:
    return bool(
        re.match(r"(?:paste|type|enter|write|put|input|fill)\b", following, _FLAGS) and _PRONOUN.search(following)
    )


def _noun_of(instruction: Instruction) -> str:
    target = re.sub(r"^.*?\buntil\b.*?\b(?:see|find)\s+|^to\s+", "", instruction.target, flags=_FLAGS)
    target = re.sub(r"\s+(?:in|on)\s+the\s+(?:contact book|page|list|table|site)$", "", target, flags=_FLAGS)
    if target.startswith(('"', "“", "'")):
        return target
    named = target[:1].isupper() or re.match(r"(?:the|a)\s", target, _FLAGS)
    return target if named else f"the {target}"


def _with_entries(clauses: tuple[str, ...], page: PageTree) -> Iterator[str]:
    """Yield a clause that fills several fields as one for each."""
    for clause in clauses:
        entries = entries_in(clause) or entries_of_fields(clause, page)
        if entries:
            yield from (f"Enter {value} into the {name} field" for name, value in entries)
        else:
            yield clause


def _without_hints(clauses: tuple[str, ...]) -> Iterator[str]:
    """Yield clauses without those that only say to look around, where something follows."""
    for place, clause in enumerate(clauses):
        if _ASKED_WAY.match(clause) and place + 1 < len(clauses) and not quotes_in(clause):
            continue
        yield clause
