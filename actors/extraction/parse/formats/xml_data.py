"""Reads XML: feeds and site maps as what they are, everything else as it stands; JSON feeds are written here, too."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import datetime
from email.utils import parsedate_to_datetime
from html import escape, unescape
from itertools import islice

from msgspec import Struct
from turbohtml import Element, HTMLParseError, Text, parse_fragment, parse_xml

from actors.extraction.parse.addresses import absolute
from actors.extraction.parse.formats.document import MAX_TITLE_CHARS, MAX_WORDS_CHARS, ParsedDocument, fenced
from actors.extraction.parse.text import one_line
from protocol import render
from protocol.confidence import Source
from protocol.documents import ExtractedLink
from protocol.page import PageFields

_MAX_LINKS = 1_000
_MAX_ELEMENTS = 2_000
_REFERENCE = re.compile(r"&(?!(?:amp|lt|gt|quot|apos|#\d{1,7}|#x[0-9a-fA-F]{1,6});)(?:(\w{2,31});)?")
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_HTML_NAMES = frozenset(
    {"nbsp", "copy", "reg", "trade", "hellip", "mdash", "ndash", "lsquo", "rsquo", "ldquo", "rdquo", "laquo", "raquo"}
    | {"euro", "pound", "middot", "bull", "times", "deg", "auml", "ouml", "uuml", "Auml", "Ouml", "Uuml", "szlig"}
    | {"eacute", "egrave", "ecirc", "agrave", "acirc", "ccedil", "ntilde", "oacute", "iacute", "aacute", "uacute"}
)
_PROLOGUE_CHARS = 10_000

MAX_ENTRIES = 200
_MAX_SUMMARY_CHARS = 1_000
_MAX_SUMMARY_MARKDOWN = 2_000
_MAX_MARKUP_CHARS = 20_000
_MAX_LINK_CHARS = 2_048
_UNSEEN = "script, style, template, iframe, object"
_TAG = re.compile("<[a-zA-Z/!]")
_ESCAPED_TWICE = re.compile(r"\s*&lt;([a-z][a-z0-9]{0,9})\b.*&lt;/\1&gt;", re.DOTALL | re.IGNORECASE)
_PREFIX = re.compile(r"(</?)[\w.-]+:")
_HEADING = re.compile(r"(</?h)([1-4])\b", re.IGNORECASE)
_FENCE = "```"

WriteMarkup = Callable[[str, str], str]
"""Writes a piece of HTML as Markdown; its second argument is the address of the page that it stands on."""


def plain_markup(markup: str, _base: str) -> str:
    """Write the words of a piece of HTML as a paragraph."""
    words = one_line(markup_words(markup), _MAX_SUMMARY_CHARS)
    return render.to_markdown(render.Doc(children=(render.Paragraph(children=(render.Text(text=words),)),)))


def read(text: str, url: str, write: WriteMarkup = plain_markup) -> ParsedDocument | None:
    """Read XML; None where it is none, even when mended. No entity is ever expanded, and nothing is loaded.

    `write` writes the summaries of a feed.
    """
    root = parsed(text)
    if root is None:
        return None
    match local(root):
        case "rss" | "feed" | "RDF":
            return feed_document(_feed(root), url, write)
        case "urlset" | "sitemapindex":
            return _site_map(root, text)
        case _:
            return _plain(root, text)


def parsed(text: str) -> Element | None:
    """Parse XML, mended where it is broken in the common ways; no entity is expanded."""
    try:
        return parse_xml(text).root
    except HTMLParseError:
        pass
    try:
        return parse_xml(_mended(text)).root
    except HTMLParseError:
        return None


def child(parent: Element, *names: str) -> str:
    """Return the words of the first child of one of those names that has any."""
    children = [child for child in parent.children if isinstance(child, Element)]
    for name in names:
        for child in children:
            if local(child) == name and (text := text_of(child).strip()):
                return text
    return ""


def text_of(element: Element) -> str:
    """Return the words of an element with CDATA, which `text` leaves out; markup of XHTML is kept as words."""
    return "".join(
        node.data if isinstance(node, Text) else getattr(node, "data", "")
        for node in element.descendants
        if not isinstance(node, Element)
    )


def local(element: Element) -> str:
    """Return the name of an element without its prefix."""
    return element.tag.rpartition(":")[2]


def elements(text: str) -> Iterator[tuple[str, str]]:
    """Return the elements of XML: the name of each without its prefix, and its words; none of what is broken."""
    root = parsed(text)
    if root is not None:
        for element in islice(root.iter_elements(), _MAX_ELEMENTS):
            yield local(element), text_of(element)


class FeedEntry(Struct, frozen=True, kw_only=True):
    """One entry, as the feed writes it; title and summary may hold HTML."""

    title: str = ""
    link: str = ""
    summary: str = ""
    published: str = ""
    author: str = ""


class Feed(Struct, frozen=True, kw_only=True):
    """A feed, as it is written."""

    title: str = ""
    description: str = ""
    language: str = ""
    link: str = ""
    entries: tuple[FeedEntry, ...] = ()


def feed_document(feed: Feed, url: str, write: WriteMarkup = plain_markup) -> ParsedDocument:
    """Return a feed the shape of a page, summaries as `write` writes them; its newest date is when it was modified."""
    title = one_line(feed.title, MAX_TITLE_CHARS)
    links = dict.fromkeys(link for entry in feed.entries if (link := _entry_link(entry, url)))
    dates = [date for entry in feed.entries if (date := iso_date(entry.published))]
    return ParsedDocument(
        markdown="\n\n".join(part for entry in feed.entries for part in _entry_parts(entry, url, write)),
        text="\n".join(line for entry in feed.entries for line in (_entry_name(entry), _entry_summary(entry)) if line),
        source=Source.STRUCTURED_DATA,
        title=title,
        links=tuple(links),
        fields=PageFields(
            description=one_line(markup_words(feed.description), _MAX_SUMMARY_CHARS),
            language=feed.language.strip(),
            modified=max(dates, default=""),
            site_name=title,
        ),
    )


def markup_words(markup: str) -> str:
    """Return the words of a text that may hold HTML."""
    if "<" not in markup and "&" not in markup:
        return markup
    fragment = parse_fragment(markup[:_MAX_MARKUP_CHARS], positions=False)
    return fragment.remove(_UNSEEN).to_text()


def iso_date(value: str) -> str:
    """Read a date of a feed, of RFC 822 or ISO 8601, as ISO 8601; "" for none."""
    value = value.strip()[:64]
    try:
        return datetime.fromisoformat(value).isoformat()
    except ValueError:
        pass
    try:
        return parsedate_to_datetime(value).isoformat()
    except (ValueError, IndexError, TypeError):
        return ""


def _mended(text: str) -> str:
    """Undo what makes most broken feeds broken: names of HTML, bare ampersands, controls, a missing end."""
    text = _FORBIDDEN.sub("", _undeclared(text).lstrip("\ufeff \t\r\n"))
    text = _REFERENCE.sub(_meant, text)
    for entry, closing in (("</item>", "</channel></rss>"), ("</entry>", "</feed>")):
        if entry in text and not text.rstrip().endswith(closing[-6:]):
            return text[: text.rindex(entry) + len(entry)] + closing
    return text


def _undeclared(text: str) -> str:
    """Take the document type declaration out, with the entities that it declares."""
    start = text.find("<!DOCTYPE", 0, _PROLOGUE_CHARS)
    if start < 0:
        return text
    end, inner = text.find(">", start), text.find("[", start)
    if 0 <= inner < end:
        end = text.find(">", text.find("]", inner))
    return text[:start] + text[end + 1 :] if end > 0 else text


def _meant(reference: re.Match[str]) -> str:
    return unescape(reference[0]) if reference[1] in _HTML_NAMES else f"&amp;{reference[0][1:]}"


def _feed(root: Element) -> Feed:
    about = next((element for element in root.iter_elements() if local(element) == "channel"), root)
    entries = (element for element in root.iter_elements() if local(element) in ("item", "entry"))
    return Feed(
        title=child(about, "title"),
        description=child(about, "description", "subtitle", "tagline"),
        language=child(about, "language") or root.attr("xml:lang") or "",
        link=_href(about),
        entries=tuple(_entry(element) for element in islice(entries, MAX_ENTRIES)),
    )


def _entry(element: Element) -> FeedEntry:
    author = next(
        (child for child in element.children if isinstance(child, Element) and local(child) == "author"), None
    )
    return FeedEntry(
        title=_markup(element, "title"),
        link=_href(element),
        summary=_markup(element, "description", "summary", "encoded", "content"),
        published=child(element, "pubDate", "published", "date", "issued", "updated", "modified"),
        author=child(element, "creator") or (author is not None and child(author, "name")) or child(element, "author"),
    )


def _markup(parent: Element, *names: str) -> str:
    """Return what the first child of one of those names holds, as HTML; Atom says where that are words or elements."""
    children = [child for child in parent.children if isinstance(child, Element)]
    for name in names:
        for child in children:
            if local(child) == name and (text := text_of(child).strip()):
                return _as_html(child, text)
    return ""


def _as_html(element: Element, text: str) -> str:
    if any(isinstance(child, Element) for child in element.children):
        return _PREFIX.sub(r"\1", element.inner_html)
    if element.attr("type") in ("text", "text/plain"):
        return escape(text, quote=False)
    return unescape(text) if not _TAG.search(text) and _ESCAPED_TWICE.match(text) else text


def _href(element: Element) -> str:
    links = [child for child in element.children if isinstance(child, Element) and local(child) == "link"]
    for link in links:
        if link.attr("rel", "alternate") == "alternate" and (href := (link.attr("href") or text_of(link)).strip()):
            return href
    guid = child(element, "guid")
    return guid if guid.startswith(("http://", "https://")) else ""


def _site_map(root: Element, text: str) -> ParsedDocument:
    places = (text_of(element).strip() for element in root.iter_elements() if local(element) == "loc")
    links = tuple(
        ExtractedLink(url=place, text=place) for place in islice(places, _MAX_LINKS) if place.startswith("http")
    )
    markdown = "\n".join(f"- <{link.url}>" for link in links if not set(link.url) & set("<> \n"))
    words = "\n".join(link.url for link in links)
    count = text.count("<loc>")
    more = f"\n\n*({count:,} addresses; the first {len(links):,} are shown)*" if count > len(links) else ""
    return ParsedDocument(markdown=markdown + more, text=words, source=Source.STRUCTURED_DATA, links=links)


def _plain(root: Element, text: str) -> ParsedDocument:
    markdown, left_out = fenced(text.strip(), "xml")
    title = next((text_of(element) for element in root.iter_elements() if local(element) == "title"), "")
    return ParsedDocument(
        markdown=markdown,
        text=text.strip()[: max(len(text.strip()) - left_out, 0)],
        source=Source.STRUCTURED_DATA,
        title=one_line(title, MAX_TITLE_CHARS),
        left_out=left_out,
    )


def _entry_parts(entry: FeedEntry, url: str, write: WriteMarkup) -> Iterator[str]:
    label, link = render.Text(text=_entry_name(entry) or "Untitled"), _entry_link(entry, url)
    head: list[render.Block] = [
        render.Heading(level=2, children=(render.Link(href=link.url, children=(label,)) if link else label,))
    ]
    byline = ", ".join(filter(None, (one_line(entry.author, MAX_WORDS_CHARS), iso_date(entry.published))))
    if byline:
        head.append(render.Paragraph(children=(render.Text(text=byline),)))
    yield render.to_markdown(render.Doc(children=tuple(head))).strip()
    base = link.url if link else url
    below = _HEADING.sub(lambda heading: f"{heading[1]}{int(heading[2]) + 2}", entry.summary[:_MAX_MARKUP_CHARS])
    if summary := write(below, base).strip():
        yield _shortened(summary) or plain_markup(entry.summary, base).strip()


def _shortened(markdown: str) -> str:
    """Return the first blocks of Markdown, as many as there is room for; none where one is cut within code."""
    if len(markdown) <= _MAX_SUMMARY_MARKDOWN:
        return markdown
    kept, _, _ = markdown[:_MAX_SUMMARY_MARKDOWN].rpartition("\n\n")
    return "" if kept.count(_FENCE) % 2 else kept


def _entry_name(entry: FeedEntry) -> str:
    return one_line(markup_words(entry.title), MAX_TITLE_CHARS)


def _entry_summary(entry: FeedEntry) -> str:
    return one_line(markup_words(entry.summary), _MAX_SUMMARY_CHARS)


def _entry_link(entry: FeedEntry, url: str) -> ExtractedLink | None:
    href = absolute(url, entry.link) if entry.link.strip() else ""
    if not href.startswith(("http://", "https://")) or len(href) > _MAX_LINK_CHARS:
        return None
    return ExtractedLink(url=href, text=_entry_name(entry) or href, context=_entry_summary(entry)[:MAX_WORDS_CHARS])
