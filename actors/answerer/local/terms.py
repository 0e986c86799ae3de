"""Cuts text into the words that matter: stems where blanks part words, characters and their pairs where none do."""

from __future__ import annotations

import re

from actors.answerer.local.languages import languages

_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u2fff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
"""Thai, Lao, Burmese, Khmer, Chinese and Japanese: a class of characters."""

_RUN = re.compile(rf"([{_UNSPACED}]+)|[^\W_{_UNSPACED}]+")
_STEM_CHARS = 5
"""Words that begin alike are taken for forms of one word: 4 and 6 characters lead to answers no more often."""


def stem(word: str) -> str:
    """Return what the forms of a lower-case word have in common."""
    if len(word) > 3 and word.endswith("s") and not word.endswith("ss"):  # noqa: PLR2004 - "gas" is no plural
        word = word[:-1]
    return word[:_STEM_CHARS]


def is_unspaced(term: str) -> bool:
    """Return whether a term is a character, or a pair of them, of a script without blanks."""
    match = _RUN.match(term)
    return match is not None and match[1] is not None


def content_terms(text: str) -> list[str]:
    """Return the stems, characters and pairs of characters that say what a question is about, each once."""
    known = languages()
    terms = dict[str, None]()
    for run in _RUN.finditer(text.lower()):
        if run[1] is None:
            if run[0] not in known.stop_words:
                terms[stem(run[0])] = None
            continue
        for part in known.stop_runs.split(run[1]):
            terms |= dict.fromkeys([*pairs(part), *(char for char in part if char not in known.in_pairs)])
    return list(terms)


def all_terms(text: str) -> list[str]:
    """Return the stems and pairs of characters of a text but for words that every text has, in their order."""
    stop_words = languages().stop_words
    terms = list[str]()
    for run in _RUN.finditer(text.lower()):
        if run[1] is not None:
            terms += pairs(run[1])
        elif run[0] not in stop_words:
            terms.append(stem(run[0]))
    return terms


def pairs(run: str) -> list[str]:
    """Return the characters of a run two by two."""
    return [run[place : place + 2] for place in range(len(run) - 1)]
