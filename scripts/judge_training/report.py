"""Writes down how the judge was trained and how well it does."""

# ruff: noqa: E501, ISC004, RUF001 - tables
from __future__ import annotations

from collections.abc import Callable, Sequence

from actors.verifier import rules
from actors.verifier.features import BUCKETS
from actors.verifier.lexicon import spoken
from actors.verifier.model import Assessment, JudgeModel
from scripts.judge_training import scores
from scripts.judge_training.data import FOLDS, Example
from scripts.judge_training.fitting import Table
from scripts.judge_training.scores import Judged

_OPENING = """# The judge

Written by `scripts/train-judge VERDICT_DIR EXTRACTION_DIR`, which trains the model from labelled pages, the same each
time. The pages themselves are no part of this project; of their words the model keeps hashed weights alone.

## What it answers

Is this the page that was asked for, and whole? What is certain is decided where the page arrives
(`actors/verdicts/certain.py`): by the status, marks of a challenge on a page with little else, a redirect to the home page
or to a login; and data that is too long to be an error is a page, as is what says more in sentences than anything that stands
in a page's place (5,000 characters; the longest of 437 had 3,157). The verifier is asked for the rest. Its rules
(`actors/verifier/rules.py`) decide about a main part that is still loading; and of what came without markup, JSON with an error in its fields and short texts that are mostly a phrase of a
stand-in (`data_bodies.py`). The model decides the rest: a logistic regression over words and structure and {trees} boosted
trees over structure and phrases together give the probability that the page is healthy, a second regression names the
kind of what stands in its place. A page below {refused:.2f} is refused with the code of its kind
(`actors/verdicts/kinds.py`); below {doubtful:g} it is doubtful, and the navigator asks its host for an address that
cannot exist. A status in a line of its own counts against a page, and one that its head states names the kind
(`stated.py`). The status that it came with is no feature: what the rules leave is judged alike whatever number it came
with. Where the address itself speaks of a kind (a login, `/pricing`, `/help/what-404-means`; `requested.py`), what the model
thinks of that kind counts for the page, not against it. And a page that has not a word, a status, a form or a mark of a
stand-in, or one word in passing, is not refused for its looks: it may be a small one.

## What it reads

All of it travels in the claim (`PageEvidence`, `PageTraits`), made from the markup or from what a browser shows:

- words, pairs of words and runs of three to five characters of title, first heading and first {body} characters, and
  the names (classes, ids) of the outer elements, hashed into {buckets:,} buckets;
- {phrases:,} phrases in {languages} languages of what stand-ins say (`package_data/phrases.toml`), counted in the head,
  in the main part and in all that is shown, with the share of it that they make;
- structure: how much stands outside the chrome, and how much of that in sentences; headings, links (also within
  sentences), lists, tables, forms, images, scripts, size, the title against the address and the first heading, a title that
  asks or explains, links of the main part to a login or an offer and prices by period (`offers.py`), whether the navigation marks the page, dates and authors, what is declared (noindex, free or not,
  canonical, description, types of data).

## Data

{real:,} pages ({bad} stand-ins, {good:,} healthy) and {made:,} made-up ones, which weigh a part of a real one: stand-ins
in languages and kinds of which there are few, healthy pages that look like them, small ones and healthy pages cut short;
their words are the phrases, and those of `scripts/judge_training/wording/`, in 14 languages. Figures are
of {folds} folds by site, and nested: a page is judged by a model that has seen no page of its site or design, and the
calibration and the bound below which it is refused were chosen on the other folds. What is shipped is the mean of the
models of the folds. The rules and the phrases are written by hand by those who have seen the pages.

"""
_FIRST_ERROR = 400
_LIMITS = """
## Limits

- A few pages a language and kind: what the phrases do not know, in a language that was not trained, is given oftener.
- Labels are by hand, and some pages are two things (a question of age on a home page; an empty archive). Four that are
  labelled as healthy are a challenge of Cloudflare and questions of age by their own words, and count as that here.
- A teaser that neither declares to be one nor speaks of subscribing at its end looks like a short article.
- All pages come through the first tier; what the other tiers show of them was not measured.
- Bodies without markup are not judged by the model: JSON and short texts by their own words, PDF and the like not at all.
"""


def document(table: Table, judged: Sequence[tuple[Example, Assessment]], model: JudgeModel) -> str:
    """Return the whole report of a model; its figures are of the folds."""
    found = scores.verdicts(judged)
    phrases = spoken()
    opening = _OPENING.format(
        refused=model.refused_below,
        trees=len(model.grove.value),
        doubtful=rules.DOUBTFUL_BELOW,
        body="1,200",
        buckets=BUCKETS,
        phrases=len(phrases),
        languages=len({language for language, _, _ in phrases}),
        real=len(judged),
        bad=sum(example.kind is not None for example, _ in judged),
        good=sum(example.kind is None for example, _ in judged),
        made=len(table.examples) - len(judged),
        folds=FOLDS,
    )
    true = scores.figures(scores.verdicts([row for row in judged if row[0].status >= _FIRST_ERROR], true_status=True))
    held, whole = scores.probabilities(found), scores.overalls(found)
    lines = [
        "## Figures\n\nEvery page is sent with status 200.\n",
        *_rows("all", [("all pages", found)]),
        "",
        f"Probability: ECE {held.ece:.3f}, AUROC {held.auroc:.4f}; `overall` held against the same: ECE {whole.ece:.3f}, AUROC {whole.auroc:.4f}.\n"
        f"With the true status, where that is an error, {true.certified:.1%} of the stand-ins are given as success with .70 or more,\n"
        f"and {true.right_kind:.1%} are refused with the right kind.\n",
        *_rows("kind", _by(found, scores.kind_name)),
        "",
        *_rows("language", _by(found, scores.language_group)),
    ]
    return opening + "\n".join(lines) + "\n" + _LIMITS


def _by(judged: Sequence[Judged], name: Callable[[Example], str]) -> list[tuple[str, list[Judged]]]:
    return list(scores.groups(judged, name).items())


def _rows(name: str, groups: Sequence[tuple[str, Sequence[Judged]]]) -> list[str]:
    lines = [
        f"| {name} | stand-ins | given with .70 or more | refused, right kind | healthy | refused | overall below .50 |",
        "|---|---|---|---|---|---|---|",
    ]
    for label, judged in groups:
        found = scores.figures(judged)
        bad = f"{found.stand_ins} | {found.certified:.1%} | {found.right_kind:.1%}" if found.stand_ins else "– | – | –"
        good = f"{found.healthy:,} | {found.refused:.1%} | {found.doubted:.1%}" if found.healthy else "– | – | –"
        lines.append(f"| {label} | {bad} | {good} |")
    return lines
