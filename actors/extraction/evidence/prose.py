"""Finds what of a page's data is meant to be read: articles, posts, descriptions, sentences of states."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from turbohtml import parse_fragment

from actors.extraction.evidence import linked_data
from actors.extraction.evidence.json_values import Json, items, mapping, scalar
from actors.extraction.evidence.schema_org import types

MAX_STEPS = 60_000
"""How many values of one state are looked at."""

MAX_CHILDREN = 5_000
MAX_CHARS = 400_000
"""How much prose one state may give."""

MAX_HTML_CHARS = 200_000

MIN_MASS = 140
"""How many characters of sentences a state must hold: less is a notice."""

_SHARE = 0.75
"""A part that holds this share of the prose is the one that the rest stands around."""

_SKIPPED_KEYS = re.compile(
    r"i18n|intl|translat|locale|dictionar|config|setting|feature|footer|navig|menu|cookie|consent|gdpr|css|theme"
    r"|style|script|analytic|track|experiment|query|placeholder|legal|disclaimer|breadcrumb|advert|promo|related"
    r"|recommend|header|error|polyfill|emoji|jsonld|url|href|icon|svg|token|schema"
)
_NAMING_KEYS = frozenset({"title", "headline", "heading", "name", "subtitle", "subheadline", "question", "label"})
_SPAN_TYPES = frozenset({"text", "span", "leaf"})
_INLINE_TAGS = frozenset(
    {"a", "abbr", "b", "bdi", "cite", "code", "em", "i", "kbd", "mark", "q", "s", "small", "span", "strong", "sub",
     "sup", "time", "u", "var"}
)  # fmt: skip
_SILENT_TAGS = frozenset({"script", "style", "svg", "path", "link", "meta", "title", "head", "noscript", "template"})

_CHILDREN = "children"
_TAG_LENGTH = 4
"""An element that React streams is a list: "$", its name, its key, its properties."""

_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,2000}>|&(?:#\d{1,6}|[a-z]{2,8});")
_CODE = re.compile(
    r"^\s{0,9}(?:https?:|//|/\w|data:|[.#@]\w|\{|\[|<svg|<script|function|var |import |\$)|[{;]\s{0,9}[\w-]{1,30}:|=>"
)
_WORD = re.compile(r"\w+")
_SENTENCE = re.compile(r"[.!?…:](?:[\s\"'»”)]|$)|[\u3002\uff01\uff1f\uff0c]")

_MIN_WORDS = 5
_SURE_WORDS = 12
_MIN_IDEOGRAPHS = 20
_IDEOGRAPH = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")

MAX_POSTS = 500
MAX_DEPTH = 8
"""How deep answers to answers are followed."""

MIN_DESCRIPTION_CHARS = 200
"""A shorter description of a product is a teaser."""

_ANSWERS = ("acceptedAnswer", "suggestedAnswer", "comment", "answer", "reply")


def of_state(value: Json) -> str:
    """Return the prose of a state: a line for each text of it, from the part that holds most of it."""
    reader = _Reader()
    reader.read(value)
    return reader.best()


@lru_cache(1024)
def may_speak(name: str) -> bool:
    """Return by the name of a state or value whether it may hold what is read: not settings, menus or translations."""
    return not _SKIPPED_KEYS.search(name.lower())


def plain(text: str) -> str:
    """Return a text without tags and entities, one line for each of its blocks."""
    if _TAG.search(text):
        text = parse_fragment(text[:MAX_HTML_CHARS], positions=False).to_text()
    return "\n".join(line for raw in text.splitlines() if (line := " ".join(raw.split())))


def is_prose(text: str) -> bool:
    """Return whether a text is meant to be read: sentences, or as many words as no label has."""
    if len(text) < _MIN_IDEOGRAPHS or _CODE.search(text[:2_000]):
        return False
    opening = text[:4_000]
    if len(_IDEOGRAPH.findall(opening)) >= _MIN_IDEOGRAPHS:
        return True
    words = len(_WORD.findall(opening))
    spaces = opening.count(" ")
    if words < _MIN_WORDS or spaces * 2 < words:
        return False
    return words >= _SURE_WORDS or bool(_SENTENCE.search(opening))


def bodies(nodes: Iterable[Mapping[str, Json]]) -> list[str]:
    """Return the bodies of articles, of posts not."""
    articles = (node for node in nodes if linked_data.family(node) != "Forum")
    opened = (part for node in articles for part in (node, mapping(node.get("mainEntity"))))
    return [plain(text) for part in opened if (text := scalar(part.get("articleBody")))]


def descriptions(nodes: Iterable[Mapping[str, Json]], family: str = "") -> list[str]:
    """Return descriptions: of any length, or of a family of types those that are content."""
    wanted = (node for node in nodes if not family or linked_data.family(node) == family)
    texts = (plain(text) for node in wanted if (text := scalar(node.get("description"))))
    return [text for text in texts if not family or len(text) >= MIN_DESCRIPTION_CHARS]


def thread(nodes: Iterable[Mapping[str, Json]]) -> str:
    """Return the posts of a thread in their order, each once."""
    posts: dict[str, None] = {}
    for node in nodes:
        if linked_data.family(node) == "Forum" or "Comment" in types(node):
            posts.update(dict.fromkeys(_posts(node, 0)))
        if len(posts) >= MAX_POSTS:
            break
    return "\n".join(posts)


@dataclass
class _Part:
    """A container of a state: where its lines begin and end, how much of them is prose, and what it holds."""

    start: int
    end: int = 0
    mass: int = 0
    parts: list[_Part] = field(default_factory=list["_Part"])


@dataclass
class _Reader:
    """Collects the lines of a state in its order."""

    lines: list[str] = field(default_factory=list[str])
    masses: list[int] = field(default_factory=list[int])
    root: _Part = field(default_factory=lambda: _Part(0))
    _seen: set[int | str] = field(default_factory=set["int | str"])
    _pending: list[str] = field(default_factory=list[str])
    _characters: int = 0

    def read(self, value: Json) -> None:
        """Walk a state without recursion: an entry of the stack is a value to open, or a part to close."""
        stack: list[tuple[str, Json, _Part] | _Part] = [("", value, self.root)]
        for _ in range(MAX_STEPS):
            if not stack or self._characters > MAX_CHARS:
                break
            entry = stack.pop()
            if isinstance(entry, _Part):
                self._close(entry)
                continue
            key, node, parent = entry
            if isinstance(node, str):
                self._text(key, node)
            elif isinstance(node, (dict, list)) and id(node) not in self._seen:
                self._seen.add(id(node))
                stack.extend(self._opened(key, node, parent))
        while stack:
            entry = stack.pop()
            if isinstance(entry, _Part):
                self._close(entry)
        self._close(self.root)

    def best(self) -> str:
        """Return the lines of the smallest part that still holds most of the prose."""
        part = self.root
        while heavy := max(part.parts, key=lambda inner: inner.mass, default=None):
            if heavy.mass < _SHARE * part.mass or not heavy.mass:
                break
            part = heavy
        if part.mass < MIN_MASS:
            return ""
        return "\n".join(self.lines[part.start : part.end])

    def _opened(self, key: str, node: Json, parent: _Part) -> list[tuple[str, Json, _Part] | _Part]:
        """Return what a container puts on the stack."""
        if isinstance(node, list):
            if len(node) >= _TAG_LENGTH and node[0] == "$" and isinstance(node[1], str):
                return self._tag(node, parent)
            if key == _CHILDREN:
                return [(_CHILDREN, child, parent) for child in reversed(node[:MAX_CHILDREN])]
            return self._part(parent, [("", child) for child in node[:MAX_CHILDREN]])
        if not isinstance(node, dict):
            return []
        if _is_span(node):
            self._pending.extend(text for name in ("text", "value") if isinstance(text := node.get(name), str))
            return []
        return self._part(parent, [(name, child) for name, child in node.items() if may_speak(name)])

    def _part(self, parent: _Part, children: list[tuple[str, Json]]) -> list[tuple[str, Json, _Part] | _Part]:
        """Open a part of its own."""
        self._flush()
        part = _Part(len(self.lines))
        parent.parts.append(part)
        wanted = [(key, child, part) for key, child in children if isinstance(child, (str, dict, list))]
        return [part, *reversed(wanted)]

    def _tag(self, node: list[Json], parent: _Part) -> list[tuple[str, Json, _Part] | _Part]:
        """Open an element as React streams it: its children are texts and elements."""
        tag, properties = node[1], node[3]
        if tag in _SILENT_TAGS or not isinstance(properties, dict):
            return []
        if tag in _INLINE_TAGS:
            return [(_CHILDREN, properties.get(_CHILDREN), parent)]
        return self._part(
            parent,
            [(key, child) for key, child in properties.items() if key == _CHILDREN or isinstance(child, (dict, list))],
        )

    def _text(self, key: str, text: str) -> None:
        if key == _CHILDREN:
            if text[:1] != "$":
                self._pending.append(text)
            return
        self._flush()
        if key.lower() in _NAMING_KEYS and len(text) < 200 and " " in text and not _CODE.search(text):  # noqa: PLR2004 - no name is longer
            self._add(plain(text), 0)
        elif is_prose(text):
            line = plain(text)
            self._add(line, len(line))

    def _flush(self) -> None:
        """End the line that spans have been written to."""
        if not self._pending:
            return
        line = " ".join("".join(self._pending).split())
        self._pending.clear()
        if line and not _CODE.search(line[:200]):
            self._add(line, len(line) if is_prose(line) else 0)

    def _add(self, line: str, mass: int) -> None:
        if not line or line in self._seen:
            return
        self._seen.add(line)
        self.lines.append(line)
        self.masses.append(mass)
        self._characters += len(line)

    def _close(self, part: _Part) -> None:
        self._flush()
        part.end = len(self.lines)
        part.mass = sum(self.masses[part.start : part.end])


def _is_span(node: dict[str, Json]) -> bool:
    kind = node.get("nodeType") or node.get("type") or node.get("_type") or node.get("object")
    if isinstance(kind, str):
        return kind in _SPAN_TYPES
    return isinstance(node.get("text"), str) and len(node) <= 3 and "children" not in node  # noqa: PLR2004 - Slate's leaves have a mark or two


def _posts(node: Mapping[str, Json], depth: int) -> Iterator[str]:
    """Return a post and what answers it."""
    if text := scalar(node.get("text")) or scalar(node.get("articleBody")):
        yield plain(text)
    elif title := scalar(node.get("name")):
        yield plain(title)
    if depth >= MAX_DEPTH:
        return
    for answer in (answer for key in _ANSWERS for answer in items(node.get(key))[:MAX_POSTS]):
        yield from _posts(mapping(answer), depth + 1)
    if main := mapping(node.get("mainEntity")):
        yield from _posts(main, depth + 1)
