"""Names what is drawn where others write a word: ticks and crosses in cells of tables, by their accessible names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from turbohtml import Element

from actors.extraction.parse.text import one_line

YES, NO = "✓", "✗"

_MAX_NAME_CHARS = 200
_MAX_DRAWN = 5
_DRAWN = (
    "img,svg,i,input[type=checkbox],[role=img],[aria-label],[title],[class*=icon],[class*=check],[class*=tick],"
    "[class*=cross],.sr-only,.visually-hidden,.screen-reader-text,.visuallyhidden"
)
_PICTURES = frozenset({"img", "svg"})
_CONTROLS = "a,button,[role=button]"
_SPOKEN = frozenset({"sr-only", "visually-hidden", "screen-reader-text", "visuallyhidden"})
_FILE_NAME = re.compile(r"\.(?:svg|png|jpe?g|gif|webp|avif)\s*$", re.IGNORECASE)

_YES = frozenset(
    {"check", "checked", "checkmark", "check mark", "check icon", "tick", "tick icon", "green check", "\u2714"}
)
_NO = frozenset({"cross", "cross mark", "cross icon", "x", "x icon", "xmark", "red x", "close", "times", "\u2716"})
"""Names of the drawing; what says a word (included, yes) is left as it is."""

_CALLED_NO = re.compile(
    r"(?:^|[\s_/#.-])(?:cross|x-?mark|times|close|no|x|x-lg|uncheck\w*|false|unavailable|not-?included)(?=$|[\s_.-])"
)
_CALLED_YES = re.compile(r"(?:^|[\s_/#.-])(?:check(?:ed|mark)?|tick|yes|true|included|available)(?=$|[\s_.-])")


def drawn(cell: Element) -> str:
    """Return what the pictures, icons and checkboxes of a cell without text stand for, "" for nothing."""
    names = islice((name for element in cell.select(_DRAWN) if (name := _name(element))), _MAX_DRAWN)
    return one_line(" ".join(dict.fromkeys(names)), _MAX_NAME_CHARS)


def _name(element: Element) -> str:
    if element.tag == "input":
        return YES if element.attr("checked") is not None else NO
    spoken = next((name for name in _accessible(element) if name and _FILE_NAME.search(name) is None), "")
    if spoken:
        plain = spoken.lower().strip(" .:!")
        return YES if plain in _YES else NO if plain in _NO else "" if _is_of_a_control(element) else spoken
    called = _called(element)
    return NO if _CALLED_NO.search(called) else YES if _CALLED_YES.search(called) else ""


def _is_of_a_control(element: Element) -> bool:
    """Return whether an element that is no picture is named for what its link or button does, as an arrow to vote."""
    return element.tag not in _PICTURES and element.attr("role") != "img" and element.closest(_CONTROLS) is not None


def _accessible(element: Element) -> Iterator[str]:
    for attribute in ("aria-label", "alt", "title"):
        yield one_line(element.attr(attribute) or "", _MAX_NAME_CHARS)
    if element.tag == "svg":
        title = element.select_one("title")
        yield one_line(title.text, _MAX_NAME_CHARS) if title is not None else ""
    elif _SPOKEN.intersection((element.attr("class") or "").split()):
        yield one_line(element.text, _MAX_NAME_CHARS)


def _called(element: Element) -> str:
    """Return how the code calls a drawing: classes, the symbol that it uses, the file."""
    parts = [element.attr(name) or "" for name in ("class", "data-icon", "src", "data-src")]
    if element.tag == "svg" and (symbol := element.select_one("use")) is not None:
        parts.append(symbol.attr("href") or symbol.attr("xlink:href") or "")
    return " ".join(part[-_MAX_NAME_CHARS:] for part in parts).lower()
