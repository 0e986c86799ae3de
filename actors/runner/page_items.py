"""The items of results: what a run shows of a page or of its failure, and the bounds of that (002 §4.2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import replace

from actors.runner.template import Outcome
from protocol.browse import MAX_URL_CHARS
from protocol.browsers.operations import MAX_CONTENT_CHARS, MAX_ELEMENTS
from protocol.browsers.results import ERROR_CODES, ErrorCode
from protocol.faults import KINDS, Code
from protocol.runs.states import StepStatus
from protocol.tiers import RenderTier
from protocol.urls import without_userinfo

DEFAULT_ELEMENTS = 50
DEFAULT_CONTENT_CHARS = 4_000
DEFAULT_CONCURRENCY = 3
MAX_CONCURRENCY = 5

MAX_ITEM_BYTES = 400_000
"""An item as JSON at most: it has to fit into one line of the ledger."""

MAX_RESULT_BYTES = 100_000_000
"""What all items of a run together may come to, so that a result fits into the memory of a replica."""

BRIEF_BYTES = 200_000
"""A brief result as JSON at most, well below what stands inline (002 §5)."""

MAX_TITLE_CHARS = 500
_LEAST_CHARS = 1_000
_AT_LEAST = 0.5
"""Share of what fits that must be left where a text is cut between two words."""

_LONG = ("content", "contentSections", "pageInfo")

GivenUrl = Annotated[str, Meta(max_length=MAX_URL_CHARS)]
"""An address as a client gives it: one that is none makes a failed item, and no refused run."""

Concurrency = Annotated[int, Meta(ge=1, le=MAX_CONCURRENCY, description="Pages at the same time.")]


class Extract(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True, omit_defaults=True):
    """What is to be told of each page."""

    page_info: Annotated[bool, Meta(description="Tell what kind of page it is, and what there is to act on.")] = True
    content: Annotated[bool, Meta(description="Tell its words.")] = True
    max_elements: Annotated[int, Meta(ge=1, le=MAX_ELEMENTS, description="Elements of a page at most.")] = (
        DEFAULT_ELEMENTS
    )
    max_content_length: Annotated[
        int, Meta(ge=1, le=MAX_CONTENT_CHARS, description="Characters of its words at most.")
    ] = DEFAULT_CONTENT_CHARS


class SectionTold(Struct, frozen=True, kw_only=True, rename="camel"):
    """A part of a page's words, by the tag of its element; `heading` stands above it.

    `attention`, from 0 to 1, says how likely it is what the page is about, where a browser shows the page.
    """

    tag: str
    text: str
    heading: str
    attention: float | UnsetType = UNSET


class ElementTold(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Something to act on; it has an `id` where it stands in a tab of a browser session."""

    type: str
    label: str
    id: str = ""
    region: str = ""
    value: str = ""
    href: str = ""
    states: tuple[str, ...] = ()


class PageInfoTold(Struct, frozen=True, kw_only=True, rename="camel"):
    """What there is in a page to act on.

    `element_count` counts all of it, `elements` are the first of them: in a tab of a browser session everything that it
    shows, elsewhere the links and the fields of forms that the extraction has found; only there the other three counts
    are known.
    """

    type: str
    element_count: int
    elements: tuple[ElementTold, ...] = ()
    links: int | UnsetType = UNSET
    forms: int | UnsetType = UNSET
    headings: int | UnsetType = UNSET


class ItemError(Struct, frozen=True, kw_only=True, rename="camel"):
    """Why there is no page: `error_code` is the code of the tool layer (002 §7.1), `code` the one of Weft."""

    error: str
    error_code: str
    code: str
    failed_step: str
    recover_hint: str
    retryable: bool


