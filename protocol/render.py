"""The document tree that a model answers with, and its Markdown (003 "Response packet"; nodes in seed-notes 4.B)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Annotated, assert_never
from urllib.parse import quote

from msgspec import UNSET, Meta, Struct, UnsetType


class Text(Struct, frozen=True, kw_only=True, tag="text"):
    """A run of plain words."""

    text: str


class Link(Struct, frozen=True, kw_only=True, tag="link"):
    """Words that lead somewhere."""

    href: str
    children: tuple[Text, ...]


Inline = Text | Link


class Heading(Struct, frozen=True, kw_only=True, tag="heading"):
    """A heading of level 1 to 6."""

    level: Annotated[int, Meta(ge=1, le=6)]
    children: tuple[Inline, ...]


class Paragraph(Struct, frozen=True, kw_only=True, tag="paragraph"):
    """A paragraph of inline nodes."""

    children: tuple[Inline, ...]


class CodeBlock(Struct, frozen=True, kw_only=True, tag="code_block"):
    """Text kept as it is, in a language if one is named."""

    text: str
    language: str | UnsetType = UNSET


class ListItem(Struct, frozen=True, kw_only=True, tag="list_item"):
    """One item; its children are inline nodes or blocks."""

    children: tuple[Block | Inline, ...]


class List(Struct, frozen=True, kw_only=True, tag="list"):
    """A list, numbered or not."""

    ordered: bool
    items: tuple[ListItem, ...]


class Blockquote(Struct, frozen=True, kw_only=True, tag="blockquote"):
    """Blocks that somebody else said."""

    children: tuple[Block, ...]


Block = Heading | Paragraph | List | Blockquote | CodeBlock


class Doc(Struct, frozen=True, kw_only=True, tag="doc"):
    """The root of a tree."""

    children: tuple[Block, ...]

    def __post_init__(self) -> None:
        """Refuse a tree too deep to be written: every level adds to each line below it."""
        level, depth = self.children, 0
        while level:
            depth += 1
            if depth > MAX_DEPTH:
                msg = f"a document nests blocks {MAX_DEPTH} deep at most"
                raise ValueError(msg)
            level = tuple(child for node in level for child in _inside(node))


MAX_DEPTH = 32
"""How deep blocks may stand in blocks."""

# What Markdown reads as markup: in any place, where two nodes meet, and at the start of a line.
_SPECIAL = re.compile(r"([\\`*_\[\]<>#|~])")
_JOINED = re.compile(r"(!(?=\[)|&(?=#?\w+;))")
_MARK = re.compile(r"\\\[(\d{1,4})\\\](?![(\[:])")
"""The mark of a citation, `[1]`: where nothing makes a link of it, it is text without being escaped."""
_START = re.compile(r"((?=[-+])|\d{1,9}(?=[.)](?:\s|\Z)))")
_LANGUAGE = re.compile(r"[^A-Za-z0-9_+.#-]")
_LINE_END = re.compile(r"\r\n?|\n")


def to_markdown(doc: Doc) -> str:
    """Write the tree as Markdown, blocks apart by an empty line; text is escaped, so it stays text."""
    return _separated(_block(child) for child in doc.children)


def escaped(text: str) -> str:
    """Return words as a line of Markdown that says nothing else, also at the start of a line and in a table."""
    return _line((Text(text=text),))


def plain(markdown: str) -> Doc:
    """Return the tree of a text whose Markdown is not to be read: one paragraph for every part between empty lines."""
    parts = (part.strip() for part in re.split(r"\n\s*\n", markdown))
    return Doc(children=tuple(Paragraph(children=(Text(text=part),)) for part in parts if part))


def _inside(node: Block) -> tuple[Block, ...]:
    match node:
        case List():
            return tuple(child for item in node.items for child in item.children if not isinstance(child, Text | Link))
        case Blockquote():
            return node.children
        case _:
            return ()


def _block(node: Block) -> str:
    match node:
        case Heading():
            return f"{'#' * node.level} {_line(node.children)}"
        case Paragraph():
            return _line(node.children)
        case CodeBlock():
            fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", node.text)), default=0))
            language, text = _LANGUAGE.sub("", node.language or ""), _LINE_END.sub("\n", node.text)
            return f"{fence}{language}\n{text}\n{fence}"
        case List():
            marks = (f"{number}. " if node.ordered else "- " for number in range(1, len(node.items) + 1))
            return "\n".join(_indented(_item(item), mark) for mark, item in zip(marks, node.items, strict=True))
        case Blockquote():
            body = _separated(_block(child) for child in node.children)
            return "\n".join(f"> {line}" if line else ">" for line in body.split("\n"))
        case _:
            assert_never(node)


def _item(item: ListItem) -> str:
    pieces: list[str] = []
    inline: list[Inline] = []
    for child in item.children:
        if isinstance(child, Text | Link):
            inline.append(child)
            continue
        if inline:
            pieces.append(_line(tuple(inline)))
            inline = []
        pieces.append(_block(child))
    if inline:
        pieces.append(_line(tuple(inline)))
    return _separated(pieces)


def _separated(blocks: Iterable[str]) -> str:
    return "\n\n".join(block for block in blocks if block)


def _indented(body: str, mark: str) -> str:
    first, *rest = body.split("\n")
    pad = " " * len(mark)
    return "\n".join([mark + first, *(pad + line if line else "" for line in rest)])


def _line(children: tuple[Inline, ...]) -> str:
    line = "".join(_inline(child) for child in children).strip()
    line = _JOINED.sub(r"\\\1", _MARK.sub(r"[\1]", line))
    start = _START.match(line)
    return f"{start[1]}\\{line[start.end() :]}" if start else line


def _inline(node: Inline) -> str:
    match node:
        case Text():
            return _escape(node.text)
        case Link():
            label = "".join(_escape(child.text) for child in node.children)
            return f"[{label}](<{_destination(node.href)}>)"
        case _:
            assert_never(node)


def _escape(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", _LINE_END.sub(" ", text))


def _destination(href: str) -> str:
    return re.sub(r"[<>\\\s\0]", lambda match: quote(match[0]), href)
