"""Makes text of the web fit to be read: without what nobody sees, on one line, repaired where encoded twice."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from urllib.parse import quote

from turbohtml import Element, Text

_INVISIBLE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b\u200e\u200f"
    "\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff]"
    # Joiners belong to Persian, Indic scripts and emoji: they stay alone between letters that are not ASCII.
    "|[\u200c\u200d]{2,}|(?<![^\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\x7f])"
)


INLINE = frozenset(
    {"a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em", "font", "i", "ins"}
    | {"kbd", "mark", "nobr", "q", "ruby", "s", "samp", "small", "span", "strike", "strong", "sub", "sup", "time", "tt"}
    | {"u", "var", "wbr"}
)
"""Elements that break no word in two; all others end what stands before them."""


_PERMALINK = re.compile("[#\u00b6\u00a7\u2693\U0001f517\ue000-\uf8ff]+")

_PARTS = frozenset({"a", "b", "data", "del", "em", "ins", "s", "small", "span", "strong", "time"})
_WITHOUT_PARTS = "code,pre"
_ENDS = ")%"
_SIGNS = frozenset("+$€£¥₹₽₩")
"""What begins a figure; a price behind another one is a price of its own."""

_NAMES = "h2,h3,h4,h5,h6,dt"

_SEPARATOR = re.compile("[\x0b\x0c\x1c-\x1f\x85]")
"""Controls that Python takes for white space: they are taken out, and part no words."""


def is_permalink(link: Element) -> bool:
    """Return whether a link is but a mark beside what it leads to, as the pilcrow behind a heading or a signature."""
    return "#" in (link.attr("href") or "") and _PERMALINK.fullmatch(link.text.strip()) is not None


def is_next_part(element: Element) -> bool:
    """Return whether an element follows another directly, as the parts of a card or row do.

    Both have a class, or both are spans, and one of them holds more than a word.
    """
    before = element.previous_sibling
    if not isinstance(before, Element) or element.tag not in _PARTS or before.tag not in _PARTS:
        return False
    if element.attr("class") and before.attr("class"):
        return True
    return element.tag == before.tag == "span" and (" " in element.text.strip() or " " in before.text.strip())


def parts_words(before: str, part: Element, after: str) -> bool:
    """Return whether no word goes on from the text before a part to the text after its beginning.

    Styles set parts apart; where a word may go on in small letters, as in what editors have cut, they are one.
    """
    last, first = before[-1:], after[:1]
    if first in _SIGNS and after[1:2].isdigit():
        parted = last.isdigit() or last.islower() or last in _ENDS
        return len(before) > 1 and parted and part.closest(_WITHOUT_PARTS) is None
    if len(before) < 2 or not first.isalnum() or not (last.isalnum() or last in _ENDS):  # noqa: PLR2004 - one letter may begin a word
        return False
    if last.isdigit():
        parted = first.isupper() or (first.isdigit() and len(after) > 1 and _is_alike(part))
    elif last.isupper():
        parted = first.isupper() and after[1:2].islower()
    else:
        parted = (last.islower() or last in _ENDS) and (first.isupper() or first.isdigit() or _is_named_part(part))
    return parted and part.closest(_WITHOUT_PARTS) is None


def _is_named_part(part: Element) -> bool:
    """Return whether a heading or term is put together of parts, as the name and the type of a parameter."""
    before = part.previous_sibling
    if not isinstance(before, Element) or before.attr("class") == part.attr("class") or part.closest(_NAMES) is None:
        return False
    return any(isinstance(inner, Element) for one in (before, part) for inner in one.children)


def _is_alike(part: Element) -> bool:
    before = part.previous_sibling
    return isinstance(before, Element) and before.tag == part.tag and before.attr("class") == part.attr("class")


def clean(text: str) -> str:
    """Take out the characters that nobody sees."""
    return text if text.isascii() and text.isprintable() else _INVISIBLE.sub("", text)


def visible_address(address: str) -> str:
    """Percent-encode what nobody sees of an address, as browsers do: words could be hidden in it."""
    if address.isascii() and address.isprintable():
        return address
    return _INVISIBLE.sub(lambda unseen: quote(unseen[0]), address)


def one_line(text: str, limit: int) -> str:
    """Clean a text and join it to one line of at most `limit` characters."""
    line = " ".join(text.split())
    if not (line.isascii() and line.isprintable()) or _SEPARATOR.search(text) is not None:
        line = " ".join(clean(text).split())
    return line if len(line) <= limit else f"{line[: limit - 1].rstrip()}…"


def collapsed(text: str, limit: int) -> str:
    """Collapse the white space of a text to single blanks, and cut it at `limit` characters; nothing else changes."""
    return " ".join(text[: 2 * limit].split())[:limit].rstrip()


_MARKUP = re.compile(r"[\\`*\[\]<>|~]|(?<!\w)_|_(?!\w)|&(?=#?\w{1,31};)")


def cell_markdown(text: str) -> str:
    """Write one line as Markdown for the cell of a table, where it stays text whatever it looks like."""
    return _MARKUP.sub(r"\\\g<0>", text)


_TWICE = re.compile(
    rb"\xc3[\x82-\xb4](?:\xc2[\x80-\xbf]|\xe2\x82\xac|\xe2\x84\xa2|\xe2\x80[\x93\x94\x98-\x9e\xa0-\xa2\xa6\xb0\xb9\xba]"
    rb"|\xc5[\x92\x93\xa0\xa1\xb8\xbd\xbe]|\xc6\x92|\xcb[\x86\x9c])"
)
"""A byte that begins a character of UTF-8 and one that goes on, each written as the character of windows-1252."""

_BY_REFERENCE = re.compile("&(?:[aA]circ;|Atilde;|#19[45];|#226;)&")
_TWICE_IN_TEXT = re.compile("[\u00c2-\u00f4][\u0080-\u00bf\u0152-\u0192\u02c6\u02dc\u2013-\u203a\u20ac\u2122]")
_ABOUT = re.compile(r"utf-?\s?8|charset|encod|mojibake|unicode|latin-?1|iso-8859|windows-125", re.IGNORECASE)
"""What a text says that shows such characters because it is about them."""

_QUOTED = re.compile("[\"'\u201c\u2018\u00ab(`]\\s?[\u00c2-\u00f4][^\\w\\s\"')]{1,3}\\s?[\"'\u201d\u2019\u00bb)`]")
_CODE = "pre,code,kbd,samp,tt,textarea,style"
_MAX_NODES = 200_000
_MAX_CHARS = 20_000
"""A longer text is data, not words: the repair costs 1 µs a character."""

_IN_ATTRIBUTES = (("meta", "content"), ("img", "alt"))


def repair(root: Element, source: str) -> None:
    """Repair the texts of a tree, in place; a page without a mark of such texts costs some .2 ms."""
    if not _is_doubtful(source):
        return
    for node in _texts(root):
        if (data := node.data) != (repaired := _repaired(data)) and not _in_code(node):
            node.data = repaired
    for tag, name in _IN_ATTRIBUTES:
        for element in root.iter_elements(tag):
            value = element.attr(name)
            if value is not None and value != (repaired := _repaired(value)):
                element.attrs[name] = repaired


def _is_doubtful(source: str) -> bool:
    if _BY_REFERENCE.search(source) is not None:
        return True
    return not source.isascii() and _TWICE.search(source.encode("utf-8", "replace")) is not None


def _texts(root: Element) -> Iterator[Text]:
    for node, _ in zip(root.descendants, range(_MAX_NODES), strict=False):
        if isinstance(node, Text):
            yield node


def _in_code(node: Text) -> bool:
    holder = node.parent
    if not isinstance(holder, Element):
        return False
    if holder.tag == "script":
        return "ld+json" not in (holder.attr("type") or "")
    return holder.closest(_CODE) is not None


def _repaired(text: str) -> str:
    if text.isascii() or len(text) > _MAX_CHARS or _TWICE_IN_TEXT.search(text) is None:
        return text
    if _ABOUT.search(text) is not None or _QUOTED.search(text) is not None:
        return text
    library = import_module("ftfy")  # loaded when the first page wants it, which few do: it takes 30 ms
    # What it would guess at is left as it is: characters that were lost, and controls without a character before.
    certain = library.TextFixerConfig(replace_lossy_sequences=False, fix_c1_controls=False)
    fixed: str = library.fix_encoding(text, certain)
    return fixed
