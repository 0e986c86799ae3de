"""Trains and measures the choice of the main content: block classifier, page types, confidence."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from actors.extraction.assets import CONTENT_MODEL, FOLDER
from actors.extraction.decide import cutoff, model
from actors.extraction.decide.block_arrays import Columns, Floats, as_matrix
from actors.extraction.decide.cutoff import Cutoff, best_cutoff
from actors.extraction.decide.features_words import Lexicon
from actors.extraction.decide.model import Scores, probability
from protocol.page import PageType
from scripts.extraction_training import archive, boosting, words
from scripts.extraction_training.blinding import blinded
from scripts.extraction_training.boosting import Booster, Recipe, Settings
from scripts.extraction_training.data import CONTENT_SETS, FOLDS, LANGUAGE_SETS, pages
from scripts.extraction_training.samples import Sample, sample

MODEL = Path("actors/extraction", FOLDER, CONTENT_MODEL)

_BLOCKS: Settings = {
    "objective": "binary",
    "min_data_in_leaf": 80,
    "bagging_fraction": 0.7,
    "bagging_freq": 1,
    "lambda_l2": 10,
    "path_smooth": 10,
    "max_bin": 63,
}
BEST_SPLITS: Settings = {**_BLOCKS, "learning_rate": 0.1, "num_leaves": 47, "feature_fraction": 0.25}
RANDOM_SPLITS: Settings = {
    **_BLOCKS, "learning_rate": 0.12, "num_leaves": 63, "feature_fraction": 0.5, "extra_trees": True, "seed": 7,
}  # fmt: skip
BLOCKS = (Recipe(BEST_SPLITS, 150, 0.4), Recipe(RANDOM_SPLITS, 150, 0.6))
"""Two unlike kinds of trees, which err on other blocks: their mean score is better than either."""

TYPES: Settings = {
    "objective": "multiclass",
    "num_class": len(model.TRAINED_TYPES),
    "learning_rate": 0.08,
    "num_leaves": 7,
    "min_data_in_leaf": 10,
    "feature_fraction": 0.2,
    "bagging_fraction": 0.8,
    "bagging_freq": 1,
    "lambda_l2": 5,
    "max_bin": 63,
}
TYPE_ROUNDS = 60
LANGUAGE_WEIGHT, ARTICLE_WEIGHT, OTHER_WEIGHT = 0.3, 0.5, 1.5
"""What a page of a set that was gathered for its language counts for the types, another article, and a page that is
none: three of four pages are articles, and with equal weights most others would be taken for one (cross-validated)."""

SURE: Settings = {
    "objective": "cross_entropy",
    "learning_rate": 0.04,
    "num_leaves": 5,
    "min_data_in_leaf": 40,
    "feature_fraction": 0.4,
    "bagging_fraction": 0.7,
    "bagging_freq": 1,
    "lambda_l2": 10,
    "max_bin": 63,
}
SURE_ROUNDS = 100


UNMET = ("el", "pl", "ru", "zh")
"""The languages that are left out, one at a time, to see what becomes of one that no page is in."""


@dataclass(frozen=True)
class Blocks:
    """The model of the blocks: the type of the page, the words, and the trees that know both."""

    types: Booster
    lexicon: Lexicon
    booster: Booster

    def predict(self, one: Sample) -> tuple[Scores, Scores]:
        """Return the scores of the blocks of a page, and the probabilities of its types."""
        kinds = model.softmax(self.types.scores(one.summary[None])[0])
        return self.booster.scores(_matrix(one, words.matrix(one, self.lexicon), kinds))[:, 0], kinds


@dataclass(frozen=True)
class Outcome:
    """What was chosen of a page by models that had not seen its site, its score, and its confidence."""

    sample: Sample
    f1: float
    sure: float
    types: Scores


@dataclass(frozen=True)
class Trained:
    """The models that are shipped, and what models of their kind did on sites they had not seen.

    `unmet` are the F1 of the pages in the languages of `UNMET`, each by a model that had not met that language.
    """

    blocks: Blocks
    sure: Booster
    outcomes: tuple[Outcome, ...]
    unmet: tuple[tuple[Sample, float], ...]


def read(data_dir: Path) -> list[Sample]:
    """Read every page with a gold text."""
    found = (sample(page) for page in pages(data_dir, *CONTENT_SETS))
    return [one for one in found if one is not None]


def train(samples: Sequence[Sample]) -> Trained:
    """Fit everything, the confidence on choices of models that had not seen the site."""
    answers = _crosswise(samples)
    cuts = [choose(one, *answers[one.name]) for one in samples]
    rows = np.array([list(evidence.values()) for _, evidence in cuts], np.float32)
    f1 = np.array([one.f1(made.kept) for one, (made, _) in zip(samples, cuts, strict=True)], np.float32)
    names = list(cuts[0][1])
    raw = np.zeros(len(samples))
    folds = np.array([one.fold for one in samples])
    for fold in range(FOLDS):
        seen = folds != fold
        booster = boosting.fit(boosting.Rows(rows[seen], f1[seen], names), SURE, SURE_ROUNDS)
        raw[~seen] = probability(booster.scores(rows[~seen])[:, 0])
    sure = [cutoff.faded(one, found) for one, (_, found) in zip(raw.tolist(), cuts, strict=True)]
    outcomes = tuple(map(Outcome, samples, f1.tolist(), sure, (answers[one.name][1] for one in samples)))
    final = boosting.fit(boosting.Rows(rows, f1, names), SURE, SURE_ROUNDS)
    return Trained(_fit_blocks(samples), final, outcomes, _unmet(samples))


def choose(one: Sample, scores: Scores, types: Scores) -> tuple[Cutoff, dict[str, float]]:
    """Cut a page as extraction does."""
    columns: Columns = dict(zip(one.names, one.matrix.T, strict=True))
    chances = probability(cutoff.adjusted_scores(scores, one.groups, columns, one.tokens, types))
    made = best_cutoff(chances, one.tokens)
    return made, cutoff.cutoff_evidence(made, chances, columns, one.tokens, types)


def save(trained: Trained, path: Path) -> None:
    """Write the models as one file, the same bytes for the same models."""
    arrays = trained.blocks.lexicon.save()
    for name, booster in (("blocks", trained.blocks.booster), ("types", trained.blocks.types), ("sure", trained.sure)):
        arrays |= booster.table().save(name)
    archive.write(arrays, path)


def _fit_blocks(samples: Sequence[Sample]) -> Blocks:
    learned = words.crosswise(samples)
    kinds = _types_crosswise(samples)
    names = (*samples[0].names, *words.column_names(samples), *model.page_type_columns(kinds[samples[0].name], 1))
    rows = boosting.Rows(
        np.concatenate([blinded(_matrix(one, learned[one.name], kinds[one.name]), one, names) for one in samples]),
        np.concatenate([one.labels for one in samples]),
        names,
        np.concatenate([one.weights for one in samples]),
    )
    return Blocks(_fit_types(samples), words.learn(samples), boosting.fit_blend(rows, BLOCKS))


def _matrix(one: Sample, of_words: Floats, kinds: Scores) -> Floats:
    of_types = as_matrix(model.page_type_columns(kinds, len(one.tokens)).values())
    return np.concatenate([one.matrix, of_words, of_types], 1)


def _types_crosswise(samples: Sequence[Sample]) -> dict[str, Scores]:
    """Predict the types of pages that are learned from by pages of other sites: by their own, all would be known."""
    found: dict[str, Scores] = {}
    for part in range(words.PARTS):
        types = _fit_types([one for one in samples if words.part(one) != part])
        inside = [one for one in samples if words.part(one) == part]
        found |= {one.name: model.softmax(types.scores(one.summary[None])[0]) for one in inside}
    return found


def _fit_types(samples: Sequence[Sample]) -> Booster:
    matrix = np.stack([one.summary for one in samples])
    labels = np.array([model.TRAINED_TYPES.index(PageType(one.type)) for one in samples], np.int64)
    weights = np.array([_type_weight(one) for one in samples], np.float32)
    return boosting.fit(boosting.Rows(matrix, labels, samples[0].names, weights), TYPES, TYPE_ROUNDS)


def _type_weight(one: Sample) -> float:
    if one.dataset in LANGUAGE_SETS:
        return LANGUAGE_WEIGHT
    return ARTICLE_WEIGHT if PageType(one.type) is PageType.ARTICLE else OTHER_WEIGHT


def _crosswise(samples: Sequence[Sample]) -> dict[str, tuple[Scores, Scores]]:
    """Predict each page by a model that was fitted on the other folds."""
    found: dict[str, tuple[Scores, Scores]] = {}
    for fold in range(FOLDS):
        print(f"fold {fold + 1} of {FOLDS} ...", file=sys.stderr, flush=True)
        fitted = _fit_blocks([one for one in samples if one.fold != fold])
        found |= {one.name: fitted.predict(one) for one in samples if one.fold == fold}
    return found


def _unmet(samples: Sequence[Sample]) -> tuple[tuple[Sample, float], ...]:
    """Score the pages in each of some languages by a model that was fitted on the pages in all others."""
    found = list[tuple[Sample, float]]()
    for language in UNMET:
        print(f"without {language} ...", file=sys.stderr, flush=True)
        fitted = _fit_blocks([one for one in samples if one.language != language])
        inside = [one for one in samples if one.language == language]
        found += [(one, one.f1(choose(one, *fitted.predict(one))[0].kept)) for one in inside]
    return tuple(found)
