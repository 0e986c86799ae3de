"""The tools of the core toolset: read a page or many, answer from them (`answers.py`), and look after saved logins."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any

import msgspec
from mcp.types import ToolAnnotations
from msgspec import UNSET, Struct, UnsetType, structs

from actors.gateway import sessions
from actors.gateway.app_context import AppContext
from actors.gateway.mcp.page_data import MAX_BYTES, page_data, requested_data
from actors.gateway.mcp.resources import page_link
from actors.gateway.mcp.tool import BuiltinTool, ToolAnswer, by_name
from actors.gateway.mcp.tools.answers import ANSWER_TOOLS
from actors.gateway.pages import (
    OPTIONS,
    BatchItem,
    BatchRequest,
    BatchResult,
    BatchSummary,
    ItemStatus,
    browse,
    browse_all,
)
from actors.gateway.recovery import flat
from actors.gateway.request import RequestContext
from actors.gateway.sessions import SessionAnswer, SessionsAnswer
from actors.gateway.translate import cut_text, framed_parts, one_line, result_text
from protocol.browse import SCHEMA_VERSION, BrowseOptions, BrowseResult, Part, StructuredError
from protocol.faults import FaultError
from protocol.pages import BrowsePage
from protocol.subjects import SESSION_REFRESH
from protocol.tiers import RenderTier
from protocol.tools.web import WEB_TOOLS, BatchArguments, BrowseArguments, NamedRequest, SessionRequest

BOUNDARY_BYTES = 8

MAX_TEXT_BYTES = 19_000
"""What all items of a batch together may take of an answer: with our own words it stays below 20 KB."""

MAX_EXCERPT_BYTES = 4_000


async def _browse(app: AppContext, request: RequestContext, arguments: BrowseArguments) -> ToolAnswer:
    options = BrowseOptions(**{name: getattr(arguments, name) for name in BrowseOptions.__struct_fields__})
    try:
        result = await browse(app, request, BrowsePage(url=arguments.url, options=options), for_model=True)
    except FaultError as error:  # the options are arguments of the tool
        field = error.fault.field
        raise FaultError(error.fault if field is None else error.fault.of_field(field.removeprefix(OPTIONS))) from None
    goes_on = options.cursor is not None
    text = result_text(result, secrets.token_hex(BOUNDARY_BYTES), goes_on=goes_on)
    is_first = result.content.cursor is not UNSET and not goes_on and options.session_profile is None
    further = requested_data(result, options, max(MAX_BYTES, options.max_chars or 0))
    return ToolAnswer(
        text,
        page_data(result, options),
        links=(page_link(arguments.url),) if is_first else (),
        asked_data=_as_text({"data": further} if further else {}),
    )


def _as_text(further: Mapping[str, Any]) -> str:
    """Write data under labels of ours, framed as the web's own."""
    parts = {label: msgspec.json.encode(data).decode() for label, data in further.items()}
    return framed_parts(parts, secrets.token_hex(BOUNDARY_BYTES)) if parts else ""


BROWSE = BuiltinTool(
    tool=WEB_TOOLS["browse"],
    title="Read a web page",
    answer=BrowseResult,
    run=_browse,
    answer_fields=("url", "title", "content", "metadata", "fieldConfidence"),
    plain=frozenset(
        {"forceTier", "includeDecisionTrace", "includeHtml", "includeNetwork", "includeConsole", "scrollToLoad"}
        | {"dismissOverlays", "followPagination", "maxPages", "section"}
    ),
    words_in_text=True,
    annotations=ToolAnnotations(read_only_hint=True),
)


# -- many pages at once ------------------------------------------------------------------------------------------------


class DigestItem(Struct, frozen=True, kw_only=True, rename="camel"):
    """One address of a batch: `excerpt` is the beginning of its Markdown, or what answers `options.query`.

    It stands in the text, and as data for who asks for `markdown`.

    `total_chars` is the length of all that is to be had. `data` is what else the options ask for, as `browse` has it.
    """

    url: str
    status: ItemStatus
    title: str | UnsetType = UNSET
    final_url: str | UnsetType = UNSET
    tier: RenderTier | UnsetType = UNSET
    confidence: float | UnsetType = UNSET
    excerpt: str | UnsetType = UNSET
    total_chars: int | UnsetType = UNSET
    data: dict[str, Any] | UnsetType = UNSET
    error: StructuredError | UnsetType = UNSET
    same_as: int | UnsetType = UNSET


class Digest(Struct, frozen=True, kw_only=True, rename="camel"):
    """A batch in short, in the order of its addresses."""

    items: tuple[DigestItem, ...]
    summary: BatchSummary
    schema_version: str = SCHEMA_VERSION


def digest(result: BatchResult, options: BrowseOptions) -> Digest:
    """Shorten a batch to what one answer has room for, the same for every page."""
    pages = sum(item.result is not UNSET for item in result.items)
    share, data_share = _share(pages, len(result.items)), MAX_BYTES // max(pages, 1)
    items = tuple(_with_data(_short(item, share), item.result, options, data_share) for item in result.items)
    return Digest(items=items, summary=result.summary)


