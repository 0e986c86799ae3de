"""Reads a PDF as a page: its text as Markdown in reading order, its tables, and what it says of itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from msgspec import UNSET

from actors.extraction.parse.formats.document import MAX_CHARS, MAX_TITLE_CHARS, MAX_WORDS_CHARS, Clock, ParsedDocument
from actors.extraction.parse.formats.pdf import info, ruled
from actors.extraction.parse.formats.pdf.glyphs import Box, Glyph, Leaf
from actors.extraction.parse.formats.pdf.layout import Block, Heading, Piece, Sheet, Table, layout
from actors.extraction.parse.formats.pdf.lines import lines, seen
from actors.extraction.parse.formats.pdf.pdfium import Document, opened
from actors.extraction.parse.formats.pdf.writing import plain, table, written
from actors.extraction.parse.text import clean, one_line
from protocol import page
from protocol.confidence import Confidence, Source, confidence
from protocol.documents import ExtractedLink, Signal
from protocol.faults import Action, Code, FaultError, fault

MAX_PAGES = 500
MAX_SECONDS = 4.0
"""What reading may take of a processor: what is beyond is left out, and told."""

_MAX_LINKS = 200
_MAX_TABLES = 100
_MAX_OUTLINE = 500
_MEANINGLESS_SHARE = 0.3
"""Where so many characters have no meaning in Unicode, the words are none."""

_RULED_SCORE = 0.75
_UNRULED_SCORE = 0.5

_RECOGNISE = Action(
    action="recognise_text",
    description="Have the text of the pictures recognised (OCR), or find a version of the document that has text.",
)


@dataclass
class _Pages:
    """What was seen of the pages."""

    sheets: list[Sheet] = field(default_factory=list[Sheet])
    links: dict[str, ExtractedLink] = field(default_factory=dict[str, ExtractedLink])
    invisible: int = 0
    silent: int = 0
    broken: int = 0
    unread: int = 0
    meaningless: int = 0
    characters: int = 0


def read(body: bytes, clock: Clock) -> ParsedDocument:
    """Read a PDF, as many of its pages as the time allows.

    Raises:
        FaultError: CONTENT_UNSUPPORTED_TYPE where it is locked, was scanned, or is damaged: no tier reads it.
    """
    with opened(body) as document:
        count = len(document)
        pages = _pages(document, clock)
        told, spoken = document.info(), document.language()
    if pages.characters == 0 or pages.meaningless > _MEANINGLESS_SHARE * pages.characters:
        raise FaultError(fault(Code.CONTENT_UNSUPPORTED_TYPE, _why_empty(count, pages), actions=(_RECOGNISE,)))
    return _found(pages, count, told, spoken)


def _pages(document: Document, clock: Clock) -> _Pages:
    pages = _Pages()
    until = clock() + MAX_SECONDS
    for index in range(len(document)):
        if index and (index >= MAX_PAGES or pages.characters > MAX_CHARS or clock() > until):
            pages.unread = len(document) - index
            break
        leaf = document.leaf(index)
        if leaf is None:
            pages.broken += 1
            continue
        _add(pages, leaf)
    return pages


def _add(pages: _Pages, leaf: Leaf) -> None:
    visible = seen(leaf)
    characters = [glyph.text for glyph in visible.glyphs if glyph.box is not None and not glyph.text.isspace()]
    pages.characters += len(characters)
    pages.meaningless += sum(map(_meaningless, characters))
    pages.invisible += visible.invisible
    pages.silent += not characters
    marks = [box for box in leaf.dark if max(box.width, box.height) < leaf.height / 40]
    pages.sheets.append(Sheet(_pieces(leaf, visible.glyphs), leaf.height, marks))
    for box, address in leaf.links:
        if len(pages.links) < _MAX_LINKS and address.startswith(("http://", "https://")):
            words = _under(box, visible.glyphs)
            pages.links.setdefault(address, ExtractedLink(url=address, text=words or address))


def _meaningless(character: str) -> bool:
    return character == "\ufffd" or "\ue000" <= character <= "\uf8ff" or character < " "


def _pieces(leaf: Leaf, glyphs: Sequence[Glyph]) -> tuple[Piece, ...]:
    """Return the lines of a page, and each table in the place of its first word."""
    found = [(grid, ruled.filled(grid, glyphs)) for grid in ruled.grids(leaf.lines)]
    tables = [(grid.box, rows) for grid, rows in found if rows]
    if not tables:
        return tuple(lines(glyphs))
    pieces: list[Piece] = []
    waiting = dict(enumerate(tables))
    run: list[Glyph] = []
    for glyph in glyphs:
        place = next((index for index, (box, _) in enumerate(tables) if _inside(box, glyph)), None)
        if place is None:
            run.append(glyph)
        elif place in waiting:
            pieces += lines(run)
            run = []
            pieces.append(Table(waiting.pop(place)[1], ruled=True))
    return (*pieces, *lines(run))


def _inside(box: Box, glyph: Glyph) -> bool:
    place = glyph.box
    return place is not None and box.holds((place.left + place.right) / 2, (place.top + place.bottom) / 2)


def _under(box: Box, glyphs: Sequence[Glyph]) -> str:
    """Return the words that a link lies over; a space that the PDF leaves out between words is one here."""
    text = ""
    for glyph in glyphs:
        if _inside(box, glyph):
            text += glyph.text
        elif glyph.box is None and text and not text.endswith(" "):
            text += " "
    return one_line(text, MAX_WORDS_CHARS)


def _why_empty(count: int, pages: _Pages) -> str:
    read = count - pages.unread
    those = "The page of the PDF has" if read == 1 else f"The {read} pages of the PDF have"
    if pages.characters:
        return f"{those} letters, but it does not say which ones they are."
    if pages.broken == read:
        return "No page of the PDF can be read: it is damaged."
    return f"{those} no text: only pictures, as of a scan."


def _found(pages: _Pages, count: int, told: Mapping[str, str], spoken: str) -> ParsedDocument:
    made = layout(pages.sheets)
    headings = [block for block in made.blocks if isinstance(block, Heading)]
    opening = " ".join(plain(block) for block in made.blocks[:40])
    named = info.title(told["Title"], headings[0].text if headings else "", opening)
    blocks = _without_title(made.blocks, named.text if named else "")
    tables = [block for block in blocks if isinstance(block, Table)][:_MAX_TABLES]
    text = clean("\n\n".join(filter(None, map(plain, blocks))))
    fields, sure = _fields(told, count, headings)
    unread = pages.unread
    more = f"\n\n*({unread:,} more pages)*" if unread else ""
    return ParsedDocument(
        markdown=clean("\n\n".join(written(blocks))) + more,
        text=text,
        source=Source.SELECTOR_MATCH,
        title=named.text if named else "",
        title_source=Source.META_TAGS if named and named.told else Source.HEURISTIC,
        title_score=named.score if named else None,
        tables=tuple(map(table, tables)),
        tables_sure=tuple(
            confidence(Source.SELECTOR_MATCH, _RULED_SCORE)
            if each.ruled
            else confidence(Source.HEURISTIC, _UNRULED_SCORE)
            for each in tables
        ),
        links=tuple(pages.links.values()),
        fields=fields,
        sure=sure,
        declared_language=spoken,
        signals=(Signal.NON_TEXT_CONTENT,) if pages.silent else (),
        kept_back={
            "pages": unread,
            "pages that cannot be read": pages.broken,
            "pages without text": pages.silent,
            "lines that every page repeats": made.repeated,
            "invisible characters": pages.invisible,
        },
    )


def _without_title(blocks: Sequence[Block], title: str) -> Sequence[Block]:
    """Leave the title out of the content where it is the first heading: it has a field of its own."""
    if blocks and isinstance(blocks[0], Heading) and blocks[0].text.casefold() == title.casefold():
        return blocks[1:] if len(blocks) > 1 else blocks
    return blocks


def _fields(
    told: Mapping[str, str], count: int, headings: Sequence[Heading]
) -> tuple[page.PageFields, Mapping[str, Confidence]]:
    made, changed = info.day(told["CreationDate"]), info.day(told["ModDate"])
    fields = page.PageFields(
        description=one_line(told["Subject"], 2 * MAX_TITLE_CHARS),
        authors=info.authors(told["Author"]),
        published=made,
        modified=changed if changed != made else "",
        outline=tuple(
            page.Heading(level=min(heading.level, 6), text=one_line(heading.text, MAX_TITLE_CHARS))
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
