"""Writes down what was trained, on what, and how well it does on sites that it has not seen."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

import msgspec

from actors.extraction.decide import model
from actors.report.figures import Reliability
from scripts.extraction_training import content as training
from scripts.extraction_training import diagram, scoring
from scripts.extraction_training.content import Outcome, Trained
from scripts.extraction_training.data import CONTENT_SETS, FOLDS, MEAN_SETS

DIAGRAM = Path("docs/extraction-model.svg")
RELIABILITY = Path("actors/report/package_data/reliability.json")

_OF = (
    "the main content: the confidence that was said of a page before its gold text was seen, and the word F1 that it "
    "came to"
)

OPENING = """\
# What extraction has learned

Written by `scripts/train-extraction DATA_DIR`, which trains every model below from a folder of gold pages, the same
bytes each time. The pages themselves are no part of this project."""

_DATA = f"""\
## The choice of the main content

### Data

| set | kind of pages | source | licence |
|---|---|---|---|
| wcxb_dev | seven types of pages | Murrough-Foley/web-content-extraction-benchmark, development half | CC-BY-4.0 |
| scrapinghub | articles | scrapinghub/article-extraction-benchmark | MIT |
| aed | articles | AndyTheFactory/article-extraction-dataset | see source |
| readability | articles | mozilla/readability, test pages | Apache-2.0 |
| magic_forum | forums | opendatalab/magic-html | Apache-2.0 |
| magic_article | articles, most of them Chinese | opendatalab/magic-html | Apache-2.0 |
| daniel | news in Greek, English, Polish, Russian and Chinese | rundimeco/waddle, Corpus_daniel_v2.1 | see source |
| zh69 | articles in Chinese | immortal-autumn/Chinese-Web-Content-Extraction-Dataset | none stated |

All figures are of {FOLDS} folds by registered domain: a page is judged by models that have seen no page of its site."""


def content(data_dir: Path) -> str:
    """Train the choice of the main content, write its model and diagram, and give the report."""
    trained = training.train(training.read(data_dir))
    training.save(trained, training.MODEL)
    table = _table(trained.outcomes)
    print(table)
    pairs = [(outcome.sure, outcome.f1) for outcome in trained.outcomes]
    found = scoring.calibration(pairs)
    RELIABILITY.write_bytes(msgspec.json.encode(Reliability(of=_OF, bins=tuple(map(_rounded, found.bins)))) + b"\n")
    DIAGRAM.write_text(diagram.reliability(found.bins, "confidence of the main content"))
    figures = ["### Figures", table, _unmet(trained), _confidence(found)]
    return "\n\n".join([_DATA, _features(trained), _settings(), *figures, _WEAK])


def _rounded(one: tuple[float, int, float, float]) -> tuple[float, int, float, float]:
    start, count, sure, score = one
    return round(start, 3), count, round(sure, 3), round(score, 3)


def _table(outcomes: Sequence[Outcome]) -> str:
    rows = ["| pages | count | word F1 | confidence | ECE | AUROC (F1 ≥ .8) |", "|---|---|---|---|---|---|"]
    means = list[float]()
    for name in CONTENT_SETS:
        inside = [one for one in outcomes if one.sample.dataset == name]
        if inside:
            rows.append(_row(name, inside))
            if name in MEAN_SETS:
                means.append(fmean(one.f1 for one in inside))
    for kind in model.TRAINED_TYPES:
        inside = [one for one in outcomes if one.sample.dataset == "wcxb_dev" and one.sample.type == kind]
        if inside:
            rows.append(_row(f"wcxb_dev, {kind}", inside))
    for language in sorted({one.sample.language for one in outcomes if one.sample.dataset == "daniel"}):
        inside = [one for one in outcomes if one.sample.dataset == "daniel" and one.sample.language == language]
        rows.append(_row(f"daniel, {language}", inside))
    rows.append(_row("all pages", list(outcomes)))
    rows.append(f"| mean of the first {len(means)} sets | | {fmean(means):.4f} | | | |")
    return "\n".join(rows)


def _unmet(trained: Trained) -> str:
    groups: dict[tuple[str, str], list[float]] = {}
    for one, f1 in trained.unmet:
        groups.setdefault((one.dataset, one.language), []).append(f1)
    rows = ["By models that have seen no page in the language:", "", "| pages | count | word F1 |", "|---|---|---|"]
    rows += [f"| {name}, {language} | {len(f1)} | {fmean(f1):.4f} |" for (name, language), f1 in sorted(groups.items())]
    return "\n".join(rows)


def _row(name: str, inside: Sequence[Outcome]) -> str:
    found = scoring.calibration([(one.sure, one.f1) for one in inside])
    f1, sure = fmean(one.f1 for one in inside), fmean(one.sure for one in inside)
    return f"| {name} | {len(inside)} | {f1:.4f} | {sure:.4f} | {found.ece:.3f} | {found.auroc:.3f} |"


def _features(trained: Trained) -> str:
    gains = sorted(trained.blocks.booster.gains().items(), key=lambda pair: -pair[1])
    used = sum(gain > 0 for _, gain in gains)
    best = ", ".join(f"`{name}` {100 * gain:.1f} %" for name, gain in gains[:20])
    right = _types_right(trained.outcomes)
    return f"""\
