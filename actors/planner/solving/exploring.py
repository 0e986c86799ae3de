"""Bringing what is looked for into view: tabs, sections, folders and menus that are shut, further rows and pages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from actors.planner.solution import Chosen, Unsolved
from actors.planner.solving.attempts import Attempts
from actors.planner.solving.instructions import Instruction
from actors.planner.solving.moves import looking, press_key, scroll
from actors.planner.solving.picking import in_place
from actors.planner.solving.scene import Scene
from actors.planner.solving.targets import NodeFit, same_thing
from actors.planner.solving.words import bare
from protocol.acting.tree import SemanticNode

SHUT_SIGNS: Final = frozenset({"+", "☰", "⋮", "…", "...", "▸", "▾", "▼", "⌄", "►"})
"""Signs for what is shut and can be opened."""

MAX_LOOKS: Final = 20
_FOLDED: Final = frozenset({"btn", "tab", "tree", "menu", "link", "item", "summ"})
_MAX_SCROLLS: Final = 6
_CLOSERS: Final = (
    "close",
    "dismiss",
    "no thanks",
    "not now",
    "reject all",
    "decline",
    "got it",
    "ok",
    "accept all",
    "accept",
)


def explore(instruction: Instruction, scene: Scene, attempts: Attempts) -> Chosen | Unsolved:
    """Return the next look for what is not in view, each place once."""
    if len(attempts.looked) >= MAX_LOOKS:
        return Unsolved(why=f"“{instruction.words}” was looked for in {MAX_LOOKS} places and is in none.")
    visited = {call.element for call in attempts.looked}
    around = _around(instruction.place, scene)
    for node, why in _openers(scene):
        if node.id not in visited and not node.occluded and (not around or node.id in around):
            return looking(node, why)
    for node in scene.of_roles("menu"):
        if node.id not in visited and "disabled" not in node.states:
            return looking(node, "point at", action="hover")
    scrolled = sum(call.name == "scroll" for call in attempts.looked)
    if scrolled < _MAX_SCROLLS and (way := _scrolling(scene)) is not None:
        return way
    pager = next((node for node in scene.controls if _leads_on(node) and "disabled" not in node.states), None)
    if pager is not None:
        return looking(pager, "go on to the next page with")
    return Unsolved(why=f"Nothing on the page fits “{instruction.words}”.")


def _around(place: str, scene: Scene) -> frozenset[str]:
    """Return the openers in the row, card or section that words name; none where it has none."""
    fits = [NodeFit(node=node, score=1.0) for node, _ in _openers(scene)]
    return frozenset(one.node.id for one in in_place(scene, fits, place)) if place and len(fits) > 1 else frozenset()


def _openers(scene: Scene) -> Iterator[tuple[SemanticNode, str]]:
    """Yield what is shut and may hold something, the likeliest first."""
    for why, opens in _OPENERS:
        yield from ((node, why) for node in scene.nodes if opens(node))
    if not scene.of_roles("menu"):
        yield from ((node, "open") for node in scene.of_roles("btn") if same_thing(node.name, "menu"))


_OPENERS: Final[tuple[tuple[str, Callable[[SemanticNode], bool]], ...]] = (
    ("open", lambda node: "collapsed" in node.states and node.role in _FOLDED),
    ("switch to", lambda node: node.role == "tab" and not node.states & {"selected", "expanded", "disabled"}),
    ("open", lambda node: node.name.strip() in SHUT_SIGNS),
    ("open", lambda node: node.role in {"tree", "summ"} and "expanded" not in node.states),
)


def _scrolling(scene: Scene) -> Chosen | None:
    container = next((node for node in scene.nodes if node.scroll is not None and node.scroll.more), None)
    if container is not None:
        return scroll(element=container.id, thought="scroll the list.")
    position = scene.page.scroll_position.rstrip("%")
    if position.isdigit() and 0 < int(position) < 100:  # noqa: PLR2004 - percent
        return scroll(thought="scroll the page.")
    return scroll(thought="scroll the page.") if scene.page.left_out else None


def _leads_on(node: SemanticNode) -> bool:
    return node.role in {"btn", "link"} and (
        same_thing(node.name, "next") or bare(node.name) in {"next", "more results"}
    )


def uncover(scene: Scene, attempts: Attempts) -> Chosen:
    """Return what takes away that which covers the page: its own close control, or the escape key."""
    tried = {call.element for call in attempts.looked}
    free = [node for node in scene.controls if not node.occluded and node.id not in tried]
    for word in _CLOSERS:
        for node in free:
            if same_thing(node.name, word) or bare(node.name).startswith(f"{word} "):
                return looking(node, "close what covers it with")
    return press_key("Escape", "close what covers it.", 0.6, looks=True)
