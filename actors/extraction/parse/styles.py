"""Reads declarations of CSS: whether they hide text, and in which colours they show it."""

from __future__ import annotations

import re
from enum import StrEnum
from functools import lru_cache

_MAX_STYLE = 4_000
"""Characters of one block of declarations that are read; what is longer draws pictures."""

_SUSPECT = re.compile(
    r"none|hidden|collapse|opacity|font|indent|clip|transparent|scale\(0|color|:\s*-|(?:width|height)\s*:\s*[01](?!\d)"
)
"""What a block of declarations must hold to be read at all."""

_IMPORTANT = re.compile(r"\s*!\s*important")
_LENGTH = re.compile(r"(-?(?:\d+\.?\d*|\.\d+))(px|pt|r?em|%|vw|vh)?")
_SIZE_OF_FONT = re.compile(r"(?:^|\s)(-?(?:\d+\.?\d*|\.\d+)(?:px|pt|r?em|%)?)(?:/|\s)")
_CLIPPED_AWAY = re.compile(
    r"rect\((?:[01](?:px|%|r?em)?[\s,]*){4}\)|inset\((?:50|100)%|circle\(0|polygon\(\s*0(?:px)?(?:\s+0(?:px)?)?[\s,0px]*\)"
)
_HEX = re.compile(r"#([\da-f]{3,4}|[\da-f]{6}|[\da-f]{8})(?![\da-f])")
_RGB = re.compile(r"rgba?\(\s*([\d.]+)[\s,]+([\d.]+)[\s,]+([\d.]+)(?:[\s,/]+([\d.]+%?))?\s*\)")
_AS_BLOCK = re.compile(r"display\s*:\s*(?:block|flex|grid|table|list-item)(?![\w-])", re.IGNORECASE)
_NAMED = {
    "white": (255, 255, 255),
    "black": (0, 0, 0),
    "red": (255, 0, 0),
    "green": (0, 128, 0),
    "blue": (0, 0, 255),
    "yellow": (255, 255, 0),
    "gray": (128, 128, 128),
    "grey": (128, 128, 128),
    "silver": (192, 192, 192),
    "snow": (255, 250, 250),
    "ivory": (255, 255, 240),
    "whitesmoke": (245, 245, 245),
    "ghostwhite": (248, 248, 255),
}
_SAME_COLOR = 8
"""How far two colours may lie apart in each channel (of 256) and still not be told apart."""

_FAR = 500
"""Pixels beyond the edge of the screen from which a text counts as put away; menus slide in from less."""

_PIXELS = {"px": 1.0, "pt": 1.33, "em": 16.0, "rem": 16.0, "vw": 12.8, "vh": 8.0, "%": 12.8, "": 1.0}
_LEGIBLE = 2.0
"""Pixels of type below which nobody reads."""

_MOVES = ("left", "top", "right", "bottom", "margin-left", "margin-top", "inset-inline-start")

Color = tuple[int, int, int]


class StyleHiding(StrEnum):
    """How declarations keep a text out of sight."""

    FOLDED = "folded"
    """A box that is not shown; a script may show it."""

    UNSEEN = "unseen"
    """A trick that shows the box, but no text."""


@lru_cache(maxsize=2048)
def style_hiding(style: str) -> StyleHiding | None:
    """Return how a block of declarations hides text, if it does."""
    style = style[:_MAX_STYLE].lower()
    if not _SUSPECT.search(style):
        return None
    declared = declarations(style)
    if _hides_box(declared):
        return StyleHiding.FOLDED
    return StyleHiding.UNSEEN if _hides_text(declared) else None


def shown_as_block(style: str) -> bool:
    """Return whether declarations show an element in lines of its own."""
    return _AS_BLOCK.search(style[:_MAX_STYLE]) is not None


def declarations(style: str) -> dict[str, str]:
    """Return the value of each property; the last one counts, unless one before it is important."""
    declared = dict[str, str]()
    important = set[str]()
    for declaration in style.split(";"):
        name, colon, value = declaration.partition(":")
        name = name.strip()
        if colon and ("!" in value or name not in important):
            if "!" in value:
                important.add(name)
                value = _IMPORTANT.sub("", value)
            declared[name] = value.strip()
    return declared


