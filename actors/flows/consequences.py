"""Says what must be true after a step, by what it left on its page; and whether that is true of another page."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Final, assert_never

from msgspec import Struct
from rapidfuzz import fuzz

from actors.flows.wording import abstracted, filled, has_shape, shape_of
from protocol.acting.tree import PageTree, SemanticNode
from protocol.browsers.pageinfo import MASK
from protocol.flows import AddressIs, AnyAppears, DialogOpens, ElementGoes, FieldHolds, FlowCheck, StateIs

MAX_APPEARING: Final = 8
MAX_WORDS: Final = 120
SAME_WORDS: Final = 0.8

_STATES: Final = ("checked", "selected", "expanded", "pressed")
_TELLING: Final[Mapping[str, int]] = {"aler": 0, "stat": 0, "h": 1, "dial": 1, "btn": 2, "link": 3, "inp": 2}
"""Roles of what tells most of a page, the most telling first; words come after them."""


class PagesAround(Struct, frozen=True):
    """The pages before and after a step, the values of the inputs by their names, and what is secret."""

    before: PageTree
    after: PageTree
    values: Mapping[str, str]
    secrets: frozenset[str] = frozenset()

    def abstracted(self, text: str) -> str:
        """Return words of a page as they are kept."""
        return abstracted(text, self.values, self.secrets)


def checks_of(
    around: PagesAround, node: SemanticNode | None, parameter: str | None, words: str | None, *, secret: bool
) -> tuple[FlowCheck, ...]:
    """Return what must be true after a step about an element, into which the words of a parameter were put."""
    if around.after.dialog and around.after.dialog != around.before.dialog:
        return (DialogOpens(),)
    address = shape_of(around.after.url, around.values, around.secrets)
    if address is not None and address != shape_of(around.before.url, around.values, around.secrets):
        return (address,)
    after = None if node is None else around.after.node(node.id)
    if parameter is not None and after is not None:
        if secret:
            return (FieldHolds(),) if after.value else ()
        held = (after.value or "").strip()
        if words and held == words.strip():
            return (FieldHolds(value=f"{{{parameter}}}"),)
    if node is not None and after is not None:
        states = tuple(StateIs(state=one, on=one in after.states) for one in _STATES if _turned(one, node, after))
        if states:
            return states
    return _appeared(around) or _gone(around, node)


def is_true(
    check: FlowCheck, before: PageTree, after: PageTree, node: SemanticNode | None, values: Mapping[str, str]
) -> bool:
    """Return whether something is true of a page after a step about an element of the page before it."""
    match check:
        case AddressIs():
            return has_shape(after.url, check, values)
        case AnyAppears():
            return any(_stands(role, filled(words, values), after) for role, words in check.nodes)
        case ElementGoes():
            return node is not None and _count(node, after) < _count(node, before)
        case FieldHolds():
            now, wanted = None if node is None else after.node(node.id), filled(check.value, values)
            return _is_empty(now) if check.value and not wanted else _holds(now, wanted)
        case StateIs():
            now = None if node is None else after.node(node.id)
            return now is not None and (check.state in now.states) is check.on
        case DialogOpens():
            return bool(after.dialog)
        case _:
            assert_never(check)


def _holds(node: SemanticNode | None, wanted: str) -> bool:
    """Return whether a field holds words, in whatever way it writes them; of a list or a secret, anything at all."""
    held = "" if node is None else (node.value or "")
    if not wanted or held == MASK or (node is not None and node.role == "sel"):
        return bool(held)
    own, other = _letters(held), _letters(wanted)
    return own == other or (len(own) >= MAX_WORDS // 2 and other.startswith(own))


def _is_empty(node: SemanticNode | None) -> bool:
    return node is not None and not (node.value or "").strip()


def _letters(text: str) -> str:
    return "".join(re.findall(r"\w+", text.casefold()))


def _turned(state: str, before: SemanticNode, after: SemanticNode) -> bool:
    return (state in before.states) is not (state in after.states)


def _appeared(around: PagesAround) -> tuple[FlowCheck, ...]:
    """Return what the page shows now and did not show, the most telling first; figures change by themselves."""
    known = {(one.role, one.name) for one in around.before.nodes}
    fresh = [one for one in around.after.nodes if one.name and (one.role, one.name) not in known]
    telling = sorted(fresh, key=lambda one: (bool(re.search(r"\d", one.name)), _TELLING.get(one.role, 4)))
    nodes = ((one.role, around.abstracted(one.name[:MAX_WORDS])) for one in telling)
    kept = tuple(dict.fromkeys(pair for pair in nodes if pair[1]))[:MAX_APPEARING]
    return (AnyAppears(nodes=kept),) if kept else ()


def _gone(around: PagesAround, node: SemanticNode | None) -> tuple[FlowCheck, ...]:
    if node is None or not node.name or _count(node, around.after) >= _count(node, around.before):
        return ()
    return (ElementGoes(),)


def _count(node: SemanticNode, page: PageTree) -> int:
    return Counter((one.role, one.name) for one in page.nodes)[node.role, node.name]


def _stands(role: str, words: str, page: PageTree) -> bool:
    """Return whether words stand on a page, in whatever role where they stand word for word."""
    folded = words.casefold()
    return any(
        one.name[:MAX_WORDS].casefold() == folded
        or (one.role == role and fuzz.ratio(one.name[:MAX_WORDS].casefold(), folded) >= 100 * SAME_WORDS)
        for one in page.nodes
    )