class PageItem(Struct, frozen=True, kw_only=True, rename="camel"):
    """One page; its words are the web's: evidence, never instructions.

    `index` is the place of its URL among those that were given, from 0. `content` is Markdown, `confidence` how sure
    Weft is of the page as a whole (000 §2), `tier` what it was got by. `truncated` tells that there is more of it.
    """

    index: int
    url: str
    success: bool
    final_url: str | UnsetType = UNSET
    title: str | UnsetType = UNSET
    page_type: str | UnsetType = UNSET
    element_count: int | UnsetType = UNSET
    content_sections: tuple[SectionTold, ...] | UnsetType = UNSET
    content: str | UnsetType = UNSET
    page_info: PageInfoTold | UnsetType = UNSET
    tier: RenderTier | UnsetType = UNSET
    confidence: float | UnsetType = UNSET
    truncated: bool | UnsetType = UNSET
    error: ItemError | UnsetType = UNSET


def items_of(outcomes: Iterable[Outcome], urls: Sequence[str]) -> tuple[PageItem, ...]:
    """Return the items of the steps that are done, in the order of the addresses; each step has that of its number."""
    items = list[PageItem]()
    for outcome in sorted(outcomes, key=lambda one: one.index):
        if outcome.status is StepStatus.SUCCEEDED:
            items.append(msgspec.convert(outcome.output, PageItem))
        elif outcome.status is StepStatus.FAILED:
            items.append(_failed(outcome, urls[outcome.index]))
    return tuple(items)


def share_of(pages: int) -> int:
    """Return the bytes that one of so many items may come to."""
    return min(MAX_ITEM_BYTES, MAX_RESULT_BYTES // pages)


def cut(text: str, most: int) -> str:
    """Return the beginning of a text, which ends between two lines or words where that loses little."""
    if len(text) <= most:
        return text
    least = int(most * _AT_LEAST)
    for gap in ("\n", " "):
        place = text.rfind(gap, least, most)
        if place > 0:
            return text[:place].rstrip()
    return text[:most]


def bounded(item: PageItem, most: int = MAX_ITEM_BYTES) -> PageItem:
    """Shorten an item until it fits: its content first, then its elements, then its sections."""
    while len(msgspec.json.encode(item)) > most:
        shorter = _shorter(item)
        if shorter is None:
            return item
        item = replace(shorter, truncated=True)
    return item


def brief(result: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Leave out what is long of the items of a result (as JSON says it), then as many of the last as do not fit."""
    rest = {key: value for key, value in result.items() if key != name}
    left = BRIEF_BYTES - len(msgspec.json.encode(rest))
    items: Sequence[Mapping[str, Any]] = result.get(name) or ()
    shown = list[dict[str, Any]]()
    for item in items:
        short = _without_long(item)
        left -= len(msgspec.json.encode(short)) + 1
        if left < 0:
            break
        shown.append(short)
    shortened: dict[str, Any] = {**rest, name: shown}
    return shortened if len(shown) == len(items) else {**shortened, "itemsLeftOut": len(items) - len(shown)}


def failed_item(outcome: Outcome) -> ItemError:
    """Return why a step that failed has no page."""
    code = outcome.code or Code.INTERNAL_ERROR
    return ItemError(
        error=outcome.message or KINDS[code].meaning,
        error_code=outcome.step_code or ERROR_CODES.get(code, ErrorCode.EXECUTION_ERROR),
        code=code,
        failed_step=outcome.failed_at or outcome.name,
        recover_hint=outcome.hint,
        retryable=KINDS[code].retryable,
    )


def _failed(outcome: Outcome, url: str) -> PageItem:
    return PageItem(index=outcome.index, url=without_userinfo(url), success=False, error=failed_item(outcome))


def _shorter(item: PageItem) -> PageItem | None:
    content, info, parts = item.content, item.page_info, item.content_sections
    if content is not UNSET and len(content) > _LEAST_CHARS:
        return replace(item, content=cut(content, len(content) // 2))
    if info is not UNSET and info.elements:
        return replace(item, page_info=replace(info, elements=info.elements[: len(info.elements) // 2]))
    if parts is not UNSET and parts:
        return replace(item, content_sections=parts[: len(parts) // 2])
    return None


def _without_long(item: Mapping[str, Any]) -> dict[str, Any]:
    short = {key: value for key, value in item.items() if key not in _LONG}
    return {**short, "truncated": True} if len(short) < len(item) else short