def color(value: str) -> Color | None:
    """Read a colour; None for one that is not known or lets its ground through."""
    if named := _NAMED.get(value.split(" ", 1)[0]):
        return named
    if match := _HEX.match(value):
        digits = match[1] if len(match[1]) > 4 else "".join(digit * 2 for digit in match[1])  # noqa: PLR2004 - #rgb, #rgba
        return (
            None if digits[6:] not in ("", "ff") else (int(digits[:2], 16), int(digits[2:4], 16), int(digits[4:6], 16))
        )
    if (match := _RGB.match(value)) and match[4] in (None, "1", "1.0", "100%"):
        return (int(float(match[1])), int(float(match[2])), int(float(match[3])))
    return None


def same(ink: Color | None, ground: Color | None) -> bool:
    """Return whether two colours are known and cannot be told apart."""
    return (
        ink is not None
        and ground is not None
        and all(abs(one - other) <= _SAME_COLOR for one, other in zip(ink, ground, strict=True))
    )


def ground_of(declared: dict[str, str]) -> str:
    """Return what is declared of the background's colour."""
    return declared.get("background-color") or declared.get("background", "")


def _hides_box(declared: dict[str, str]) -> bool:
    get = declared.get
    return (
        get("display") == "none"
        or get("visibility") in ("hidden", "collapse")
        or _pixels(get("opacity", "1")) == 0
        or (_clips_overflow(declared) and any(_pixels(get(name, "auto")) == 0 for name in ("height", "max-height")))
    )


def _hides_text(declared: dict[str, str]) -> bool:
    get = declared.get
    return (
        _illegible(get("font-size", ""), get("font", ""))
        or bool(_CLIPPED_AWAY.match(get("clip", "")) or _CLIPPED_AWAY.match(get("clip-path", "")))
        or _put_away(declared)
        or _no_size(declared)
        or _no_ink(declared)
        or same(color(get("color", "")), color(ground_of(declared)))
        or get("transform", "").startswith("scale(0)")
    )


def _pixels(value: str) -> float | None:
    match = _LENGTH.fullmatch(value)
    return float(match[1]) * _PIXELS[match[2] or ""] if match else None


def _illegible(size: str, font: str) -> bool:
    if not size and font and (match := _SIZE_OF_FONT.search(font)):
        size = match[1]
    match = _LENGTH.fullmatch(size)
    if match is None:
        return False
    share = match[2] in ("em", "rem", "%")
    number = float(match[1]) * (0.16 if match[2] == "%" else 16 if share else 1)
    return number < _LEGIBLE


def _put_away(declared: dict[str, str]) -> bool:
    if (_pixels(declared.get("text-indent", "")) or 0) <= -_FAR:
        return True
    position = declared.get("position")
    if position not in (None, "absolute", "fixed"):
        return False
    # Where a rule unknown here places it, shares of a width move the strip of a carousel.
    moves = (declared[name] for name in _MOVES if name in declared)
    return any(
        (_pixels(value) or 0) <= -_FAR for value in moves if position is not None or not value.endswith(("%", "vw"))
    )


def _no_size(declared: dict[str, str]) -> bool:
    sizes = [_pixels(declared.get(name, "")) for name in ("width", "height")]
    return _clips_overflow(declared) and all(size is not None and size <= 1 for size in sizes)


def _clips_overflow(declared: dict[str, str]) -> bool:
    overflow = declared.get("overflow") or declared.get("overflow-y", "")
    return overflow.startswith(("hidden", "clip"))


def _no_ink(declared: dict[str, str]) -> bool:
    # Texts that are filled with a picture of their ground are transparent and seen.
    if "-webkit-text-fill-color" in declared or any(name.endswith("background-clip") for name in declared):
        return False
    ink = declared.get("color", "")
    match = _RGB.match(ink)
    return ink == "transparent" or (match is not None and match[4] in ("0", "0%", "0.0", ".0"))
