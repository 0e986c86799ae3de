"""Makes Markdown of strangers inert: what CommonMark reads as HTML, or as a link that runs, is left as text."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from html import unescape
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

_TOKEN = re.compile(
    r"\\[!-/:-@\[-`{-~]"
    r"|(?P<ticks>`+)"
    r"|<(?:https?://|mailto:)[^\s<>]{0,2000}>"
    r"|<[^\s<>@:/]{1,200}@[^\s<>@:/]{1,200}>"
    r"|(?P<tag><)(?=[A-Za-z/!?])"
    r"|(?<=\])(?P<link>\()\s{0,200}<?(?P<target>[^\s<>]{0,200})"
)
_TICKS = re.compile(r"`+")
_TAG = re.compile(r"<(?=[A-Za-z/!?])")
_CELL = re.compile(r"(?<!\\)(\|)")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_RUNS = re.compile(r"\s*(?:javascript|vbscript|data|file|blob|filesystem|view-source)\s*:", re.IGNORECASE)
_OPENS = re.compile(r"(?<!\\)(?:\\\\)*<(?!https?://|mailto:)[A-Za-z/!?]")
"""What may begin a tag, wherever it stands."""

_MAX_PASSES = 4
"""What was HTML to its renderer is other lines of text once it is none, and code among them; rarely so twice."""


def inert(markdown: str) -> str:
    """Return Markdown in which nothing is HTML, and no link runs, whoever renders it; code stays as it is."""
    for _ in range(_MAX_PASSES):
        if not _OPENS.search(markdown) and not _RUNS.search(unescape(_ESCAPE.sub(r"\1", markdown))):
            return markdown
        markdown, is_done = _escaped(markdown)
        if is_done:
            return markdown
    return _TAG.sub("&lt;", markdown).replace("](", "]\\(").replace("]:", "]\\:")


def _escaped(markdown: str) -> tuple[str, bool]:
    """Escape what is markup, and return whether the blocks are the same as before."""
    known: dict[str, Any] = {}
    blocks = _parser().parse(markdown, known)
    lines = markdown.split("\n")
    for first, end, is_row in _texts(blocks):
        text = "\n".join(lines[first:end])
        parts = _CELL.split(text) if is_row else [text]
        lines[first:end] = "".join(map(_without_markup, parts)).split("\n")
    of_html = [block.map for block in blocks if block.type == "html_block" and block.map]
    for first, end in of_html:
        lines[first:end] = [_TAG.sub(r"\\<", line) for line in lines[first:end]]
    running = _running_definitions(known.get("references", {}))
    for first in running:
        lines[first] = lines[first].replace("[", "\\[", 1)
    return "\n".join(lines), not of_html and not running


def _texts(blocks: Iterable[Token]) -> Iterator[tuple[int, int, bool]]:
    """Yield where the texts of paragraphs, headings and rows of tables stand, and which of them are rows."""
    done = -1
    before = ""
    for block in blocks:
        if block.type == "inline" and block.map and block.map[0] > done:
            done = block.map[1] - 1
            yield block.map[0], block.map[1], before in ("td_open", "th_open")
        before = block.type


def _running_definitions(references: Mapping[str, Any]) -> list[int]:
    return [one["map"][0] for one in references.values() if _RUNS.match(one["href"])]


def _without_markup(text: str) -> str:
    """Escape what begins a tag or a link that runs, outside of code spans."""
    ends: dict[int, list[int]] = {}
    for run in _TICKS.finditer(text):
        ends.setdefault(len(run[0]), []).append(run.start())
    pieces: list[str] = []
    place = done = 0
    while token := _TOKEN.search(text, place):
        place = token.end()
        if ticks := token["ticks"]:
            same = ends.get(len(ticks), [])
            closing = bisect_left(same, place)
            place = same[closing] + len(ticks) if closing < len(same) else place
        elif token["tag"] or token["link"]:
            place = token.start() + 1
            if token["tag"] or _RUNS.match(unescape(_ESCAPE.sub(r"\1", token["target"]))):
                pieces += [text[done : token.start()], "\\"]
                done = token.start()
    return "".join([*pieces, text[done:]])


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark").enable("table").disable(["inline", "text_join"])
    parser.validateLink = lambda _: True  # type: ignore[assignment,method-assign]  # those that run, too
    return parser