def digest_text(batch: Digest, boundary: str) -> str:
    """Write a batch for a model; `boundary` is a word of letters and digits that no page can know."""
    summary = batch.summary
    counts = ", ".join(f"{status.value} {getattr(summary, status.value)}" for status in ItemStatus)
    lines = [f"{summary.total} addresses: {counts}. The rest of a page: browse with its url."]
    room = _names(_share(sum(item.excerpt is not UNSET for item in batch.items), len(batch.items)))
    lines += [f"{number}. {_line(item, room)}" for number, item in enumerate(batch.items, 1)]
    numbered = enumerate(batch.items, 1)
    pages = {f"page {number}": _page(item, room) for number, item in numbered if item.excerpt is not UNSET}
    return "\n".join([*lines, *([framed_parts(pages, boundary)] if pages else [])])


def _share(pages: int, items: int) -> int:
    """Return what each item with a page may take, in bytes."""
    return (MAX_TEXT_BYTES - (items - pages) * _LINE_BYTES) // max(pages, 1)


def _names(share: int) -> int:
    return min(share // _NAMES, _NAME_BYTES)


def _line(item: DigestItem, room: int) -> str:
    """Write how an item stands, with the address as the client gave it."""
    line = f"{cut_text(one_line(item.url), room)}: {item.status.value}"
    if not isinstance(item.same_as, UnsetType):
        return f"{line}, the same as {item.same_as + 1}"
    if not isinstance(item.error, UnsetType):
        return cut_text(f"{line}, {item.error.code}: {one_line(item.error.error)}", _LINE_BYTES)
    sure = "" if isinstance(item.confidence, UnsetType) else f", confidence {item.confidence:.2f}"
    return f"{line}{sure}, {item.total_chars} characters"


def _page(item: DigestItem, room: int) -> str:
    moved = [f"URL: {cut_text(one_line(str(item.final_url)), room)}"] if item.final_url != item.url else []
    return "\n".join([f"Title: {cut_text(one_line(str(item.title)), room)}", *moved, str(item.excerpt)])


def _short(item: BatchItem, share: int) -> DigestItem:
    if isinstance(item.result, UnsetType):
        return DigestItem(url=item.url, status=item.status, error=_for_model(item.error), same_as=item.same_as)
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
        excerpt=cut_text(markdown, min(share - names * _names(share) - _FRAME_BYTES, MAX_EXCERPT_BYTES)),
        total_chars=len(markdown),
    )


def _with_data(item: DigestItem, page: BrowseResult | UnsetType, options: BrowseOptions, budget: int) -> DigestItem:
    if isinstance(page, UnsetType):
        return item
    return structs.replace(item, data=requested_data(page, options, budget) or UNSET)


def _for_model(error: StructuredError | UnsetType) -> StructuredError | UnsetType:
    if isinstance(error, UnsetType):
        return error
    return structs.replace(error, recommended_actions=flat(error.recommended_actions))


async def _browse_batch(app: AppContext, request: RequestContext, arguments: BatchArguments) -> ToolAnswer:
    pages = BatchRequest(urls=arguments.urls, options=arguments.options, concurrency=arguments.concurrency)
    batch = digest(await browse_all(app, request, pages), arguments.options)
    without_words = structs.replace(batch, items=tuple(structs.replace(one, excerpt=UNSET) for one in batch.items))
    data = without_words if Part.MARKDOWN not in arguments.options.include else batch
    numbered = enumerate(batch.items, 1)
    further = {f"data of page {number}": item.data for number, item in numbered if item.data is not UNSET}
    return ToolAnswer(digest_text(batch, secrets.token_hex(BOUNDARY_BYTES)), data, asked_data=_as_text(further))


BATCH = BuiltinTool(
    tool=WEB_TOOLS["batch_browse"],
    title="Read web pages",
    answer=Digest,
    run=_browse_batch,
    words_in_text=True,
    annotations=ToolAnnotations(read_only_hint=True),
)


# -- saved logins ------------------------------------------------------------------------------------------------------


async def _refresh(app: AppContext, request: RequestContext, arguments: NamedRequest) -> ToolAnswer:
    status = await sessions.ask(app, request, SESSION_REFRESH, arguments.domain, arguments.profile)
    return ToolAnswer(sessions.text_of(status), status)


async def _manage(app: AppContext, request: RequestContext, arguments: SessionRequest) -> ToolAnswer:
    answer = await sessions.manage(app, request, arguments)
    return ToolAnswer(sessions.list_text(answer), answer)


REFRESH = BuiltinTool(
    tool=WEB_TOOLS["refresh_session"],
    title="Renew a login",
    answer=SessionAnswer,
    run=_refresh,
    annotations=ToolAnnotations(destructive_hint=False),
)
MANAGE = BuiltinTool(
    tool=WEB_TOOLS["session_management"],
    title="Manage logins",
    answer=SessionsAnswer,
    run=_manage,
    annotations=ToolAnnotations(open_world_hint=False),
)


CORE_TOOLS: Mapping[str, BuiltinTool[Any]] = by_name(BROWSE, BATCH, *ANSWER_TOOLS, REFRESH, MANAGE)
"""The tools, by name."""

_LINE_BYTES = 200
"""An item without a page."""

_NAME_BYTES = 160
_NAMES = 6
"""The share of an item that its address and its title get each is one of so many parts."""

_FRAME_BYTES = 110
"""Our own words about an item with a page, and what separates it from the next."""
