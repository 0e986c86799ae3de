"""Looks at a page: everything to act on as our own world sees it, and what is remembered of it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, Generic, TypeVar
from weakref import WeakKeyDictionary

import msgspec
from msgspec import Struct

from actors.fetchers.playwright.loading import script
from actors.fetchers.playwright.pointing import Way
from actors.fetchers.playwright.tab import Tab
from actors.fetchers.playwright.view.memory import Memory
from actors.fetchers.playwright.view.spots import Look, Where, Words
from protocol.faults import Code, FaultError, fault

_PARTS = ("words", "tree", "kinds", "values", "places", "names", "ids", "signs", "look", "content")

_TRIES = 3
"""How often a document may make room for another while it is asked."""

T = TypeVar("T")


class _Told(Struct, Generic[T], frozen=True):
    """What a function of ours gives, or the address of a document that is `strange` to us."""

    strange: str = ""
    told: T | None = None


class _Stands(Struct, frozen=True):
    """The way to an element, as it is at the moment."""

    way: Way | None


_MEMORIES: WeakKeyDictionary[Tab, Memory] = WeakKeyDictionary()
"""What is remembered of the pages of a tab, for as long as it is open."""


def memory(tab: Tab) -> Memory:
    """Give what is remembered of a tab."""
    return _MEMORIES.setdefault(tab, Memory())


async def look(tab: Tab, *, hidden: bool = False, heard: Sequence[Way] = ()) -> Look:
    """Look at a page, with `hidden` also at what is not shown.

    Raises:
        FaultError: BROWSER_PAGE_HUNG where the page does not answer; PAGE_CRASHED.
    """
    seen = await _asked(tab, "look", Look, {"hidden": hidden, "heard": heard})
    memory(tab).note(seen.url, seen.fresh)
    return seen


async def where(tab: Tab, element_id: str) -> Where:
    """Look where an element is."""
    found = await _asked(tab, "where", Where, {"id": element_id})
    memory(tab).note(found.url, found.fresh)
    return found


async def stands(tab: Tab, element_id: str) -> Way | None:
    """Tell the way to an element that was just looked for, without another look."""
    return (await _asked(tab, "stands", _Stands, {"id": element_id})).way


async def words(tab: Tab) -> Words:
    """Read the words of a page."""
    return await _asked(tab, "read", Words, {})


async def _asked(tab: Tab, what: str, kind: type[T], args: dict[str, Any]) -> T:
    """Call one of our functions in the page; a document that is new to us is told what was known of its page."""
    for _ in range(_TRIES):
        told = await tab.run(f"({_program()})({msgspec.json.encode([what, args]).decode()})", _Told[kind])  # type: ignore[valid-type] - a class, of which msgspec makes the type
        if told is None:
            break
        if told.told is not None:
            return told.told
        args = {**args, "seeds": memory(tab).of(told.strange)}
    raise FaultError(fault(Code.BROWSER_PAGE_HUNG))


@cache
def _program() -> str:
    parts = ",\n".join(script(f"view/{name}") for name in _PARTS)
    return f"([what, args]) => {{ const view = {{}}; for (const part of [{parts}]) part(view); return view.answer(what, args); }}"
