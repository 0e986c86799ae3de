"""Reads the votes of gold pages, and labels their candidates by the gold answers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from actors.extraction.decide.candidates import ordered_claims
from actors.extraction.decide.vote import AGREEMENTS, FieldVote, field_votes
from actors.extraction.evidence.sources import sources
from actors.extraction.parse import charset, tree
from scripts.extraction_training import scoring
from scripts.extraction_training.data import GoldPage, pages

SETS = ("wcxb_dev", "aed", "readability", "traf", "defuddle")
"""The sets whose gold answers have a title, an author or a date."""


@dataclass(frozen=True)
class GoldVote:
    """A vote on a page: the candidates, and how good each of them is by the gold answer.

    `same` tells whether a candidate is the answer, `like` how much it is like it; all are 0 where there is none.
    """

    page: GoldPage
    vote: FieldVote
    same: tuple[float, ...]
    like: tuple[float, ...]
    answered: bool = True


@dataclass(frozen=True)
class Outcome:
    """What was elected by trees that had not seen the site, what tells how sure that is, and how sure it is."""

    gold: GoldVote
    best: int
    evidence: tuple[float, ...]
    elected: bool
    sure: float = 0.0

    @property
    def score(self) -> float:
        """How good it is, 0 for nothing elected."""
        return self.gold.like[self.best] if self.elected else 0.0


def read(data_dir: Path) -> dict[str, list[GoldVote]]:
    """Return the votes on every page that has something to learn from, by field."""
    votes: dict[str, list[GoldVote]] = {name: [] for name in AGREEMENTS}
    for page in pages(data_dir, *SETS):
        source, _ = charset.decode(page.body(), "text/html")
        parsed = tree.read(source, page.url)
        claims = ordered_claims(claim for source in sources() for claim in source.claims(parsed))
        for name, vote in field_votes(parsed, claims).items():
            if gold := _gold_vote(page, name, vote):
                votes[name].append(gold)
    return votes


def _gold_vote(page: GoldPage, name: str, vote: FieldVote) -> GoldVote | None:
    """Label the candidates; None where the data do not say whether there is an answer."""
    gold = page.gold.get(name) or ""
    values = [candidate.value for candidate in vote.candidates]
    none = (0.0,) * len(values)
    if not gold:
        silent = name != "title" and (page.gold.get("has_meta") or page.dataset == "wcxb_dev")
        return GoldVote(page, vote, none, none, answered=False) if silent else None
    if name == "author":
        like = tuple(scoring.author_f1(value.replace("\n", " "), gold) for value in values)
        if any(one is None for one in like):
            return None
        sure = tuple(one or 0.0 for one in like)
        return GoldVote(page, vote, tuple(float(one == 1) for one in sure), sure)
    if name == "title":
        same = tuple(scoring.title_exact(value, gold) for value in values)
        return GoldVote(page, vote, same, tuple(scoring.title_loose(value, gold) for value in values))
    same = tuple(float(value == scoring.day(gold)) for value in values)
    return GoldVote(page, vote, same, same)
