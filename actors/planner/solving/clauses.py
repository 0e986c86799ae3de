"""A goal split into clauses of one instruction each, with what is quoted kept whole."""

from __future__ import annotations

import re
from typing import Final

from actors.planner.solving.vocabulary import VERB

_QUOTED: Final = re.compile(r"\"([^\"]*)\"|“([^”]*)”|„([^“”]*)[“”]|«\s?([^»]*?)\s?»|(?<!\w)'([^']+)'(?!\w)|`([^`]+)`")
_MASK: Final = re.compile(r"⟦(\d+)⟧")
_THEN: Final = re.compile(
    r"\s*[,;.]?\s*\b(?:and\s+then|and\s+finally|then|afterwards|after that|finally|next,|und\s+dann|dann|danach|puis"
    r"|et\s+puis|ensuite|luego|y\s+luego|después)\b,?\s*",
    re.IGNORECASE,
)
_SENTENCE: Final = re.compile(rf"(?<=[.!?;⟧])\s+(?=[A-ZÄÖÜÉ⟦])|(?<=[.!?;])\s+(?=(?i:{VERB.pattern}))|\n+|;\s*")
_AND_VERB: Final = re.compile(
    r"(?:\s*,\s*(?:and\s+|und\s+|et\s+|y\s+)?|\s+(?:and|und|et|y)\s+|\s+(?=(?:hit|press|click)\s+submit\b))"
    rf"(?={VERB.pattern})",
    re.IGNORECASE,
)
_TAIL: Final = re.compile(
    r"[\s,]*\b(?:when|once|after)\s+(?:you(?:'re| are)?\s+)?(?:are\s+)?(?:done|finished|ready|complete)\b",
    re.IGNORECASE,
)
_POLITE: Final = re.compile(
    r"^(?:please|now|first|also|kindly|could you|can you|would you|i want (?:you )?to|i(?:'d| would) like (?:you )?to"
    r"|you (?:should|must|need to)|try to|and|bitte|s'il (?:te|vous) plaît|por favor|to)\b,?\s*",
    re.IGNORECASE,
)


class MaskedText:
    """A goal whose quotes stand as numbered marks, so that no word in them is taken for one of the goal's own."""

    def __init__(self, text: str) -> None:
        self._quotes: list[str] = []
        self.text = _QUOTED.sub(self._mask, text)

    def _mask(self, match: re.Match[str]) -> str:
        self._quotes.append(match[0])
        return f"⟦{len(self._quotes) - 1}⟧"

    def whole(self, text: str) -> str:
        """Return a text with its quotes back in their places."""
        return _MASK.sub(lambda match: self._quotes[int(match[1])], text)


def quotes_in(text: str) -> tuple[str, ...]:
    """Return what stands in quotes."""
    return tuple(next((one for one in match.groups() if one is not None), "") for match in _QUOTED.finditer(text))


def unquoted(text: str) -> str:
    """Return a text without the quotes around it."""
    quotes = quotes_in(text.strip())
    match = _QUOTED.fullmatch(text.strip().rstrip(".,"))
    return quotes[0] if match and quotes else text.strip()


def without_politeness(text: str) -> str:
    """Return a clause without the words before its verb that ask for nothing."""
    previous = None
    while previous != text:
        previous, text = text, _POLITE.sub("", text.strip())
    return text


def clauses_of(goal: str) -> tuple[str, ...]:
    """Return the clauses of a goal in their order, each with its verb first where it has one."""
    masked = MaskedText(re.sub(r"[ \t]+", " ", goal.strip()))
    parts = [masked.text]
    for splitting in (_SENTENCE, _THEN, _AND_VERB):
        parts = [piece for part in parts for piece in splitting.split(part)]
    cleaned = (without_politeness(_TAIL.sub("", part).strip(" ,;\n")) for part in parts)
    return tuple(masked.whole(part.rstrip(" .!")) for part in cleaned if part.strip(" .,!?"))
