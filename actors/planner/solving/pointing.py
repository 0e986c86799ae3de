"""Actions on what is no element of the browser tools, words and drawings: done where they stand in the window."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from msgspec import structs

from actors.planner.solution import Chosen
from actors.planner.solving.attempts import LOOKING
from actors.planner.solving.scene import Scene, box_of, centre_of
from actors.planner.solving.vocabulary import CONTROLS
from protocol.acting.actions import ActionCall
from protocol.acting.tree import SemanticNode

_AT_A_POINT: Final = frozenset({"click", "focus", "check"})
_INSET_PX: Final = 1.0
_POINTS: Final[Mapping[str, str]] = MappingProxyType({"dragAndDrop": "to", "dragTo": ""})


def pointed(chosen: Chosen, scene: Scene) -> Chosen:
    """Return an action as it can be performed: where a node is no element, at its place in the window."""
    node = scene.page.node(chosen.action.element)
    target = scene.page.node(str(chosen.action.arguments.get("to", "")))
    if node is None or (not scene.page.elements and node.role in CONTROLS):
        return chosen
    strangers = [one for one in (node, target) if one is not None and one.id not in scene.page.elements]
    if not strangers:
        return chosen
    if not _is_in_view(node, scene):
        call = ActionCall(name="findText", arguments={"text": node.name})
        return structs.replace(chosen, action=call, thought=f"{LOOKING}bring “{node.name}” into view.")
    points = _as_points(chosen.action, node, target)
    return chosen if points is None else structs.replace(chosen, action=points)


def _as_points(call: ActionCall, node: SemanticNode, target: SemanticNode | None) -> ActionCall | None:
    x, y = point_of(node)
    if call.name in _AT_A_POINT:
        return ActionCall(name="clickAt", arguments={"x": x, "y": y})
    if call.name == "selectText":
        left, top, width, height = box_of(node)
        ends = {"toX": round(left + width + _INSET_PX), "toY": round(top + height - _INSET_PX)}
        return ActionCall(name="dragFrom", arguments={"x": round(left), "y": round(top + _INSET_PX), **ends})
    if call.name in _POINTS:
        to_x, to_y = point_of(target) if target is not None else (call.arguments["x"], call.arguments["y"])
        return ActionCall(name="dragFrom", arguments={"x": x, "y": y, "toX": to_x, "toY": to_y})
    return None


def point_of(node: SemanticNode) -> tuple[int, int]:
    """Return the point of the window at which a node is pointed at."""
    x, y = node.centre or centre_of(node)
    return round(x), round(y)


def _is_in_view(node: SemanticNode, scene: Scene) -> bool:
    """Return whether a node stands within the window and within the list that scrolls it."""
    x, y = point_of(node)
    viewport = scene.page.viewport
    if viewport is not None and not (0 <= x <= viewport.width and 0 <= y <= viewport.height):
        return False
    for container in scene.nodes:
        if container.scroll is None or container.box is None or container.role == "inp":
            continue
        left, top, width, height = container.box
        behind = scene.order[container.id] < scene.order.get(node.id, -1)
        if behind and left <= x <= left + width and not top <= y <= top + height and container.scroll.more:
            return False
    return True
