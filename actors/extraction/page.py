"""Takes everything out of a page that it says: one parse, many readers, one typed result."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime

from msgspec import UNSET, structs

from actors.extraction import select
from actors.extraction.decide import blockers
from actors.extraction.decide.blocks import Block, blocks
from actors.extraction.decide.content import Content, choose_content
from actors.extraction.decide.fields import DecidedFields, decide_fields
from actors.extraction.decide.language import language
from actors.extraction.decide.product import product
from actors.extraction.documents import shaped
from actors.extraction.evidence import apis
from actors.extraction.evidence.claim import Claim, Field
from actors.extraction.evidence.embedded import embedded
from actors.extraction.evidence.sources import sources
from actors.extraction.evidence.states import Evaluate, no_scripts
from actors.extraction.extraction import Extraction
from actors.extraction.parse.charset import decode
from actors.extraction.parse.formats import readers
from actors.extraction.parse.formats.document import Clock, no_clock
from actors.extraction.parse.formats.kinds import BINARY, Kind, kind_of
from actors.extraction.parse.tree import Page, read
from actors.extraction.select.links import markdown_link
from actors.extraction.write import LeftOut, sanitised_html, write_markdown
from protocol.browse import MIN_CONTENT_CHARS
from protocol.confidence import Confidence, Source, confidence
from protocol.documents import ExtractedLink, PageParts, WebObservationSummary
from protocol.page import PageFields
from protocol.pages import PageEvidence

MANY_WORDS = 1_500
"""A page that shows so many has its content among them, not in its data."""

FEW_WORDS = 150
"""Only where a page shows fewer is an engine started for data that are written as a program: it takes 60 ms."""

WALL_SCORE = 0.1
"""The most that is thought of a challenge, a login, a request for consent, an error page or an empty shell."""

_MARKDOWN_NAME = re.compile(r"(?:\.md|\.markdown|/llms(?:-full)?\.txt)$", re.IGNORECASE)
"""Names of what is Markdown, though many a site serves it as plain text."""

_WIRE_NAMES = {field.name: field.encode_name for field in structs.fields(PageFields)}


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
        FaultError: CONTENT_UNSUPPORTED_TYPE for what has no text, as a PDF that is locked or a scan.
    """
    kind = kind_of(body, content_type)
    if kind is Kind.TEXT and _MARKDOWN_NAME.search(url.partition("?")[0]):
        kind = Kind.MARKDOWN
    if kind in BINARY:
        return shaped(readers.read_bytes(kind, body, url, clock), url, captured_at)
    text, _ = decode(body, content_type)
    if kind is not Kind.HTML:
        return shaped(readers.read_text(kind, text, url), url, captured_at)
    return extract_html(text, url, include_html=include_html, captured_at=captured_at, evaluate=evaluate)


def extract_html(
    source: str,
    url: str,
    *,
    include_html: bool = False,
    captured_at: datetime | None = None,
    evaluate: Evaluate = no_scripts,
) -> Extraction:
    """Extract from HTML, as a site sent it or as a browser shows it."""
    page = read(source, url)
    claims = [claim for place in sources() for claim in place.claims(page)]
    shown = blocks(page)
    content = choose_content(page, shown, _elsewhere(page, shown, evaluate))
    decided = decide_fields(page, claims, content)
    fields, sure = _fields(page, claims, content, decided)
    evidence, signals = blockers.find_blockers(page, content)
    grids = select.tables(page, content)
    links, beside = _beside(page, content, fields)
    endpoints = apis.discover(page)
    offer = markdown_link(page)
    html = sanitised_html(page) if include_html else UNSET
    written = write_markdown(page, content)  # the last: it takes the tree apart
    summary = WebObservationSummary(
        url=url,
        title=decided.title,
        markdown=written.markdown,
        captured_at=captured_at or UNSET,
        extracted_links=links,
        signals=signals,
        text=written.text,
        html=html,
        language=fields.language or UNSET,
        tables=tuple(table for table, _ in grids),
        parts=structs.replace(beside, left_out=_counted(written.left_out)),
    )
    return Extraction(
        summary=summary,
        evidence=evidence,
        title=decided.confidences["title"],
        content=_honest(content.confidence, evidence),
        tables=tuple(sure for _, sure in grids),
        selectors=content.attempts,
        titles=decided.title_attempts,
        fields=sure,
        apis=endpoints,
        markdown_link=offer,
    )


def _beside(page: Page, content: Content, fields: PageFields) -> tuple[tuple[ExtractedLink, ...], PageParts]:
    """Return the links of the content, and what the page says beside its words."""
    own, others = select.links(page, content)
    return tuple(own), PageParts(
        fields=fields,
        navigation=tuple(others),
        forms=select.forms(page),
        lists=tuple(select.record_lists(page, content)),
        structured=embedded(page).items(),
    )


def _honest(sure: Confidence, evidence: PageEvidence) -> Confidence:
    """Be next to unsure of words that stand in the place of a page: they may be read well, and are not its content."""
    thin = evidence.content_length < MIN_CONTENT_CHARS
    wall = evidence.challenge or evidence.error_page or evidence.consent_wall or (thin and evidence.login_form)
    if wall or (thin and evidence.incomplete):
        return confidence(sure.source, min(sure.score, WALL_SCORE))
    return sure


def _elsewhere(page: Page, shown: list[Block], evaluate: Evaluate) -> tuple[str, ...]:
    """Return the texts that stand in no block, where the blocks are so few that they may be needed."""
    words = sum(block.tokens for block in shown)
    if words >= MANY_WORDS:
        return ()
    data = embedded(page)
    return data.texts(evaluate(data.deferred) if words < FEW_WORDS else ())


def _fields(
    page: Page, claims: list[Claim], content: Content, decided: DecidedFields
) -> tuple[PageFields, Mapping[str, Confidence]]:
    """Add to what the sources say what the parts of the page show; gives how sure each is by its wire name."""
    way = select.pagination(page)
    shown = {
        "breadcrumb": select.breadcrumb(page),
        "feeds": select.feeds(page),
        "next": way.next,
        "previous": way.previous,
        "outline": select.outline(page, content),
    }
    sure = {name: each for name, each in decided.confidences.items() if name != "title"}
    sure |= {name: confidence(Source.SELECTOR_MATCH) for name, value in shown.items() if value}
    told = next((claim.value for claim in claims if claim.field is Field.LANGUAGE), "")
    spoken, spoken_sure = language(told, content.text or decided.title, page.url)
    if spoken:
        sure["language"] = spoken_sure
    named = {_WIRE_NAMES[name]: each for name, each in sure.items()}
    sold = product(page, claims)
    if sold is not None:
        named |= {f"product.{name}": each for name, each in sold[1].items()}
    fields = structs.replace(decided.fields, language=spoken, product=sold[0] if sold else UNSET, **shown)
    return fields, named


def _counted(left_out: LeftOut) -> dict[str, int]:
    counts = {"invisible texts": left_out.invisible_texts, "invisible characters": left_out.invisible_characters}
    return {kind: count for kind, count in counts.items() if count}