### Features

A block is what stands between two boundaries of blocks. It is described by its own text, the elements around it, its
look-alikes and neighbours, the headings above it, what another extractor and a score of paragraphs would keep, what
titles, descriptions and structured data repeat of it, the words in names and short texts (weighed by how much more of
what they stand for is content than of its page), the page as a whole and what it seems to be for: {len(gains)}
features, of which {used} are used. The most useful: {best}.

The type of a page is told from the means of the same features; on wcxb_dev it is right on {100 * right:.0f} % of the
pages. For it, an article counts {training.ARTICLE_WEIGHT}, one of the sets that were gathered for their languages
{training.LANGUAGE_WEIGHT}, any other page {training.OTHER_WEIGHT}. Words and types are learned crosswise: a page that
is learned from gets what the pages of other sites say.
Confidence is told from the F1 to be expected of the cut, how torn the classifier was, how far the other
extractor and the score of paragraphs agree, and the type of the page."""


def _types_right(outcomes: Sequence[Outcome]) -> float:
    inside = [one for one in outcomes if one.sample.dataset == "wcxb_dev"]
    return fmean(model.TRAINED_TYPES[int(one.types.argmax())] == one.sample.type for one in inside)


def _settings() -> str:
    rows = ["### Parameters", "", "LightGBM, one thread, deterministic, from one seed.", ""]
    models = (
        *((f"blocks, with a weight of {one.weight}", one.settings, one.rounds) for one in training.BLOCKS),
        ("page types", training.TYPES, training.TYPE_ROUNDS),
        ("confidence", training.SURE, training.SURE_ROUNDS),
    )
    for name, settings, rounds in models:
        rows.append(f"- {name}: {rounds} rounds, " + ", ".join(f"{key} {value}" for key, value in settings.items()))
    return "\n".join(rows)


def _confidence(found: scoring.Calibration) -> str:
    rows = [f"![Reliability]({DIAGRAM.name})", "", "| confidence from | pages | mean confidence | mean F1 |"]
    rows += ["|---|---|---|---|"]
    rows += [f"| {start:.1f} | {count} | {sure:.3f} | {score:.3f} |" for start, count, sure, score in found.bins]
    return "\n".join(rows)


_WEAK = """\
### What it is bad at

- Grids of products and other collections: whether the cards or the words around them are the content is in dispute
  among the gold answers themselves.
- Listings: most of them are taken for something else, since few pages that are learned from are listings, and none of
  those in other languages.
- Product pages: what is said of the product stands beside reviews that read like articles, and in cells of two words.
- Long threads and documents whose gold text stops after the first screens count as too much kept.
- Pages whose text is drawn by a script: with hardly a word in the markup there is nothing to choose from, and
  confidence is next to none."""
