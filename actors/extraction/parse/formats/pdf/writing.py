"""Writes what was read of a PDF as Markdown, as text and as data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from actors.extraction.parse.formats import document
from actors.extraction.parse.formats.pdf.layout import Block, Heading, Item, Paragraph, Program, Table
from actors.extraction.parse.formats.pdf.lines import SOFT_HYPHEN
from protocol import render
from protocol.documents import ExtractedTable


def written(blocks: Sequence[Block]) -> Iterator[str]:
    """Write blocks as Markdown; items that follow each other are one list."""
    items: list[Item] = []
    for block in blocks:
        if isinstance(block, Item) and (not items or items[0].ordered == block.ordered):
            items.append(block)
            continue
        yield from _list(items)
        items = []
        match block:
            case Heading():
                heading = render.Heading(level=min(block.level, 6), children=(render.Text(text=_shown(block.text)),))
                yield render.to_markdown(render.Doc(children=(heading,)))
            case Paragraph():
                yield render.to_markdown(render.Doc(children=(_paragraph(block.text),)))
            case Item():
                items = [block]
            case Program():
                yield render.to_markdown(render.Doc(children=(render.CodeBlock(text=_shown(block.text)),)))
            case Table():
                yield document.table_markdown(table(block))
    yield from _list(items)


def plain(block: Block) -> str:
    """Write a block as text alone."""
    if isinstance(block, Table):
        return _shown("\n".join("\t".join(row) for row in block.rows))
    return _shown(block.text)


def table(read: Table) -> ExtractedTable:
    """Return a table as data; its first row is its head."""
    return document.table_of([_shown(cell) for cell in read.rows[0]], [[*map(_shown, row)] for row in read.rows[1:]])


def _list(items: Sequence[Item]) -> Iterator[str]:
    if items:
        listed = tuple(render.ListItem(children=(_paragraph(item.text),)) for item in items)
        yield render.to_markdown(render.Doc(children=(render.List(ordered=items[0].ordered, items=listed),)))


def _paragraph(text: str) -> render.Paragraph:
    return render.Paragraph(children=(render.Text(text=_shown(text)),))


def _shown(text: str) -> str:
    return text.replace(SOFT_HYPHEN, "-")
