"""Markdown of pages: cut into sections, made of sections, and quoted in results so that it stays text of the web."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.token import Token
from msgspec import UNSET, UnsetType

from actors.markdown.structure import plain_words
from actors.runner.page_items import PageItem, SectionTold
from protocol.browsers.pageinfo import MAX_SECTION_CHARS
from protocol.render import Block, CodeBlock, Doc, Heading, List, ListItem, Paragraph, Text, to_markdown

MAX_SECTIONS = 50
_MAX_READ = 2 * MAX_SECTIONS * MAX_SECTION_CHARS
_MAX_BLOCK = 3 * MAX_SECTION_CHARS
"""Characters of a block that are read, with its markup: taking that out may cost their square."""

_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_AROUND = {"list_item_open": "li", "blockquote_open": "blockquote"}
_ENDS = {"list_item_close", "blockquote_close"}
_LINE_END = re.compile(r"\r\n?|\n")
_MAX_CELL_CHARS = 300

Cell = str | float | bool | tuple[str, ...] | UnsetType | None


def sections(markdown: str) -> tuple[SectionTold, ...]:
    """Return the first sections of a text: its headings, paragraphs, items, quotes, rows and blocks of code."""
    parts, heading = list[SectionTold](), ""
    for tag, text in _blocks(_parser().parse(markdown[:_MAX_READ])):
        words = text[:MAX_SECTION_CHARS]
        if not words.strip():
            continue
        is_heading = tag in _HEADINGS
        parts.append(SectionTold(tag=tag, text=words, heading="" if is_heading else heading))
        heading = words if is_heading else heading
        if len(parts) == MAX_SECTIONS:
            break
    return tuple(parts)


def markdown_of(parts: Sequence[SectionTold]) -> str:
    """Write sections as Markdown; what they say stays text."""
    return to_markdown(Doc(children=tuple(_render_blocks(parts))))


def words(text: str) -> str:
    """Escape a text as one line of Markdown without any markup."""
    return to_markdown(Doc(children=(Paragraph(children=(Text(text=" ".join(text.split())),)),)))


def cell(value: Cell) -> str:
    """Write a value into a cell of a table."""
    match value:
        case None | UnsetType():
            return ""
        case bool():
            return "yes" if value else "no"
        case tuple():
            return "; ".join(cell(part) for part in value)
        case _:
            text = str(value)
            return words(text if len(text) <= _MAX_CELL_CHARS else f"{text[: _MAX_CELL_CHARS - 1]}…")


def table(head: Sequence[str], rows: Iterable[Sequence[Cell]]) -> str:
    """Write a table."""
    lines = [head, ["---"] * len(head), *([cell(value) for value in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def quoted(markdown: str) -> str:
    """Write the Markdown of a page as a quote, which neither its headings nor its fences leave."""
    lines = _LINE_END.split(markdown.strip())
    return "\n".join(f"> {line}" if line else ">" for line in lines)


def overview(items: Iterable[PageItem]) -> str:
    """Write a table of pages, a row for each."""
    head = ("#", "URL", "Title", "Type", "Elements", "Tier", "Result")
    return table(head, (_overview(item) for item in items))


def pages(items: Iterable[PageItem]) -> list[str]:
    """Write the words of pages, each below a heading of its own."""
    parts = list[str]()
    for item in items:
        if item.content:
            title, where = item.title or item.url, item.final_url or item.url
            parts += [f"## {item.index + 1}. {words(title)}", words(where), quoted(item.content)]
    return parts


def _render_blocks(parts: Iterable[SectionTold]) -> Iterator[Block]:
    items = list[ListItem]()
    for part in parts:
        text = (Text(text=part.text),)
        if part.tag == "li":
            items.append(ListItem(children=text))
            continue
        if items:
            yield List(ordered=False, items=tuple(items))
            items = []
        if part.tag in _HEADINGS:
            yield Heading(level=_HEADINGS[part.tag], children=text)
        elif part.tag == "pre":
            yield CodeBlock(text=part.text)
        else:
            yield Paragraph(children=text)
    if items:
        yield List(ordered=False, items=tuple(items))


def _blocks(tokens: list[Token]) -> Iterator[tuple[str, str]]:
    around, row = list[str](), list[str]()
    in_row, opened = False, ""
    for token in tokens:
        if token.type in _AROUND:
            around.append(_AROUND[token.type])
        elif token.type in _ENDS:
            around.pop()
        elif token.type in ("tr_open", "tr_close"):
            in_row = token.type == "tr_open"
            if not in_row:
                yield "tr", " | ".join(row)
                row = []
        elif token.type in ("fence", "code_block"):
            yield "pre", token.content.rstrip("\n")
        elif token.type == "inline" and in_row:
            row.append(plain_words(token.content[:_MAX_BLOCK]))
        elif token.type == "inline":
            yield (
                opened if opened in _HEADINGS else (around[-1] if around else "p"),
                plain_words(token.content[:_MAX_BLOCK]),
            )
        else:
            opened = token.tag


@cache
def _parser() -> MarkdownIt:
    # Blocks alone: what stands within them is read by simpler rules, as a page may have it take a second.
    return MarkdownIt("commonmark").enable("table").disable(["reference", "inline"])


def _overview(item: PageItem) -> Sequence[Cell]:
    error = item.error
    outcome = "read" if error is UNSET else f"{error.code}: {error.error}"
    return (item.index + 1, item.url, item.title, item.page_type, item.element_count, item.tier, outcome)
