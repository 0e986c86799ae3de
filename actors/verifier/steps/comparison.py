"""Compares a page before an action with what it is after it: what came, went, and is otherwise than before."""

from __future__ import annotations

import re
from collections import Counter, defaultdict, deque
from collections.abc import Hashable, Iterable, Mapping, Sequence
from enum import IntEnum
from itertools import pairwise
from typing import Final
from urllib.parse import urlsplit

from msgspec import Struct

from protocol.acting.steps import MAX_KEPT_NODES, BeforeState
from protocol.acting.tree import SemanticNode

SHOWN_ROLES: Final = frozenset({"text", "h", "img", "aler", "stat", "log", "marq", "time", "prog", "para", "figu"})
"""Roles of what can only be looked at; the long ones are cut to four letters."""

PASSING_STATES: Final = frozenset({"focused", "hovered", "active"})
"""States that come and go with the pointer and the keyboard, whatever the page makes of them."""

REPLAN_BELOW: Final = 0.7
KEPT_BELOW: Final = 0.5
"""A page less like the one that a plan was made for, or with fewer of its controls, is another page (001, replan)."""

_STRUCTURE_SHARE, _CONTROL_SHARE = 0.6, 0.4
_MOVED_PX = 3.0
_AGE = re.compile(r"^\s*\[(\d*)[^\]]*\]\s*")


class AddressChange(IntEnum):
    """How far the address of a page is from what it was."""

    NONE = 0
    FRAGMENT = 1
    QUERY = 2
    PATH = 3
    HOST = 4


class NodeChange(Struct, frozen=True):
    """A node that is on both pages and not the same on them."""

    before: SemanticNode
    after: SemanticNode
    fields: frozenset[str]
    """Which of name, value, state, occluded, scroll, moved, colour differ."""

    @property
    def gained(self) -> frozenset[str]:
        """The states that it has now and had not."""
        return self.after.states - self.before.states

    @property
    def lost(self) -> frozenset[str]:
        """The states that it had."""
        return self.before.states - self.after.states


class PageComparison(Struct, frozen=True, kw_only=True):
    """What is different on a page; `similarity` is 1 where its structure and its controls are the same."""

    added: tuple[SemanticNode, ...]
    removed: tuple[SemanticNode, ...]
    altered: tuple[NodeChange, ...]
    pairs: Mapping[str, SemanticNode]
    """The nodes of before that are still there, by their ids: as they are now."""
    address: AddressChange
    retitled: bool
    reordered: bool
    scrolled: bool
    refocused: bool
    selected: str
    """The words that are selected now, and were not."""
    dialog_opened: bool
    dialog_closed: bool
    tabs: int
    events: tuple[str, ...]
    """What has happened lately that had not before."""
    similarity: float
    controls_kept: float

    @property
    def significant(self) -> bool:
        """Whether the address is another one, apart from its fragment."""
        return self.address >= AddressChange.QUERY

    @property
    def nodes_changed(self) -> bool:
        """Whether any node came, went or is otherwise."""
        return bool(self.added or self.removed or self.altered or self.reordered)

    @property
    def changed(self) -> bool:
        """Whether anything is otherwise that an action can bring about."""
        return (
            self.nodes_changed
            or self.address is not AddressChange.NONE
            or self.retitled
            or self.scrolled
            or self.refocused
            or bool(self.selected)
            or self.dialog_opened
            or self.dialog_closed
            or self.tabs != 0
        )

    @property
    def another_page(self) -> bool:
        """Whether a plan for the page before is none for this one (001, replan)."""
        return self.significant or self.similarity < REPLAN_BELOW or self.controls_kept < KEPT_BELOW


def compare(before: BeforeState, after: BeforeState) -> PageComparison:
    """Compare a page with what it was."""
    address = address_change(before.url, after.url)
    pairs = _pairs(before.nodes, after.nodes, same_document=address < AddressChange.PATH)
    paired = {id(node) for node in pairs.values()}
    changes = ((node, pairs[node.id], _fields(node, pairs[node.id])) for node in before.nodes if node.id in pairs)
    altered = tuple(NodeChange(old, new, fields) for old, new, fields in changes if fields)
    return PageComparison(
        added=_unmatched(after.nodes, [id(node) in paired for node in after.nodes], before.nodes),
        removed=_unmatched(before.nodes, [node.id in pairs for node in before.nodes], after.nodes),
        altered=altered,
        pairs=pairs,
        address=address,
        retitled=before.title != after.title,
        reordered=_reordered(before.nodes, after.nodes, pairs),
        scrolled=before.scroll_position != after.scroll_position or any("scroll" in one.fields for one in altered),
        refocused=before.focused != after.focused,
        selected=after.selection if after.selection != before.selection else "",
        dialog_opened=bool(after.dialog) and after.dialog != before.dialog,
        dialog_closed=bool(before.dialog) and not after.dialog,
        tabs=after.tabs - before.tabs,
        events=_new_events(before.recent_events, after.recent_events),
        similarity=_similarity(before.nodes, after.nodes),
        controls_kept=_controls_kept(before.nodes, pairs),
    )


