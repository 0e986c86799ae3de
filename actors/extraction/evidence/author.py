"""Reads the names of authors that pages write."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from itertools import pairwise

from actors.extraction.assets import months, one_of, vocabulary
from actors.extraction.evidence.dates import dates_in
from actors.extraction.parse.text import clean

MAX_NAMES = 12
MAX_CHARS = 600
_MAX_NAME_CHARS = 60
_MAX_NAME_WORDS = 7
_PERSON_WORDS = range(2, 6)
_SHORT = 6
"""So many capitals are initials or an agency: they stay."""

_CUT = re.compile(
    r"\s[|\u2022\u00b7\u2014\u2013\u00bb/]\s|\s-\s|\s{0,2}[|\u2022\u00b7\u00bb]\s{0,2}|\s//\s|\n|\t|\s(?:on|in|at|am|um|updated"
    r"|published|posted|last updated|aktualisiert|veröffentlicht|publié|publicado)\b(?=\s*[:\d\n])",
    re.IGNORECASE,
)
_LIST = re.compile(
    r"\s*(?:;|,\s*(?:and|und|et|y|e|&)\s|,|\s(?:and|und|et|y|e|og|och|en|with|mit|avec)\s|\s*&\s*|\s/\s|\u3001|\uff06)\s*",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"https?:|www\.|\.(?:com|org|net|de)/|^/")
_MAIL = re.compile(r"<?\(?[\w.+-]+(?:@|\sat\s)[\w.-]+\.\w+\)?>?")
_HOST = re.compile(r"\.(?:com|org|net|de|at|ch|io)\b", re.IGNORECASE)
_ASIDE = re.compile(r"\([^)]*\)|\[[^\]]*\]|@\w+$")
_CLOCK = re.compile(
    r"\d{1,2}[:.]\d\d(?::\d\d)?\s?(?:[ap]\.?m\.?|uhr|et|est|gmt|utc)?\b"
    r"|\d+\s+(?:min|hour|day|week|month|hora|stunde)\w*( read| ago)?",
    re.IGNORECASE,
)
_ADDRESSED = re.compile(r"^(?:mr|mrs|ms|sir)\.?\s", re.IGNORECASE)
_WORDS = re.compile(r"\w+")
_EDGES = " ,.:;|-*\"'/><#\u2013\u2014\u201c\u201d\u2019\u2026\u2022\u00b7"


def people(text: str) -> tuple[str, ...]:
    """Return the names that a text lists, without "By", roles, degrees, dates and addresses."""
    return _people(clean(text[:MAX_CHARS]))


@lru_cache(1024)
def _people(text: str) -> tuple[str, ...]:
    by_key: dict[str, str] = {}
    for piece in _pieces(unicodedata.normalize("NFC", text)):
        name = _name(piece)
        if name and key(name) not in by_key:
            by_key[key(name)] = name
    names = tuple(by_key.values())[:MAX_NAMES]
    names = names[:1] + tuple(name for name in names[1:] if vocabulary().roles.isdisjoint(_words(name)))
    return tuple(name for name in names if not is_organisation(name)) or names


def key(name: str) -> str:
    """Return a name in a form that its spellings share."""
    plain = name.casefold()
    if not plain.isascii():
        plain = "".join(mark for mark in unicodedata.normalize("NFKD", plain) if not unicodedata.combining(mark))
    return " ".join(_WORDS.findall(plain))


def is_organisation(name: str) -> bool:
    """Return whether a name is that of an organisation, as far as its words tell."""
    return not vocabulary().organisations.isdisjoint(_words(name)) or _HOST.search(name) is not None


def looks_personal(name: str) -> bool:
    """Return whether a name is written as those of people are: two to five words with capitals."""
    words = [word for word in re.split(r"[\s-]+", name) if word]
    capital = sum(word[0].isupper() for word in words)
    return len(words) in _PERSON_WORDS and capital >= len(words) - 1 and not re.search(r"\d", name)


def is_label(text: str, *, whole: bool = False) -> bool:
    """Return whether a text begins with what stands before a name ("By"); or is nothing else."""
    begin = text[:2].lower().strip()
    return begin in _beginnings() and (_label_alone() if whole else _label()).match(text) is not None


def stands_before_name(text: str) -> bool:
    """Return whether a text of two words and more ends as what stands before a name does: "Made by"."""
    words = text.rsplit(maxsplit=1)
    return len(words) > 1 and words[1].rstrip(":\uff1a") in vocabulary().by


def _pieces(text: str) -> Iterator[str]:
    """Return the parts of a text that may be one name each."""
    text = _MAIL.sub(" ", text.replace("\xa0", " ")).strip()
    if not _ADDRESS.search(text):
        yield from _LIST.split(_line(text))


def _line(text: str) -> str:
    """Return the part of a text that names somebody: what follows "By", or the first part that is a name."""
    parts = [part.strip() for part in _CUT.split(_without_dates(text)) if part and part.strip()]
    labels = [_label_of(part) for part in parts]
    marked = (part[end:] for part, end in zip(parts, labels, strict=True) if end)
    if named := next((part for part in marked if part), ""):
        return named
    for (part, following), end in zip(pairwise(parts), labels, strict=False):
        if end == len(part):
            return following
    return next((part for part in parts if _name(_LIST.split(part)[0])), "")


def _label_of(text: str) -> int:
    """Return where the labels end that a text begins with, 0 for none."""
    first = _WORDS.search(text)
    if first is None or first[0][:2].lower() not in _beginnings():
        return 0
    label = _prefix().match(text)
    return label.end() if label else 0


def _without_dates(text: str) -> str:
    """Put a border where a date or a time of day stands."""
    for start, end, _ in reversed(list(dates_in(text))):
        text = f"{text[:start]}\n{text[end:]}"
    return _CLOCK.sub("\n", text)


def _name(piece: str) -> str:
    """Return a name cleaned of what is not part of it; "" when it is none."""
    name = _ASIDE.sub(" ", piece[_label_of(piece) :])
    name = _ADDRESSED.sub("", " ".join(name.split())).strip(_EDGES)
    if not 1 < len(name) <= _MAX_NAME_CHARS or len(name.split()) > _MAX_NAME_WORDS or not re.search(r"[^\W\d_]", name):
        return ""
    words = _words(name)
    if name.lower() in vocabulary().nobody or _is_command(words) or _is_degree(name) or _is_day(words):
        return ""
    if stands_before_name(name):
        return ""
    if len(words) > 1 and not vocabulary().roles.isdisjoint(words) and not looks_personal(name):
        return ""
    return name.title() if name.isupper() and len(name) > _SHORT else name


def _is_degree(name: str) -> bool:
    return all(word.replace(".", "") in vocabulary().degrees for word in name.lower().split())


def _is_day(words: Sequence[str]) -> bool:
    """Return whether a name is a day without its year: "March 9"."""
    return words[0] in months() and any(word.isdecimal() for word in words[1:])


def _is_command(words: Sequence[str]) -> bool:
    """Return whether a name begins as the text on a button does; such a word alone may be a name."""
    return len(words) > 1 and words[0] in vocabulary().commands


def _words(name: str) -> list[str]:
    return _WORDS.findall(name.lower())


@cache
def _beginnings() -> frozenset[str]:
    """Return the first letters of the labels: what begins otherwise is none."""
    return frozenset(word[:2].strip() for word in vocabulary().by)


@cache
def _label() -> re.Pattern[str]:
    return re.compile(rf"{one_of(vocabulary().by)}(?:[\s:\uff1a|]|$)", re.IGNORECASE)


@cache
def _label_alone() -> re.Pattern[str]:
    return re.compile(rf"{one_of(vocabulary().by)}\W*$", re.IGNORECASE)


@cache
def _prefix() -> re.Pattern[str]:
    by = one_of(vocabulary().by)
    return re.compile(rf"(?:\W*\b{by}(?=[\s:\uff1a/|]|$))++\s*[:\uff1a|/-]?\s*", re.IGNORECASE)
