"""Writes feeds of any kind: a heading, a link and a summary for every entry."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from email.utils import parsedate_to_datetime

from turbohtml import parse_fragment

from actors.extraction.parse.addresses import absolute
from actors.extraction.parse.formats.document import MAX_TITLE_CHARS, MAX_WORDS_CHARS, ParsedDocument
from actors.extraction.parse.text import one_line
from protocol.confidence import Source
from protocol.documents import ExtractedLink
from protocol.page import PageFields
from protocol.render import Block, Doc, Heading, Link, Paragraph, Text, to_markdown

MAX_ENTRIES = 200
_MAX_SUMMARY_CHARS = 1_000
_MAX_MARKUP_CHARS = 20_000
_MAX_LINK_CHARS = 2_048
_UNSEEN = "script, style, template, iframe, object"


@dataclass(frozen=True, kw_only=True)
class FeedEntry:
    """One entry, as the feed writes it."""

    title: str = ""
    link: str = ""
    summary: str = ""
    published: str = ""
    author: str = ""


@dataclass(frozen=True, kw_only=True)
class Feed:
    """A feed, as it is written."""

    title: str = ""
    description: str = ""
    language: str = ""
    link: str = ""
    entries: tuple[FeedEntry, ...] = ()


def feed_document(feed: Feed, url: str) -> ParsedDocument:
    """Return a feed the shape of a page; its newest date is when it was modified."""
    title = one_line(feed.title, MAX_TITLE_CHARS)
    links = dict.fromkeys(link for entry in feed.entries if (link := _entry_link(entry, url)))
    dates = [date for entry in feed.entries if (date := iso_date(entry.published))]
    return ParsedDocument(
        markdown=to_markdown(
            Doc(children=tuple(block for entry in feed.entries for block in _entry_blocks(entry, url)))
        ),
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


def _entry_blocks(entry: FeedEntry, url: str) -> Iterator[Block]:
    label, link = Text(text=_entry_name(entry) or "Untitled"), _entry_link(entry, url)
    yield Heading(level=2, children=(Link(href=link.url, children=(label,)) if link else label,))
    byline = ", ".join(filter(None, (one_line(entry.author, MAX_WORDS_CHARS), iso_date(entry.published))))
    if byline:
        yield Paragraph(children=(Text(text=byline),))
    if summary := _entry_summary(entry):
        yield Paragraph(children=(Text(text=summary),))


def _entry_name(entry: FeedEntry) -> str:
    return one_line(markup_words(entry.title), MAX_TITLE_CHARS)


def _entry_summary(entry: FeedEntry) -> str:
    return one_line(markup_words(entry.summary), _MAX_SUMMARY_CHARS)


def _entry_link(entry: FeedEntry, url: str) -> ExtractedLink | None:
    href = absolute(url, entry.link) if entry.link.strip() else ""
    if not href.startswith(("http://", "https://")) or len(href) > _MAX_LINK_CHARS:
        return None
    return ExtractedLink(url=href, text=_entry_name(entry) or href, context=_entry_summary(entry)[:MAX_WORDS_CHARS])
