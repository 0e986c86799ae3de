"""Pages written by hand, as their trees say them."""

from __future__ import annotations

from actors.planner.solution import Solution, TaskSoFar
from actors.planner.solving import make_plan, solve
from protocol.acting.steps import PlanStep, TakenAction
from protocol.acting.tree import PageTree, SemanticNode


def page(*lines: str) -> PageTree:
    """Return a page of one node for each line: `role name | key=value | …`, each below the one before it."""
    nodes = tuple(_node(place, line) for place, line in enumerate(lines))
    return PageTree(url="https://site.example/", nodes=nodes, elements={node.id: f"e{node.id}" for node in nodes})


def _node(place: int, line: str) -> SemanticNode:
    head, *rest = [part.strip() for part in line.split(" | ")]
    role, _, name = head.partition(" ")
    keys = dict(part.split("=", 1) for part in rest)
    x, y = (float(one) for one in keys.get("xy", f"100,{20 * place + 10}").split(","))
    width, height = (float(one) for one in keys.get("wh", "80,16").split(","))
    return SemanticNode(
        id=str(place + 1),
        role=role,
        name=name,
        value=keys.get("v"),
        state=keys.get("s"),
        centre=(x, y),
        box=(x - width / 2, y - height / 2, width, height),
        context=keys.get("t", "").replace("/", " | "),
        occluded="occ" in keys,
        shape=keys.get("sh", ""),
        colour=keys.get("c", ""),
    )


def task(goal: str, *taken: TakenAction) -> TaskSoFar:
    """Return what is known of a task."""
    return TaskSoFar(goal=goal, values={}, actions=taken)


def next_of(instruction: str, tree: PageTree, *taken: TakenAction) -> Solution:
    """Return what is done next for a goal of one step."""
    return solve(PlanStep(index=0, description=instruction), tree, task(instruction, *taken))


def steps_of(goal: str, tree: PageTree | None = None) -> tuple[str, ...]:
    """Return the descriptions of the steps of a goal."""
    return tuple(step.description for step in make_plan(goal, tree or page(), task(goal)))
