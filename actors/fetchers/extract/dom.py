"""Turns HTML into a tree that holds what a reader would see, and reads text from it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import urljoin

from lxml import etree
from lxml.html import HtmlElement, HTMLParser, document_fromstring

from actors.fetchers.extract.extraction import clean

_MAX_DEPTH = 200
"""Deeper elements are unwrapped, for those who walk a tree recursively."""

_EMPTY = b"<html><body></body></html>"
_NOT_XML = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]"
    "|&#(?:(?:0{0,9}(?:[0-8]|1[124-9]|2[0-9]|3[01])|6553[45])(?![0-9])"
    "|[xX](?:0{0,9}(?:[0-8bceBCEfF]|1[0-9a-fA-F])|[fF]{3}[eEfF])(?![0-9a-fA-F]));?"
)
"""What lxml reads from a page, as it is or as a reference, but refuses to write into a tree."""

_MAX_ATTRIBUTES = 500
_TAG = re.compile(r"""<[a-zA-Z](?:[^>"']++|"[^"]*+"|'[^']*+')*+""")
_QUOTED = re.compile(r"""=\s*+(?:"[^"]*+"|'[^']*+')""")

_HIDING_STYLE = re.compile(r"display\s*:\s*none")
_NEVER_HIDDEN = frozenset({"html", "body"})  # hidden against flicker until a script has run
_SKIPPED = frozenset(
    {"script", "style", "template", "noscript", "head", "iframe", "object", "textarea", "select", "svg", "canvas"}
)
_OF_HEAD = frozenset({"base", "link", "meta", "noscript", "script", "style", "template", "title"})
_BLOCKS = frozenset(
    {"address", "article", "aside", "blockquote", "body", "br", "caption", "center", "dd", "details"}
    | {"dialog", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3"}
    | {"h4", "h5", "h6", "header", "hr", "html", "li", "main", "nav", "ol", "p", "pre", "section"}
    | {"summary", "table", "tbody", "tfoot", "thead", "tr", "ul"}
)
_CELLS = frozenset({"td", "th"})


def parse(text: str) -> HtmlElement:
    """Parse a page once; whatever comes in, a tree comes out."""
    text = _TAG.sub(_without_flood, _NOT_XML.sub(" ", text))
    data = text.encode("utf-8", "replace")
    # huge_tree: libxml2 would drop what lies deeper than 255 elements; size is bounded by whoever fetched.
    parser = HTMLParser(encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True)
    try:
        root = document_fromstring(data, parser=parser)
    except etree.ParserError:
        root = document_fromstring(_EMPTY)
    _end_head(root)
    _flatten(root)
    return root


def show(root: HtmlElement, url: str) -> None:
    """Leave out what is hidden, clean what is left, and make its links absolute."""
    for element in [found for found in root.iter() if _hidden(found)]:
        element.drop_tree()
    base = _base(root, url)
    for element in root.iter():
        if element.text:
            element.text = clean(element.text)
        if element.tail:
            element.tail = clean(element.tail)
        if (href := element.get("href")) is not None and element.tag in ("a", "area"):
            element.set("href", absolute(base, href))
        if (source := element.get("src")) is not None and element.tag in ("img", "iframe", "source", "video", "audio"):
            element.set("src", absolute(base, source))


def absolute(base: str, href: str) -> str:
    """Join a link to the address of its page; a link that is none stays as it is."""
    try:
        return urljoin(base, href.strip())
    except ValueError:
        return href


def text_of(element: HtmlElement) -> str:
    """Give the text of an element, a line for every block, without scripts and the like."""
    pieces: list[str] = []
    skipping: HtmlElement | None = None
    for event, node in etree.iterwalk(element, events=("start", "end")):
        if event == "start":
            if skipping is None and node.tag in _SKIPPED:
                skipping = node
            if skipping is None:
                pieces.append(_break(node.tag) + (node.text or ""))
            continue
        if skipping is node:
            skipping = None
        if skipping is None:
            tail = (node.tail or "") if node is not element else ""
            pieces.append(_break(node.tag) + tail)
    return "\n".join(_lines("".join(pieces)))


def first(root: HtmlElement, *tags: str) -> HtmlElement | None:
    """Find the first element with one of the tags."""
    return next(iter(root.iter(*tags)), None)


def _end_head(root: HtmlElement) -> None:
    # Where no tag begins the body, libxml2 leaves main, article and other elements younger than itself in the head.
    head = first(root, "head")
    stray = next((child for child in head if child.tag not in _OF_HEAD), None) if head is not None else None
    if stray is None:
        return
    strays = [stray, *stray.itersiblings()]
    body = first(root, "body")
    if body is None:
        body = etree.SubElement(root, "body")
    strays[-1].tail = (strays[-1].tail or "") + (body.text or "")
    body.text = None
    body[:0] = strays


def _without_flood(tag: re.Match[str]) -> str:
    # libxml2 compares every attribute with all before it: 50,000 of them take 2 s, a million would take a quarter hour.
    if tag.end() - tag.start() < _MAX_ATTRIBUTES:
        return tag[0]
    names = _QUOTED.sub(" ", tag[0]).replace("/", " ").split(maxsplit=_MAX_ATTRIBUTES)
    return tag[0] if len(names) <= _MAX_ATTRIBUTES else names[0]


def _lines(text: str) -> Iterator[str]:
    for line in text.split("\x00"):
        if words := " ".join(line.split()):
            yield words


def _break(tag: object) -> str:
    # NUL cannot occur in a tree, so it marks the end of a block until white space has been joined.
    return "\x00" if tag in _BLOCKS else " " if tag in _CELLS else ""


def _hidden(element: HtmlElement) -> bool:
    if element.tag in _NEVER_HIDDEN:
        return False
    if element.tag == "template" or (element.tag == "dialog" and "open" not in element.attrib):
        return True
    hidden = element.get("hidden")
    if hidden is not None:
        return hidden != "until-found"
    style = element.get("style")
    return style is not None and _HIDING_STYLE.search(style.lower()) is not None


def _base(root: HtmlElement, url: str) -> str:
    base = first(root, "base")
    href = base.get("href") if base is not None else None
    return absolute(url, href) if href else url


def _flatten(root: HtmlElement) -> None:
    depth, deep = 0, list[HtmlElement]()
    for event, element in etree.iterwalk(root, events=("start", "end")):
        depth += 1 if event == "start" else -1
        if event == "start" and depth > _MAX_DEPTH:
            deep.append(element)
    for element in reversed(deep):
        element.drop_tag()
