"""Says which changes of a page an action may have brought about, as clocks, advertisements and counters change too."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from enum import IntEnum, StrEnum
from functools import cached_property
from typing import Final

from msgspec import Struct

from actors.verifier.steps.arrivals import InputArrival
from actors.verifier.steps.comparison import NodeChange, PageComparison, compare, is_control, moved
from actors.verifier.steps.phrases import content_words, first_saying, says, spoken, word_count
from protocol.acting.steps import StepClaim
from protocol.acting.tree import SemanticNode

NEAR_PX: Final = 160.0
"""How far from what was acted on a change stands that is still its own."""

BESIDE_PX: Final = 60.0
"""How far from what was acted on other words stand that belong to it."""

_MANY = 0.3
"""The share of a page that no clock and no advertisement changes at once."""

_FEWEST = 2
_MANY_TEXTS, _MESSAGE_WORDS = 8, 16
"""More texts at once are contents, and longer ones are prose, not messages."""

_ALERT = "aler"
_WORDS = frozenset({"text", "h"})
_ASIDE = 3.0
_SAME_PX = 12.0
_CHOSEN_STATES = frozenset({"selected", "checked", "pressed", "expanded", "current"})
_CHOSEN_ROLES = frozenset({"tab", "radio", "chk", "switch", "opt"})
_CLICKS = frozenset({"click", "doubleClick", "check", "uncheck"})
_CLOCK = re.compile(
    r"\d{1,2}:\d{2}(:\d{2})?|\b\d+\s?(s|secs?|seconds?|mins?|minutes?|hours?|h)\b|\bago\b", re.IGNORECASE
)
_FIGURES = re.compile(r"\d+")
_AMBIENT_ROLES = frozenset({"time", "marq", "prog", "log"})

Box = tuple[float, float, float, float]


class ChangeScope(IntEnum):
    """How near a change is to what was acted on, the nearest last."""

    AMBIENT = 0
    """It changes by itself: a clock, a counter, what stands in a frame of others."""
    ELSEWHERE = 1
    NAMED = 2
    """It speaks of what was acted on."""
    NEAR = 3
    TARGET = 4


class ChangeKind(StrEnum):
    """What happened to a node."""

    APPEARED = "appeared"
    DISAPPEARED = "disappeared"
    SWAPPED = "swapped"
    """Other words or another picture stand in its place, as in advertisements and tickers."""
    COUNTED = "counted"
    """It differs in figures alone."""
    ALTERED = "altered"
    """Its value, its state, its place or what it looks like."""


class NodeEvent(Struct, frozen=True):
    """What happened to a node, and how near that is to what was acted on."""

    kind: ChangeKind
    scope: ChangeScope
    words: str
    beside: bool = False
    """Whether it is words right beside what was acted on, as the month between the arrows of a calendar."""

    @property
    def is_weak(self) -> bool:
        """Whether an advertisement or a ticker may have done the same."""
        return self.kind is ChangeKind.SWAPPED or self.scope <= ChangeScope.ELSEWHERE


class StepEvidence(Struct, frozen=True, dict=True):
    """An action with the page before and after it, and what of that is its own."""

    claim: StepClaim
    page: PageComparison

    @staticmethod
    def of(claim: StepClaim) -> StepEvidence:
        """Compare the two pages of a claim."""
        return StepEvidence(claim, compare(claim.before, claim.after))

    @cached_property
    def target(self) -> SemanticNode | None:
        """The node that was acted on, as it was: by its id, by the point, or the one that had the focus."""
        arguments, nodes = self.claim.action.arguments, self.claim.before.nodes
        if wanted := self.claim.action.element:
            return next((one for one in nodes if one.id == wanted), None)
        if self.point is not None and "x" in arguments:
            return _under(self.point, nodes)
        if self.claim.action.name in {"press", "type"}:
            return next((one for one in nodes if one.id == self.claim.before.focused), None)
        return None

    @cached_property
    def target_after(self) -> SemanticNode | None:
        """The same node as it is now; None where it is gone."""
        if self.target is not None:
            return self.page.pairs.get(self.target.id)
        wanted = self.claim.action.element or (self.claim.after.focused if self.claim.action.name == "type" else "")
        return next((one for one in self.claim.after.nodes if wanted and one.id == wanted), None)

    @cached_property
    def point(self) -> tuple[float, float] | None:
        """The point that was acted on, where the action has one."""
        x, y = self.claim.action.arguments.get("x"), self.claim.action.arguments.get("y")
        return (float(x), float(y)) if isinstance(x, int | float) and isinstance(y, int | float) else None

    @cached_property
    def place(self) -> Box | None:
        """Where the action took place."""
        if self.target is not None and (box := box_of(self.target)):
            return box
        return (*self.point, 0.0, 0.0) if self.point is not None else None

    @cached_property
    def place_now(self) -> Box | None:
        """Where what was acted on is now: to act on it may have scrolled the page."""
        box = box_of(self.target_after) if self.target_after is not None else None
        return box or self.place

    @cached_property
    def change(self) -> NodeChange | None:
        """What is otherwise of the node that was acted on."""
        return next((one for one in self.page.altered if self.target and one.before.id == self.target.id), None)

    @cached_property
    def arrival(self) -> InputArrival:
        """Where the click or the keys arrived."""
        return InputArrival.of(self.claim)

    @cached_property
    def events(self) -> tuple[NodeEvent, ...]:
        """What happened to the nodes of the page."""
        swaps = self._swaps
        gone, fresh = {id(old) for old, _ in swaps}, {id(new) for _, new in swaps}
        appeared = [one for one in self.page.added if id(one) not in fresh]
        disappeared = [one for one in self.page.removed if id(one) not in gone]
        return (
            *(NodeEvent(ChangeKind.APPEARED, self._scope_of(one, self.place_now), one.name) for one in appeared),
            *(NodeEvent(ChangeKind.DISAPPEARED, self._scope_of(one, self.place), one.name) for one in disappeared),
            *(self._swapped(old, new) for old, new in swaps),
            *(self._altered(one) for one in self.page.altered),
            *(NodeEvent(ChangeKind.ALTERED, ChangeScope.TARGET, one.name) for one in self._moved_targets()),
        )

    @cached_property
    def nearest(self) -> NodeEvent | None:
        """The event that says most: what nothing but an action does first, then the nearest."""
        own = [one for one in self.events if one.scope > ChangeScope.AMBIENT]
        return max(own, key=lambda one: (one.scope, one.kind is not ChangeKind.SWAPPED), default=None)

    @cached_property
    def plainest(self) -> NodeEvent | None:
        """The nearest event that is more than other words in the same place."""
        own = [one for one in self.events if one.scope > ChangeScope.AMBIENT and one.kind is not ChangeKind.SWAPPED]
        return max(own, key=lambda one: one.scope, default=None)

    @cached_property
    def sweeping(self) -> bool:
        """Whether so much of the page is otherwise that nothing but an action can have done it: a dialog, a view."""
        before, after = self.claim.before.nodes, self.claim.after.nodes
        kinds = Counter(one.kind for one in self.events if one.scope > ChangeScope.AMBIENT)
        covered = sum("occluded" in one.fields for one in self.page.altered)
        return (
            covered >= max(_FEWEST, _MANY * len(before))
            or kinds[ChangeKind.APPEARED] >= max(_FEWEST + 1, _MANY * len(after))
            or kinds[ChangeKind.DISAPPEARED] >= max(_FEWEST + 1, _MANY * len(before))
            or self._rows_swapped
            or self.page.reordered
        )

    @cached_property
    def covered(self) -> bool:
        """Whether nothing became of what was acted on but that something lies over it now."""
        return self.change is not None and self.change.fields == frozenset({"occluded"})

    @cached_property
    def focused_instead(self) -> str:
        """The name of a like control that has the focus, as what is clicked has; "" where there is none."""
        claim, target, now = self.claim, self.target, self.claim.after.focused
        if target is None or self.target_after is None or claim.action.name not in _CLICKS:
            return ""
        if self.change is not None and not self.covered:
            return ""
        other = next((one for one in claim.before.nodes if one.id == now), None)
        if other is None or other.id == target.id or other.role != target.role:
            return ""
        return other.name or "?"

    @cached_property
    def _rows_swapped(self) -> bool:
        """Whether several nodes behind one another have others in their place: a list was filled anew."""
        fresh = {id(new) for old, new in self._swaps if not (ambient(new) or _ticks(old.name, new.name))}
        run = longest = 0
        for node in self.claim.after.nodes:
            run = run + 1 if id(node) in fresh else 0
            longest = max(longest, run)
        return longest > _FEWEST

    @cached_property
    def _swaps(self) -> tuple[tuple[SemanticNode, SemanticNode], ...]:
        """The nodes in whose place another of the same role stands, each with that one, and texts that were changed."""
        left = list(self.page.added)
        swaps = list[tuple[SemanticNode, SemanticNode]]()
        for old in self.page.removed:
            new = next((one for one in left if one.role == old.role and _same_place(old, one)), None)
            if new is not None:
                left.remove(new)
                swaps.append((old, new))
        return tuple(swaps)

    @cached_property
    def chosen_instead(self) -> str:
        """The name of a like control that is chosen now, where what was acted on is as it was; else ""."""
        target = self.target
        unchanged = self.change is None or self.covered
        if target is None or not unchanged or self.target_after is None:
            return ""
        likes = (one for one in self.page.altered if one.after.role == target.role and one.gained & _CHOSEN_STATES)
        alike = target.role in _CHOSEN_ROLES or bool(target.states & (_CHOSEN_STATES | {"collapsed"}))
        return next((one.after.name or "?" for one in likes if alike or one.after.name == target.name), "")

    @cached_property
    def errors(self) -> tuple[str, ...]:
        """What the page says since the action that something is wrong."""
        return self._messages("error", "errors")

    @cached_property
    def successes(self) -> tuple[str, ...]:
        """What the page says since the action that it went well."""
        return tuple(one for one in self._messages("success", "successes") if one not in self.errors)

    def _messages(self, tone: str, kind: str) -> tuple[str, ...]:
        """Return what just happened and has a tone, or says so, and new texts that do, if few and short."""
        events = [one for one in self.page.events if one.casefold().startswith(tone) or says(_saying(one), kind)]
        if self.page.significant:
            return tuple(events)
        fresh = list(self.new_texts())
        read = fresh if len(fresh) <= _MANY_TEXTS else [one for one in fresh if one.role == _ALERT]
        short = (one.name for one in read if word_count(one.name) <= _MESSAGE_WORDS)
        return tuple(dict.fromkeys([*events, *(one for one in short if says(one, kind))]))

    @cached_property
    def marked_invalid(self) -> str:
        """The name of a field that the page marks as invalid since the action; "" where it marks none."""
        marked = (one.after for one in self.page.altered if "invalid" in one.gained)
        return next((one.name or one.role for one in marked), "")

    @cached_property
    def loading(self) -> str:
        """The words by which the page says that it still works on it; "" where it does not."""
        own = [self.change.after.name] if self.change is not None and "name" in self.change.fields else []
        return first_saying([*(one.name for one in self.new_texts()), *own], "loading")

    def new_texts(self) -> Iterator[SemanticNode]:
        """Yield what can only be read and was not there before: messages, each as it is now."""
        for node in self.page.added:
            if not is_control(node):
                yield node
        for change in self.page.altered:
            if "name" in change.fields and not is_control(change.after):
                yield change.after

    def _moved_targets(self) -> Iterator[SemanticNode]:
        """Yield what was dragged, where it stands elsewhere now."""
        old, new = self.target, self.target_after
        if self.claim.action.name.startswith("drag") and old is not None and new is not None and moved(old, new):
            yield new

    def _swapped(self, old: SemanticNode, new: SemanticNode) -> NodeEvent:
        if _ticks(old.name, new.name) and not self._is_figure_beside(new):
            return NodeEvent(ChangeKind.COUNTED, self._scope_of_count(old, new), new.name)
        scope = ChangeScope.AMBIENT if ambient(old) else self._scope_of(new, self.place_now)
        return NodeEvent(ChangeKind.SWAPPED, scope, new.name, self._is_beside(new))

    def _is_figure_beside(self, node: SemanticNode) -> bool:
        """Return whether a node is a bare figure right beside what was reached: what it comes to, and no counter."""
        return bool(self.arrival.reached) and not re.search(r"[^\W\d]", node.name) and self._is_beside(node)

    def _is_beside(self, node: SemanticNode) -> bool:
        box = box_of(node)
        return bool(node.role in _WORDS and self.place_now and box and gap(self.place_now, box) <= BESIDE_PX)

    def _altered(self, change: NodeChange) -> NodeEvent:
        old, new = change.before, change.after
        if self.target is not None and old.id == self.target.id:
            return NodeEvent(ChangeKind.ALTERED, ChangeScope.TARGET, new.name)
        if change.fields == frozenset({"name"}):
            return self._swapped(old, new)
        scope = max(self._scope_of(old, self.place), self._scope_of(new, self.place_now))
        return NodeEvent(ChangeKind.ALTERED, scope, new.name)

    def _scope_of_count(self, old: SemanticNode, new: SemanticNode) -> ChangeScope:
        """Return how near a counter is that went up or down: another one counts only where it speaks of the action."""
        scope = self._scope_of(new, self.place_now)
        if scope is ChangeScope.NAMED or (scope is ChangeScope.NEAR and _counted_one(old.name, new.name)):
            return scope
        return ChangeScope.AMBIENT

    def _scope_of(self, node: SemanticNode, place: Box | None) -> ChangeScope:
        """Return how near a node stands to a place on the same page."""
        if self.target is not None and node.id == self.target.id:
            return ChangeScope.TARGET
        if (
            ambient(node)
            or says(node.name, "uninvited")
            or (node.frame and self.target is not None and node.frame != self.target.frame)
        ):
            return ChangeScope.AMBIENT
        if place is not None and (box := box_of(node)) is not None and gap(place, box) <= NEAR_PX:
            return ChangeScope.NEAR
        return ChangeScope.NAMED if self._named(node) else ChangeScope.ELSEWHERE

    def _named(self, node: SemanticNode) -> bool:
        """Return whether a node has words of what was acted on, of its row, or of the step."""
        return bool(content_words(f"{node.name} {node.context}") & self._words)

    @cached_property
    def _words(self) -> frozenset[str]:
        target = self.target
        own = f"{target.name} {target.context}" if target is not None else ""
        value = str(self.claim.action.arguments.get("value", ""))
        return content_words(f"{own} {self.claim.step} {value}")


def ambient(node: SemanticNode) -> bool:
    """Return whether a node is of a kind that changes by itself."""
    return node.role in _AMBIENT_ROLES or (not is_control(node) and bool(_CLOCK.search(node.name)))


def box_of(node: SemanticNode) -> Box | None:
    """Return where a node stands in the window."""
    if node.box is not None:
        return node.box
    return (*node.centre, 0.0, 0.0) if node.centre is not None else None


def gap(one: Box, other: Box) -> float:
    """Return how far two boxes are from one another, beside each other less than below; 0 where they touch."""
    across = max(one[0] - other[0] - other[2], other[0] - one[0] - one[2], 0.0)
    down = max(one[1] - other[1] - other[3], other[1] - one[1] - one[3], 0.0)
    return max(across / _ASIDE, down)


def _same_place(old: SemanticNode, new: SemanticNode) -> bool:
    """Return whether a node stands where another one stood: their edges or their centres are the same."""
    one, other = box_of(old), box_of(new)
    if one is None or other is None:
        return False
    edges = abs(one[0] - other[0]) <= _SAME_PX and abs(one[1] - other[1]) <= _SAME_PX
    half = abs(one[1] + one[3] / 2 - other[1] - other[3] / 2) <= _SAME_PX
    return edges or (half and gap(one, other) <= _SAME_PX * _ASIDE)


def _counted_one(before: str, after: str) -> bool:
    """Return whether a text counts one more or one less than before."""
    old, new = _FIGURES.findall(before), _FIGURES.findall(after)
    steps = [abs(int(now) - int(then)) for then, now in zip(old, new, strict=False) if then != now]
    return steps == [1]


def _saying(event: str) -> str:
    """Return the words of an event; what was removed from the page says nothing any more."""
    kind, _, words = event.partition(": ")
    return "" if kind == "Removed" else words or event


def _under(point: tuple[float, float], nodes: tuple[SemanticNode, ...]) -> SemanticNode | None:
    """Return the smallest node under a point."""
    under = [one for one in nodes if one.box is not None and gap((*point, 0.0, 0.0), one.box) == 0.0]
    return min(under, key=lambda one: one.box[2] * one.box[3] if one.box else 0.0, default=None)


def _ticks(before: str, after: str) -> bool:
    """Return whether a text differs in figures alone."""
    return _FIGURES.sub("0", spoken(before)) == _FIGURES.sub("0", spoken(after))
