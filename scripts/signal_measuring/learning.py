"""Chooses a rule for the signals by pages that are known, and tries it on pages that are not."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from msgspec import structs

from actors.fetchers.lightweight.signals import MARKS, RULE, Observation, Rule, marks, raised
from scripts.signal_measuring.both import Shown
from scripts.signal_measuring.corpus import Kind

MISS_COSTS = 3
"""A page that is wrong and believed is worse than so many that are right and are shown again in a browser."""

THIN_WORDS = (0, 8, 10, 12, 15, 20, 25, 30, 40)
FEW_WORDS = (20, 30, 40, 60, 80)
FOLDS = 20
_ROUNDS = 3

# What the engine cannot do, or what says that the page is not there: these count whatever the corpus has of them.
GIVEN = frozenset(
    {
        "status",
        "cut_short",
        "never_settled",
        "unsupported",
        "web_socket",
        "event_source",
        "oversized_request",
        "context_refused",
        "extended_element",
        "lacking",
    }
)
# What the scripts beside the content do on any site, those that count visits first: never a reason by itself, however
# seldom the corpus has it on pages that are right.
BESIDE_AT_MOST = frozenset(
    {"error", "failed_script", "failed_request", "late_timer", "performance", "worker", "measured", "resized", "canvas"}
)


@dataclass(frozen=True)
class Marked:
    """A page and the marks that it bears; `observed` is None where the tier gave up."""

    page: Shown
    borne: tuple[str, ...]
    observed: Observation | None


@dataclass(frozen=True)
class Verdict:
    """What a rule says of a page."""

    page: Shown
    raised: tuple[str, ...]


def marked(pages: Iterable[Shown]) -> list[Marked]:
    """Look for all marks."""
    return [Marked(page, marks(page.observed) if page.observed else (), page.observed) for page in pages]


def judge(pages: Sequence[Marked], rule: Rule = RULE) -> list[Verdict]:
    """Say what a rule says of pages; where the tier gave up, the ladder goes on by itself."""
    return [
        Verdict(each.page, raised(each.borne, each.observed, rule) if each.observed else ("fault",)) for each in pages
    ]


def cross_validated(pages: list[Marked]) -> list[Verdict]:
    """Judge the pages by rules that were learned without any page of the same family, nor any of a mere addition."""
    verdicts: list[Verdict] = []
    known = [each for each in pages if each.page.sample.kind is not Kind.ADDITION]
    for fold in range(FOLDS):
        rule = learn([each for each in known if _fold(each) != fold])
        verdicts += judge([each for each in pages if _fold(each) == fold], rule)
    return verdicts


def learn(pages: list[Marked]) -> Rule:
    """Choose thresholds, and for each mark whether it counts alone, beside few words, or not at all."""
    rule = Rule(alone=GIVEN, beside=frozenset(), thin_words=12, few_words=40)
    for _ in range(_ROUNDS):
        former = rule
        rule = _best(pages, [structs.replace(rule, thin_words=words) for words in THIN_WORDS])
        for mark in sorted(MARKS.keys() - GIVEN):
            alone, beside = rule.alone - {mark}, rule.beside - {mark}
            off = structs.replace(rule, alone=alone, beside=beside)
            choices = [off, structs.replace(off, beside=beside | {mark}), structs.replace(off, alone=alone | {mark})]
            rule = _best(pages, choices[:2] if mark in BESIDE_AT_MOST else choices)
        rule = _best(pages, [structs.replace(rule, few_words=words) for words in FEW_WORDS])
        if rule == former:
            break
    return rule


def _best(pages: list[Marked], choices: list[Rule]) -> Rule:
    """Return the cheapest; the first of those that cost the same."""
    return min(choices, key=lambda rule: _cost(pages, rule))


def _cost(pages: list[Marked], rule: Rule) -> int:
    verdicts = judge(pages, rule)
    missed = sum(verdict.page.wrong and not verdict.raised for verdict in verdicts)
    alarms = sum(verdict.page.equal and bool(verdict.raised) for verdict in verdicts)
    return MISS_COSTS * missed + alarms


def _fold(each: Marked) -> int:
    return zlib.crc32(each.page.sample.family.encode()) % FOLDS
