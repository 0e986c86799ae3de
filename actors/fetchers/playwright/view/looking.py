"""Looks at a page: everything to act on as our own world sees it, and what is remembered of it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import msgspec
from msgspec import Struct

from actors.fetchers.playwright.loading import script
from actors.fetchers.playwright.pointing import Way
from actors.fetchers.playwright.tab import Tab
from actors.fetchers.playwright.view.memory import Memory
from actors.fetchers.playwright.view.spots import Look, Where
from protocol.faults import Code, FaultError, fault

_PARTS = ("words", "tree", "kinds", "values", "places", "names", "ids", "signs", "look", "content")

T = TypeVar("T")


class _Stands(Struct, frozen=True):
    """The way to an element, as it is at the moment."""

    way: Way | None


_MEMORIES: WeakKeyDictionary[Tab, Memory] = WeakKeyDictionary()
"""What is remembered of the pages of a tab, for as long as it is open."""


def memory(tab: Tab) -> Memory:
    """Give what is remembered of a tab."""
    return _MEMORIES.setdefault(tab, Memory())


async def look(tab: Tab, *, hidden: bool = False, heard: Sequence[Way] = ()) -> Look:
    """Look at a page, with `hidden` also at what is not shown."""
    kept = memory(tab)
    seen = await ask(tab, "look", Look, hidden=hidden, heard=heard, seeds=kept.of(tab.page.url))
    kept.note(seen.url, seen.fresh)
    return seen


async def where(tab: Tab, element_id: str) -> Where:
    """Look where an element is."""
    kept = memory(tab)
    url = tab.page.url
    found = await ask(tab, "where", Where, id=element_id, seeds=kept.of(url))
    kept.note(url, found.fresh)
    return found


async def stands(tab: Tab, element_id: str) -> Way | None:
    """Tell the way to an element that was just looked for, without another look."""
    return (await ask(tab, "stands", _Stands, id=element_id)).way


async def ask(tab: Tab, what: str, kind: type[T], **args: Any) -> T:
    """Call one of our functions in the page.

    Raises:
        FaultError: BROWSER_PAGE_HUNG where the page does not answer; PAGE_CRASHED.
    """
    told = await tab.run(f"({_program()})({msgspec.json.encode([what, args]).decode()})", kind)
    if told is None:
        raise FaultError(fault(Code.BROWSER_PAGE_HUNG))
    return told


@cache
def _program() -> str:
    parts = ",\n".join(script(f"view/{name}") for name in _PARTS)
    return (
        f"([what, args]) => {{ const view = {{}}; for (const part of [{parts}]) part(view); return view[what](args); }}"
    )
