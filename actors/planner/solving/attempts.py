"""What was already done of a step: what succeeded is not done again, what failed is not tried again."""

from __future__ import annotations

from functools import cached_property
from typing import Final

from msgspec import Struct

from actors.planner.solution import TaskSoFar
from protocol.acting.actions import ActionCall
from protocol.acting.steps import PlanStep, TakenAction
from protocol.acting.tree import SemanticNode

LOOKING: Final = "Looking for it: "
"""How the thought of an action begins that only brings what is looked for into view."""

_AT_POINTS: Final = frozenset({"click", "hover", "focus", "doubleClick"})


def succeeded(taken: TakenAction) -> bool:
    """Return whether an action did what it was to do, as far as anybody has said."""
    if taken.status in {"error", "denied"}:
        return False
    return taken.verdict is None or taken.verdict.succeeded


def was_refused(taken: TakenAction) -> bool:
    """Return whether the page itself has said that an action was not done."""
    return taken.verdict is not None and taken.verdict.refused


class Attempts(Struct, frozen=True, dict=True):
    """The actions of one step, in their order."""

    taken: tuple[TakenAction, ...]

    @classmethod
    def of(cls, step: PlanStep, so_far: TaskSoFar) -> Attempts:
        """Return those of a step."""
        return cls(tuple(one for one in so_far.actions if one.step == step.index))

    @cached_property
    def good(self) -> tuple[ActionCall, ...]:
        """The actions that succeeded, without those that only looked for something."""
        return tuple(one.action for one in self.taken if succeeded(one) and not one.thought.startswith(LOOKING))

    @cached_property
    def bad(self) -> tuple[ActionCall, ...]:
        """The actions that did not, likewise."""
        return tuple(one.action for one in self.taken if not succeeded(one) and not one.thought.startswith(LOOKING))

    @cached_property
    def untraced(self) -> tuple[TakenAction, ...]:
        """The actions that were performed and left no trace: they may have been the right ones all the same."""
        return tuple(
            one for one in self.taken if one.status == "ok" and one.verdict is not None and one.verdict.without_trace
        )

    @cached_property
    def looked(self) -> tuple[ActionCall, ...]:
        """The actions that only looked for something."""
        return tuple(one.action for one in self.taken if one.thought.startswith(LOOKING))

    @cached_property
    def failed(self) -> frozenset[str]:
        """The nodes on which something failed; where the page itself has refused it, no other node would do."""
        bad = (one for one in self.taken if not succeeded(one) and not one.thought.startswith(LOOKING))
        return frozenset(one.action.element for one in bad if one.action.element and not was_refused(one))

    @cached_property
    def touched(self) -> frozenset[str]:
        """The nodes on which something was done."""
        return frozenset(one.action.element for one in self.taken if one.action.element)

    def has_done(self, name: str, element: str = "") -> bool:
        """Return whether an action succeeded already, on a node where one is named; a click also at a point."""
        names = {name, "clickAt"} if name in _AT_POINTS and not element else {name}
        return any(call.name in names and element in {"", call.element} for call in self.good)

    def has_clicked(self, node: SemanticNode) -> bool:
        """Return whether a node was clicked, by its id or where it stands, whatever the page showed of it."""
        at = node.centre
        calls = (*self.good, *(one.action for one in self.untraced))
        return any(
            (call.name == "click" and call.element == node.id)
            or (call.name == "clickAt" and at is not None and call.arguments == {"x": round(at[0]), "y": round(at[1])})
            for call in calls
        )

    def times(self, name: str, element: str = "") -> int:
        """Return how often an action was tried."""
        return sum(one.action.name == name and element in {"", one.action.element} for one in self.taken)

    @property
    def was_covered(self) -> bool:
        """Whether the last action failed because something lay over its node."""
        last = self.last()
        return last is not None and last.status == "error" and "cover" in f"{last.error} {last.message}".casefold()

    def last(self) -> TakenAction | None:
        """Return the action that was tried last."""
        return self.taken[-1] if self.taken else None
