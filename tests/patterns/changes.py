"""How an API changes under what was learned of it, and how the page's own script goes along."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Any

from tests.patterns.apps.model import Application


class Change(StrEnum):
    """What has changed since a pattern was learned.

    With those of `MOVED` the API has gone to another address, which the page itself knows, and left this behind.
    """

    RENAMED = "renamed"
    REMOVED = "removed"
    RETYPED = "retyped"
    EMPTIED = "emptied"
    PAGING = "paging"
    STATUS = "status"
    UNAUTHORIZED = "unauthorized"
    LOGIN_WALL = "login wall as JSON"
    LOGIN_PAGE = "login page as 200"
    HTML = "HTML where JSON was"
    STALE = "what belongs to another page"


MOVED = frozenset({Change.STATUS, Change.UNAUTHORIZED, Change.LOGIN_WALL, Change.LOGIN_PAGE, Change.HTML, Change.STALE})

_NEXT = "next=p2"


def fitting(app: Application) -> tuple[Change, ...]:
    """Return the changes that can happen to an application."""
    without = {Change.PAGING} if not app.list_key else set[Change]()
    without |= {Change.RENAMED, Change.REMOVED, Change.RETYPED, Change.EMPTIED} if not app.key else set()
    without |= MOVED if app.state is not None else set()
    return tuple(change for change in Change if change not in without)


def changed(answer: Any, change: Change | None, app: Application, query: dict[str, str]) -> Any:
    """Return an answer as it is after a change."""
    if change is None or change in MOVED:
        return answer
    if isinstance(answer, list):
        return [changed(one, change, app, query) for one in answer]  # pyright: ignore[reportUnknownVariableType] - JSON
    if not isinstance(answer, dict):
        return answer
    made: dict[str, Any] = {}
    for key, value in answer.items():  # pyright: ignore[reportUnknownVariableType] - JSON
        if change is Change.PAGING and key == app.list_key and isinstance(value, list):
            made |= _cut(key, value, query)  # pyright: ignore[reportUnknownArgumentType] - JSON
        elif key == app.key and isinstance(value, str):
            made |= _altered(str(key), value, change)  # pyright: ignore[reportUnknownArgumentType] - JSON
        else:
            made[key] = changed(value, change, app, query)
    return made


def adapter(change: Change | None, app: Application) -> str:
    """Return the JavaScript by which the page reads a changed answer: the body of `async (answer, again) =>`."""
    key, items = json.dumps(app.key), json.dumps(app.list_key)
    match change:
        case Change.RENAMED:
            body = f"if ({key} + 'Text' in o) {{ o[{key}] = o[{key} + 'Text']; delete o[{key} + 'Text']; }}"
        case Change.RETYPED:
            body = f"if (o[{key}]?.value !== undefined) o[{key}] = o[{key}].value;"
        case Change.EMPTIED:
            body = f"if (o[{key}] === '' && {key} + 'Full' in o) o[{key}] = o[{key} + 'Full'];"
        case Change.PAGING:
            body = f"if (o.hasMore) for (const one of find(await again('{_NEXT}'))) o[{items}].push(one);"
        case _:
            return ""
    find = (
        f"const find = o => {{ for (const k in o) {{ if (k === {items} && Array.isArray(o[k])) return o[k];"
        "if (o[k] && typeof o[k] === 'object') { const f = find(o[k]); if (f) return f; } } };"
    )
    walk = "if (o && typeof o === 'object') { for (const k in o) await walk(o[k]); " + body + " }"
    return f"{find} const walk = async o => {{ {walk} }}; await walk(answer);"


def _cut(key: str, value: list[Any], query: dict[str, str]) -> dict[str, Any]:
    half = (len(value) + 1) // 2
    if query.get("next") == "p2":
        return {key: value[half:], "hasMore": False}
    return {key: value[:half], "hasMore": True, "nextCursor": "p2"}


def _altered(key: str, value: str, change: Change) -> dict[str, Any]:
    match change:
        case Change.RENAMED:
            return {f"{key}Text": value}
        case Change.REMOVED:
            return {}
        case Change.RETYPED:
            return {key: {"value": value, "format": "plain"}}
        case Change.EMPTIED:
            return {key: "", f"{key}Full": value}
        case _:
            return {key: value}
