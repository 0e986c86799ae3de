"""Takes title, content, links and tables out of a page, each with how it was come by."""

from __future__ import annotations

import re
from collections.abc import Iterator
from copy import deepcopy
from datetime import datetime
from urllib.parse import urlsplit

from lxml import etree
from lxml.html import HtmlElement
from lxml_html_clean import Cleaner
from msgspec import UNSET, UnsetType

from actors.fetchers.extract import content, dom, evidence, other, title
from actors.fetchers.extract.charset import decode
from actors.fetchers.extract.content import Content
from actors.fetchers.extract.extraction import Extraction, clean, one_line
from actors.fetchers.extract.tables import tables
from protocol.documents import ExtractedLink, WebObservationSummary

_MAX_LINKS = 200
_MAX_LINK_CHARS = 2_048
_MAX_WORDS_CHARS = 200
_LANGUAGE = re.compile(r"^\s*([A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8}){0,3})\b")
_SANITISED_TAGS = frozenset(
    {"html", "body", "div", "span", "p", "br", "hr", "h1", "h2", "h3", "h4", "h5", "h6", "main", "article", "section"}
    | {"header", "footer", "nav", "aside", "figure", "figcaption", "details", "summary", "blockquote", "pre", "code"}
    | {"ul", "ol", "li", "dl", "dt", "dd", "table", "caption", "thead", "tbody", "tfoot", "tr", "th", "td", "a", "img"}
    | {"em", "strong", "b", "i", "u", "s", "sub", "sup", "small", "mark", "q", "cite", "abbr", "time", "kbd", "samp"}
    | {"del", "ins", "address"}
)
_SANITISED_ATTRIBUTES = frozenset({"href", "src", "alt", "title", "lang", "dir", "colspan", "rowspan", "datetime"})
_LINK_SCHEMES = frozenset({"http", "https", "mailto", "tel", ""})


def extract(
    body: bytes, content_type: str, url: str, *, include_html: bool = False, captured_at: datetime | None = None
) -> Extraction:
    """Extract from what a site sent, in whatever type it came; `url` is the last one of the redirects.

    Raises:
        FaultError: CONTENT_UNSUPPORTED_TYPE for what has no text.
    """
    kind = other.kind_of(body, content_type)
    text, _ = decode(body, content_type)
    if kind != "html":
        return other.extract(kind, clean(text), url, captured_at)
    return extract_html(text, url, include_html=include_html, captured_at=captured_at)


def extract_html(
    source: str, url: str, *, include_html: bool = False, captured_at: datetime | None = None
) -> Extraction:
    """Extract from HTML, as a site sent it or as a browser shows it."""
    root = dom.parse(source)
    declared = _language(root)
    html = sanitised(root) if include_html else UNSET
    dom.show(root, url)
    name = title.choose(root, url)
    found = content.choose(root, url)
    seen = evidence.observe(root, source, len(found.text))
    read, sure = tables(found.element)
    summary = WebObservationSummary(
        url=url,
        title=name.text,
        markdown=found.markdown,
        captured_at=captured_at or UNSET,
        extracted_links=tuple(_links(found)),
        signals=evidence.signals(root, seen, found.text),
        text=found.text,
        html=html,
        language=declared,
        tables=read,
    )
    return Extraction(
        summary=summary,
        evidence=seen,
        title=name.confidence,
        content=found.confidence,
        tables=sure,
        selectors=found.attempts,
        titles=name.attempts,
    )


def sanitised(root: HtmlElement) -> str:
    """Write a tree as HTML that runs nothing: listed elements and attributes only, links of harmless schemes only."""
    tree = deepcopy(root)
    _CLEANER(tree)
    for element in tree.iter():
        for name in ("href", "src"):
            link = element.get(name)
            if link is not None and not (link and _harmless(link)):
                del element.attrib[name]
    return clean(etree.tostring(tree, encoding="unicode", method="html"))


_CLEANER = Cleaner(
    allow_tags=_SANITISED_TAGS,
    remove_unknown_tags=False,
    safe_attrs_only=True,
    safe_attrs=_SANITISED_ATTRIBUTES,
    kill_tags={"noscript", "template", "svg", "math", "title", "textarea", "select", "iframe", "object", "embed"},
    page_structure=False,
)


def _harmless(href: str) -> bool:
    # As a browser does it: controls and white space do not count.
    compact = re.sub(r"[\x00-\x20\x7f-\x9f]", "", href)
    try:
        return urlsplit(compact).scheme.lower() in _LINK_SCHEMES
    except ValueError:
        return False


def _links(found: Content) -> Iterator[ExtractedLink]:
    seen: set[str] = set()
    contexts: dict[HtmlElement, str] = {}
    for link in found.element.iter("a"):
        href = link.get("href") or ""
        words = one_line(dom.text_of(link), _MAX_WORDS_CHARS)
        if href in seen or not words or len(href) > _MAX_LINK_CHARS or not href.startswith(("http://", "https://")):
            continue
        seen.add(href)
        parent = link.getparent()
        if parent is not None and parent not in contexts:
            contexts[parent] = one_line(dom.text_of(parent), _MAX_WORDS_CHARS)
        context = contexts[parent] if parent is not None else ""
        yield ExtractedLink(url=href, text=words, context=context if context != words else "")
        if len(seen) == _MAX_LINKS:
            return


def _language(root: HtmlElement) -> str | UnsetType:
    metas = (meta for meta in root.iter("meta") if (meta.get("http-equiv") or "").lower() == "content-language")
    candidates = (root.get("lang"), root.get("xml:lang"), *(meta.get("content") for meta in metas))
    matches = (_LANGUAGE.match(candidate) for candidate in candidates if candidate)
    return next((match[1] for match in matches if match), UNSET)
