"""Observes a page as 003 has it: archetype, main root, blocks, outline, items, comments and elements, within limits."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TypeVar

import anyio.to_thread
from msgspec import Struct
from msgspec.structs import replace

from actors import redact
from actors.extraction.page import extract_html
from actors.fetchers.playwright.reading import html_of
from actors.fetchers.playwright.tab import Tab
from actors.fetchers.playwright.view.documents import TabDocument, main_document
from actors.fetchers.playwright.view.elements import PageElement, PageText
from actors.fetchers.playwright.view.facts import another
from actors.fetchers.playwright.view.finding import document_of, locate
from actors.fetchers.playwright.view.snapshot import take_snapshot
from actors.markdown.captures import captured_markdown
from protocol.browsers import observation as limits
from protocol.browsers.observation import Archetype, ObservedBlock, ObservedElement, ObservedRow, PageObservation
from protocol.browsers.operations import GetSelectionLinks, ObserveDom
from protocol.browsers.pageinfo import ContentLink
from protocol.browsers.results import PageObserved, SelectionLinks
from protocol.documents import ExtractedLink, Signal, WebObservationSummary
from protocol.faults import FaultError
from protocol.tools.browser import handle_of

_MAX_MARKUP_CHARS = 2_000_000

T = TypeVar("T")


class _Observed(Struct, frozen=True):
    """What `scripts/view/observe.js` returns."""

    gone: bool
    archetype: str = ""
    primary: str = ""
    density: float = 0.0
    words: str = ""
    outline: tuple[ObservedRow, ...] = ()
    items: tuple[ObservedRow, ...] = ()
    comments: tuple[ObservedRow, ...] = ()
    url: str = ""
    title: str = ""
    language: str = ""


class _Selected(Struct, frozen=True):
    """The links of what is selected."""

    links: tuple[ContentLink, ...]


async def observe(tab: Tab, do: ObserveDom) -> PageObserved:
    """Observe the page, or one element of it and what is in it.

    Raises:
        FaultError: ELEMENT_NOT_FOUND for a root that is gone; PAGE_CRASHED or BROWSER_PAGE_HUNG.
    """
    document, name = main_document(tab), None
    if do.root is not None:
        await locate(tab, do.root)
        within, name = await document_of(tab, do.root)
        document = within or document
    observed = await document.call("observe", _Observed, id=name)
    if observed.gone:
        raise another()
    blocks = () if do.root is not None else (await document.call("read", PageText)).blocks
    elements = (await take_snapshot(tab)).elements if do.root is None else ()
    page = _within(do, observed, tuple(_block(one.tag, one.text) for one in blocks), elements)
    return PageObserved(observation=page, document=await _document(tab, document, do, page, observed))


async def selection_links(tab: Tab, do: GetSelectionLinks) -> SelectionLinks:
    """Read the links of what is selected in the page.

    Raises:
        FaultError: PAGE_CRASHED or BROWSER_PAGE_HUNG.
    """
    selected = await main_document(tab).call("selected", _Selected, many=do.max_links)
    return SelectionLinks(links=tuple(ContentLink(text=one.text, url=redact.url(one.url)) for one in selected.links))


def _within(
    do: ObserveDom, observed: _Observed, blocks: Sequence[ObservedBlock], elements: Sequence[PageElement]
) -> PageObservation:
    """Return what was observed, cut to the limits; of all of them together `max_chars` is the last."""
    most = do.max_chars or limits.MAX_CHARS
    kept_blocks, cut_blocks = _first(blocks, do.max_blocks or limits.MAX_BLOCKS)
    kept_elements, cut_elements = _first(
        [one for one in elements if "hidden" not in one.states], do.max_elements or limits.MAX_ELEMENTS
    )
    outline, cut_outline = _rows(
        observed.outline, do.max_outline or limits.MAX_OUTLINE, do.max_outline_chars or limits.MAX_OUTLINE_CHARS
    )
    items, cut_items = _rows(
        observed.items, do.max_items or limits.MAX_ITEMS, do.max_item_chars or limits.MAX_ITEM_CHARS
    )
    comments, cut_comments = _rows(
        observed.comments, do.max_comments or limits.MAX_COMMENTS, do.max_comment_chars or limits.MAX_COMMENT_CHARS
    )
    primary = observed.primary[: min(do.max_primary_chars or limits.MAX_PRIMARY_CHARS, most)]
    text = observed.words[:most]
    return PageObservation(
        url=redact.url(observed.url),
        title=observed.title,
        archetype=Archetype(observed.archetype) if observed.archetype else None,
        primary=primary,
        text=text,
        blocks=kept_blocks,
        outline=outline,
        items=items,
        comments=comments,
        elements=tuple(_element(one) for one in kept_elements),
        truncated=any(
            (cut_blocks, cut_elements, cut_outline, cut_items, cut_comments, len(text) < len(observed.words))
        ),
    )


async def _document(
    tab: Tab, document: TabDocument, do: ObserveDom, page: PageObservation, observed: _Observed
) -> WebObservationSummary:
    """Return the page as a document for a model: its words, or its Markdown where that is asked for."""
    links = (
        tuple(ExtractedLink(url=one.url, text=one.text) for one in page.items if one.url) if do.capture_links else ()
    )
    redacted = (Signal.URL_REDACTED,) if page.url != observed.url else ()
    summary = WebObservationSummary(
        url=page.url,
        title=page.title,
        markdown=page.text,
        captured_at=datetime.now(UTC),
        extracted_links=links,
        signals=redacted,
        language=observed.language or "und",
    )
    if not do.include_markdown or do.root is not None or document.prefix:
        return summary
    markup = await html_of(tab, _MAX_MARKUP_CHARS)
    try:
        extracted = (await anyio.to_thread.run_sync(extract_html, markup.html, observed.url)).summary
    except FaultError:
        return summary  # a page that is too large to be read whole has been observed all the same
    most = min(do.capture_max_chars, do.max_chars or do.capture_max_chars)
    markdown = redact.text(captured_markdown(extracted, do.capture_mode))[:most]
    extracted_links = tuple(map(_redacted, extracted.extracted_links)) if do.capture_links else ()
    signals = (*extracted.signals, *redacted)
    return replace(summary, markdown=markdown or page.text, extracted_links=extracted_links, signals=signals)


def _redacted(link: ExtractedLink) -> ExtractedLink:
    return replace(link, url=redact.url(link.url))


def _block(tag: str, text: str) -> ObservedBlock:
    return ObservedBlock(tag=tag, text=text)


def _element(element: PageElement) -> ObservedElement:
    return ObservedElement(
        handle_id=handle_of(element.id),
        role=element.type.value,
        label=element.label,
        value=element.value,
        href=redact.url(element.href) if element.href else "",
        states=element.states,
    )


def _first(ones: Sequence[T], many: int) -> tuple[tuple[T, ...], bool]:
    return tuple(ones[:many]), len(ones) > many


def _rows(rows: Sequence[ObservedRow], many: int, chars: int) -> tuple[tuple[ObservedRow, ...], bool]:
    kept = tuple(
        ObservedRow(text=one.text[:chars], level=one.level, url=redact.url(one.url) if one.url else "")
        for one in rows[:many]
    )
    return kept, len(rows) > many or any(len(one.text) > chars for one in rows[:many])
