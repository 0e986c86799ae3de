"""Reads a PDF as a document: its text as Markdown in reading order, its tables, and what it says of itself."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from datetime import timezone as offset_zone
from typing import NamedTuple

from msgspec import UNSET

from actors.extraction.parse.formats.document import (
    MAX_CHARS,
    MAX_TITLE_CHARS,
    MAX_WORDS_CHARS,
    Clock,
    ParsedDocument,
    table_markdown,
    table_of,
)
from actors.extraction.parse.formats.pdf_layout import (
    Block,
    HeadingBlock,
    ItemBlock,
    PageLines,
    ParagraphBlock,
    Piece,
    ProgramBlock,
    TableBlock,
    document_layout,
)
from actors.extraction.parse.formats.pdf_lines import (
    SOFT_HYPHEN,
    Glyph,
    PdfPage,
    Rectangle,
    cell_texts,
    ruled_tables,
    text_lines,
    visible_glyphs,
)
from actors.extraction.parse.formats.pdf_pages import PdfDocument, opened
from actors.extraction.parse.text import clean, one_line
from protocol import render
from protocol.actions import Action
from protocol.confidence import Confidence, Source, confidence
from protocol.documents import ExtractedLink, ExtractedTable, Signal
from protocol.faults import Code, FaultError, fault
from protocol.page import Heading, PageFields

MAX_PAGES = 500
MAX_SECONDS = 4.0
"""What reading may take of a processor: what is beyond is left out, and counted."""

_MAX_LINKS = 200
_MAX_TABLES = 100
_MAX_OUTLINE = 500
_MAX_AUTHORS = 20
_MEANINGLESS_SHARE = 0.3
"""Where so many characters have no meaning in Unicode, the words are none."""

_RULED_SCORE = 0.75
_UNRULED_SCORE = 0.5
_TITLE_SCORE = 0.6
_CONFIRMED_TITLE_SCORE = 0.85
"""How sure a title is: a declared one or the first heading, and a declared one that the first page shows."""

_RECOGNISE = Action(
    action="recognise_text",
    description="Have the text of the pictures recognised (OCR), or find a version of the document that has text.",
)
_DATE = re.compile(r"D?:?(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?(?:(Z)|([+-])(\d\d)'?(\d\d)?)?")
_LEAST = (0, 1, 1, 0, 0, 0)
_FIRST_YEAR, _LAST_YEAR = 1990, 2099
_NO_TITLE = re.compile(
    r"untitled|unbenannt|sans titre|microsoft (?:word|powerpoint|excel) - .*|document\d*|"
    r"(?:powerpoint )?presentation\d*|(?:file|https?|about):.*|"
    r"\S+\.(?:docx?|pptx?|xlsx?|odt|tex|dvi|indd|pdf|qxd|rtf|html?)",
    re.IGNORECASE,
)
_NO_AUTHOR = re.compile(
    r"administrator|admin|user|users?\d*|root|owner|unknown|author|anonymous|default|microsoft.*|\W*", re.IGNORECASE
)
_BETWEEN_AUTHORS = re.compile(r"\s*(?:;|\||,? and |, (?=\w+\.? \w))\s*")


@dataclass
class _Pages:
    """The pages that were read, and counts of what was not: of pages and of characters."""

    layouts: list[PageLines] = field(default_factory=list[PageLines])
    links: dict[str, ExtractedLink] = field(default_factory=dict[str, ExtractedLink])
    invisible: int = 0
    without_text: int = 0
    broken: int = 0
    unread: int = 0
    meaningless: int = 0
    characters: int = 0


class _Title(NamedTuple):
    """A title, how sure it is, and whether the document itself declares it."""

    text: str
    score: float
    declared: bool


def read(body: bytes, clock: Clock) -> ParsedDocument:
    """Read a PDF, as many of its pages as the time allows.

    Raises:
        FaultError: CONTENT_UNSUPPORTED_TYPE where it is locked, was scanned, or is damaged: no tier reads it.
    """
    with opened(body) as document:
        count = len(document)
        pages = _read_pages(document, clock)
        info, language = document.info(), document.language()
    if pages.characters == 0 or pages.meaningless > _MEANINGLESS_SHARE * pages.characters:
        raise FaultError(fault(Code.CONTENT_UNSUPPORTED_TYPE, _why_empty(count, pages), actions=(_RECOGNISE,)))
    return _parsed(pages, count, info, language)


def iso_day(value: str) -> str:
    """Read a date of ISO 32000-1 §7.9.4 as ISO 8601; "" for none."""
    match = _DATE.match(value.strip())
    if match is None or not _FIRST_YEAR <= int(match[1]) <= _LAST_YEAR:
        return ""
    year, month, date, hour, minute, second = (
        int(part or least) for part, least in zip(match.groups()[:6], _LEAST, strict=True)
    )
    try:
        return datetime(year, month, date, hour, minute, second, tzinfo=_zone(match)).isoformat()
    except ValueError:
        return ""


def _zone(date: re.Match[str]) -> tzinfo | None:
    if date[7]:
        return UTC
    if not date[8]:
        return None
    offset = timedelta(hours=int(date[9]), minutes=int(date[10] or 0))
    return offset_zone(offset if date[8] == "+" else -offset)


def _read_pages(document: PdfDocument, clock: Clock) -> _Pages:
    pages = _Pages()
    until = clock() + MAX_SECONDS
    for index in range(len(document)):
        if index and (index >= MAX_PAGES or pages.characters > MAX_CHARS or clock() > until):
            pages.unread = len(document) - index
            break
        page = document.page(index)
        if page is None:
            pages.broken += 1
            continue
        _add(pages, page)
    return pages


def _add(pages: _Pages, page: PdfPage) -> None:
    visible = visible_glyphs(page)
    characters = [glyph.text for glyph in visible.glyphs if glyph.box is not None and not glyph.text.isspace()]
    pages.characters += len(characters)
    pages.meaningless += sum(map(_is_meaningless, characters))
    pages.invisible += visible.invisible
    pages.without_text += not characters
    marks = [box for box in page.dark if max(box.width, box.height) < page.height / 40]
    pages.layouts.append(PageLines(_pieces(page, visible.glyphs), page.height, marks))
    for box, address in page.links:
        if len(pages.links) < _MAX_LINKS and address.startswith(("http://", "https://")):
            words = _words_under(box, visible.glyphs)
            pages.links.setdefault(address, ExtractedLink(url=address, text=words or address))


def _is_meaningless(character: str) -> bool:
    return character == "\ufffd" or "\ue000" <= character <= "\uf8ff" or character < " "


def _pieces(page: PdfPage, glyphs: Sequence[Glyph]) -> tuple[Piece, ...]:
    """Return the lines of a page, and each table in the place of its first word."""
    filled = [(table.box, cell_texts(table, glyphs)) for table in ruled_tables(page.lines)]
    tables = [(box, rows) for box, rows in filled if rows]
    if not tables:
        return tuple(text_lines(glyphs))
    pieces: list[Piece] = []
    waiting = dict(enumerate(tables))
    run: list[Glyph] = []
    for glyph in glyphs:
        place = next((index for index, (box, _) in enumerate(tables) if _stands_in(box, glyph)), None)
        if place is None:
            run.append(glyph)
        elif place in waiting:
            pieces += text_lines(run)
            run = []
            pieces.append(TableBlock(waiting.pop(place)[1], ruled=True))
    return (*pieces, *text_lines(run))


def _stands_in(box: Rectangle, glyph: Glyph) -> bool:
    return glyph.box is not None and box.holds(glyph.box)


def _words_under(box: Rectangle, glyphs: Sequence[Glyph]) -> str:
    """Return the words that a link lies over; a space that the PDF leaves out between words is one here."""
    text = ""
    for glyph in glyphs:
        if _stands_in(box, glyph):
            text += glyph.text
        elif glyph.box is None and text and not text.endswith(" "):
            text += " "
    return one_line(text, MAX_WORDS_CHARS)


def _why_empty(count: int, pages: _Pages) -> str:
    read_pages = count - pages.unread
    those = "The page of the PDF has" if read_pages == 1 else f"The {read_pages} pages of the PDF have"
    if pages.characters:
        return f"{those} letters, but it does not say which ones they are."
    if pages.broken == read_pages:
        return "No page of the PDF can be read: it is damaged."
    return f"{those} no text: only pictures, as of a scan."


def _parsed(pages: _Pages, count: int, info: Mapping[str, str], language: str) -> ParsedDocument:
    layout = document_layout(pages.layouts)
    headings = [block for block in layout.blocks if isinstance(block, HeadingBlock)]
    opening = " ".join(_plain(block) for block in layout.blocks[:40])
    title = _title(info["Title"], headings[0].text if headings else "", opening)
    blocks = _without_title(layout.blocks, title.text if title else "")
    tables = [block for block in blocks if isinstance(block, TableBlock)][:_MAX_TABLES]
    fields, scores = _fields(info, count, headings)
    more = f"\n\n*({pages.unread:,} more pages)*" if pages.unread else ""
    return ParsedDocument(
        markdown=clean("\n\n".join(_markdown(blocks))) + more,
        text=clean("\n\n".join(filter(None, map(_plain, blocks)))),
        source=Source.SELECTOR_MATCH,
        title=title.text if title else "",
        title_source=Source.META_TAGS if title and title.declared else Source.HEURISTIC,
        title_score=title.score if title else None,
        tables=tuple(map(_table, tables)),
        tables_sure=tuple(map(_table_confidence, tables)),
        links=tuple(pages.links.values()),
        fields=fields,
        sure=scores,
        declared_language=language,
        signals=(Signal.NON_TEXT_CONTENT,) if pages.without_text else (),
        kept_back={
            "pages": pages.unread,
            "pages that cannot be read": pages.broken,
            "pages without text": pages.without_text,
            "lines that every page repeats": layout.repeated,
            "invisible characters": pages.invisible,
        },
    )


def _title(declared: str, heading: str, opening: str) -> _Title | None:
    """Choose between the title that the document declares and its first heading.

    `opening` is what its first page says: a title that stands there is its title.
    """
    line = one_line(declared, MAX_TITLE_CHARS)
    if line and not _NO_TITLE.fullmatch(line):
        confirmed = _letters(line) in _letters(opening)
        return _Title(line, _CONFIRMED_TITLE_SCORE if confirmed else _TITLE_SCORE, declared=True)
    shown = one_line(heading, MAX_TITLE_CHARS)
    return _Title(shown, _TITLE_SCORE, declared=False) if shown else None


def _letters(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalnum())


def _without_title(blocks: Sequence[Block], title: str) -> Sequence[Block]:
    """Leave the title out of the content where it is the first heading: it has a field of its own."""
    if blocks and isinstance(blocks[0], HeadingBlock) and blocks[0].text.casefold() == title.casefold():
        return blocks[1:] if len(blocks) > 1 else blocks
    return blocks


def _fields(
    info: Mapping[str, str], count: int, headings: Sequence[HeadingBlock]
) -> tuple[PageFields, Mapping[str, Confidence]]:
    created, changed = iso_day(info["CreationDate"]), iso_day(info["ModDate"])
    fields = PageFields(
        description=one_line(info["Subject"], 2 * MAX_TITLE_CHARS),
        authors=_authors(info["Author"]),
        published=created,
        modified=changed if changed != created else "",
        outline=tuple(
            Heading(level=min(heading.level, 6), text=one_line(heading.text, MAX_TITLE_CHARS))
            for heading in headings[:_MAX_OUTLINE]
        ),
        page_count=count or UNSET,
    )
    return fields, {
        "description": confidence(Source.META_TAGS),
        "authors": confidence(Source.META_TAGS),
        # The day on which the file was made is often, and not always, that of the publication.
        "published": confidence(Source.META_TAGS, 0.5),
        "modified": confidence(Source.META_TAGS, 0.6),
        "outline": confidence(Source.HEURISTIC),
        "pageCount": confidence(Source.STRUCTURED_DATA),
    }


def _authors(value: str) -> tuple[str, ...]:
    """Return the names of the authors, without those that programs put in."""
    parts = _BETWEEN_AUTHORS.split(value[: _MAX_AUTHORS * MAX_WORDS_CHARS])
    names = (one_line(name, MAX_WORDS_CHARS) for name in parts)
    return tuple(dict.fromkeys(name for name in names if not _NO_AUTHOR.fullmatch(name)))[:_MAX_AUTHORS]


def _markdown(blocks: Sequence[Block]) -> Iterator[str]:
    """Write blocks as Markdown; items that follow each other are one list."""
    items: list[ItemBlock] = []
    for block in blocks:
        if isinstance(block, ItemBlock) and (not items or items[0].ordered == block.ordered):
            items.append(block)
            continue
        yield from _list(items)
        items = []
        match block:
            case HeadingBlock():
                heading = render.Heading(level=min(block.level, 6), children=(render.Text(text=_shown(block.text)),))
                yield render.to_markdown(render.Doc(children=(heading,)))
            case ParagraphBlock():
                yield render.to_markdown(render.Doc(children=(_paragraph(block.text),)))
            case ItemBlock():
                items = [block]
            case ProgramBlock():
                yield render.to_markdown(render.Doc(children=(render.CodeBlock(text=_shown(block.text)),)))
            case TableBlock():
                yield table_markdown(_table(block))
    yield from _list(items)


def _list(items: Sequence[ItemBlock]) -> Iterator[str]:
    if items:
        listed = tuple(render.ListItem(children=(_paragraph(item.text),)) for item in items)
        yield render.to_markdown(render.Doc(children=(render.List(ordered=items[0].ordered, items=listed),)))


def _paragraph(text: str) -> render.Paragraph:
    return render.Paragraph(children=(render.Text(text=_shown(text)),))


def _plain(block: Block) -> str:
    """Write a block as text alone."""
    if isinstance(block, TableBlock):
        return _shown("\n".join("\t".join(row) for row in block.rows))
    return _shown(block.text)


def _table(block: TableBlock) -> ExtractedTable:
    """Return a table as data; its first row is its head."""
    return table_of([_shown(cell) for cell in block.rows[0]], [[*map(_shown, row)] for row in block.rows[1:]])


def _table_confidence(block: TableBlock) -> Confidence:
    if block.ruled:
        return confidence(Source.SELECTOR_MATCH, _RULED_SCORE)
    return confidence(Source.HEURISTIC, _UNRULED_SCORE)


def _shown(text: str) -> str:
    return text.replace(SOFT_HYPHEN, "-")
