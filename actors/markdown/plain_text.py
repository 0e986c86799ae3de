"""Reads Markdown as the plain text that a person would read aloud."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.token import Token

_BREAKS = {"softbreak": " ", "hardbreak": "\n"}
_CELLS = frozenset({"th_close", "td_close"})


def plain_text(markdown: str) -> str:
    """Return the words of a Markdown text, a line for every block and every row; images say nothing."""
    lines = "".join(_pieces(_parser().parse(markdown))).split("\n")
    return "\n".join(filter(None, (" ".join(line.split()) for line in lines)))


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark").enable(["table", "strikethrough"])


def _pieces(tokens: list[Token]) -> Iterator[str]:
    in_row = False
    for token in tokens:
        if token.type in ("tr_open", "tr_close"):
            in_row = token.type == "tr_open"
            yield "\n"
        elif token.type in _CELLS:
            yield " "
        elif token.type == "inline":
            yield "".join(_text_of(child) for child in token.children or ()) + ("" if in_row else "\n")
        elif token.type in ("fence", "code_block"):
            yield token.content + "\n"


def _text_of(token: Token) -> str:
    if token.type in ("text", "code_inline", "text_special"):
        return token.content
    return _BREAKS.get(token.type, "")
