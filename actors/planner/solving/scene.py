"""A page as the rules look at it: without the words of the goal that it shows, and with what is near what."""

from __future__ import annotations

from functools import cached_property
from typing import Final

from msgspec import Struct, structs

from actors.planner.solving.vocabulary import CONTROLS, FIELDS
from actors.planner.solving.words import bare, folded, likeness
from protocol.acting.tree import PageTree, SemanticNode

_OWN_PART: Final = 0.5
"""A text that stands in the goal and is so much of it is the goal, shown on the page."""

_OWN_LIKENESS: Final = 0.85

_GOAL_WORDS: Final = 4
"""A goal of fewer words may well be the name of a field."""

_SAME_LEFT_PX: Final = 12.0
_FAR: Final = 1e6
_PLAIN_HEIGHT: Final = 16.0
"""How high a node is taken to be whose box is not known."""


class Scene(Struct, frozen=True, dict=True):
    """A page, the goal on it, and what the user has said since, when he was asked."""

    page: PageTree
    goal: str
    answers: tuple[str, ...] = ()

    @cached_property
    def nodes(self) -> tuple[SemanticNode, ...]:
        """The nodes without those that only show the goal; a field that stands beside the goal is not named by it."""
        goal = folded(self.goal)
        shown = (node for node in self.page.nodes if not (node.role == "text" and _is_goal(node.name, goal)))
        return tuple(structs.replace(node, name="") if _is_beside_goal(node, goal) else node for node in shown)

    @cached_property
    def order(self) -> dict[str, int]:
        """The place of each node, by its id."""
        return {node.id: place for place, node in enumerate(self.nodes)}

    @cached_property
    def controls(self) -> tuple[SemanticNode, ...]:
        """What is there to be acted on."""
        return tuple(node for node in self.nodes if node.role in CONTROLS)

    def of_roles(self, *roles: str) -> tuple[SemanticNode, ...]:
        """Return the nodes of some roles, in their order."""
        return tuple(node for node in self.nodes if node.role in roles)

    def same_row(self, one: SemanticNode, other: SemanticNode) -> bool:
        """Return whether two nodes stand side by side."""
        first, second = box_of(one), box_of(other)
        overlap = min(first[1] + first[3], second[1] + second[3]) - max(first[1], second[1])
        return overlap >= min(first[3], second[3]) / 2 > 0

    def in_section_of(self, anchor: SemanticNode) -> tuple[SemanticNode, ...]:
        """Return what follows a node before the next one like it begins: the rest of its row, card or section.

        Words follow words within a card, so that for words the next one begins once something to act on has come.
        """
        start = self.order.get(anchor.id, 0)
        left = box_of(anchor)[0]
        end = len(self.nodes)
        acted = False
        for place in range(start + 1, len(self.nodes)):
            node = self.nodes[place]
            if anchor.role not in CONTROLS and not acted:
                acted = node.role in CONTROLS
                continue
            alike = node.role == anchor.role and abs(box_of(node)[0] - left) <= _SAME_LEFT_PX
            if alike and not self.same_row(node, anchor) and _similar_height(node, anchor):
                end = place
                break
        return self.nodes[start + 1 : end]

    def inside(self, outer: SemanticNode, inner: SemanticNode) -> bool:
        """Return whether a node stands within the box of another."""
        x, y, width, height = box_of(outer)
        middle = centre_of(inner)
        return outer.id != inner.id and x <= middle[0] <= x + width and y <= middle[1] <= y + height


def _is_goal(text: str, goal: str) -> bool:
    """Return whether a text of the page is the goal itself, all of it or a good part; values in it may be masked."""
    shown = bare(text)
    if goal in folded(text) or (shown in goal and len(shown) >= _OWN_PART * len(goal)):
        return True
    return len(shown) >= _OWN_PART * len(goal) and likeness(shown, goal) >= _OWN_LIKENESS


def _is_beside_goal(node: SemanticNode, goal: str) -> bool:
    return node.role in FIELDS and len(goal.split()) >= _GOAL_WORDS and goal in folded(node.name)


def _similar_height(one: SemanticNode, other: SemanticNode) -> bool:
    first, second = box_of(one)[3], box_of(other)[3]
    return min(first, second) * 2 >= max(first, second)


def box_of(node: SemanticNode) -> tuple[float, float, float, float]:
    """Return where a node is: x, y, width, height; a point where only its centre is known."""
    if node.box is not None:
        return node.box
    if node.centre is not None:
        half = _PLAIN_HEIGHT / 2
        return (node.centre[0] - half, node.centre[1] - half, _PLAIN_HEIGHT, _PLAIN_HEIGHT)
    return (_FAR, _FAR, 0.0, 0.0)


def centre_of(node: SemanticNode) -> tuple[float, float]:
    """Return the middle of a node."""
    x, y, width, height = box_of(node)
    return (x + width / 2, y + height / 2)


def distance(one: SemanticNode, other: SemanticNode) -> float:
    """Return how far two nodes are from each other, from edge to edge."""
    first, second = box_of(one), box_of(other)
    across = max(first[0] - second[0] - second[2], second[0] - first[0] - first[2], 0.0)
    down = max(first[1] - second[1] - second[3], second[1] - first[1] - first[3], 0.0)
    return float((across**2 + down**2) ** 0.5)
