"""Reads Markdown: front matter as fields, the rest as content, without what nobody sees when it is shown."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from actors.extraction.parse.formats.document import MAX_TITLE_CHARS, MAX_WORDS_CHARS, ParsedDocument, bounded
from actors.extraction.parse.formats.markdown_inert import inert
from actors.extraction.parse.formats.markdown_links import with_absolute_links
from actors.extraction.parse.formats.xml_data import iso_date
from actors.extraction.parse.styles import style_hiding
from actors.extraction.parse.text import clean, one_line
from protocol.confidence import Source
from protocol.page import Heading, PageFields

_FRONT = re.compile(r"\A\ufeff?(---|\+\+\+)[ \t]*\n(.{0,20000}?)\n(?:\1|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_ENTRY = re.compile(r"^([A-Za-z][\w-]{0,40})[ \t]*[:=][ \t]*(.{0,2000}?)[ \t]*$", re.MULTILINE)
_HEADING = re.compile(r"^ {0,3}(#{1,6})[ \t]+(\S.{0,500}?)[ \t]*#*[ \t]*$")
_UNDERLINE = re.compile(r"^ {0,3}(=+|-+)[ \t]*$")
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
_MAX_LINKS = 200
_MAX_HEADINGS = 500

_TOKEN = re.compile(
    r"(?P<fence>^[ ]{0,3}(?P<mark>`{3,}|~{3,})[^\n]*(?:\n.*?(?:^[ ]{0,3}(?P=mark)[`~]*[ \t]*$|\Z)|\Z))"
    r"|(?P<code>(?<!`)(?P<ticks>`{1,8})(?!`)[^`]{1,2000}?(?<!`)(?P=ticks)(?!`))"
    r"|(?P<comment><!--.*?(?:-->|\Z)|<[!?][^>]{0,2000}>)"
    r"|(?P<tag><(?P<end>/?)(?P<name>[A-Za-z][A-Za-z0-9-]{0,40})(?P<attributes>(?:[\s/][^<>]{0,4000})?)>)",
    re.MULTILINE | re.DOTALL,
)
_ATTRIBUTE = re.compile(r"([a-zA-Z-]+)\s*(?:=\s*(\"[^\"]*\"|'[^']*'|[^\s\"'>]+))?")
_RUNS = re.compile(
    r"!?\[([^\[\]\n]{0,300})\]\([ \t]*<?[ \t]*(?:javascript|data|vbscript|file|blob)[ \t]*:", re.IGNORECASE
)
_BRACKET = re.compile(r"[()\n]")
_DEFINITION = re.compile(r"^ {0,3}\[([^\[\]\n]{1,300})\]:[ \t]*(?:\S[^\n]*)?(?:\n|\Z)", re.MULTILINE)
_FOOTNOTE = "^"
_LABEL = re.compile(r"\[([^\[\]\n]{1,300})\]")

_GONE = frozenset(
    {"script", "style", "template", "iframe", "object", "embed", "head", "title", "canvas", "video", "audio", "svg"}
    | {"select", "textarea", "button", "noscript", "frameset", "math", "form", "dialog"}
)
"""Elements that go with all that stands in them."""

_VOID = frozenset(
    {"br", "hr", "img", "input", "wbr", "source", "col", "link", "meta", "area", "base", "track", "embed"}
)
_HTML = (
    _GONE
    | _VOID
    | {"a", "abbr", "address", "article", "aside", "b", "bdi", "bdo", "blockquote", "body", "caption", "center", "cite"}
    | {"code", "colgroup", "dd", "del", "details", "dfn", "div", "dl", "dt", "em", "figcaption", "figure", "font"}
    | {
        "footer",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "header",
        "hgroup",
        "html",
        "i",
        "ins",
        "kbd",
        "label",
        "li",
        "main",
    }
    | {"mark", "nav", "ol", "p", "picture", "pre", "q", "s", "samp", "section", "small", "span", "strike", "strong"}
    | {"sub", "summary", "sup", "table", "tbody", "td", "tfoot", "th", "thead", "time", "tr", "tt", "u", "ul", "var"}
)
_ON_LINES = frozenset(
    {"p", "div", "li", "tr", "table", "ul", "ol", "h1", "h2", "h3", "h4", "h5", "h6", "section", "article", "header"}
    | {"footer", "blockquote", "details", "summary", "figure", "figcaption", "dt", "dd", "center", "pre"}
)


def read(text: str, url: str) -> ParsedDocument | None:
    """Read Markdown; any text is."""
    front = _FRONT.match(text)
    entries = {key.lower(): _unquoted(value) for key, value in _ENTRY.findall(front[2])} if front else {}
    cut, left_out = bounded((text[front.end() :] if front else text).strip())
    visible, invisible = visible_markdown(cut)
    body, links = with_absolute_links(visible, url)
    outline = tuple(islice(_outline(body), _MAX_HEADINGS))
    title = one_line(entries.get("title", ""), MAX_TITLE_CHARS)
    first = min(outline, key=lambda heading: heading.level, default=None)
    return ParsedDocument(
        markdown=body,
        text=body,
        source=Source.STRUCTURED_DATA,
        title=title or (first.text if first else ""),
        title_source=Source.STRUCTURED_DATA if title else Source.HEURISTIC,
        links=tuple(dict.fromkeys(islice(links, _MAX_LINKS))),
        fields=PageFields(
            description=one_line(entries.get("description") or entries.get("summary", ""), MAX_TITLE_CHARS * 2),
            authors=tuple(filter(None, (one_line(entries.get("author", ""), MAX_WORDS_CHARS),))),
            published=iso_date(entries.get("date", "")),
            modified=iso_date(entries.get("lastmod") or entries.get("updated", "")),
            language=entries.get("lang") or entries.get("language", ""),
            outline=outline,
        ),
        left_out=left_out,
        kept_back={"invisible texts": invisible} if invisible else {},
    )


class VisibleMarkdown(NamedTuple):
    """What is seen of a text in Markdown, and how many texts of it are not."""

    markdown: str
    invisible: int


def visible_markdown(markdown: str) -> VisibleMarkdown:
    """Return Markdown without HTML, comments and what they hide; code stays as it is."""
    markdown = clean(markdown.replace("\r\n", "\n").replace("\r", "\n"))
    if not any(mark in markdown for mark in ("<", "]:", "](")):
        return VisibleMarkdown(markdown, 0)
    text = _VisibleText()
    end = 0
    for token in _TOKEN.finditer(markdown):
        text.words(markdown[end : token.start()])
        end = token.end()
        if token["fence"] or token["code"]:
            text.code(token[0])
        elif token["comment"]:
            text.hide(token[0])
        else:
            text.tag(token)
    text.words(markdown[end:])
    return text.whole()


def _outline(body: str) -> Iterator[Heading]:
    fence, before = "", ""
    for line in body.split("\n"):
        if mark := _FENCE.match(line):
            fence = "" if fence and mark[1].startswith(fence) else fence or mark[1]
        elif not fence and (heading := _HEADING.match(line)):
            yield Heading(level=len(heading[1]), text=one_line(heading[2], MAX_TITLE_CHARS))
        elif not fence and before.strip() and (under := _UNDERLINE.match(line)):
            yield Heading(level=1 if under[1][0] == "=" else 2, text=one_line(before, MAX_TITLE_CHARS))
        before = line


def _unquoted(value: str) -> str:
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'" else value


class _VisibleText:
    """What has been seen so far, in pieces: words and code by turns."""

    def __init__(self) -> None:
        self._pieces: list[tuple[str, bool]] = []
        self._within = ""
        self._depth = 0
        self._invisible = 0
        self._something = False

    def words(self, text: str) -> None:
        if self._within:
            self._something |= bool(text.strip())
        else:
            self._pieces.append((text, False))

    def code(self, text: str) -> None:
        if self._within:
            self._something = True
        else:
            self._pieces.append((text, True))

    def hide(self, text: str) -> None:
        self._invisible += any(character.isalnum() for character in text)

    def tag(self, token: re.Match[str]) -> None:
        name, ends = token["name"].lower(), bool(token["end"])
        if self._within:
            self._deeper(name, ends=ends)
        elif name not in _HTML:
            self._pieces.append((f"\\{token[0]}", False))
        elif not ends and name not in _VOID and (name in _GONE or _hides(token["attributes"])):
            if not token["attributes"].rstrip().endswith("/"):
                self._within, self._depth, self._something = name, 1, False
        else:
            self._pieces.append((_instead(name, token["attributes"], ends=ends), False))

    def whole(self) -> VisibleMarkdown:
        self._count()
        words = "".join(text for text, is_code in self._pieces if not is_code)
        used = Counter(label.casefold() for label in _LABEL.findall(words))
        whole = "".join(text if is_code else self._safe(text, used) for text, is_code in self._pieces)
        return VisibleMarkdown(inert(re.sub(r"\n{3,}", "\n\n", whole).strip()), self._invisible)

    def _deeper(self, name: str, *, ends: bool) -> None:
        if name == self._within:
            self._depth += -1 if ends else 1
            if not self._depth:
                self._count()
                self._within = ""

    def _count(self) -> None:
        self._invisible += bool(self._within) and self._something

    def _safe(self, text: str, used: Counter[str]) -> str:
        """Take out definitions that nothing refers to, which is how comments are smuggled in, and links that run."""

        def kept(definition: re.Match[str]) -> str:
            label = definition[1]
            if label.startswith(_FOOTNOTE) or used[label.casefold()] > 1:
                return definition[0]
            self._invisible += 1
            return ""

        return _DEFINITION.sub(kept, _without_runs(text))


def _without_runs(text: str) -> str:
    """Leave of links that run something, or hold what they show, their words."""
    pieces: list[str] = []
    done = 0
    for link in _RUNS.finditer(text):
        if link.start() >= done:
            end = _closing(text, link.end())
            pieces += [text[done : link.start()], link[1]]
            done = end
    return "".join([*pieces, text[done:]])


def _closing(text: str, start: int) -> int:
    """Find where a link ends that is open at `start`: behind its bracket, or with its line."""
    depth = 1
    for bracket in _BRACKET.finditer(text, start):
        depth += {"(": 1, ")": -1}.get(bracket[0], 0)
        if not depth:
            return bracket.end()
        if bracket[0] == "\n":
            return bracket.start()
    return len(text)


def _hides(attributes: str) -> bool:
    values = dict(_attributes(attributes))
    style = values.get("style", "")
    return "hidden" in values or values.get("aria-hidden") == "true" or bool(style and style_hiding(style) is not None)


def _attributes(attributes: str) -> Iterator[tuple[str, str]]:
    for match in _ATTRIBUTE.finditer(attributes):
        yield match[1].lower(), (match[2] or "").strip("\"'")


def _instead(name: str, attributes: str, *, ends: bool) -> str:
    """Return what stands in the place of a tag: the words of a picture, a break between lines, or nothing."""
    if name == "img":
        return "" if _hides(attributes) else dict(_attributes(attributes)).get("alt", "")
    if name in ("br", "td", "th"):
        return " "
    if name in ("h1", "h2", "h3", "h4", "h5", "h6") and not ends:
        return f"\n{'#' * int(name[1])} "
    return "\n" if name in _ON_LINES else ""
