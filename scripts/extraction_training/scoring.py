"""Compares what was extracted with the gold answers: words, fields, structure, and whether confidence holds."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

WHOLE_WORDS = frozenset({"wcxb_dev", "scrapinghub"})
"""The data sets whose own measure takes a run of ideographs as one word."""

GOOD_F1 = 0.8
"""The word F1 from which a page counts as extracted well."""

TITLE_F1 = 0.8
TITLE_PRECISION = 0.6
BINS = 10

_WORD = re.compile(r"\w+")
_IDEOGRAPH = re.compile("([\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff])")
_NO_WORD = re.compile(r"[\W_]+")
_DATE = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})")
_NO_NAMES = frozenset(
    {"by", "von", "par", "por", "and", "und", "et", "y", "the", "mr", "dr", "staff", "author", "reporter"}
)


@dataclass(frozen=True)
class Match:
    """Precision, recall and their harmonic mean, each from 0 to 1."""

    precision: float
    recall: float

    @property
    def f1(self) -> float:
        """The harmonic mean."""
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0


def words(text: str, dataset: str = "") -> list[str]:
    """Split a text into words in lower case; an ideograph is a word, but in the sets that measure otherwise."""
    text = text.lower()
    return _WORD.findall(text if dataset in WHOLE_WORDS else _IDEOGRAPH.sub(r" \1 ", text))


def compare(found: Sequence[str], gold: Sequence[str]) -> Match:
    """Compare two bags of words."""
    if not found or not gold:
        same = float(not found and not gold)
        return Match(same, same)
    common = (Counter(found) & Counter(gold)).total()
    return Match(common / len(found), common / len(gold))


def title_exact(found: str, gold: str) -> float:
    """Return whether two titles are the same but for punctuation and case."""
    return float(_title(found) == _title(gold))


def title_loose(found: str, gold: str) -> float:
    """Return whether two titles are nearly the same: word F1 of .8, or all of the gold in little more."""
    if title_exact(found, gold):
        return 1.0
    match = compare(_title(found).split(), _title(gold).split())
    return float(match.f1 >= TITLE_F1 or (match.recall == 1 and match.precision >= TITLE_PRECISION))


def author_f1(found: str, gold: str | Iterable[str]) -> float | None:
    """Compare the names of authors as sets of words; None where the gold has none."""
    expected = _names(gold if isinstance(gold, str) else " ".join(gold))
    given = _names(found)
    return compare(sorted(given), sorted(expected)).f1 if expected else None


def day(text: str) -> str:
    """Return the day of a date as year-month-day; the text itself where it has none."""
    found = _DATE.search(text)
    return f"{int(found[1]):04}-{int(found[2]):02}-{int(found[3]):02}" if found else text


@dataclass(frozen=True)
class Calibration:
    """Whether confidence holds: `ece` over ten bins, `auroc` of telling good pages (NaN where all are alike)."""

    count: int
    ece: float
    auroc: float
    bins: tuple[tuple[float, int, float, float], ...]
    """Lower bound, count, mean confidence, mean score."""


def calibration(pairs: Sequence[tuple[float, float]], good: float = GOOD_F1) -> Calibration:
    """Hold pairs of confidence and measured score against each other."""
    filled: dict[int, list[tuple[float, float]]] = {}
    for sure, score in pairs:
        filled.setdefault(min(int(sure * BINS), BINS - 1), []).append((sure, score))
    rows = tuple(
        (number / BINS, len(inside), fmean(s for s, _ in inside), fmean(s for _, s in inside))
        for number, inside in sorted(filled.items())
    )
    ece = sum(count * abs(sure - score) for _, count, sure, score in rows) / max(len(pairs), 1)
    return Calibration(len(pairs), ece, _auroc([(sure, score >= good) for sure, score in pairs]), rows)


def _auroc(pairs: Sequence[tuple[float, bool]]) -> float:
    """Return the share of pairs of a good and a bad page in which the good one has the higher confidence."""
    good = Counter(sure for sure, well in pairs if well)
    bad = Counter(sure for sure, well in pairs if not well)
    if not good or not bad:
        return float("nan")
    below = wins = 0.0
    for sure in sorted(good | bad):
        wins += good[sure] * (below + bad[sure] / 2)
        below += bad[sure]
    return wins / (good.total() * bad.total())


def _title(text: str) -> str:
    return _NO_WORD.sub(" ", unicodedata.normalize("NFKC", text).casefold()).strip()


def _names(text: str) -> frozenset[str]:
    return frozenset(words(_title(text))) - _NO_NAMES
