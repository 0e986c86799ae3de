"""Says which changes of a page an action may have brought about, as clocks, advertisements and counters change too."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from typing import Final

from actors.verifier.steps.comparison import NodeChange, PageComparison, compare, is_control, moved
from actors.verifier.steps.phrases import content_words, first_saying, says, spoken
from protocol.acting.tasks import StepClaim
from protocol.acting.tree import SemanticNode

NEAR_PX: Final = 160.0
"""How far from what was acted on a change stands that is still its own."""

_MANY = 0.3
"""The share of a page that no clock and no advertisement changes at once."""

_FEWEST = 2
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


@dataclass(frozen=True)
class StepEvidence:
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
    def change(self) -> NodeChange | None:
        """What is otherwise of the node that was acted on."""
        return next((one for one in self.page.altered if self.target and one.before.id == self.target.id), None)

    @cached_property
    def scope(self) -> ChangeScope:
        """How near the nearest change of a node is to what was acted on; AMBIENT where nothing changed as well."""
        return max((scope for _, scope in self.changes), default=ChangeScope.AMBIENT)

    @cached_property
    def changes(self) -> tuple[tuple[str, ChangeScope], ...]:
        """What changed of the nodes, each with how near it is: its words, for evidence."""
        finding = [(node.name, self._scope_of(node)) for node in (*self.page.added, *self.page.removed)]
        finding += [(one.after.name, self._scope_of_change(one)) for one in self.page.altered]
        finding += [(node.name, ChangeScope.TARGET) for node in self._moved_targets()]
        return tuple(finding)

    @cached_property
    def sweeping(self) -> bool:
        """Whether so much of the page is otherwise that nothing but an action can have done it: a dialog, a view."""
        before, after = self.claim.before.nodes, self.claim.after.nodes
        covered = sum("occluded" in one.fields for one in self.page.altered)
        fresh = sum(not ambient(one) for one in self.page.added)
        lost = sum(not ambient(one) for one in self.page.removed)
        return (
            covered >= max(_FEWEST, _MANY * len(before))
            or (fresh > _FEWEST and fresh >= _MANY * len(after))
            or (lost > _FEWEST and lost >= _MANY * len(before))
            or self.page.reordered
        )

    @cached_property
    def errors(self) -> tuple[str, ...]:
        """What the page says since the action that something is wrong."""
        events = [one for one in self.page.events if one.casefold().startswith("error") or says(one, "errors")]
        if self.page.significant:
            return tuple(events)
        return tuple(dict.fromkeys([*events, *(one.name for one in self.new_texts() if says(one.name, "errors"))]))

    @cached_property
    def successes(self) -> tuple[str, ...]:
        """What the page says since the action that it went well."""
        events = [one for one in self.page.events if one.casefold().startswith("success") or says(one, "successes")]
        news = [one.name for one in self.new_texts() if says(one.name, "successes") and not says(one.name, "errors")]
        return tuple(dict.fromkeys([*(one for one in events if one not in self.errors), *news]))

    @cached_property
    def loading(self) -> str:
        """The words by which the page says that it still works on it; "" where it does not."""
        return first_saying((one.name for one in self.new_texts()), "loading")

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

    def _scope_of_change(self, change: NodeChange) -> ChangeScope:
        if self.target is not None and change.before.id == self.target.id:
            return ChangeScope.TARGET
        if change.fields <= {"occluded"}:
            return ChangeScope.ELSEWHERE if self.place is None else self._scope_of(change.after)
        if change.fields == frozenset({"name"}) and _ticks(change.before.name, change.after.name):
            return ChangeScope.NAMED if self._named(change.after) else ChangeScope.AMBIENT
        return max(self._scope_of(change.before), self._scope_of(change.after))

    def _scope_of(self, node: SemanticNode) -> ChangeScope:
        if self.target is not None and node.id == self.target.id:
            return ChangeScope.TARGET
        if ambient(node) or (node.frame and self.target is not None and node.frame != self.target.frame):
            return ChangeScope.AMBIENT
        if self.place is not None and (box := box_of(node)) is not None and gap(self.place, box) <= NEAR_PX:
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
    """Return how far two boxes are from one another; 0 where they touch."""
    across = max(one[0] - other[0] - other[2], other[0] - one[0] - one[2], 0.0)
    down = max(one[1] - other[1] - other[3], other[1] - one[1] - one[3], 0.0)
    return max(across, down)


def _under(point: tuple[float, float], nodes: tuple[SemanticNode, ...]) -> SemanticNode | None:
    """Return the smallest node under a point."""
    under = [one for one in nodes if one.box is not None and gap((*point, 0.0, 0.0), one.box) == 0.0]
    return min(under, key=lambda one: one.box[2] * one.box[3] if one.box else 0.0, default=None)


def _ticks(before: str, after: str) -> bool:
    """Return whether a text differs in figures alone."""
    return _FIGURES.sub("0", spoken(before)) == _FIGURES.sub("0", spoken(after))
