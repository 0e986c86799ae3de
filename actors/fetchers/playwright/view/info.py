"""Describes a page: what there is to act on, where, and what a visitor may want there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from actors.fetchers.playwright.tab import Tab
from actors.fetchers.playwright.view import kinds, resting
from actors.fetchers.playwright.view.intents import intents
from actors.fetchers.playwright.view.looking import look
from actors.fetchers.playwright.view.memory import Listing, memory
from actors.fetchers.playwright.view.spots import Look, Spot
from actors.fetchers.web import redact
from protocol.browsers.operations import GetPageInfo
from protocol.browsers.pageinfo import Element, ElementKind, Intent, PageSummary, Region
from protocol.browsers.results import PageInfo
from protocol.faults import Code, FaultError, fault

_FEW, _SOME = 30, 100
_OF_SOME, _OF_MANY = 50, 30
"""How many elements are told of a page with few, some or many: all, 50, 30."""

_MAX_BYTES = 20_000
_MAX_BYTES_ASKED = 200_000
"""What an answer may come to where somebody says how many elements it shall have."""

_MAX_REGIONS = 20
_MAX_INTENTS = 8
_MAX_HREF_CHARS = 300
_UNSEEN = frozenset({"hidden", "covered"})
_ORDER = (
    frozenset(
        {
            ElementKind.INPUT,
            ElementKind.SELECT,
            ElementKind.CHECKBOX,
            ElementKind.RADIO,
            ElementKind.FILE,
            ElementKind.EDITOR,
        }
    ),
    frozenset({ElementKind.BUTTON, ElementKind.TAB, ElementKind.MENU_ITEM, ElementKind.OPTION}),
    frozenset({ElementKind.LINK}),
)


async def describe(tab: Tab, do: GetPageInfo) -> PageInfo:
    """Return what there is to act on; the session, the tab and a dialog that waits are for the caller to fill in.

    Raises:
        FaultError: VALIDATION_INVALID_REQUEST for a cursor of a page that is gone; PAGE_CRASHED; BROWSER_PAGE_HUNG.
    """
    former = _former(tab, do.cursor)
    visible_only = former.visible_only if former else do.visible_only
    seen = await look(tab, hidden=not visible_only)
    spots = [spot for spot in seen.elements if not visible_only or not _UNSEEN & {*spot.states}]
    wanted = intents(spots)
    if former is None:
        listing = Listing(seen.page, seen.url, visible_only, _ordered(spots, wanted))
    elif (former.page, former.url) == (seen.page, seen.url):
        listing = former
    else:
        raise _stale()
    begin = _offset(do.cursor)
    by_id = {spot.id: spot for spot in spots}
    there = [(at, by_id[name]) for at, name in enumerate(listing.ids) if at >= begin and name in by_id]
    count = do.max_elements or _suiting(len(spots))
    info = PageInfo(
        page=_summary(tab, seen, spots, wanted),
        elements=(),
        total_elements=seen.total if seen.cut else len(spots),
        regions=_regions(spots),
        intents=tuple(one.intent for one in wanted[:_MAX_INTENTS]),
        recommended_by_intent=wanted[:_MAX_INTENTS],
        stability=await resting.stability(tab),
    )
    most = _MAX_BYTES_ASKED if do.max_elements else _MAX_BYTES
    told = _fitting(info, [spot for _, spot in there[:count]], most)
    rest = there[len(told) :]
    return replace(
        info,
        elements=told,
        truncated=bool(rest) or seen.cut,
        has_more=bool(rest),
        next_cursor=f"{memory(tab).keep(listing)}.{rest[0][0]}" if rest else None,
    )


def _suiting(total: int) -> int:
    return total if total <= _FEW else _OF_SOME if total <= _SOME else _OF_MANY


def _ordered(spots: Sequence[Spot], wanted: Sequence[Intent]) -> tuple[str, ...]:
    """Put what somebody may want first, then what is filled in, what is pressed, and what leads away."""
    ranks = {name: at for at, name in enumerate(name for one in wanted for name in one.suggested_element_ids)}
    last = len(ranks)

    def rank(spot: Spot) -> tuple[int, int, bool]:
        group = next((at for at, kinds_of in enumerate(_ORDER) if spot.type in kinds_of), len(_ORDER))
        return (ranks.get(spot.id, last), group, not spot.in_view)

    return tuple(spot.id for spot in sorted(spots, key=rank))


def _fitting(info: PageInfo, spots: Sequence[Spot], most: int) -> tuple[Element, ...]:
    """Take as many as fit into so many bytes, one at least."""
    left = most - len(msgspec.json.encode(info))
    told: list[Element] = []
    for spot in spots:
        element = _element(spot)
        left -= len(msgspec.json.encode(element)) + 1
        if left < 0 and told:
            break
        told.append(element)
    return tuple(told)


def _element(spot: Spot) -> Element:
    href = redact.url(spot.href)[:_MAX_HREF_CHARS] if spot.href else ""
    return Element(
        id=spot.id,
        type=spot.type,
        label=spot.label,
        region=spot.region,
        value=spot.value,
        href=href,
        placeholder=spot.placeholder if spot.placeholder != spot.label else "",
        options=spot.options,
        states=spot.states,
        in_view=spot.in_view,
        box=spot.box,
    )


def _regions(spots: Sequence[Spot]) -> tuple[Region, ...]:
    counts = Counter(spot.region for spot in spots)
    return tuple(Region(name=name, elements=count) for name, count in list(counts.items())[:_MAX_REGIONS])


def _summary(tab: Tab, seen: Look, spots: Sequence[Spot], wanted: Sequence[Intent]) -> PageSummary:
    main = tab.seen.main
    kind = kinds.type_of(kinds.Seen(seen, wanted, main.status if main else 0))
    said = kinds.summary(kind, spots, seen.signs.dialogs)
    covered = sum("covered" in spot.states for spot in seen.elements)
    if covered:
        said += f" {covered} more {'lies' if covered == 1 else 'lie'} under what covers the page."
    return PageSummary(url=seen.url, title=seen.title, type=kind, summary=said)


def _former(tab: Tab, cursor: str | None) -> Listing | None:
    """Return the listing that a cursor goes on with."""
    if cursor is None:
        return None
    listing = memory(tab).listing(cursor.partition(".")[0])
    if listing is None or _offset(cursor) not in range(len(listing.ids)):
        raise _stale()
    return listing


def _offset(cursor: str | None) -> int:
    digits = (cursor or "").partition(".")[2]
    return int(digits) if digits.isdecimal() and digits.isascii() and len(digits) < 6 else 0  # noqa: PLR2004 - of an index


def _stale() -> FaultError:
    message = "cursor: the page that it goes on with is gone; call get_page_info without it."
    return FaultError(fault(Code.VALIDATION_INVALID_REQUEST, message, field="cursor"))
