"""Scores, bands and baselines are those of the seed."""

from __future__ import annotations

import math

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.codec import encode
from protocol.confidence import (
    BASELINES,
    READ_AT_LEAST,
    TRUSTWORTHY,
    Confidence,
    FieldConfidence,
    Level,
    Source,
    Use,
    confidence,
    level,
    overall,
    usable_for,
    uses,
)
from tests.requirements import requirement

SCORES = st.floats(0, 1)
ORDER = list(Level)


@requirement("000.2.bands")
@pytest.mark.parametrize(
    ("score", "band"),
    [
        (1.00, "very_high"),
        (0.90, "very_high"),
        (0.899, "high"),
        (0.75, "high"),
        (0.749, "medium"),
        (0.60, "medium"),
        (0.599, "low"),
        (0.40, "low"),
        (0.399, "very_low"),
        (0.20, "very_low"),
        (0.199, "minimal"),
        (0.00, "minimal"),
    ],
)
def test_a_score_lies_in_its_band(score: float, band: str) -> None:
    assert level(score) is Level(band)


@given(SCORES, SCORES)
def test_a_higher_score_never_lies_in_a_lower_band(one: float, other: float) -> None:
    low, high = sorted((one, other))

    assert ORDER.index(level(high)) <= ORDER.index(level(low))


@given(st.floats())
def test_every_number_has_a_band(score: float) -> None:
    assert level(score) in Level


@requirement("000.2.baselines")
def test_the_baselines_are_those_of_the_seed() -> None:
    assert {source.value: score for source, score in BASELINES.items()} == {
        "structured_data": 0.95,
        "api_response": 0.95,
        "graphql": 0.90,
        "framework_data": 0.90,
        "selector_match": 0.75,
        "learned_pattern": 0.70,
        "meta_tags": 0.65,
        "heuristic": 0.50,
        "fallback": 0.30,
        "unknown": 0.20,
    }


@pytest.mark.parametrize("source", BASELINES)
def test_without_evidence_a_field_has_its_baseline(source: Source) -> None:
    score = BASELINES[source]

    assert confidence(source) == Confidence(score=score, level=level(score), source=source)


@given(st.floats())
def test_a_score_is_brought_into_its_range(score: float) -> None:
    found = confidence(Source.HEURISTIC, score)

    assert 0 <= found.score <= 1
    assert found.level is level(found.score)


def test_what_is_no_number_is_no_evidence() -> None:
    assert confidence(Source.HEURISTIC, math.nan).score == 0


@given(SCORES, SCORES)
def test_the_whole_lies_between_its_parts(title: float, content: float) -> None:
    parts = confidence(Source.META_TAGS, title), confidence(Source.SELECTOR_MATCH, content)

    found = overall(*parts)

    assert found.source is Source.AGGREGATED
    assert min(part.score for part in parts) - 0.001 <= found.score <= max(part.score for part in parts) + 0.001


def test_one_weak_part_pulls_the_whole_down() -> None:
    strong, weak = confidence(Source.STRUCTURED_DATA), confidence(Source.UNKNOWN)

    assert overall(strong, weak) == Confidence(score=0.319, level=Level.VERY_LOW, source=Source.AGGREGATED)
    assert overall(weak, strong) == Confidence(score=0.595, level=Level.LOW, source=Source.AGGREGATED)


@given(SCORES, SCORES, SCORES)
def test_the_whole_of_a_judged_page_is_at_most_as_sure_as_the_page_is_right(
    title: float, content: float, right_page: float
) -> None:
    parts = confidence(Source.META_TAGS, title), confidence(Source.SELECTOR_MATCH, content)

    found = overall(*parts, right_page).score

    assert READ_AT_LEAST * right_page - 0.001 <= found <= right_page + 0.001


def test_a_result_is_good_for_what_both_the_whole_and_its_content_are_good_for() -> None:
    title, sure, unsure = (confidence(Source.SELECTOR_MATCH, score) for score in (0.9, 0.95, 0.65))

    both, page_alone, content_alone = (
        uses(FieldConfidence(title=title, content=content, overall=overall(title, content, right_page)))
        for content, right_page in ((sure, 0.99), (unsure, 0.99), (sure, 0.65))
    )

    assert (both, page_alone, content_alone) == (tuple(Use), (Use.DISPLAY, Use.STORE), (Use.DISPLAY, Use.STORE))


@requirement("000.2.decision-matrix")
@pytest.mark.parametrize(
    ("score", "uses"),
    [
        (0.39, ()),
        (0.40, ("display",)),
        (0.59, ("display",)),
        (0.60, ("display", "store")),
        (0.74, ("display", "store")),
        (0.75, ("display", "store", "automate")),
        (0.79, ("display", "store", "automate")),
        (0.80, ("display", "store", "automate", "facts")),
        (0.84, ("display", "store", "automate", "facts")),
        (0.85, ("display", "store", "automate", "facts", "finance")),
        (1.00, ("display", "store", "automate", "facts", "finance")),
    ],
)
def test_a_score_is_good_for_what_the_matrix_allows(score: float, uses: tuple[str, ...]) -> None:
    assert usable_for(score) == tuple(Use(use) for use in uses)


@requirement("000.8.trustworthy")
def test_a_result_is_trustworthy_from_seventy_percent() -> None:
    assert TRUSTWORTHY == 0.70


@requirement("000.2.field-confidence")
def test_the_confidence_of_a_result_is_written_as_the_seed_shows() -> None:
    title, content = confidence(Source.FRAMEWORK_DATA, 0.95), confidence(Source.SELECTOR_MATCH)

    written = encode(
        FieldConfidence(
            title=title,
            content=content,
            overall=overall(title, content),
            tables=(confidence(Source.STRUCTURED_DATA, 0.8),),
            discovered_apis=(confidence(Source.LEARNED_PATTERN),),
        )
    )

    assert msgspec.json.decode(written) == {
        "title": {"score": 0.95, "level": "very_high", "source": "framework_data"},
        "content": {"score": 0.75, "level": "high", "source": "selector_match"},
        "overall": {"score": 0.805, "level": "high", "source": "aggregated"},
        "tables": [{"score": 0.8, "level": "high", "source": "structured_data"}],
        "discoveredApis": [{"score": 0.7, "level": "medium", "source": "learned_pattern"}],
    }
