"""What an extraction gives, whatever the page was written in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from protocol.browse import ApiPattern, SelectorAttempt, TitleAttempt
from protocol.confidence import Confidence
from protocol.documents import WebObservationSummary
from protocol.pages import PageEvidence


@dataclass(frozen=True)
class Extraction:
    """A page as a document, how sure each field is, and how it was come by; `tables` is parallel to the document's.

    `fields` holds the confidence of the fields beyond title and content, by their wire names.
    """

    summary: WebObservationSummary
    evidence: PageEvidence
    title: Confidence
    content: Confidence
    tables: tuple[Confidence, ...] = ()
    selectors: tuple[SelectorAttempt, ...] = ()
    titles: tuple[TitleAttempt, ...] = ()
    fields: Mapping[str, Confidence] = field(default_factory=dict[str, Confidence])
    apis: tuple[ApiPattern, ...] = ()


# What is not seen, but read by a model: controls, soft hyphens, directions, zero widths, tags, variation selectors.
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