def address_change(before: str, after: str) -> AddressChange:
    """Return how far an address is from another one."""
    if before == after:
        return AddressChange.NONE
    old, new = urlsplit(before), urlsplit(after)
    if (old.scheme, old.netloc.lower()) != (new.scheme, new.netloc.lower()):
        return AddressChange.HOST
    if (old.path or "/") != (new.path or "/"):
        return AddressChange.PATH
    return AddressChange.QUERY if old.query != new.query else AddressChange.FRAGMENT


def is_control(node: SemanticNode) -> bool:
    """Return whether a node can be acted on."""
    return node.role not in SHOWN_ROLES


def event_words(event: str) -> str:
    """Return what an event says, without how long ago that was."""
    return _AGE.sub("", event)


def _pairs(
    before: Sequence[SemanticNode], after: Sequence[SemanticNode], *, same_document: bool
) -> dict[str, SemanticNode]:
    """Match the nodes of two pages: by their ids, then by what they say, as a page may draw itself anew."""
    by_id = {node.id: node for node in after}
    pairs = {
        node.id: twin
        for node in before
        if (twin := by_id.get(node.id)) is not None
        and twin.role == node.role
        and (same_document or twin.name == node.name)
    }
    for key in (_whole, _by_name):
        taken = {id(node) for node in pairs.values()}
        free = defaultdict[Hashable, deque[SemanticNode]](deque)
        for node in after:
            if id(node) not in taken:
                free[key(node)].append(node)
        for node in before:
            if node.id not in pairs and free[key(node)]:
                pairs[node.id] = free[key(node)].popleft()
    return pairs


def _unmatched(
    nodes: Sequence[SemanticNode], matched: Sequence[bool], others: Sequence[SemanticNode]
) -> tuple[SemanticNode, ...]:
    """Return the nodes that have no match; where the others were cut, what follows the last match may be among them."""
    end = len(nodes)
    if len(others) >= MAX_KEPT_NODES:
        end = max((place + 1 for place, one in enumerate(matched) if one), default=end)
    return tuple(node for node, one in zip(nodes[:end], matched[:end], strict=True) if not one)


def _whole(node: SemanticNode) -> Hashable:
    return node.frame, node.role, node.name, node.value, node.state, node.context


def _by_name(node: SemanticNode) -> Hashable:
    return (node.frame, node.role, node.name) if node.name else object()


def _fields(before: SemanticNode, after: SemanticNode) -> frozenset[str]:
    """Return in what two nodes differ that are the same."""
    differ = {
        "name": before.name != after.name,
        "value": (before.value or "") != (after.value or ""),
        "state": bool((before.states ^ after.states) - PASSING_STATES),
        "occluded": before.occluded != after.occluded,
        "scroll": before.scroll is not None and after.scroll is not None and before.scroll != after.scroll,
        "colour": bool(before.colour and after.colour) and before.colour != after.colour,
        "shape": before.shape != after.shape,
    }
    return frozenset(name for name, differs in differ.items() if differs)


def moved(before: SemanticNode, after: SemanticNode) -> bool:
    """Return whether a node stands elsewhere in the window, or has another size."""
    pairs = list(zip(before.box or before.centre or (), after.box or after.centre or (), strict=False))
    return any(abs(old - new) > _MOVED_PX for old, new in pairs)


def _reordered(
    before: Sequence[SemanticNode], after: Sequence[SemanticNode], pairs: Mapping[str, SemanticNode]
) -> bool:
    """Return whether nodes that are on both pages, by ids that both have, stand in another order."""
    places = {node.id: place for place, node in enumerate(after)}
    kept = [places[node.id] for node in before if node.id in pairs and node.id in places]
    return any(first > second for first, second in pairwise(kept))


def _new_events(before: Iterable[str], after: Iterable[str]) -> tuple[str, ...]:
    """Return what has happened since: what was not told before, or is younger than it was then."""
    ages = defaultdict[str, list[int]](list)
    for one in before:
        ages[event_words(one)].append(_age(one))
    fresh = list[str]()
    for one in after:
        known = ages[event_words(one)]
        if not known or _age(one) < known.pop(0):
            fresh.append(event_words(one))
    return tuple(fresh)


def _age(event: str) -> int:
    """Return how long ago something happened, in the unit that it is known in; 0 where it is not told."""
    match = _AGE.match(event)
    return int(match[1]) if match is not None and match[1] else 0


def _similarity(before: Sequence[SemanticNode], after: Sequence[SemanticNode]) -> float:
    structure = _shared(Counter(_form(one) for one in before), Counter(_form(one) for one in after))
    controls = _shared(
        Counter((one.role, one.name) for one in before if is_control(one)),
        Counter((one.role, one.name) for one in after if is_control(one)),
    )
    return round(_STRUCTURE_SHARE * structure + _CONTROL_SHARE * controls, 3)


def _form(node: SemanticNode) -> tuple[str, str]:
    """Return what a node is in the structure: texts that only differ in figures are alike."""
    return node.role, re.sub(r"\d+", "0", node.name)


def _shared(before: Counter[tuple[str, str]], after: Counter[tuple[str, str]]) -> float:
    whole = (before | after).total()
    return (before & after).total() / whole if whole else 1.0


def _controls_kept(before: Sequence[SemanticNode], pairs: Mapping[str, SemanticNode]) -> float:
    controls = [node for node in before if is_control(node)]
    return sum(node.id in pairs for node in controls) / len(controls) if controls else 1.0
