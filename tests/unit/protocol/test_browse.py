"""The contract of the edge: what may be asked, and the shape of what comes back."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from protocol.actions import Action
from protocol.browse import (
    SCHEMA_VERSION,
    ApiPattern,
    BrowseContent,
    BrowseMetadata,
    BrowseOptions,
    BrowseResult,
    DecisionTrace,
    Freshness,
    LearningInsights,
    NetworkRequest,
    SelectorAttempt,
    StructuredError,
    TierAttempt,
    TitleAttempt,
    TraceSummary,
    ValidationDetails,
)
from protocol.codec import MalformedError, decoder, encode
from protocol.documents import ExtractedTable
from protocol.faults import Category, Code, FaultContext
from protocol.tiers import TIERS, RenderTier
from tests.requirements import requirement

RESULT = BrowseResult(
    url="https://weft.test/tides",
    title="Tides",
    content=BrowseContent(markdown="# Tides", text="Tides"),
    metadata=BrowseMetadata(
        load_time=120, timestamp=1_769_600_000_000, final_url="https://weft.test/tides", tier=RenderTier.INTELLIGENCE
    ),
)


def written(value: object) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.json.decode(encode(value))
    return found


@requirement("000.5.browse-result")
@requirement("000.1.schema-version")
@requirement("000.6.on-request")
def test_a_result_has_what_the_seed_requires_and_no_more() -> None:
    assert written(RESULT) == {
        "url": "https://weft.test/tides",
        "title": "Tides",
        "content": {"markdown": "# Tides", "text": "Tides"},
        "metadata": {
            "loadTime": 120,
            "timestamp": 1_769_600_000_000,
            "finalUrl": "https://weft.test/tides",
            "tier": "intelligence",
            "fromCache": False,
            "retryCount": 0,
        },
        "schemaVersion": "1.0",
    }


@requirement("000.5.browse-result")
@requirement("000.5.api-pattern")
@requirement("000.5.network-request")
def test_a_result_may_have_tables_apis_traffic_and_insights() -> None:
    full = msgspec.structs.replace(
        RESULT,
        content=BrowseContent(markdown="# Tides", text="Tides", html="<h1>Tides</h1>"),
        tables=(ExtractedTable(headers=("time",), rows=(("12:00",),), caption="High water"),),
        discovered_apis=(
            ApiPattern(
                endpoint="https://weft.test/api/tides",
                method="GET",
                confidence="high",
                can_bypass=True,
                auth_type="bearer",
                response_type="application/json",
            ),
        ),
        network=(
            NetworkRequest(
                url="https://weft.test/api/tides",
                method="GET",
                status=200,
                status_text="OK",
                headers={"content-type": "application/json"},
                request_headers={},
                timestamp=1_769_600_000_000,
                content_type="application/json",
                response_body={"high": "12:00"},
                duration=40,
            ),
        ),
        learning_insights=LearningInsights(patterns_learned=1, patterns_applied=0, skills_used=("tides",)),
    )

    assert written(full) == {
        **written(RESULT),
        "content": {"markdown": "# Tides", "text": "Tides", "html": "<h1>Tides</h1>"},
        "tables": [{"headers": ["time"], "rows": [["12:00"]], "caption": "High water"}],
        "discoveredApis": [
            {
                "endpoint": "https://weft.test/api/tides",
                "method": "GET",
                "confidence": "high",
                "canBypass": True,
                "authType": "bearer",
                "responseType": "application/json",
            }
        ],
        "network": [
            {
                "url": "https://weft.test/api/tides",
                "method": "GET",
                "status": 200,
                "statusText": "OK",
                "headers": {"content-type": "application/json"},
                "requestHeaders": {},
                "timestamp": 1_769_600_000_000,
                "contentType": "application/json",
                "responseBody": {"high": "12:00"},
                "duration": 40,
            }
        ],
        "learningInsights": {"patternsLearned": 1, "patternsApplied": 0, "skillsUsed": ["tides"]},
    }


@requirement("000.6.decision-trace")
@requirement("000.6.tier-attempt")
@requirement("000.6.selector-attempt")
def test_a_trace_is_written_in_the_words_of_the_seed() -> None:
    trace = DecisionTrace(
        tiers=(
            TierAttempt(
                tier=RenderTier.INTELLIGENCE,
                success=False,
                duration_ms=150,
                failure_reason="Content too short",
                validation_details=ValidationDetails(
                    content_length=45, has_semantic_markers=True, has_incomplete_markers=False, meets_min_length=False
                ),
            ),
            TierAttempt(tier=RenderTier.PLAYWRIGHT, success=True, duration_ms=2_500),
        ),
        selectors=(
            SelectorAttempt(
                selector="main", source="main", matched=True, content_length=900, confidence_score=0.85, selected=True
            ),
            SelectorAttempt(
                selector="article",
                source="article",
                matched=False,
                content_length=0,
                confidence_score=0.0,
                selected=False,
                skip_reason="not found",
            ),
        ),
        title=(TitleAttempt(source="og:title", matched=True, confidence_score=0.95, selected=True, value="Tides"),),
        summary=TraceSummary(
            total_tiers_attempted=2,
            successful_tier=RenderTier.PLAYWRIGHT,
            total_selectors_attempted=2,
            selected_selector="main",
            total_duration_ms=2_650,
        ),
    )

    assert written(trace) == {
        "tiers": [
            {
                "tier": "intelligence",
                "success": False,
                "durationMs": 150,
                "failureReason": "Content too short",
                "validationDetails": {
                    "contentLength": 45,
                    "hasSemanticMarkers": True,
                    "hasIncompleteMarkers": False,
                    "meetsMinLength": False,
                },
            },
            {"tier": "playwright", "success": True, "durationMs": 2_500},
        ],
        "selectors": [
            {
                "selector": "main",
                "source": "main",
                "matched": True,
                "contentLength": 900,
                "confidenceScore": 0.85,
                "selected": True,
            },
            {
                "selector": "article",
                "source": "article",
                "matched": False,
                "contentLength": 0,
                "confidenceScore": 0.0,
                "selected": False,
                "skipReason": "not found",
            },
        ],
        "title": [{"source": "og:title", "matched": True, "confidenceScore": 0.95, "selected": True, "value": "Tides"}],
        "summary": {
            "totalTiersAttempted": 2,
            "successfulTier": "playwright",
            "totalSelectorsAttempted": 2,
            "selectedSelector": "main",
            "totalDurationMs": 2_650,
        },
    }


@requirement("000.3.structured-error")
@requirement("000.1.schema-version")
def test_an_error_is_written_in_the_words_of_the_seed() -> None:
    error = StructuredError(
        error="Too many requests",
        category=Category.RATE_LIMIT,
        code=Code.RATE_LIMIT_EXCEEDED,
        retryable=True,
        recommended_actions=(Action(action="wait_and_retry", description="Wait.", suggested_delay_ms=60_000),),
        http_status=429,
        context=FaultContext(url="https://weft.test/", domain="weft.test", tier="intelligence", attempt_number=1),
    )

    assert written(error) == {
        "error": "Too many requests",
        "category": "rate_limit",
        "code": "RATE_LIMIT_EXCEEDED",
        "retryable": True,
        "recommendedActions": [
            {"action": "wait_and_retry", "description": "Wait.", "priority": 1, "suggestedDelayMs": 60_000}
        ],
        "schemaVersion": "1.0",
        "httpStatus": 429,
        "context": {
            "url": "https://weft.test/",
            "domain": "weft.test",
            "tier": "intelligence",
            "attemptNumber": 1,
        },
    }


@requirement("000.1.compatibility")
def test_a_result_of_a_later_minor_version_is_understood() -> None:
    newer = written(RESULT) | {"schemaVersion": "1.5", "mood": "calm"}

    assert decoder(BrowseResult).decode(msgspec.json.encode(newer)) == msgspec.structs.replace(
        RESULT, schema_version="1.5"
    )


@requirement("000.1.compatibility")
@requirement("000.1.schema-version")
def test_the_version_is_major_and_minor() -> None:
    assert [int(part) for part in SCHEMA_VERSION.split(".")] == [1, 0]


@requirement("000.7.options")
@requirement("000.3.force-tier")
@pytest.mark.parametrize(
    ("row", "options"),
    [
        ({}, BrowseOptions()),
        (
            {"maxCostTier": "intelligence", "maxLatencyMs": 500},
            BrowseOptions(max_cost_tier=RenderTier.INTELLIGENCE, max_latency_ms=500),
        ),
        ({"freshnessRequirement": "realtime"}, BrowseOptions(freshness_requirement=Freshness.REALTIME)),
        ({"freshnessRequirement": "cached"}, BrowseOptions(freshness_requirement=Freshness.CACHED)),
        ({"forceTier": "lightweight"}, BrowseOptions(force_tier=RenderTier.LIGHTWEIGHT)),
        ({"includeDecisionTrace": True}, BrowseOptions(include_decision_trace=True)),
        ({"sessionProfile": "me.work"}, BrowseOptions(session_profile="me.work")),
    ],
)
def test_options_are_read_and_written_alike(row: dict[str, Any], options: BrowseOptions) -> None:
    assert decoder(BrowseOptions).decode(msgspec.json.encode(row)) == options
    assert written(options) == row


@requirement("000.7.options")
def test_without_options_every_tier_may_be_used() -> None:
    assert (BrowseOptions().max_cost_tier, BrowseOptions().freshness_requirement) == (
        RenderTier.PLAYWRIGHT,
        Freshness.ANY,
    )


@pytest.mark.parametrize("profile", ["", ".", "..", ".hidden", "a/b", "a b", "a\n", "ä", "x" * 65])
def test_the_name_of_a_session_is_no_path(profile: str) -> None:
    with pytest.raises(MalformedError, match="sessionProfile"):
        decoder(BrowseOptions).decode(msgspec.json.encode({"sessionProfile": profile}))


@requirement("000.7.tier-order")
def test_tiers_are_ordered_by_cost() -> None:
    assert [(tier.value, tier.rank) for tier in TIERS] == [("intelligence", 0), ("lightweight", 1), ("playwright", 2)]
