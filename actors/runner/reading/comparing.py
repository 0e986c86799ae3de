"""Compares pages field by field: their titles, how much there is to act on, and the sections that matter."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from itertools import zip_longest

from msgspec import UNSET, Struct, UnsetType

from actors.runner.reading.told import PageItem, SectionTold

_SHARE = 0.5
"""The attention that a section of the content gets at least, as a share of the greatest; menus get less."""

Value = str | int | tuple[str, ...] | None


class Field(StrEnum):
    """What pages are compared by."""

    TITLE = "title"
    ELEMENT_COUNT = "elementCount"
    TOP_SECTIONS = "topSections"


class Diff(Struct, frozen=True, kw_only=True, rename="camel"):
    """One field: its value at each URL, in their order, None where the page could not be read.

    `same` counts the pages that were read. `delta` is the greatest number less the smallest, `changed_positions` are
    the places (from 0) of sections that are not the same at all of them.
    """

    field: Field
    same: bool
    values: tuple[Value, ...]
    delta: int | UnsetType = UNSET
    changed_positions: tuple[int, ...] | UnsetType = UNSET


def diffs(
    snapshots: Mapping[int, PageItem], urls: int, fields: Sequence[Field], *, top_sections: int, tolerance: float
) -> tuple[Diff, ...]:
    """Compare the pages that were read, by the place of their URL, of so many."""

    def values(of: Callable[[PageItem], Value]) -> tuple[Value, ...]:
        return tuple(of(snapshots[at]) if at in snapshots else None for at in range(urls))

    found = list[Diff]()
    for field in dict.fromkeys(fields):
        match field:
            case Field.TITLE:
                found.append(_titles(values(lambda page: page.title or "")))
            case Field.ELEMENT_COUNT:
                found.append(_numbers(values(lambda page: page.element_count or 0), tolerance))
            case Field.TOP_SECTIONS:
                found.append(_sections(values(lambda page: top(page.content_sections or (), top_sections))))
    return tuple(found)


def top(sections: Sequence[SectionTold], most: int) -> tuple[str, ...]:
    """Return the words of the first sections that a page is about: those of menus and margins are not.

    What is near the greatest attention counts, and not the greatest alone: a word more moves nothing up or down.
    """
    least = max((one.attention or 0.0 for one in sections), default=0.0) * _SHARE
    return tuple(_plain(one.text) for one in sections if (one.attention or 0.0) >= least)[:most]


def _titles(values: tuple[Value, ...]) -> Diff:
    kinds = {_plain(value).casefold() for value in values if isinstance(value, str)}
    return Diff(field=Field.TITLE, same=len(kinds) <= 1, values=values)


def _numbers(values: tuple[Value, ...], tolerance: float) -> Diff:
    numbers = [value for value in values if isinstance(value, int)]
    delta = max(numbers, default=0) - min(numbers, default=0)
    return Diff(field=Field.ELEMENT_COUNT, same=delta <= tolerance, values=values, delta=delta)


def _sections(values: tuple[Value, ...]) -> Diff:
    pages = [value for value in values if isinstance(value, tuple)]
    changed = tuple(at for at, texts in enumerate(zip_longest(*pages)) if len(set(texts)) > 1)
    return Diff(field=Field.TOP_SECTIONS, same=not changed, values=values, changed_positions=changed)


def _plain(text: str) -> str:
    return " ".join(text.split())
