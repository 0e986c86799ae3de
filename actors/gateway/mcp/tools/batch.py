"""The tool that reads many pages at once, and says of each what a model needs to choose where to read on."""

from __future__ import annotations

import secrets
from typing import Annotated

from mcp.types import ToolAnnotations
from msgspec import UNSET, Meta, Struct, UnsetType

from actors.gateway.app_context import AppContext
from actors.gateway.mcp.announce import BRIEFLY
from actors.gateway.mcp.tool import Answer, ToolEntry
from actors.gateway.pages import (
    DEFAULT_AT_ONCE,
    MAX_AT_ONCE,
    MAX_URLS,
    BatchItem,
    BatchRequest,
    BatchResult,
    BatchSummary,
    ItemStatus,
    browse_all,
)
from actors.gateway.request import RequestContext
from actors.gateway.translate import framed_parts, one_line
from protocol.browse import SCHEMA_VERSION, BrowseOptions, BrowseResult, StructuredError
from protocol.pages import Url
from protocol.tiers import RenderTier

MAX_TEXT_BYTES = 19_000
"""What all items together may take of an answer: with what is said of the whole it stays below 20 KB."""

MAX_EXCERPT_BYTES = 4_000
BOUNDARY_BYTES = 8

_LINE_BYTES = 200
"""An item without a page."""

_NAME_BYTES = 160
_NAMES = 6
"""The share of an item that its address and its title get each is one of so many parts."""

_FRAME_BYTES = 110
"""What we say of an item with a page, and what sets it apart from the next."""

_MORE = " […]"


class BatchArguments(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """The pages to read, and how."""

    urls: Annotated[tuple[Url, ...], Meta(min_length=1, max_length=MAX_URLS)]
    options: Annotated[BrowseOptions, Meta(description="As browse takes them.", extra_json_schema={BRIEFLY: True})] = (
        BrowseOptions()
    )
    concurrency: Annotated[int, Meta(ge=1, le=MAX_AT_ONCE)] = DEFAULT_AT_ONCE


class DigestItem(Struct, frozen=True, kw_only=True, rename="camel"):
    """One address of a batch: `excerpt` is the beginning of its Markdown, or what answers `options.query`.

    `total_chars` is the length of all that is to be had.
    """

    url: str
    status: ItemStatus
    title: str | UnsetType = UNSET
    final_url: str | UnsetType = UNSET
    tier: RenderTier | UnsetType = UNSET
    confidence: float | UnsetType = UNSET
    excerpt: str | UnsetType = UNSET
    total_chars: int | UnsetType = UNSET
    error: StructuredError | UnsetType = UNSET
    same_as: int | UnsetType = UNSET


class Digest(Struct, frozen=True, kw_only=True, rename="camel"):
    """A batch in short, in the order of its addresses."""

    items: tuple[DigestItem, ...]
    summary: BatchSummary
    schema_version: str = SCHEMA_VERSION


def digest(result: BatchResult) -> Digest:
    """Shorten a batch to what one answer has room for, the same for every page."""
    share = _share(sum(item.result is not UNSET for item in result.items), len(result.items))
    return Digest(items=tuple(_short(item, share) for item in result.items), summary=result.summary)


def digest_text(told: Digest, boundary: str) -> str:
    """Write a batch for a model; `boundary` is a word of letters and digits that no page can know."""
    summary = told.summary
    counts = ", ".join(f"{status.value} {getattr(summary, status.value)}" for status in ItemStatus)
    lines = [f"{summary.total} addresses: {counts}. The rest of a page: browse with its url."]
    room = _names(_share(sum(item.excerpt is not UNSET for item in told.items), len(told.items)))
    lines += [f"{number}. {_line(item, room)}" for number, item in enumerate(told.items, 1)]
    numbered = enumerate(told.items, 1)
    pages = {f"page {number}": _page(item, room) for number, item in numbered if item.excerpt is not UNSET}
    return "\n".join([*lines, *([framed_parts(pages, boundary)] if pages else [])])


def _share(pages: int, items: int) -> int:
    """Return what each item with a page may take, in bytes."""
    return (MAX_TEXT_BYTES - (items - pages) * _LINE_BYTES) // max(pages, 1)


def _names(share: int) -> int:
    return min(share // _NAMES, _NAME_BYTES)


def _line(item: DigestItem, room: int) -> str:
    """Say how an item stands, with the address as the client gave it."""
    said = f"{_cut(one_line(item.url), room)}: {item.status.value}"
    if not isinstance(item.same_as, UnsetType):
        return f"{said}, the same as {item.same_as + 1}"
    if not isinstance(item.error, UnsetType):
        return _cut(f"{said}, {item.error.code}: {one_line(item.error.error)}", _LINE_BYTES)
    sure = "" if isinstance(item.confidence, UnsetType) else f", confidence {item.confidence:.2f}"
    return f"{said}{sure}, {item.total_chars} characters"


def _page(item: DigestItem, room: int) -> str:
    moved = [f"URL: {_cut(one_line(str(item.final_url)), room)}"] if item.final_url != item.url else []
    return "\n".join([f"Title: {_cut(one_line(str(item.title)), room)}", *moved, str(item.excerpt)])


def _short(item: BatchItem, share: int) -> DigestItem:
    if isinstance(item.result, UnsetType):
        return DigestItem(url=item.url, status=item.status, error=item.error, same_as=item.same_as)
    page: BrowseResult = item.result
    markdown, sure = page.content.markdown.strip(), page.field_confidence
    names = 2 if page.metadata.final_url == item.url else 3
    return DigestItem(
        url=item.url,
        status=item.status,
        title=page.title,
        final_url=page.metadata.final_url,
        tier=page.metadata.tier,
        confidence=UNSET if isinstance(sure, UnsetType) else sure.overall.score,
        excerpt=_cut(markdown, min(share - names * _names(share) - _FRAME_BYTES, MAX_EXCERPT_BYTES)),
        total_chars=len(markdown),
    )


def _cut(text: str, max_bytes: int) -> str:
    """Cut a text behind a word, in bytes of UTF-8."""
    data = text.encode()
    if len(data) <= max_bytes:
        return text
    head = data[: max_bytes - len(_MORE.encode())].decode(errors="ignore")
    return (head.rpartition(" ")[0] or head) + _MORE


async def _run(app: AppContext, request: RequestContext, arguments: BatchArguments) -> Answer:
    batch = BatchRequest(urls=arguments.urls, options=arguments.options, concurrency=arguments.concurrency)
    told = digest(await browse_all(app, request, batch))
    return Answer(digest_text(told, secrets.token_hex(BOUNDARY_BYTES)), told)


BATCH = ToolEntry(
    title="Read several web pages",
    description="Read up to 50 pages at once: of each its status, confidence and the beginning of its Markdown, or "
    "what answers options.query. robots.txt is obeyed.",
    arguments=BatchArguments,
    answer=Digest,
    run=_run,
    by_type=None,
    annotations=ToolAnnotations(read_only_hint=True),
)
