"""Reads pages into items: in a tab of the run's browser session (002 §8.6), or as a browse has got them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, suppress
from http import HTTPStatus
from itertools import chain, islice
from types import MappingProxyType

import anyio
from msgspec import UNSET, Struct, UnsetType

from actors.runner.page_items import MAX_TITLE_CHARS, ElementTold, Extract, PageInfoTold, PageItem, SectionTold, cut
from actors.runner.page_markdown import markdown_of, sections
from actors.runner.template import StepContext, operate
from protocol.browse import MAX_URL_CHARS
from protocol.browsers.operations import (
    CloseTab,
    CreateTab,
    GetPageContent,
    GetPageInfo,
    HandleDialog,
    Navigate,
    WaitForStable,
)
from protocol.browsers.pageinfo import ElementKind, PastDialog
from protocol.browsers.results import Acted, Navigated, PageContent, PageInfo, TabCreated
from protocol.documents import WebObservationSummary
from protocol.faults import Code, FaultError, fault, rate_limited
from protocol.page import FormField
from protocol.pages import Browsed
from protocol.tiers import BROWSER

STABLE_MS = 10_000
"""How long a page may take to become stable."""

MAX_DIALOGS = 5
"""Dialogs of a page that are dismissed, one after the other."""

_OPEN_S = 30.0
_CLOSE_S = 5.0
_FIRST_ERROR, _FIRST_SERVER_ERROR = 400, 500
_CODES: Mapping[int, Code] = MappingProxyType(
    {
        HTTPStatus.UNAUTHORIZED: Code.AUTH_MISSING_SESSION,
        HTTPStatus.PAYMENT_REQUIRED: Code.CONTENT_PAYWALLED,
        HTTPStatus.FORBIDDEN: Code.HTTP_FORBIDDEN,
        HTTPStatus.NOT_FOUND: Code.HTTP_NOT_FOUND,
        HTTPStatus.PROXY_AUTHENTICATION_REQUIRED: Code.AUTH_MISSING_SESSION,
        HTTPStatus.GONE: Code.HTTP_NOT_FOUND,
        HTTPStatus.UNAVAILABLE_FOR_LEGAL_REASONS: Code.BLOCKED_GEO_RESTRICTED,
        HTTPStatus.BAD_GATEWAY: Code.HTTP_BAD_GATEWAY,
        HTTPStatus.SERVICE_UNAVAILABLE: Code.HTTP_SERVICE_UNAVAILABLE,
        HTTPStatus.GATEWAY_TIMEOUT: Code.HTTP_BAD_GATEWAY,
    }
)

_OTHER = "other"
_MAX_LABEL_CHARS = 200
_HIDDEN = "hidden"
_KINDS = {
    "select": ElementKind.SELECT,
    "checkbox": ElementKind.CHECKBOX,
    "radio": ElementKind.RADIO,
    "file": ElementKind.FILE,
}


async def read_in_tab(context: StepContext, index: int, url: str, wanted: Extract) -> PageItem:
    """Read a page in a tab of its own, which is closed whatever happens.

    Raises:
        FaultError: why there is none.
    """
    async with _tab(context) as tab, _shown(context, tab):
        with context.part("navigate"):
            navigated = await operate(context, Navigate(url=url, tab_id=tab), Navigated)
            await _dismiss(context, tab, navigated.dialog)
            check_status(navigated.status_code)
        with context.part("wait_for_stable"):
            await context.browser(WaitForStable(timeout=STABLE_MS, tab_id=tab))
        info = content = None
        if wanted.page_info:
            with context.part("get_page_info"):
                info = await operate(context, GetPageInfo(max_elements=wanted.max_elements, tab_id=tab), PageInfo)
        if wanted.content:
            with context.part("get_page_content"):
                content = await operate(
                    context, GetPageContent(max_length=wanted.max_content_length, tab_id=tab), PageContent
                )
    return _item_of_tab(index, url, _TabReading(navigated, info, content), wanted)


def item_of_browse(index: int, url: str, browsed: Browsed, wanted: Extract) -> PageItem:
    """Return what is wanted of a page that a browse has got."""
    page, content = browsed.page, browsed.page.document.content
    info = _info_of_browse(content, wanted.max_elements) if wanted.page_info else UNSET
    words = cut(content.markdown, wanted.max_content_length) if wanted.content else UNSET
    return PageItem(
        index=index,
        url=url,
        success=True,
        final_url=page.final_url[:MAX_URL_CHARS],
        title=content.title[:MAX_TITLE_CHARS],
        page_type=UNSET if info is UNSET else info.type,
        element_count=UNSET if info is UNSET else info.element_count,
        content_sections=UNSET if words is UNSET else sections(words),
        content=words,
        page_info=info,
        tier=page.tier,
        confidence=browsed.confidence.overall.score,
        truncated=True if words is not UNSET and len(words) < len(content.markdown) else UNSET,
    )


def check_status(status: int | None) -> None:
    """Raise where a page is an error of its site.

    Raises:
        FaultError: HTTP_*, AUTH_MISSING_SESSION, BLOCKED_GEO_RESTRICTED or RATE_LIMIT_EXCEEDED.
    """
    if status is None or status < _FIRST_ERROR:
        return
    message = f"The site answered with the status {status}."
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        raise FaultError(rate_limited(message, None))
    other = Code.HTTP_CLIENT_ERROR if status < _FIRST_SERVER_ERROR else Code.HTTP_SERVER_ERROR
    raise FaultError(fault(_CODES.get(status, other), message, http_status=status))


@asynccontextmanager
async def _tab(context: StepContext) -> AsyncGenerator[int]:
    tab = await _opened(context)
    try:
        yield tab
    finally:
        # Whoever stops the run does not want the tab either; one that cannot be closed goes with its session.
        with anyio.move_on_after(_CLOSE_S, shield=True), context.part("close_tab"), suppress(FaultError):
            await context.browser(CloseTab(tab_id=tab))


@asynccontextmanager
async def _shown(context: StepContext, tab: int) -> AsyncGenerator[None]:
    try:
        yield
    finally:
        await context.keep_screenshot(tab)


async def _opened(context: StepContext) -> int:
    """Open a tab; shielded, for one that nobody knows of would never be closed."""
    with context.part("create_tab"):
        with anyio.move_on_after(min(_OPEN_S, context.remaining_ms() / 1_000), shield=True):
            created = await operate(context, CreateTab(), TabCreated)
            if created.tab_id is not None:
                return created.tab_id
        raise FaultError(fault(Code.INTERNAL_DEADLINE, "The browser opened no tab in time."))


async def _dismiss(context: StepContext, tab: int, dialog: PastDialog | None) -> None:
    """Dismiss the dialogs that a page opens, as a fetch does: as long as one waits nothing else is done in its tab."""
    for _ in range(MAX_DIALOGS):
        if dialog is None:
            return
        dialog = (await operate(context, HandleDialog(action="dismiss", tab_id=tab), Acted)).dialog


class _TabReading(Struct, frozen=True):
    """What was read in a tab: where it went, and its elements and words as far as they are wanted."""

    navigated: Navigated
    info: PageInfo | None = None
    content: PageContent | None = None


def _item_of_tab(index: int, url: str, reading: _TabReading, wanted: Extract) -> PageItem:
    navigated, info, content = reading.navigated, reading.info, reading.content
    where = info.page if info is not None else navigated.page
    parts = _sections_of_tab(content)
    words = UNSET if parts is UNSET else markdown_of(parts)
    shown = UNSET if words is UNSET else cut(words, wanted.max_content_length)
    cut_short = (content is not None and content.truncated) or (words is not UNSET and words != shown)
    return PageItem(
        index=index,
        url=url,
        success=True,
        final_url=where.url[:MAX_URL_CHARS],
        title=where.title[:MAX_TITLE_CHARS],
        page_type=UNSET if info is None else info.page.type.value,
        element_count=UNSET if info is None else info.total_elements,
        content_sections=parts,
        content=shown,
        page_info=UNSET if info is None else _info_of_tab(info),
        tier=BROWSER,
        truncated=True if cut_short else UNSET,
    )


def _sections_of_tab(content: PageContent | None) -> tuple[SectionTold, ...] | UnsetType:
    if content is None:
        return UNSET
    return tuple(
        SectionTold(tag=one.tag, text=one.text, heading=one.heading, attention=one.attention)
        for one in content.sections
    )


def _info_of_tab(info: PageInfo) -> PageInfoTold:
    return PageInfoTold(
        type=info.page.type.value,
        element_count=info.total_elements,
        elements=tuple(
            ElementTold(
                type=one.type.value,
                label=one.label,
                id=one.id,
                region=one.region,
                value=one.value,
                href=one.href,
                states=one.states,
            )
            for one in info.elements
        ),
    )


def _info_of_browse(content: WebObservationSummary, most: int) -> PageInfoTold:
    """Count what can be acted on, as far as the extraction knows: links, and the visible fields of forms."""
    parts = content.parts
    fields = [field for form in parts.forms for field in form.fields if field.type != _HIDDEN]
    links = (*content.extracted_links, *parts.navigation)
    elements = chain(
        (_field(field) for field in fields),
        (
            ElementTold(type=ElementKind.LINK, label=link.text[:_MAX_LABEL_CHARS], href=link.url[:MAX_URL_CHARS])
            for link in links
        ),
    )
    kind = parts.fields.page_type
    return PageInfoTold(
        type=_OTHER if kind is UNSET else kind.value,
        element_count=len(fields) + len(links),
        elements=tuple(islice(elements, most)),
        links=len(links),
        forms=len(parts.forms),
        headings=len(parts.fields.outline),
    )


def _field(field: FormField) -> ElementTold:
    label = field.label or field.name
    states = ("required",) if field.required else ()
    kind = _KINDS.get(field.type, ElementKind.INPUT)
    return ElementTold(type=kind, label=label[:_MAX_LABEL_CHARS], value=field.value, states=states)
