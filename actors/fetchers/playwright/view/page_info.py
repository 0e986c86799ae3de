"""Describes a page for get_page_info: its elements in pages of a listing, its type, regions and intents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from actors import redact
from actors.fetchers.playwright.stability import FOR_FETCH
from actors.fetchers.playwright.tab import Tab
from actors.fetchers.playwright.view import kinds
from actors.fetchers.playwright.view.documents import ElementListing, memory_of
from actors.fetchers.playwright.view.elements import PageElement, PageSnapshot
from actors.fetchers.playwright.view.intents import FIELDS, intents
from actors.fetchers.playwright.view.snapshot import take_snapshot
from protocol.browsers.operations import GetPageInfo
from protocol.browsers.pageinfo import Element, ElementKind, Intent, PageSummary, Region, Stability
from protocol.browsers.results import PageInfo
from protocol.faults import Code, FaultError, fault

_FEW, _SOME = 30, 100
_OF_SOME, _OF_MANY = 50, 30
"""How many elements of a page with few, some or many are returned: all, 50, 30."""

_MAX_BYTES = 20_000
_MAX_BYTES_REQUESTED = 200_000
"""The size of a result of which the caller says how many elements it has."""

_MAX_REGIONS = 20
_MAX_INTENTS = 8
_MAX_HREF_CHARS = 300
_UNSEEN = frozenset({"hidden", "covered"})
_ORDER = (
    FIELDS,
    frozenset({ElementKind.BUTTON, ElementKind.TAB, ElementKind.MENU_ITEM, ElementKind.OPTION}),
    frozenset({ElementKind.LINK}),
)


async def describe(tab: Tab, do: GetPageInfo) -> PageInfo:
    """Describe the elements of a page; session, tab and dialog are for the caller to fill in.

    Raises:
        FaultError: VALIDATION_INVALID_REQUEST for a cursor of a page that is gone; PAGE_CRASHED; BROWSER_PAGE_HUNG.
    """
    former = _former(tab, do.cursor)
    visible_only = former.visible_only if former else do.visible_only
    snapshot = await take_snapshot(tab, hidden=not visible_only)
    elements = [element for element in snapshot.elements if not visible_only or not _UNSEEN & {*element.states}]
    wanted = intents(elements)
    if former is not None and (former.page, former.url) != (snapshot.page, snapshot.url):
        raise _stale()
    listing = former or ElementListing(snapshot.page, snapshot.url, visible_only, _ordered(elements, wanted))
    info = PageInfo(
        page=_summary(tab, snapshot, elements, wanted),
        elements=(),
        total_elements=snapshot.total if snapshot.cut else len(elements),
        regions=_regions(elements),
        intents=tuple(one.intent for one in wanted[:_MAX_INTENTS]),
        recommended_by_intent=wanted[:_MAX_INTENTS],
        stability=await _stability(tab),
    )
    info = _with_elements(tab, do, info, listing, elements)
    return replace(info, truncated=info.truncated or snapshot.cut)


def _with_elements(
    tab: Tab, do: GetPageInfo, info: PageInfo, listing: ElementListing, elements: Sequence[PageElement]
) -> PageInfo:
    """Add as many elements of a listing as fit, from the cursor on, and the cursor of the next."""
    by_id, begin = {element.id: element for element in elements}, _offset(do.cursor)
    listed = [(at, by_id[name]) for at, name in enumerate(listing.ids) if at >= begin and name in by_id]
    count = do.max_elements or _suiting(len(elements))
    most = _MAX_BYTES_REQUESTED if do.max_elements else _MAX_BYTES
    shown = _fitting(info, [element for _, element in listed[:count]], most)
    rest = listed[len(shown) :]
    return replace(
        info,
        elements=shown,
        truncated=bool(rest),
        has_more=bool(rest),
        next_cursor=f"{memory_of(tab).keep_listing(listing)}.{rest[0][0]}" if rest else None,
    )


def _suiting(total: int) -> int:
    return total if total <= _FEW else _OF_SOME if total <= _SOME else _OF_MANY


def _ordered(elements: Sequence[PageElement], wanted: Sequence[Intent]) -> tuple[str, ...]:
    """Order ids: what serves an intent first, then fields, buttons, and links."""
    ranks = {name: at for at, name in enumerate(name for one in wanted for name in one.suggested_element_ids)}
    last = len(ranks)

    def rank(element: PageElement) -> tuple[int, int, bool]:
        group = next((at for at, kinds_of in enumerate(_ORDER) if element.type in kinds_of), len(_ORDER))
        return (ranks.get(element.id, last), group, not element.in_view)

    return tuple(element.id for element in sorted(elements, key=rank))


def _fitting(info: PageInfo, elements: Sequence[PageElement], most: int) -> tuple[Element, ...]:
    """Convert as many elements as fit into so many bytes, one at least."""
    left = most - len(msgspec.json.encode(info))
    shown: list[Element] = []
    for element in elements:
        element_info = _element(element)
        left -= len(msgspec.json.encode(element_info)) + 1
        if left < 0 and shown:
            break
        shown.append(element_info)
    return tuple(shown)


def _element(element: PageElement) -> Element:
    href = redact.url(element.href)[:_MAX_HREF_CHARS] if element.href else ""
    return Element(
        id=element.id,
        type=element.type,
        label=element.label,
        region=element.region,
        value=element.value,
        href=href,
        placeholder=element.placeholder if element.placeholder != element.label else "",
        options=element.options,
        states=element.states,
        in_view=element.in_view,
        box=element.box,
    )


def _regions(elements: Sequence[PageElement]) -> tuple[Region, ...]:
    counts = Counter(element.region for element in elements)
    return tuple(Region(name=name, elements=count) for name, count in list(counts.items())[:_MAX_REGIONS])


def _summary(
    tab: Tab, snapshot: PageSnapshot, elements: Sequence[PageElement], wanted: Sequence[Intent]
) -> PageSummary:
    main = tab.recorder.main
    kind = kinds.type_of(kinds.PageFacts(snapshot, wanted, main.status if main else 0))
    summary = kinds.summary(kind, elements, snapshot.markers.dialogs)
    covered = sum("covered" in element.states for element in snapshot.elements)
    if covered:
        summary += f" {covered} more {'lies' if covered == 1 else 'lie'} under what covers the page."
    return PageSummary(url=snapshot.url, title=snapshot.title, type=kind, summary=summary)


async def _stability(tab: Tab) -> Stability:
    """Observe once, by the rules by which one waits for a page, and the shortest of their times."""
    state = await tab.state()
    if state is None:
        raise FaultError(fault(Code.BROWSER_PAGE_HUNG))
    at_rest, pending = tab.is_at_rest(state, FOR_FETCH), tab.recorder.in_flight
    return Stability(
        stable=at_rest and pending == 0,
        dom_stable=at_rest,
        network_pending=pending,
        load_state=state.ready,
    )


def _former(tab: Tab, cursor: str | None) -> ElementListing | None:
    """Return the listing that a cursor continues."""
    if cursor is None:
        return None
    listing = memory_of(tab).listing(cursor.partition(".")[0])
    if listing is None or _offset(cursor) not in range(len(listing.ids)):
        raise _stale()
    return listing


def _offset(cursor: str | None) -> int:
    digits = (cursor or "").partition(".")[2]
    return int(digits) if digits.isdecimal() and digits.isascii() and len(digits) < 6 else 0  # noqa: PLR2004 - of an index


def _stale() -> FaultError:
    message = "cursor: the page that it goes on with is gone; call get_page_info without it."
    return FaultError(fault(Code.VALIDATION_INVALID_REQUEST, message, field="cursor"))
