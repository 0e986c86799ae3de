"""Extracts all that a page says, from what a site sent to one typed result: parse, evidence, decide, select, write.

What is no HTML is read by `parse/formats` and given the same shape.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime

from msgspec import UNSET, Struct, structs

from actors.extraction import select
from actors.extraction.decide.blockers import find_blockers
from actors.extraction.decide.blocks import Block, blocks
from actors.extraction.decide.content import Content, choose_content
from actors.extraction.decide.fields import DecidedFields, decide_fields
from actors.extraction.decide.language import language
from actors.extraction.decide.product import product
from actors.extraction.documents import read_bytes, read_text, shaped
from actors.extraction.evidence import apis
from actors.extraction.evidence.claim import Claim, PageField
from actors.extraction.evidence.embedded import embedded
from actors.extraction.evidence.sources import sources
from actors.extraction.evidence.states import Evaluate, no_scripts
from actors.extraction.extraction import Extraction
from actors.extraction.parse.charset import decode
from actors.extraction.parse.formats.document import Clock, no_clock
from actors.extraction.parse.formats.kinds import BINARY, BodyKind, kind_of
from actors.extraction.parse.tree import Page, read
from actors.extraction.write import LeftOut, sanitised_html, write_markdown
from actors.extraction.write.writer import frame_links, frames_markdown, is_of_frames
from protocol.browse import MIN_CONTENT_CHARS, ApiPattern
from protocol.confidence import Confidence, Source, confidence
from protocol.documents import ExtractedLink, ExtractedTable, PageParts, Signal, WebObservationSummary
from protocol.page import PageFields, Product
from protocol.pages import Outlinks, PageEvidence

_MANY_WORDS = 1_500
"""A page that shows so many has its content among them, not in its data."""

_FEW_WORDS = 150
"""Only where a page shows fewer is an engine started for data that are written as a program: it takes 60 ms."""

_BLOCKED_SCORE = 0.1
"""The most that is thought of a challenge, a login, a request for consent, an error page or an empty shell."""

_MARKDOWN_NAME = re.compile(r"(?:\.md|\.markdown|/llms(?:-full)?\.txt)$", re.IGNORECASE)
"""Names of what is Markdown, though many a site serves it as plain text."""

_ANY_PAGE = "<title>A page</title><main><h1>A page</h1><p>It has a few words, so that everything is loaded.</p></main>"

_WIRE_NAMES = {field.name: field.encode_name for field in structs.fields(PageFields)}


def warm() -> None:
    """Load the models, so that the first page does not pay for them."""
    extract_html(_ANY_PAGE, "")


def extract(  # noqa: PLR0913 - what there is to read, and what it may be read with
    body: bytes,
    content_type: str,
    url: str,
    *,
    include_html: bool = False,
    captured_at: datetime | None = None,
    evaluate: Evaluate = no_scripts,
    clock: Clock = no_clock,
) -> Extraction:
    """Extract from what a site sent, in whatever type it came; `url` is the last one of the redirects.

    `evaluate` runs data that are written as a program, `clock` bounds documents that take long to read.

    Raises:
        FaultError: CONTENT_UNSUPPORTED_TYPE for what has no text, as a PDF that is locked or a scan; CONTENT_TOO_LARGE.
    """
    kind = kind_of(body, content_type)
    if kind is BodyKind.TEXT and _MARKDOWN_NAME.search(url.partition("?")[0]):
        kind = BodyKind.MARKDOWN
    if kind in BINARY:
        return shaped(read_bytes(kind, body, url, clock), url, captured_at)
    text, _ = decode(body, content_type)
    if kind is not BodyKind.HTML:
        return shaped(read_text(kind, text, url), url, captured_at)
    return extract_html(text, url, include_html=include_html, captured_at=captured_at, evaluate=evaluate)


def extract_html(
    source: str,
    url: str,
    *,
    include_html: bool = False,
    captured_at: datetime | None = None,
    evaluate: Evaluate = no_scripts,
) -> Extraction:
    """Extract from HTML, as a site sent it or as a browser shows it.

    Raises:
        FaultError: CONTENT_TOO_LARGE for more tags than can be read within the bounds of any page.
    """
    page = read(source, url)
    claims = [claim for place in sources() for claim in place.claims(page)]
    decisions = _decide(page, claims, evaluate)
    selection = _select(page, decisions)
    html = sanitised_html(page) if include_html else UNSET
    frames = frame_links(page)
    of_frames = frames_markdown(page, frames) if is_of_frames(page) else ""
    offered = select.choices(page) if decisions.product else ()
    title = decisions.decided.title
    text = write_markdown(page, decisions.content, title, offered)  # the last: it takes the tree apart
    summary = WebObservationSummary(
        url=url,
        title=decisions.decided.title,
        markdown=text.markdown or of_frames,
        captured_at=captured_at or UNSET,
        extracted_links=selection.links or frames,
        signals=decisions.signals,
        text=text.text,
        html=html,
        language=decisions.language or UNSET,
        tables=tuple(table for table, _ in selection.tables),
        parts=structs.replace(selection.parts, left_out=_counts(text.left_out)),
    )
    return _extraction(summary, decisions, selection)


class _Decisions(Struct, frozen=True):
    """What was decided among the claims and blocks of a page; `product` has the confidence of each of its fields."""

    content: Content
    decided: DecidedFields
    language: str
    language_confidence: Confidence
    product: tuple[Product, Mapping[str, Confidence]] | None
    evidence: PageEvidence
    signals: tuple[Signal, ...]


def _decide(page: Page, claims: list[Claim], evaluate: Evaluate) -> _Decisions:
    """Decide what the page says, in which language, what it sells, and what stands in the way."""
    shown = blocks(page)
    content = choose_content(page, shown, _texts_elsewhere(page, shown, evaluate))
    decided = decide_fields(page, claims, content)
    content = content.below(decided.title)
    declared = next((claim.value for claim in claims if claim.field is PageField.LANGUAGE), "")
    spoken, spoken_confidence = language(declared, content.text or decided.title, page.url)
    evidence, signals = find_blockers(page, content, shown)
    return _Decisions(content, decided, spoken, spoken_confidence, product(page, claims), evidence, signals)


def _texts_elsewhere(page: Page, shown: list[Block], evaluate: Evaluate) -> tuple[str, ...]:
    """Return the texts that stand in no block, where the blocks are so few that they may be needed."""
    words = sum(block.tokens for block in shown)
    if words >= _MANY_WORDS:
        return ()
    data = embedded(page)
    return data.texts(evaluate(data.deferred) if words < _FEW_WORDS else ())


class _Selection(Struct, frozen=True):
    """What of a page goes with its content; `shown` are the names of the fields that parts of the page show."""

    links: tuple[ExtractedLink, ...]
    tables: list[tuple[ExtractedTable, Confidence]]
    parts: PageParts
    shown: tuple[str, ...]
    apis: tuple[ApiPattern, ...]
    markdown_link: str
    outlinks: Outlinks


def _select(page: Page, decisions: _Decisions) -> _Selection:
    """Read the parts of the page that go with its content."""
    content = decisions.content
    neighbours = select.pagination(page)
    shown = {
        "breadcrumb": select.breadcrumb(page),
        "feeds": select.feeds(page),
        "next": neighbours.next,
        "previous": neighbours.previous,
        "outline": select.outline(page, content),
    }
    sold = decisions.product[0] if decisions.product else UNSET
    fields = structs.replace(decisions.decided.fields, language=decisions.language, product=sold, **shown)
    links, navigation = select.links(page, content)
    return _Selection(
        links=tuple(links),
        tables=select.tables(page, content),
        parts=PageParts(
            fields=fields,
            navigation=tuple(navigation),
            forms=select.forms(page),
            lists=tuple(select.record_lists(page, content)),
            structured=embedded(page).items(),
        ),
        shown=tuple(name for name, value in shown.items() if value),
        apis=apis.discover(page),
        markdown_link=select.markdown_link(page),
        outlinks=select.outlinks(page),
    )


def _extraction(summary: WebObservationSummary, decisions: _Decisions, selection: _Selection) -> Extraction:
    return Extraction(
        summary=summary,
        evidence=decisions.evidence,
        title=decisions.decided.confidences["title"],
        content=decisions.content.confidence,
        tables=tuple(sure for _, sure in selection.tables),
        selectors=decisions.content.attempts,
        titles=decisions.decided.title_attempts,
        fields=_field_confidences(decisions, selection),
        apis=selection.apis,
        markdown_link=selection.markdown_link,
        outlinks=selection.outlinks,
    )


def _field_confidences(decisions: _Decisions, selection: _Selection) -> Mapping[str, Confidence]:
    """Return how sure each field beyond the title is, by its wire name."""
    sure = {name: each for name, each in decisions.decided.confidences.items() if name != "title"}
    sure |= dict.fromkeys(selection.shown, confidence(Source.SELECTOR_MATCH))
    if decisions.language:
        sure["language"] = decisions.language_confidence
    of_product: Mapping[str, Confidence] = decisions.product[1] if decisions.product else {}
    by_wire_name = {_WIRE_NAMES[name]: each for name, each in sure.items()}
    return by_wire_name | {f"product.{name}": each for name, each in of_product.items()}


def unjudged_content(extraction: Extraction) -> Confidence:
    """Return how sure the content is of a page that no verifier judges: next to unsure of what stands in its place."""
    evidence, sure = extraction.evidence, extraction.content
    thin = evidence.content_length < MIN_CONTENT_CHARS
    blocked = evidence.challenge or evidence.error_page or evidence.consent_wall or (thin and evidence.login_form)
    if blocked or (thin and evidence.incomplete):
        return confidence(sure.source, min(sure.score, _BLOCKED_SCORE))
    return sure


def _counts(left_out: LeftOut) -> dict[str, int]:
    counts = {"invisible texts": left_out.invisible_texts, "invisible characters": left_out.invisible_characters}
    return {kind: count for kind, count in counts.items() if count}
