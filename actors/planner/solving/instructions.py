"""One clause of a goal read as an instruction: what is to be done, to what, with which value, and where."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

from msgspec import Struct, structs

from actors.planner.solving.clauses import MaskedText, without_full_stop, without_politeness
from actors.planner.solving.vocabulary import LEAST, MOST, VERB, VERBS, Deed
from actors.planner.solving.words import tokens

_FLAGS: Final = re.IGNORECASE
_INTO: Final = r"(?:into|in|inside|to|on|as|for|ins|in das|in den|als|dans|en tant que|comme|en|como)"
_SURELY_INTO: Final = r"(?:into|ins|in das|in den)"
_ARTICLE: Final = re.compile(
    r"^(?:the|a|an|this|that|all the|der|die|das|den|dem|ein|eine|le|la|les|un|une|el|los|las)\s+", _FLAGS
)
_SEPARABLE: Final = frozenset({"trage", "gib", "gebe", "wähle", "tippe", "klappe", "schicke", "lege", "füge"})
"""Verbs of German whose other half stands at the end."""


class Instruction(Struct, frozen=True, kw_only=True):
    """What a clause wants: `target` is the thing it is about, `value` what it gets, `place` where the target is."""

    deed: Deed
    verb: str
    target: str = ""
    value: str = ""
    place: str = ""
    words: str = ""
    """The clause as it stands."""


def read_instruction(clause: str) -> Instruction | None:
    """Return the instruction that a clause is, or None where no verb of it is known."""
    masked = MaskedText(without_politeness(clause))
    text = without_full_stop(masked.text)
    text, place = _place_before(text)
    verb, rest = _verb_and_rest(text)
    if verb in _SEPARABLE:
        rest = re.sub(r"\s+(?:ein|aus|an|ab|auf|zu)$", "", rest)
    if not verb:
        return None
    deed = VERBS[verb]
    read = _READERS.get(deed, _target_alone)(Instruction(deed=deed, verb=verb, words=clause), rest.strip())
    return structs.replace(
        read,
        target=masked.whole(read.target.strip(" ,")),
        value=masked.whole(read.value.strip(" ,")),
        place=masked.whole(f"{read.place} {place}".strip(" ,")),
    )


def without_article(text: str) -> str:
    """Return a phrase without the article before it."""
    return _ARTICLE.sub("", text.strip())


def _place_before(text: str) -> tuple[str, str]:
    """Split `In the dialog, click OK` and `For the user X, …` into what is to be done, and where."""
    match = re.match(r"(?:for|on|in|under|within|at|using|with|im|in der|dans|en)\s+([^,]+),\s+(?=\S)", text, _FLAGS)
    if match and VERB.match(text, match.end()):
        return text[match.end() :], match[1]
    return text, ""


def _verb_and_rest(text: str) -> tuple[str, str]:
    match = VERB.match(text)
    if match:
        return match[0].casefold(), text[match.end() :]
    words = text.rsplit(" ", 1)
    last = words[-1].casefold()
    if len(words) > 1 and last in VERBS and last.endswith(("en", "er", "ar", "ir")):
        return last, re.sub(r"^(?:auf|sur|en)\s+", "", words[0], flags=_FLAGS)
    return "", ""


def _target_alone(instruction: Instruction, rest: str) -> Instruction:
    return structs.replace(instruction, target=_without_lead(rest))


def _without_lead(text: str) -> str:
    return re.sub(r"^(?:on|at|to|for|:)\s+", "", text.strip(), flags=_FLAGS)


def _press(instruction: Instruction, rest: str) -> Instruction:
    by = re.match(r"(?:.*?)\s+by\s+(?:click|press|tapp)ing\s+(?:on\s+)?(.+)$", rest, _FLAGS)
    return structs.replace(instruction, target=_without_lead(by[1] if by else rest))


def _fill(instruction: Instruction, rest: str) -> Instruction:
    """Read the forms of putting something somewhere; what is no such form is a value for the field at hand."""
    if re.search(r"\b(?:starts?|begins?|starting|beginning)\s+with\b", rest, _FLAGS):
        return structs.replace(instruction, value=rest)
    given = re.match(r"(?:(?:in|out)\s+)?(.+?)\s+(?:with|mit|avec|con)\s+(.+)$", rest, _FLAGS)
    if given and instruction.verb.startswith(("fill", "rempl", "rellen")):
        return structs.replace(instruction, target=given[1], value=given[2])
    case = re.match(
        r"(⟦\d+⟧)\s+in\s+(?:all\s+)?(upper|lower)[- ]?case(?:\s+letters)?(?:\s+in(?:to)?\s+(.+))?$", rest, _FLAGS
    )
    if case:
        return structs.replace(instruction, value=f"{case[1]} in {case[2].lower()} case", target=case[3] or "")
    named = re.match(
        rf"(?:the\s+)?(?P<field>[^⟦]+?)\s*:?\s*(?P<value>⟦\d+⟧|\{{\w+\}})(?:\s+{_INTO}\s+(?P<place>.+))?$", rest, _FLAGS
    )
    if named:
        return _named_value(instruction, named["field"], named["value"], named["place"] or "")
    placed = re.match(rf"(?P<value>.+)\s+{_SURELY_INTO}\s+(?P<field>.+)$", rest, _FLAGS)
    placed = placed or re.match(rf"(?P<value>.+?)\s+{_INTO}\s+(?P<field>.+)$", rest, _FLAGS)
    if placed:
        return structs.replace(instruction, value=placed["value"], target=placed["field"])
    labelled = re.match(r"(?P<field>[^:⟦]+):\s*(?P<value>.+)$", rest)
    if labelled:
        return structs.replace(instruction, target=labelled["field"], value=labelled["value"])
    return structs.replace(instruction, value=rest)


def other_placings(instruction: Instruction) -> Iterator[Instruction]:
    """Yield an instruction to fill something in with its value ending at each further word that may lead to a field."""
    words = re.sub(rf"^.*?(?={re.escape(instruction.value)}\s)", "", instruction.words, count=1)
    for match in re.finditer(rf"\s+{_INTO}\s+", words, _FLAGS):
        yield structs.replace(instruction, value=words[: match.start()], target=words[match.end() :])


def _named_value(instruction: Instruction, field: str, value: str, place: str) -> Instruction:
    """Read `the username "x" into the field`: the field has the name of the value, unless the place says more."""
    generic = not place or re.search(r"\b(?:both|all|each|form|fields|boxes|inputs)\b", place, _FLAGS)
    if place and not generic:
        return structs.replace(instruction, target=place, value=value)
    many = re.search(r"\b(?:both|all|each|every)\b", place, _FLAGS)
    return structs.replace(instruction, target=place if many else field, value=value)


def _set(instruction: Instruction, rest: str) -> Instruction:
    match = re.match(r"(?P<field>.+?)\s+(?:to|at|auf|à|sur|a|en)\s+(?P<value>.+)$", rest, _FLAGS)
    if match:
        return structs.replace(instruction, target=match["field"], value=match["value"])
    return structs.replace(instruction, target=rest)


def _choose(instruction: Instruction, rest: str) -> Instruction:
    """Read what is selected, from what: `value` is what is chosen, `target` the control that has it."""
    as_what = re.match(r"(?P<value>.+?)\s+(?:as|als|comme|como|for|für|pour|para)\s+(?P<field>.+)$", rest, _FLAGS)
    if as_what and instruction.verb not in {"check", "tick"}:
        return structs.replace(instruction, value=as_what["value"], target=as_what["field"])
    where = re.match(
        r"(?P<value>.+?)\s+(?:from|in|with|using|on|out of|under|aus|von|dans|de|en)"
        r"\s+(?P<field>(?:the|this|its|der|dem|la|le|el|⟦).*)$",
        rest,
        _FLAGS,
    )
    if where and not frozenset(tokens(where["field"])) & (MOST | LEAST):
        return structs.replace(instruction, value=where["value"], target=where["field"])
    return structs.replace(instruction, value=rest)


def _drag(instruction: Instruction, rest: str) -> Instruction:
    """Read from where to where: the words before the way are the target, those behind it the place."""
    match = re.match(
        r"(?P<what>.+?)\s+(?P<way>(?:on(?:to)?|into|to|inside|in|over|so that|by|auf|in|vers|dans|a|hasta)\s+.+"
        r"|(?:up|down|left|right|upwards?|downwards?)\b.*)$",
        rest,
        _FLAGS,
    )
    if match:
        return structs.replace(instruction, target=match["what"], value=match["way"])
    return structs.replace(instruction, target=rest)


def _add(instruction: Instruction, rest: str) -> Instruction:
    count = r"(?:(?P<count>\d+|one|two|three|four|five)\s+(?:x\s+|of\s+)?)?(?P<what>.+?)"
    match = re.match(rf"{count}\s+(?P<to>(?:to|into)\s+.+)$", rest, _FLAGS) or re.match(
        rf"{count}(?:\s+(?P<to>in\s+.+))?$", rest, _FLAGS
    )
    if match:
        where = re.sub(r"^(?:to|into|in)\s+(?:the|my|your)?\s*", "", match["to"] or "", flags=_FLAGS)
        return structs.replace(instruction, target=match["what"], value=match["count"] or "", place=where)
    return structs.replace(instruction, target=rest)


def _item(instruction: Instruction, rest: str) -> Instruction:
    return structs.replace(instruction, target=_without_lead(rest))


_READERS: Final[Mapping[Deed, Callable[[Instruction, str], Instruction]]] = MappingProxyType(
    {
        Deed.PRESS: _press,
        Deed.FILL: _fill,
        Deed.SET: _set,
        Deed.CHOOSE: _choose,
        Deed.UNCHECK: _choose,
        Deed.DRAG: _drag,
        Deed.ADD: _add,
        Deed.ON_ITEM: _item,
    }
)
