"""Writes down how well the votes on title, author and date do on sites that they have not seen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean

from actors.extraction.decide.vote import MIN_PROBABILITY
from scripts.extraction_training import scoring
from scripts.extraction_training.data import FOLDS
from scripts.extraction_training.votes import SETS, Outcome


def section(outcomes: Mapping[str, Sequence[Outcome]], without: float) -> str:
    """Return the section of the report; `without` is what pages without an answer weigh."""
    return "\n\n".join(
        [_OPENING.format(MIN_PROBABILITY["author"], without, FOLDS), table(outcomes), _reliability(outcomes), _WEAK]
    )


def table(outcomes: Mapping[str, Sequence[Outcome]]) -> str:
    """Return the figures by field and set."""
    rows = ["| field | set | pages | score | same | confidence | ECE | AUROC |", "|---|---|---|---|---|---|---|---|"]
    return "\n".join([*rows, *(row for name, found in outcomes.items() for row in _rows(name, found))])


def _rows(name: str, outcomes: Sequence[Outcome]) -> Iterator[str]:
    answered = [one for one in outcomes if one.gold.answered]
    for dataset in SETS:
        yield _row(name, dataset, [one for one in answered if one.gold.page.dataset == dataset])
    yield _row(name, "all", answered)
    silent = [one for one in outcomes if not one.gold.answered]
    if silent:
        told = [one.sure for one in silent if one.elected]
        yield f"| {name} | no answer | {len(silent)} | told on {len(told)} | | {fmean(told):.3f} | | |"


def _row(name: str, dataset: str, outcomes: Sequence[Outcome]) -> str:
    told = [one for one in outcomes if one.elected]
    found = scoring.calibration([(one.sure, one.score) for one in told])
    score = fmean(one.score for one in outcomes)
    same = fmean(one.gold.same[one.best] if one.elected else 0.0 for one in outcomes)
    sure = fmean(one.sure for one in told)
    return (
        f"| {name} | {dataset} | {len(outcomes)} | {score:.4f} | {same:.4f} | {sure:.3f} | {found.ece:.3f} "
        f"| {found.auroc:.3f} |"
    )


def _reliability(outcomes: Mapping[str, Sequence[Outcome]]) -> str:
    rows = ["| field | confidence from | pages | mean confidence | mean score |", "|---|---|---|---|---|"]
    for name, found in outcomes.items():
        told = [one for one in found if one.elected and one.gold.answered]
        bins = scoring.calibration([(one.sure, one.score) for one in told]).bins
        rows += [f"| {name} | {start:.1f} | {count} | {sure:.3f} | {score:.3f} |" for start, count, sure, score in bins]
    return "\n".join(rows)


_OPENING = """\
## The votes on title, author and date

Each source of evidence makes claims; equal values are one candidate, and boosted trees give each candidate the
probability of being right from who says it and where, how far others agree, and what it looks like. The candidate with
the highest one is taken, unless it is below {} (author, date). Confidence is a logistic regression, on elections by
trees that had not seen the site, on that probability, on the support of similar candidates, on the best rival, and on
the sum of all; pages without an answer weigh {} in it.

Scores: title nearly the same, F1 of the words of the authors, day the same; "same" is equality. ECE and AUROC are of
what was told on pages that have an answer, in {} folds by registered domain."""

_WEAK = """\
### What the votes are bad at

- The answers of the data are at odds with the pages in a part of the cases (years that were moved, titles that differ
  from every place), which bounds what can be reached: some candidate is right on 97 % of the pages for the title, on
  91 % for the author (mean F1), on 94 % for the date.
- Titles of service and listing pages: heading and title element name the page in two ways, and the data have either.
- Authors of threads: the first post counts, and its writer stands far from the title.
- Names without any mark, and lines that begin with "By" and name nobody: they are told with a low confidence."""
