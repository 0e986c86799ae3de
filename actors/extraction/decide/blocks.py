"""Cuts a tree into blocks of text: what stands between two boundaries of blocks."""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec
from msgspec import Struct
from turbohtml import Element, Node, Text

from actors.extraction.parse.styles import shown_as_block
from actors.extraction.parse.text import INLINE, is_next_part, parts_words
from actors.extraction.parse.tree import Page
from actors.extraction.parse.visibility import Hiding

_IDEOGRAPHS = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"

_WORD = re.compile(rf"[{_IDEOGRAPHS}]|[^\W{_IDEOGRAPHS}]+")
"""A word, or one ideograph or kana: languages written without spaces would count a line as one word."""

_OF_WORDS = bytes(
    ord(char if char.isascii() and (char.isalnum() or char == "_") else " ") for char in map(chr, range(256))
)
"""Makes a blank of all that is in no word, which finds those of a text of ASCII alone in half the time."""

_BOUNDARIES = frozenset(
    {"address", "article", "aside", "blockquote", "body", "button", "caption", "center", "dd", "details", "dialog"}
    | {"dir", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5"}
    | {"h6", "header", "hgroup", "hr", "html", "label", "legend", "li", "main", "menu", "nav", "ol", "p", "pre"}
    | {"search", "section", "summary", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul"}
)
_SKIPPED = frozenset(
    {"annotation", "annotation-xml", "applet", "audio", "canvas", "datalist", "embed", "frameset", "head", "iframe"}
    | {"noembed", "noframes", "object", "rp", "rt", "script", "select", "style", "svg", "template", "textarea", "title"}
    | {"video"}
)
_KEYS = ("class", "id", "role", "itemprop", "aria-label")
"""The attributes in which authors say what an element is for."""

_MAX_KEY = 300

_INVISIBLE_CHARACTERS = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]")
"""Characters without a shape: soft hyphens, zero-width and bidi controls."""

_LONG = 100_000
"""Characters from which words are counted by their spaces alone: lists of millions of words take too much memory."""

_FEW_WORDS = 150
_TIMES_AS_MANY = 2
_MORE_WORDS = 40
"""Where a page shows fewer than 150 words, `<noscript>` is opened, too, and taken where the page then has 40 words more
than twice as many."""

_DATA_CHARS = 500
_CODE = frozenset({"code", "pre", "samp"})
"""So much JSON outside of code is what a script reads and a style sheet hides that nobody has loaded."""

_STREAMED = "S:"
"""The beginning of an id by which React sends a part of a page after the rest, hidden until it is in its place."""


class TextBox:
    """An element that may hold text; `collapsed` and `in_link` hold for all in it, `depth` counts from 0.

    `apart` means that it is shown in lines of its own, though its tag says otherwise.
    """

    __slots__ = ("_key", "apart", "collapsed", "depth", "element", "in_link", "parent", "tag")

    def __init__(self, element: Element, tag: str, parent: TextBox | None, *, collapsed: bool) -> None:
        self.element = element
        self.tag = tag
        self.parent = parent
        self.depth: int = 0 if parent is None else parent.depth + 1
        self.collapsed: bool = collapsed or (parent is not None and parent.collapsed)
        self.in_link: bool = tag == "a" or (parent is not None and parent.in_link)
        self.apart: bool = tag in INLINE and (style := element.attr("style")) is not None and shown_as_block(style)
        self._key: str | None = None

    @property
    def key(self) -> str:
        """What its class, id and other names say; computed when asked for, since most elements hold no text."""
        if self._key is None:
            self._key = " ".join(filter(None, map(self.element.attr, _KEYS)))[:_MAX_KEY]
        return self._key


class Block(Struct, frozen=True):
    """A run of text between two boundaries: its words on one line, and the text nodes that they stand in.

    `tokens` counts its words (an ideograph is one), `collapsed` means that only a click shows it. `box` is the
    innermost element around the whole of it, `linked` the share of its characters that stand in links.
    """

    text: str
    nodes: tuple[Text, ...]
    tokens: int
    collapsed: bool
    box: TextBox
    linked: float


def blocks(page: Page) -> list[Block]:
    """Return the blocks of a page in reading order; what is invisible is left out."""
    shown = _Walk(page.hidden, opened=False).over(page.root)
    words = sum(block.tokens for block in shown)
    if words >= _FEW_WORDS:
        return shown
    opened = _Walk(page.hidden, opened=True).over(page.root)
    return opened if sum(block.tokens for block in opened) > _TIMES_AS_MANY * words + _MORE_WORDS else shown


def words_in(text: str) -> list[str]:
    """Return the words of a text, an ideograph as one."""
    return text.encode().translate(_OF_WORDS).decode().split() if text.isascii() else _WORD.findall(text)


def count_words(text: str) -> int:
    """Count words, an ideograph as one."""
    return len(words_in(text)) if len(text) < _LONG else text.count(" ") + 1


class _Walk:
    """One pass over a tree, with a stack of its own: pages nest deeper than Python calls."""

    __slots__ = (
        *("_around", "_box", "_breaks", "_found", "_hidden"),
        *("_linked", "_nodes", "_part", "_pieces", "_skipped"),
    )

    def __init__(self, hidden: Mapping[Element, Hiding], *, opened: bool) -> None:
        self._hidden = hidden
        self._skipped = _SKIPPED if opened else _SKIPPED | {"noscript"}
        self._found = list[Block]()
        self._box: TextBox | None = None  # where the walk is
        self._around: TextBox | None = None  # the innermost around what was gathered
        self._pieces = list[str]()
        self._nodes = list[Text]()
        self._linked = 0
        self._breaks = 0
        self._part: Element | None = None  # what was entered last, where it follows another part

    def over(self, root: Element) -> list[Block]:
        stack: list[Node | TextBox] = [root]
        pop, push = stack.pop, stack.append
        while stack:
            node = pop()
            if type(node) is Element:
                children = node.children
                if not children:
                    self._pass(node)
                elif (box := self._enter(node)) is not None:
                    push(box)
                    stack.extend(children[::-1])
            elif isinstance(node, Text):
                self._take(node)
            elif type(node) is TextBox:
                self._leave(node)
        self._flush()
        return self._found

    def _pass(self, element: Element) -> None:
        """Pass an element that holds nothing: all that it can be is a boundary."""
        tag = element.tag
        if tag == "br":
            self._break()
        elif tag in _BOUNDARIES:
            if self._nodes and not self._is_out(tag, element, self._hidden.get(element)):
                self._flush()
        elif (
            tag in INLINE
            and (style := element.attr("style")) is not None
            and shown_as_block(style)
            and not self._is_out(tag, element, self._hidden.get(element))
        ):
            self._pieces.append(" ")

    def _is_out(self, tag: str, element: Element, hiding: Hiding | None) -> bool:
        return tag in self._skipped or (hiding is not None and _is_unseen(element, hiding))

    def _enter(self, element: Element) -> TextBox | None:
        tag = element.tag
        if tag == "br":
            self._break()
            return None
        hiding = self._hidden.get(element)
        if self._is_out(tag, element, hiding):
            return None
        if self._nodes and tag in _BOUNDARIES:
            self._flush()
        box = self._box = TextBox(element, tag, self._box, collapsed=hiding is not None)
        if box.apart:
            self._pieces.append(" ")
        elif self._nodes and is_next_part(element):
            self._part = element
        return box

    def _leave(self, box: TextBox) -> None:
        if self._nodes and box.tag in _BOUNDARIES:
            self._flush()
        if box.apart:
            self._pieces.append(" ")
        self._box = box.parent

    def _break(self) -> None:
        # One br is a new line of the same block, two are a new paragraph.
        self._breaks += 1
        if self._breaks > 1:
            self._flush()
        self._pieces.append(" ")

    def _take(self, node: Text) -> None:
        data = node.data
        if not data or data.isspace():
            self._pieces.append(" ")
            return
        if self._part is not None:
            if self._pieces and parts_words(self._pieces[-1], self._part, data):
                self._pieces.append(" ")
            self._part = None
        self._pieces.append(data)
        self._nodes.append(node)
        self._breaks = 0
        box = self._box
        if box is not None and box.in_link:
            self._linked += len(data)
        self._around = box if len(self._nodes) == 1 else _common(self._around, box)

    def _flush(self) -> None:
        self._breaks = 0
        self._part = None
        around = self._around
        if around is not None:
            joined = "".join(self._pieces)
            text = " ".join((joined if joined.isascii() else _INVISIBLE_CHARACTERS.sub("", joined)).split())
            if text and not _is_data(text, around):
                share = min(self._linked / len(text), 1.0)
                self._found.append(Block(text, tuple(self._nodes), count_words(text), around.collapsed, around, share))
            self._nodes.clear()
            self._around = None
            self._linked = 0
        self._pieces.clear()


def _is_unseen(element: Element, hiding: Hiding) -> bool:
    streamed = (element.attr("id") or "").startswith(_STREAMED) and element.attr("hidden") is not None
    return hiding is Hiding.INVISIBLE and not streamed


def _is_data(text: str, box: TextBox) -> bool:
    if len(text) < _DATA_CHARS or text[0] not in "{[" or text[-1] not in "}]":
        return False
    around: TextBox | None = box
    while around is not None:
        if around.tag in _CODE:
            return False
        around = around.parent
    try:
        msgspec.json.decode(text)
    except (ValueError, RecursionError):
        return False
    return True


def _common(one: TextBox | None, other: TextBox | None) -> TextBox | None:
    while one is not other and one is not None and other is not None:
        if one.depth >= other.depth:
            one = one.parent
        else:
            other = other.parent
    return one
