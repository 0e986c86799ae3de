"""Dates picked in a calendar: opened by its field, turned to the month, and the day clicked."""

from __future__ import annotations

from datetime import date
from typing import Final

from actors.planner.solution import Solution, StepOver, Unsolved
from actors.planner.solving.attempts import Attempts
from actors.planner.solving.dates import MONTHS, date_in, month_in
from actors.planner.solving.exploring import uncover
from actors.planner.solving.instructions import Instruction
from actors.planner.solving.moves import on, put, select
from actors.planner.solving.scene import Scene
from actors.planner.solving.targets import same_thing
from actors.planner.solving.words import folded
from protocol.acting.tree import SemanticNode

_CONFIDENCE: Final = 0.88
_MONTHS_OF_A_YEAR: Final = 12
_LEAST_DAYS: Final = 20


def pick_date(
    instruction: Instruction, day: date, field: SemanticNode | None, scene: Scene, attempts: Attempts
) -> Solution:
    """Return the next action that brings a day into a field."""
    if field is not None and field.value and date_in(field.value) == day:
        return StepOver(why=f"The field says {field.value}.", shown=True)
    if any(call.name == "setValue" and date_in(str(call.arguments.get("value", ""))) == day for call in attempts.good):
        return StepOver(why=f"{instruction.words}: done.")
    if attempts.was_covered:
        return uncover(scene, attempts)
    shown = _shown_month(scene)
    if shown is not None:
        return _turned(day, shown, scene, attempts)
    if field is None:
        return Unsolved(why=f"There is no field for “{instruction.words}”.")
    if "readonly" not in field.states:
        for writing in (instruction.value, day.isoformat(), f"{day:%m/%d/%Y}"):
            if not any(call.arguments.get("value") == writing for call in (*attempts.good, *attempts.bad)):
                return put(field, writing, _CONFIDENCE)
    if attempts.times("click", field.id) > 1:
        return Unsolved(why="The field opens no calendar.")
    return on(field, _CONFIDENCE, thought="Open the calendar of the field.")


def _shown_month(scene: Scene) -> tuple[int, int] | None:
    """Return the year and the month of a calendar that is open: its head, or its lists of months and years."""
    days = [node for node in scene.nodes if node.name.isdigit() and 1 <= int(node.name) <= 31]  # noqa: PLR2004 - days
    if len(days) < _LEAST_DAYS:
        return None
    for node in scene.nodes:
        if node.role != "inp" and (month := month_in(node.name)):
            return month
    names = [node.name.split() for node in scene.nodes if node.role in {"text", "h", "btn", "sel"}]
    months = [MONTHS[word.casefold()] for words in names for word in words if word.casefold() in MONTHS]
    years = [int(word) for words in names for word in words if word.isdigit() and len(word) == 4]  # noqa: PLR2004
    return (years[0], months[0]) if years and months else None


def _turned(day: date, shown: tuple[int, int], scene: Scene, attempts: Attempts) -> Solution:
    """Return the click on the day, or that which turns the calendar towards its month."""
    away = (day.year - shown[0]) * _MONTHS_OF_A_YEAR + day.month - shown[1]
    if away == 0:
        return _day_clicked(day, scene, attempts)
    for node in scene.of_roles("sel"):
        option = next((text for text in node.context.split(" | ") if _names(text, day, shown)), None)
        if option is not None and folded(node.value or "") != folded(option):
            return select(node, option, _CONFIDENCE)
    arrow = "next" if away > 0 else "previous"
    turns = [node for node in scene.controls if _is_arrow(node, arrow) and "disabled" not in node.states]
    if not turns:
        return Unsolved(why=f"The calendar has nothing to turn it to {day:%B %Y}.")
    return on(turns[0], _CONFIDENCE, thought=f"Turn the calendar towards {day:%B %Y}.")


def _names(text: str, day: date, shown: tuple[int, int]) -> bool:
    low = text.casefold().strip()
    return (shown[1] != day.month and MONTHS.get(low) == day.month) or (shown[0] != day.year and low == str(day.year))


def _is_arrow(node: SemanticNode, way: str) -> bool:
    low = node.name.casefold()
    return same_thing(node.name, way) or low.startswith((way[:4], f"{way} month"))


def _day_clicked(day: date, scene: Scene, attempts: Attempts) -> Solution:
    days = [node for node in scene.nodes if node.name.lstrip("0") == str(day.day) and node.role != "inp"]
    days = [node for node in days if "disabled" not in node.states] or days
    if not days:
        return Unsolved(why=f"The calendar does not show the {day.day}.")
    early = day.day <= 15  # noqa: PLR2004 - a day of the month before or after stands at the other end
    best = days[0] if early else days[-1]
    if attempts.has_done("click", best.id):
        return StepOver(why="The day was clicked.")
    return on(best, _CONFIDENCE)
