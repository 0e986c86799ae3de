"""Cuts text into the terms of the search index, and hides each behind the key of its caller."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Final

from bus.seal import Seal

TERMS: Final = "search-terms"
"""The purpose of the key that terms are hidden behind."""

_UNSPACED: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u2fff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
    "\uf900-\ufaff\U00020000-\U0003ffff"
)
"""Thai, Lao, Burmese, Khmer, Chinese, Japanese, and Korean, whose words carry endings: a class of characters."""

_RUN: Final = re.compile(rf"([{_UNSPACED}]+)|[^\W_{_UNSPACED}]+")
_ANY_RUN: Final = re.compile(rf"[{_UNSPACED}]+|[^\W_{_UNSPACED}]+")
_ASCII_WORD: Final = re.compile(r"[a-z0-9]+")
"""The same where a run shows by itself which it is, and for ASCII in lower case, which is read in half the time."""

_MAX_WORD_CHARS: Final = 64
_DIGEST_BYTES: Final = 5
"""Of a million words, one shares its digest with another."""

_KEPT_WORDS: Final = 8_000
"""Words of a caller whose digests are remembered: most of what a page says has been said before."""

_LEAST_STEM: Final = 3
_VOWELS: Final = frozenset("aeiouy")


def terms_of(text: str) -> Iterator[str]:
    """Yield the terms of a text in their order: stems of words, characters and their pairs where no blanks part words.

    Forms that look alike are one: capitals, accents, full width.
    """
    for run in _RUN.finditer(_plain(text)):
        if run[1] is None:
            yield stem(run[0][:_MAX_WORD_CHARS])
            continue
        yield from run[1]
        yield from (run[1][place : place + 2] for place in range(len(run[1]) - 1))


def query_terms(text: str) -> list[str]:
    """Return the terms to look for, each once: of scripts without blanks the pairs, and characters that stand alone."""
    terms = dict[str, None]()
    for run in _RUN.finditer(_plain(text)):
        if run[1] is None:
            terms[stem(run[0][:_MAX_WORD_CHARS])] = None
        elif len(run[1]) == 1:
            terms[run[1]] = None
        else:
            terms |= dict.fromkeys(run[1][place : place + 2] for place in range(len(run[1]) - 1))
    return list(terms)


def stem(word: str) -> str:
    """Return what the commonest forms of a word have in common: plurals, the -ing and -ed of English, a mute e."""
    if not word.isalpha():
        return word
    if word.endswith("ies") and len(word) > _LEAST_STEM + 1:
        word = word.removesuffix("ies") + "y"
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > _LEAST_STEM:
        word = word.removesuffix("s")
    for ending in ("ing", "ed"):
        rest = word.removesuffix(ending)
        if rest != word and len(rest) >= _LEAST_STEM and _VOWELS.intersection(rest):
            doubled = rest[-1] == rest[-2] and rest[-1] not in "lsz"
            return rest[:-1] if doubled else rest
    return word.removesuffix("e") if len(word) > _LEAST_STEM else word


def _plain(text: str) -> str:
    """Return a text in one form, without accents; the marks of scripts that need theirs stay."""
    if text.isascii():
        return text.lower()
    apart = unicodedata.normalize("NFKD", text.casefold())
    return unicodedata.normalize("NFC", "".join(char for char in apart if not "\u0300" <= char <= "\u036f"))


@dataclass(frozen=True)
class HiddenTerms:
    """The terms of one caller as they stand in the index: nobody without the key can tell what they say.

    The same word of another caller is another term, so that nobody's query finds what is not his.
    """

    key: bytes = field(repr=False)
    _known: dict[str, str] = field(default_factory=dict[str, str], init=False, repr=False)
    """What stands for a word, or for a character, that was met."""

    @classmethod
    def of(cls, seal: Seal, caller: str) -> HiddenTerms:
        """Derive the key of a caller."""
        return cls(seal.digest(caller.encode(), TERMS))

    def hide_text(self, text: str) -> str:
        """Return the terms of a text as one that SQLite cuts at its blanks."""
        plain, known = _plain(text), self._known
        runs = (_ASCII_WORD if plain.isascii() else _ANY_RUN).findall(plain)
        return " ".join([known.get(run) or self._hide_run(run) for run in runs])

    def hidden(self, term: str) -> str:
        """Return what stands for a term."""
        return blake2b(term.encode(), key=self.key, digest_size=_DIGEST_BYTES).hexdigest()

    def _hide_run(self, run: str) -> str:
        hidden = " ".join(map(self.hidden, terms_of(run)))
        if len(run) <= _MAX_WORD_CHARS:
            if len(self._known) >= _KEPT_WORDS:
                self._known.clear()
            self._known[run] = hidden
        return hidden
