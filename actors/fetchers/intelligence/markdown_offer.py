"""Judges the Markdown that sites offer of their pages: when it is wanted, where it is, and whether it is better."""

from __future__ import annotations

import dataclasses
import re
from http import HTTPStatus
from urllib.parse import urljoin, urlsplit

from msgspec import structs

from actors.extraction.extraction import Extraction
from actors.extraction.parse.addresses import absolute
from actors.extraction.parse.formats.kinds import BodyKind, kind_of
from actors.extraction.select.links import MARKDOWN_TYPES, same_origin
from protocol.browse import MIN_CONTENT_CHARS
from protocol.faults import FaultError

ACCEPT = (
    "text/markdown,text/html;q=0.9,application/xhtml+xml;q=0.9,application/xml;q=0.8,application/json;q=0.8,*/*;q=0.7"
)
"""What is asked for where Markdown is welcome: a site that has it says so, all others send what they always do."""

POOR_SCORE = 0.5
"""Below this score of its content a page is worth a look at what else the site offers."""

LIST = "/llms.txt"
_LINK = re.compile(r"<([^<>]{1,2000})>((?:\s*;[^,<]{0,300}){0,8})")
_LISTED = re.compile(r"\]\(<?([^()\s<>]{1,2000})>?\)")
_INDEX = re.compile(r"(?:/index)?(?:\.html?)?(?:\.md|\.markdown)?/?$", re.IGNORECASE)
_IN_MARKDOWN = re.compile(r"\.(?:md|markdown)$", re.IGNORECASE)


def wanted(found: Extraction, status: int, content_type: str) -> bool:
    """Return whether a page was read so poorly that its Markdown would help; walls and errors are what they are."""
    evidence = found.evidence
    if status != HTTPStatus.OK or not evidence.markup or "html" not in content_type.lower():
        return False
    if evidence.challenge or evidence.error_page or evidence.consent_wall or evidence.login_form:
        return False
    thin = evidence.content_length < MIN_CONTENT_CHARS and bool(evidence.scripts)
    return bool(evidence.incomplete) or thin or found.content.score < POOR_SCORE


def linked(found: Extraction, header: str | None, url: str) -> str:
    """Return the address that the page, or the header Link of its answer (RFC 8288), offers as its Markdown."""
    if found.markdown_link:
        return found.markdown_link
    for link in _LINK.finditer(header or ""):
        about = link[2].lower().replace('"', "").replace(" ", "")
        target = absolute(url, link[1])
        if (
            "rel=alternate" in about
            and any(f"type={kind}" in about for kind in MARKDOWN_TYPES)
            and same_origin(target, url)
        ):
            return target
    return ""


def list_of(url: str) -> str:
    """Return the address at which a site lists what it has for models (llmstxt.org)."""
    return urljoin(url, LIST)


def listed(text: str, base: str, url: str) -> str:
    """Return the address under which a list has a page in Markdown; "" where it has not."""
    for target in _LISTED.findall(text):
        address = absolute(base, target)
        if _IN_MARKDOWN.search(urlsplit(address).path) and same_origin(address, url) and _page(address) == _page(url):
            return address
    return ""


def is_markdown(body: bytes, content_type: str) -> bool:
    """Return whether an answer is Markdown, or at least a text that says nothing else."""
    try:
        return (
            kind_of(body, content_type) in (BodyKind.MARKDOWN, BodyKind.TEXT) and b"<html" not in body[:1_024].lower()
        )
    except FaultError:
        return False


def better(page: Extraction, offer: Extraction) -> Extraction:
    """Return the page with the content of its Markdown, where that says more; what the page says of itself stays."""
    if offer.evidence.content_length <= page.evidence.content_length:
        return page
    own, other = page.summary, offer.summary
    surer = page if page.title.score >= offer.title.score else offer
    fields = structs.replace(own.parts.fields, outline=other.parts.fields.outline)
    summary = structs.replace(
        own,
        title=surer.summary.title,
        markdown=other.markdown,
        text=other.text,
        extracted_links=other.extracted_links,
        tables=other.tables,
        parts=structs.replace(own.parts, fields=fields, lists=(), left_out=other.parts.left_out),
    )
    evidence = structs.replace(page.evidence, content_length=offer.evidence.content_length, markup=False, incomplete=())
    return dataclasses.replace(
        page,
        summary=summary,
        evidence=evidence,
        title=surer.title,
        content=offer.content,
        tables=offer.tables,
        selectors=(*(structs.replace(each, selected=False) for each in page.selectors), *offer.selectors),
    )


def _page(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return _INDEX.sub("", parts.path), parts.query
