"""Reads the Markdown of an answer as a document tree that is safe to show: text, and links that lead to the sources."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markdown_it.tree import SyntaxTreeNode

from protocol.render import (
    Block,
    Blockquote,
    CodeBlock,
    Doc,
    Heading,
    Inline,
    Link,
    List,
    ListItem,
    Paragraph,
    Text,
    plain,
)

_BREAKS = {"softbreak": " ", "hardbreak": " "}
_WORDS = frozenset({"text", "text_special", "code_inline", "html_inline"})

LeadsTo = Callable[[str], bool]
"""Whether a link may lead to an address."""


def render(markdown: str, may_lead_to: LeadsTo) -> Doc:
    """Return the tree of a Markdown text; HTML and pictures become text, and so do links that lead anywhere else."""
    root = SyntaxTreeNode(_parser().parse(markdown))
    try:
        return Doc(children=tuple(_blocks(root.children, may_lead_to)))
    except ValueError:  # nested too deep
        return plain(markdown)


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False}).enable("table")


def _blocks(nodes: Sequence[SyntaxTreeNode], may_lead_to: LeadsTo) -> Iterator[Block]:
    for node in nodes:
        block = _block(node, may_lead_to)
        if block is not None:
            yield block


def _block(node: SyntaxTreeNode, may_lead_to: LeadsTo) -> Block | None:
    block: Block | None = None
    match node.type:
        case "heading":
            block = Heading(level=int(node.tag[1]), children=_inline(node, may_lead_to))
        case "paragraph":
            block = Paragraph(children=_inline(node, may_lead_to))
        case "fence" | "code_block":
            block = _code(node)
        case "bullet_list" | "ordered_list":
            items = (ListItem(children=tuple(_blocks(item.children, may_lead_to))) for item in node.children)
            block = List(ordered=node.type == "ordered_list", items=tuple(items))
        case "blockquote":
            block = Blockquote(children=tuple(_blocks(node.children, may_lead_to)))
        case "table":
            block = _table(node, may_lead_to)
        case _:  # a ruler
            pass
    return block


def _code(node: SyntaxTreeNode) -> CodeBlock:
    language = node.info.split()[0] if node.info.split() else ""
    text = node.content.removesuffix("\n")
    return CodeBlock(text=text, language=language) if language else CodeBlock(text=text)


def _table(node: SyntaxTreeNode, may_lead_to: LeadsTo) -> List:
    """Return a table as a list of its rows: the tree has none."""
    rows = [row for section in node.children for row in section.children]
    items = tuple(ListItem(children=tuple(_cells(row.children, may_lead_to))) for row in rows)
    return List(ordered=False, items=items)


def _cells(cells: Sequence[SyntaxTreeNode], may_lead_to: LeadsTo) -> Iterator[Inline]:
    for index, cell in enumerate(cells):
        if index:
            yield Text(text=" · ")
        yield from _inline(cell, may_lead_to)


def _inline(node: SyntaxTreeNode, may_lead_to: LeadsTo) -> tuple[Inline, ...]:
    tokens = [token for child in node.children for token in _tokens(child)]
    pieces, words, label = list[Inline](), list[str](), list[str]()
    href = ""
    for token in tokens:
        if token.type == "link_open":
            href = str(token.attrs.get("href", ""))
            label = []
        elif token.type == "link_close":
            text = "".join(label)
            if text and may_lead_to(href):
                pieces += [*_text(words), Link(href=href, children=(Text(text=text),))]
                words = []
            else:
                words.append(text)
            href = ""
        else:
            (label if href else words).append(_words(token))
    return (*pieces, *_text(words))


def _tokens(node: SyntaxTreeNode) -> Sequence[Token]:
    return node.token.children or () if node.type == "inline" and node.token is not None else ()


def _text(words: Sequence[str]) -> tuple[Text, ...]:
    text = "".join(words)
    return (Text(text=text),) if text else ()


def _words(token: Token) -> str:
    if token.type == "image":
        return token.content
    return token.content if token.type in _WORDS else _BREAKS.get(token.type, "")
