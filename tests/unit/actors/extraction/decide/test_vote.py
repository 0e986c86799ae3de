"""The model that is shipped is small, fits its features, and prefers what is better supported."""

from __future__ import annotations

import pytest

from actors.extraction.assets import FIELD_MODELS, bytes_of
from actors.extraction.decide.candidates import agree_dates, date_candidates
from actors.extraction.decide.vote import AGREEMENTS, candidate_features, elect, field_models
from actors.extraction.evidence.claim import Claim, PageField
from protocol.confidence import Source
from tests.unit.actors.extraction.places import place

MAX_BYTES = 200_000


def test_the_model_is_small_and_has_every_vote() -> None:
    assert len(bytes_of(FIELD_MODELS)) <= MAX_BYTES
    assert set(field_models()) == set(AGREEMENTS)


@pytest.mark.parametrize("name", AGREEMENTS)
def test_no_candidate_is_elected_where_there_is_none(name: str) -> None:
    assert elect(name, [], []) is None


def test_the_day_that_a_page_names_as_its_own_wins() -> None:
    claims = [
        Claim(PageField.PUBLISHED, "2024-02-03", place("json-ld:Article.datePublished"), Source.STRUCTURED_DATA),
        Claim(PageField.PUBLISHED, "2024-02-03", place("meta: article:published_time"), Source.META_TAGS),
        Claim(PageField.PUBLISHED, "2019-01-01", place("visible text: far in-footer other"), Source.HEURISTIC),
    ]
    candidates = date_candidates(claims, month_first=False)

    elected = elect("date", candidates, candidate_features(candidates, agree_dates, {}))

    assert elected is not None
    assert elected.winner.key == "2024-02-03"
    assert elected.shares[0] > elected.shares[1]
    assert elected.score > 0.7
