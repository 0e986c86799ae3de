"""Compares the structure of what was extracted with that of the gold: headings, links, cells, code, list items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from markdown_it import MarkdownIt
from markdown_it.token import Token
from turbohtml import parse

from scripts.extraction_training.scoring import words

KINDS = ("heading", "link", "cell", "code", "item")

_OF_TAG = {
    **{f"h{level}": "heading" for level in range(1, 7)},
    "a": "link",
    "td": "cell",
    "th": "cell",
    "pre": "code",
    "li": "item",
}
_INSIDE = {"heading_open": "heading", "td_open": "cell", "th_open": "cell", "list_item_open": "item"}

Structure = Mapping[str, Counter[str]]
"""The texts of each kind, in lower-case words, and how often each stands there."""


def of_html(html: str) -> Structure:
    """Read the structure of HTML."""
    found = {kind: Counter[str]() for kind in KINDS}
    root = parse(html).root
    for element in root.iter_elements(list(_OF_TAG)) if root is not None else ():
        if element.tag != "a" or element.attr("href"):
            found[_OF_TAG[element.tag]][_said(element.text)] += 1
    return found


def of_markdown(markdown: str) -> Structure:
    """Read the structure of Markdown; of a list item, the text up to what is nested in it."""
    found = {kind: Counter[str]() for kind in KINDS}
    waiting = ""
    for token in MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(markdown):
        waiting = _INSIDE.get(token.type, waiting)
        if token.type in ("fence", "code_block"):
            found["code"][_said(token.content)] += 1
        elif token.type == "inline":
            children = token.children or []
            if waiting:
                found[waiting][_said(_text(children))] += 1
            waiting = ""
            for link in _links(children):
                found["link"][_said(link)] += 1
    return found


def f1(found: Structure, gold: Structure) -> dict[str, float]:
    """Return the F1 of each kind that the gold has."""
    scores: dict[str, float] = {}
    for kind in KINDS:
        expected, given = Counter(gold[kind]), Counter(found[kind])
        del expected[""], given[""]
        if expected:
            scores[kind] = 2 * (expected & given).total() / (expected.total() + given.total())
    return scores


def _links(tokens: list[Token]) -> list[str]:
    found: list[str] = []
    inside: list[Token] | None = None
    for token in tokens:
        if token.type == "link_open":
            inside = []
        elif token.type == "link_close" and inside is not None:
            found.append(_text(inside))
            inside = None
        elif inside is not None:
            inside.append(token)
    return found


def _text(tokens: list[Token]) -> str:
    return "".join(" " if token.type == "softbreak" else token.content for token in tokens if token.type != "image")


def _said(text: str) -> str:
    return " ".join(words(text))
