"""Reads the words of a drawing in SVG: its title, its description, and the text that it shows."""

from __future__ import annotations

import re
from collections.abc import Iterator

from turbohtml import Element

from actors.extraction.parse.formats import xml_data
from actors.extraction.parse.formats.found import MAX_TITLE_CHARS, Found, bounded
from actors.extraction.parse.text import one_line
from protocol.confidence import Source
from protocol.documents import Signal
from protocol.page import PageFields
from protocol.render import Doc, Paragraph, Text, to_markdown

_UNSHOWN = frozenset(
    {"script", "style", "defs", "metadata", "foreignObject", "symbol", "clipPath", "mask", "pattern", "title", "desc"}
)
_HIDDEN = re.compile(
    r"(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|(?:fill-|stroke-)?opacity\s*:\s*0(?:\.0+)?\s*(?:;|$)"
    r"|font-size\s*:\s*0(?:\.0+)?\s*(?:[a-z%]*)\s*(?:;|$))",
    re.IGNORECASE,
)
_ATTRIBUTES = {
    "display": ("none",),
    "visibility": ("hidden", "collapse"),
    "opacity": ("0", "0.0"),
    "fill-opacity": ("0",),
    "font-size": ("0",),
    "fill": ("none", "transparent"),
}
_MAX_ELEMENTS = 50_000
_MAX_TEXTS = 2_000
_MAX_TEXT_CHARS = 2_000


def read(text: str, url: str) -> Found | None:
    """Read a drawing; None where it is no XML."""
    root = xml_data.parsed(text)
    if root is None:
        return None
    title, description = (xml_data.child(root, name) for name in ("title", "desc"))
    title, description = one_line(title, MAX_TITLE_CHARS), one_line(description, _MAX_TEXT_CHARS)
    shown, hidden = _texts(root)
    lines = list(filter(None, [description, *shown]))
    words, left_out = bounded("\n".join(lines) or title)
    return Found(
        markdown=to_markdown(Doc(children=tuple(Paragraph(children=(Text(text=line),)) for line in words.split("\n")))),
        text=words,
        source=Source.SELECTOR_MATCH,
        title=title,
        fields=PageFields(description=description, image=url if url.startswith(("http://", "https://")) else ""),
        signals=(Signal.NON_TEXT_CONTENT,),
        left_out=left_out,
        kept_back={"invisible texts": hidden},
    )


def _texts(root: Element) -> tuple[list[str], int]:
    """Return the texts that are shown in the order in which they are drawn, and count those that are not."""
    shown: list[str] = []
    hidden = 0
    for element, seen in _walk(root):
        line = one_line(xml_data.text_of(element), _MAX_TEXT_CHARS)
        if line and not seen:
            hidden += 1
        elif line and len(shown) < _MAX_TEXTS:
            shown.append(line)
    return shown, hidden


def _walk(root: Element) -> Iterator[tuple[Element, bool]]:
    stack = [(root, True)]
    for _ in range(_MAX_ELEMENTS):
        if not stack:
            return
        element, seen = stack.pop()
        seen = seen and not _is_hidden(element)
        if xml_data.local(element) == "text":
            yield element, seen
            continue
        children = [child for child in element.children if isinstance(child, Element)]
        stack += [(child, seen) for child in reversed(children) if xml_data.local(child) not in _UNSHOWN]


def _is_hidden(element: Element) -> bool:
    if _HIDDEN.search(element.attr("style") or ""):
        return True
    return any((element.attr(name) or "").strip() in values for name, values in _ATTRIBUTES.items())
