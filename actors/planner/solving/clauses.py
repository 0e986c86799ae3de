"""A goal split into clauses of one instruction each, with what is quoted kept whole."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from actors.planner.solving.vocabulary import VERB, VERBS, Deed

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

_PUTTING: Final = frozenset({Deed.FILL, Deed.SET})
_TAKING: Final = frozenset({Deed.FILL, Deed.SET, Deed.CHOOSE})
_CARRYING: Final = _TAKING | {Deed.DRAG, Deed.ADD}
"""Deeds of which `into` may be a part."""

_INTO: Final = re.compile(r"\s*\b(?:into|in|to|as|for|ins?|als|dans|en|comme|como)\b\s+\S", re.IGNORECASE)
_SURELY_INTO: Final = re.compile(r"\b(?:into|ins|dans)\s+\S", re.IGNORECASE)
_ABBREVIATION: Final = re.compile(
    r"(?:^|[\s(])(?:\w|(?-i:[A-ZÄÖÜ])\w{0,3}|prof|blvd|approx|vs|etc|bzw|z\.b|(?:\w\.)+\w)\.$", re.IGNORECASE
)
"""What ends with a full stop that may end no sentence: `Dr.`, `St.`, `J.`, `a.m.`"""

_TITLE: Final = re.compile(r"(?:^|\s)(?:dr|mrs?|ms|prof|st|sra?|mme|hr|fr|no|nr)\.$", re.IGNORECASE)
"""What a name or a number follows in any case."""

_KEPT_STOP: Final = re.compile(
    r"(?:(?-i:[A-ZÄÖÜ])[\w'’-]+\s(?-i:[A-ZÄÖÜ])|\b(?:\w\.)+\w|\b(?:jr|sr|inc|ltd|co|corp|st|etc))\.$", re.IGNORECASE
)
"""A full stop at the end that belongs to the word before it: `Ada L.`, `Acme Inc.`"""

_SHORT: Final = 6
"""A sentence of so few words that has no verb goes on with the text before it."""


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
        parts = [piece for part in parts for piece in _pieces(part, splitting)]
    cleaned = (without_politeness(_TAIL.sub("", part).strip(" ,;\n")) for part in parts)
    return tuple(masked.whole(without_full_stop(part)) for part in cleaned if part.strip(" .,!?"))


def without_full_stop(clause: str) -> str:
    """Return a clause without what ends its sentence; where it ends with a value, that keeps what may be its own."""
    text = clause.strip()
    if _deed(text) not in _PUTTING:
        return text.rstrip(" .!")
    return text if has_own_stop(text) else text.removesuffix(".").rstrip()


def has_own_stop(text: str) -> bool:
    """Return whether the full stop at the end of a text belongs to the word before it."""
    return bool(_KEPT_STOP.search(text))


def _deed(text: str) -> Deed | None:
    verb = VERB.match(text)
    return VERBS[verb[0].casefold()] if verb else None


def _pieces(text: str, splitting: re.Pattern[str]) -> Iterator[str]:
    """Yield the pieces of a text, cut where a boundary ends one instruction and begins another."""
    start = 0
    for match in splitting.finditer(text):
        if _is_boundary(without_politeness(text[start : match.start()]), match[0], text[match.end() :]):
            yield text[start : match.start()]
            start = match.end()
    yield text[start:]


def _is_boundary(left: str, between: str, right: str) -> bool:
    """Return whether a text is cut here: not within a value, nor between a value and the field that it is for."""
    deed = _deed(left)
    if deed not in _TAKING or "\n" in between:
        return True
    if deed in _PUTTING and _TITLE.search(left):
        return False
    following = without_politeness(right)
    verb = VERB.match(following)
    if verb is None:
        return deed not in _PUTTING or not _goes_on(left, right)
    behind = following[verb.end() :]
    if not behind.strip(" .!"):
        return _deed(following) not in _TAKING
    is_open = deed is Deed.FILL and not _INTO.search(left)
    if is_open and _INTO.match(behind) and _deed(following) in _TAKING:
        return False
    return not (is_open and _deed(following) not in _CARRYING and _SURELY_INTO.search(behind))


def _goes_on(left: str, right: str) -> bool:
    """Return whether what has no verb is the rest of the value before it."""
    rest = re.split(r"(?<=[.!?;])\s", right.strip(), maxsplit=1)[0]
    if _ABBREVIATION.search(left) or _INTO.match(right) or not rest:
        return True
    return len(rest.split()) <= _SHORT or (not _INTO.search(left) and bool(_SURELY_INTO.search(rest)))
