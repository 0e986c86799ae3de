"""Makes text of the web fit to be read: without what nobody sees, and on one line."""

from __future__ import annotations

import re

_INVISIBLE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b\u200e\u200f"
    "\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff]"
    # Joiners belong to Persian, Indic scripts and emoji: they stay alone between letters that are not ASCII.
    "|[\u200c\u200d]{2,}|(?<![^\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\x7f])"
)


def clean(text: str) -> str:
    """Take out the characters that nobody sees."""
    return text if text.isascii() and text.isprintable() else _INVISIBLE.sub("", text)


def one_line(text: str, limit: int) -> str:
    """Clean a text and join it to one line of at most `limit` characters."""
    line = " ".join(clean(text).split())
    return line if len(line) <= limit else f"{line[: limit - 1].rstrip()}…"


def collapsed(text: str, limit: int) -> str:
    """Collapse the white space of a text to single blanks, and cut it at `limit` characters; nothing else changes."""
    return " ".join(text[: 2 * limit].split())[:limit].rstrip()
