"""Finds in a text what stand-ins for a page say, in many languages; and hashes its words and characters."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from ahocorasick_rs import AhoCorasick
from msgspec import Struct
from numpy.typing import NDArray

from protocol.page import PageKind

KINDS = tuple(PageKind)

Hashes = NDArray[np.uint64]
Amounts = NDArray[np.float32]

_BASE = 0x9E3779B97F4A7C15 | 1
_MIX = np.uint64(0xD6E8FEB86659FD93)
_MAX_CHARS = 8_192
_WORD = re.compile(r"[^\W_]+")
_UNSPACED = re.compile("[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_ESCAPES = re.compile(r"\\|https?://\S+|[#*\[\]()!|>`]")


def folded(text: str) -> str:
    """Return the words of a text in one form: lower case, a space before each and at the end."""
    return f" {' '.join(_WORD.findall(text.casefold()))} "


def plain(markdown: str) -> str:
    """Return Markdown without its marks and addresses."""
    return _ESCAPES.sub(" ", markdown)


class HashedText(Struct, frozen=True):
    """A folded text whose pieces can be hashed at once: `sums` are the prefix sums of its hash."""

    text: str
    codes: Hashes
    sums: Hashes

    @staticmethod
    def of(text: str) -> HashedText:
        """Prepare a folded text."""
        encoded = text[:_MAX_CHARS].encode("utf-32-le", "replace")
        codes = np.frombuffer(encoded, np.uint32).astype(np.uint64)
        powers, _ = _powers()
        sums = np.zeros(len(codes) + 1, np.uint64)
        np.cumsum(codes * powers[: len(codes)], out=sums[1:])
        return HashedText(encoded.decode("utf-32-le"), codes, sums)

    def pieces(self, size: int) -> Hashes:
        """Hash every run of `size` characters."""
        if len(self.codes) < size:
            return np.zeros(0, np.uint64)
        _, inverse = _powers()
        return ((self.sums[size:] - self.sums[:-size]) * inverse[: len(self.codes) - size + 1]) * _MIX

    def words(self, count: int) -> Hashes:
        """Hash every run of `count` words."""
        spaces = np.flatnonzero(self.codes == ord(" "))
        if len(spaces) <= count:
            return np.zeros(0, np.uint64)
        _, inverse = _powers()
        starts, ends = spaces[:-count], spaces[count:]
        return ((self.sums[ends] - self.sums[starts]) * inverse[starts]) * _MIX


@cache
def _powers() -> tuple[Hashes, Hashes]:
    inverse = pow(_BASE, -1, 1 << 64)
    powers, inverses = np.ones(_MAX_CHARS + 1, np.uint64), np.ones(_MAX_CHARS + 1, np.uint64)
    with np.errstate(over="ignore"):
        powers[1:] = np.cumprod(np.full(_MAX_CHARS, _BASE, np.uint64))
        inverses[1:] = np.cumprod(np.full(_MAX_CHARS, inverse, np.uint64))
    return powers, inverses


class PhraseBook(Struct, frozen=True):
    """The phrases, folded, with the kind that each hints at, and what finds all of them at once."""

    phrases: tuple[str, ...]
    kinds: NDArray[np.int64]
    finder: AhoCorasick

    def counts(self, zone: HashedText) -> tuple[Amounts, Amounts]:
        """Return for each kind how many of its phrases a text holds, and which share of the text they make."""
        counts, share = np.zeros(len(KINDS), np.float32), np.zeros(len(KINDS), np.float32)
        for at in {match[0] for match in self.finder.find_matches_as_indexes(zone.text, overlapping=True)}:
            counts[self.kinds[at]] += 1
            share[self.kinds[at]] += len(self.phrases[at])
        return counts, np.minimum(share / max(len(zone.text), 1), 1)


@cache
def phrase_book() -> PhraseBook:
    """Return the shipped phrases."""
    kinds, phrases = list[int](), list[str]()
    for _, kind, phrase in spoken():
        words = folded(phrase).rstrip()
        phrases.append(words.strip() if _UNSPACED.search(words) else words)
        kinds.append(KINDS.index(kind))
    return PhraseBook(tuple(phrases), np.array(kinds), AhoCorasick(phrases))


@cache
def spoken() -> tuple[tuple[str, PageKind, str], ...]:
    """Return every phrase with its language and kind."""
    source = files("actors.verifier").joinpath("package_data", "phrases.toml").read_text("utf-8")
    tables: dict[str, dict[str, list[Any]]] = tomllib.loads(source)
    return tuple(
        (language, PageKind(kind), str(phrase))
        for language, kinds in tables.items()
        for kind, phrases in kinds.items()
        for phrase in phrases
    )
