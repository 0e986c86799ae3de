"""Finds the element of a recorded step on a page as it is now, by all that is known of it; never by a guess."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Final
from urllib.parse import urlsplit

from msgspec import Struct, structs
from rapidfuzz import fuzz

from actors.flows.wording import filled
from protocol.acting.tree import ElementMarks, PageTree, SemanticNode
from protocol.flows import FlowTarget

LEAST_SCORE: Final = 0.6
"""What of the ways to an element must lead to it (0 to 1)."""

LEAST_MARGIN: Final = 0.08
"""How much surer that must be than of any other element; where the element stands does not count for it."""

SAME_NAME: Final = 0.75
"""How like two names are that are said to be the same in other words (0 to 1)."""

_GROUPS: Final[Mapping[str, str]] = MappingProxyType(
    dict.fromkeys(("btn", "link", "menu", "tab", "item", "tree"), "pressed")
    | dict.fromkeys(("chk", "switch"), "ticked")
    | {"inp": "filled", "sel": "chosen"}
)
"""Roles that other mark-up gives the same control; any other role stays what it is."""

_PLACE: Final = 0.05
"""What the place of an element is worth."""

_OWN: Final = ("test", "id", "name", "placeholder", "href")
"""The marks that are an element's own."""

_OTHER_ROLE: Final = 0.9
"""What the score of an element is worth that has another role of the same group."""


class FoundNode(Struct, frozen=True):
    """The element, how sure that is (0 to 1), and whether it is another one by anything but its place."""

    node: SemanticNode
    score: float
    healed: bool


class NotFound(Struct, frozen=True):
    """Why nothing is done: `alike` where two cannot be told apart, else nothing is like it."""

    alike: bool
    why: str


def find(target: FlowTarget, page: PageTree, values: Mapping[str, str]) -> FoundNode | NotFound:
    """Return the element that a step is about, or why there is none."""
    wanted = _with_values(target, values)
    peers = [node for node in page.nodes if group_of(node.role) == group_of(wanted.role)]
    scored = sorted(
        ((_score(wanted, node), node) for node in peers if _may_be(wanted, node)), key=lambda one: one[0], reverse=True
    )
    if not scored or _placed(scored[0][0], wanted, scored[0][1], page) < LEAST_SCORE:
        return NotFound(alike=False, why=f"Nothing on the page is like the {_words(wanted)} that was recorded.")
    best, node = scored[0]
    if len(scored) > 1 and best - scored[1][0] < LEAST_MARGIN:
        return NotFound(alike=True, why=f"Two elements are like the {_words(wanted)} that was recorded.")
    return FoundNode(node=node, score=round(best, 3), healed=not _is_same(wanted, node))


def group_of(role: str) -> str:
    """Return the roles that a control of this one may have on another version of its page."""
    return _GROUPS.get(role, role)


def likeness(words: str, others: str) -> float:
    """Return how many of two texts' words they share (0 to 1)."""
    first, second = _tokens(words), _tokens(others)
    return len(first & second) / len(first | second) if first or second else 1.0


def _with_values(target: FlowTarget, values: Mapping[str, str]) -> FlowTarget:
    marks = ElementMarks(**{name: filled(value, values) for name, value in structs.asdict(target.marks).items()})
    others = tuple(filled(one, values) for one in target.others)
    name, context = filled(target.name, values), filled(target.context, values)
    return structs.replace(target, name=name, context=context, marks=marks, others=others)


def _may_be(wanted: FlowTarget, node: SemanticNode) -> bool:
    """Return whether a node may be the element at all: something must say so that is its own.

    What its peers were called is none of its names, and what is secret goes where something secret was.
    """
    marks = node.marks or ElementMarks()
    if marks.secret != wanted.marks.secret:
        return False
    named = _name_likeness(wanted, node) >= SAME_NAME
    if not named and node.name and _folded(node.name) in {_folded(one) for one in wanted.others}:
        return False
    return (named and bool(wanted.name)) or any(
        getattr(wanted.marks, one) and getattr(wanted.marks, one) == getattr(marks, one) for one in _OWN
    )


def _is_same(wanted: FlowTarget, node: SemanticNode) -> bool:
    """Return whether an element is all that it was of its own: the words around it may be others."""
    marks = node.marks or ElementMarks()
    own = all(getattr(wanted.marks, one) in ("", getattr(marks, one)) for one in _OWN)
    return own and node.role == wanted.role and _name_likeness(wanted, node) == 1


def _score(wanted: FlowTarget, node: SemanticNode) -> float:
    """Return what share of the ways to an element leads to a node, each by its weight."""
    marks = node.marks or ElementMarks()
    ways = [(0.34, _name_likeness(wanted, node))] if wanted.name else []
    for name, (weight, alike) in _WAYS.items():
        if own := getattr(wanted.marks, name):
            ways.append((weight, alike(own, getattr(marks, name))))
    if wanted.context:
        ways.append((0.1, likeness(wanted.context, node.context) if node.context else 0.5))
    whole = sum(weight for weight, _ in ways)
    score = sum(weight * alike for weight, alike in ways) / whole if whole else 0.0
    return score if node.role == wanted.role else score * _OTHER_ROLE


def _placed(score: float, wanted: FlowTarget, node: SemanticNode, page: PageTree) -> float:
    """Return the score of an element with what its place among those of its role says, which is little."""
    away = abs(place_of(node, page.nodes) - wanted.place)
    return (1 - _PLACE) * score + _PLACE / (1 + away)


def _name_likeness(wanted: FlowTarget, node: SemanticNode) -> float:
    own, other = _folded(wanted.name), _folded(node.name)
    return 1.0 if own == other else fuzz.ratio(own, other) / 100 if own and other else 0.0


def _same(own: str, other: str) -> float:
    return float(own == other)


def _same_address(own: str, other: str) -> float:
    if own == other:
        return 1.0
    first, second = urlsplit(own), urlsplit(other)
    return 0.8 if other and (first.netloc, first.path) == (second.netloc, second.path) else 0.0


_WAYS: Final[Mapping[str, tuple[float, Callable[[str, str], float]]]] = MappingProxyType(
    {
        "test": (0.2, _same),
        "id": (0.12, _same),
        "name": (0.1, _same),
        "href": (0.1, _same_address),
        "placeholder": (0.06, _same),
        "type": (0.04, _same),
        "beside": (0.14, likeness),
        "near": (0.08, likeness),
        "heading": (0.06, likeness),
    }
)
"""What each mark is worth, and how two of them are compared."""


@lru_cache(maxsize=4_096)
def _tokens(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", text.casefold()))


def _folded(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold())) or text.strip().casefold()


def _words(wanted: FlowTarget) -> str:
    return f"{_ROLE_WORDS.get(group_of(wanted.role), 'element')} {wanted.name[:60]!r}"


_ROLE_WORDS: Final[Mapping[str, str]] = MappingProxyType(
    {"pressed": "control", "ticked": "box", "filled": "field", "chosen": "list", "radio": "option"}
)


def place_of(node: SemanticNode, nodes: Sequence[SemanticNode]) -> int:
    """Return the place of a node among those of its role, from 0."""
    return sum(1 for one in nodes[: nodes.index(node)] if one.role == node.role)
