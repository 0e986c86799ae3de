"""Pages over REST: what comes back of those that are to be had."""

from __future__ import annotations

import json

import msgspec
import pytest
from msgspec import UNSET

from protocol.browse import BrowseResult, SelectorAttempt, TierAttempt, TraceSummary, ValidationDetails
from protocol.confidence import BASELINES, Confidence, FieldConfidence, Level, Source, level, overall
from protocol.documents import ExtractedTable
from tests.flows.system import Json, System, only
from tests.requirements import requirement
from tests.site import Site

pytestmark = pytest.mark.nats

PAGES = ("/article", "/table", "/json", "/csv", "/text", "/feed", "/hidden", "/wrong-charset")


def sure(source: Source) -> Confidence:
    """Return the confidence of what nothing speaks against."""
    score = BASELINES[source]
    return Confidence(score=score, level=level(score), source=source)


@requirement("000.1.schema-version")
@requirement("000.5.browse-result")
def test_an_article_comes_whole(weft: System, site: Site) -> None:
    body: Json = weft.browse(site.url("/article")).json()

    content, metadata = msgspec.convert((body.pop("content"), body.pop("metadata")), tuple[Json, Json])
    times = (metadata.pop("loadTime"), metadata.pop("timestamp"))
    assert all(isinstance(time, int) and time > 0 for time in times)
    assert metadata == {
        "finalUrl": site.url("/article"),
        "tier": "intelligence",
        "fromCache": False,
        "retryCount": 0,
        "language": "en",
        "contentType": "text/html; charset=utf-8",
        "tiersAttempted": ["intelligence"],
    }
    assert sorted(content) == ["markdown", "text"]
    fields, confidence = msgspec.convert((body.pop("fields"), body.pop("fieldConfidence")), tuple[Json, Json])
    assert body == {
        "url": site.url("/article"),
        "finalUrl": site.url("/article"),
        "title": "How a loom is warped",
        "schemaVersion": "1.0",
        "usableFor": ["display", "store", "automate", "facts", "finance"],
    }
    assert fields["pageType"] == "article"
    assert sorted(confidence) == ["content", "fields", "overall", "title"]
    assert set(fields) == set(msgspec.convert(confidence["fields"], Json))


def test_an_article_reads_as_markdown_and_as_text(weft: System, site: Site) -> None:
    content = weft.page(site.url("/article")).content

    assert content.markdown.startswith("Before a single row of cloth can be woven")
    assert "\n\n## What can go wrong\n\n- Two threads are crossed" in content.markdown
    assert f"[shuttle]({site.url('/notes/shuttle')})" in content.markdown
    assert "the shuttle carries the" in content.text
    assert ("said an old weaver from Çankırı." in content.markdown, "All notes" in content.markdown) == (True, False)


@requirement("000.2.field-confidence")
@requirement("000.2.bands")
@pytest.mark.parametrize("path", PAGES)
def test_every_score_stands_in_its_band(weft: System, site: Site, path: str) -> None:
    result = weft.page(site.url(path))

    found = result.field_confidence
    assert isinstance(found, FieldConfidence)
    rows = (found.title, found.content, found.overall, *(found.tables or ()))
    assert [row.level for row in rows] == [level(row.score) for row in rows]
    assert found.overall.score <= overall(found.title, found.content, 1.0).score
    assert len(found.tables or ()) == len(result.tables or ())


def test_a_redirect_chain_tells_where_it_ends(weft: System, site: Site) -> None:
    result = weft.page(site.url("/redirect/3"), includeNetwork=True)

    assert (result.url, result.metadata.final_url) == (site.url("/redirect/3"), site.url("/article"))
    assert [(row.url, row.status) for row in result.network or ()] == [
        (site.url("/redirect/3"), 302),
        (site.url("/redirect/2?status=302"), 302),
        (site.url("/redirect/1?status=302"), 302),
        (site.url("/article"), 200),
    ]


def test_a_slow_page_within_the_time_allowed_comes(weft: System, site: Site) -> None:
    result = weft.page(site.url("/slow?ms=300"), maxLatencyMs=20_000)

    assert (result.title, result.metadata.load_time >= 300) == ("How a loom is warped", True)


def test_a_wrong_charset_is_seen_through(weft: System, site: Site) -> None:
    result = weft.page(site.url("/wrong-charset"))

    assert result.metadata.content_type == "text/html; charset=iso-8859-1"
    assert "Çankırı" in result.content.markdown


def test_json_is_an_api_response(weft: System, site: Site) -> None:
    result = weft.page(site.url("/json"))

    assert result.title == "Threads"
    assert json.loads(result.content.text) == {"title": "Threads", "items": [1, 2, {"token": "abc"}]}
    assert result.content.markdown.startswith('```json\n{\n  "title": "Threads",')
    assert _content_of(result) == sure(Source.API_RESPONSE)


def test_csv_is_a_table(weft: System, site: Site) -> None:
    result = weft.page(site.url("/csv"))

    assert result.content.markdown == "| name | length |\n| --- | --- |\n| warp | 12 |\n| weft | 9 |"
    assert result.tables == (ExtractedTable(headers=("name", "length"), rows=(("warp", "12"), ("weft", "9"))),)
    assert _content_of(result) == sure(Source.STRUCTURED_DATA)


def test_text_stays_text(weft: System, site: Site) -> None:
    content = weft.page(site.url("/text")).content

    assert (content.text, content.markdown) == (
        "A plain note.\n\nWith *two* paragraphs.",
        "A plain note.\n\nWith \\*two\\* paragraphs.",
    )


def test_a_feed_is_a_list_of_links(weft: System, site: Site) -> None:
    result = weft.page(site.url("/feed"))

    assert result.title == "Notes"
    assert result.content.markdown.startswith("## [Note 0](<https://notes.example/0>)\n\nAbout 0\n\n## [Note 1]")
    assert result.content.text == "Note 0\nAbout 0\nNote 1\nAbout 1\nNote 2\nAbout 2"


def test_a_table_of_a_page_is_data(weft: System, site: Site) -> None:
    short = only(weft.page(site.url("/table?rows=40")).tables)
    whole = only(weft.page(site.url("/table?rows=40"), include=["tables"]).tables)

    assert (short.headers, len(short.rows), short.row_count) == (("Name", "Length", "Stuff"), 20, 40)
    assert (len(whole.rows), whole.rows[1], whole.row_count) == (40, ("thread 1", "3", "cotton"), UNSET)


def test_hidden_words_never_arrive(weft: System, site: Site) -> None:
    answer = weft.browse(site.url("/hidden"), includeDecisionTrace=True)

    assert (answer.status_code, "IGNORE ALL PREVIOUS" in answer.text) == (200, False)


def test_html_comes_on_request_and_without_what_acts(weft: System, site: Site) -> None:
    html = weft.page(site.url("/active"), includeHtml=True).content.html

    assert isinstance(html, str)
    assert "What is left of it are its words." in html
    assert [
        bad for bad in ("<script", "<style", "<iframe", "<object", "javascript:", "onload", "onclick") if bad in html
    ] == []
    assert [bad for bad in ("onerror", "onmouseover", "formaction", "alert(") if bad in html] == []


def test_the_network_is_told_without_its_secrets(weft: System, site: Site) -> None:
    weft.keep_login("network")
    weft.page(site.url("/cookies/set?value=crumb-1"), sessionProfile="network")

    result = weft.page(site.url("/cookies/echo?token=hunter2&page=3"), sessionProfile="network", includeNetwork=True)

    row = only(result.network)
    assert result.content.text == "kept=crumb-1"
    assert (row.method, row.status, row.status_text, row.content_type) == ("GET", 200, "OK", "text/plain")
    assert row.url == site.url("/cookies/echo?token=[redacted]&page=3")
    assert (row.request_headers["cookie"], row.headers["cache-control"]) == ("[redacted]", "no-store")
    assert [word for word in ("hunter2", "crumb-1") if word in repr(row)] == []


@requirement("000.5.network-request")
def test_a_cookie_that_is_set_is_not_told(weft: System, site: Site) -> None:
    weft.keep_login("setting")
    result = weft.page(site.url("/cookies/set?value=crumb-2"), sessionProfile="setting", includeNetwork=True)

    row = only(result.network)
    assert (row.headers["set-cookie"], "crumb-2" in repr(row.headers)) == ("[redacted]", False)


def test_sessions_keep_their_cookies_apart(weft: System, site: Site) -> None:
    for profile in ("ada", "bob", "eve"):
        weft.keep_login(profile)
    weft.page(site.url("/cookies/set?value=of-ada"), sessionProfile="ada")
    weft.page(site.url("/cookies/set?value=of-bob"), sessionProfile="bob")
    weft.page(site.url("/cookies/set?value=of-nobody"))

    echoed = [weft.page(site.url("/cookies/echo"), **who).content.text for who in _sessions("ada", "bob", "eve", None)]

    assert echoed == ["kept=of-ada", "kept=of-bob", "none", "none"]


@requirement("000.7.options")
@pytest.mark.parametrize(
    ("max_age", "asked"),
    [
        # while it is fresh, only `realtime` asks; stale, `any` asks as well, and `cached` takes what there is
        (3_600, [("any", 1), ("any", 1), ("realtime", 2), ("cached", 2), ("any", 2)]),
        (0, [("any", 1), ("any", 2), ("realtime", 3), ("cached", 3), ("any", 4)]),
    ],
)
def test_freshness_decides_who_is_asked(weft: System, site: Site, max_age: int, asked: list[tuple[str, int]]) -> None:
    path = f"/fresh/{max_age}"
    seen: list[tuple[str, int]] = []
    cached: list[bool] = []

    for freshness, _ in asked:
        result = weft.page(site.url(f"{path}?age={max_age}"), freshnessRequirement=freshness)
        seen.append((freshness, site.hits[path]))
        cached.append(result.metadata.from_cache)

    assert (seen, cached) == (asked, [False, True, True, True, True])
    assert site.last(path).headers["if-none-match"] == '"weft-1"'


@requirement("000.6.decision-trace")
@requirement("000.6.tier-attempt")
@requirement("000.6.selector-attempt")
def test_the_decision_trace_tells_how_a_page_came_about(weft: System, site: Site) -> None:
    result = weft.page(site.url("/article"), includeDecisionTrace=True)

    trace = result.decision_trace
    assert trace is not UNSET
    tier, *others = trace.tiers
    length = len(result.content.text)
    assert others == []
    assert tier == TierAttempt(
        tier=tier.tier,
        success=True,
        duration_ms=tier.duration_ms,
        validation_details=ValidationDetails(
            content_length=length, has_semantic_markers=True, has_incomplete_markers=False, meets_min_length=True
        ),
    )
    assert [row.selector for row in trace.selectors if row.matched][:2] == ["main", "article"]
    assert all(_says_why(row) for row in trace.selectors)
    assert [row.selected for row in trace.title].count(True) == 1
    assert {"og:title", "h1"} <= {row.source for row in trace.title}
    assert trace.summary == TraceSummary(
        total_tiers_attempted=1,
        successful_tier=tier.tier,
        total_selectors_attempted=5,
        selected_selector="main",
        total_duration_ms=trace.summary.total_duration_ms,
    )


@requirement("000.6.on-request")
def test_nothing_comes_that_was_not_asked_for(weft: System, site: Site) -> None:
    result = weft.page(site.url("/article"))

    extras = (result.decision_trace, result.network, result.console, result.content.html, result.tables)
    assert extras == (UNSET,) * len(extras)


def _content_of(result: BrowseResult) -> Confidence:
    assert isinstance(result.field_confidence, FieldConfidence)
    assert result.field_confidence.content.level in Level
    return result.field_confidence.content


def _sessions(*names: str | None) -> list[dict[str, object]]:
    return [{} if name is None else {"sessionProfile": name} for name in names]


def _says_why(row: SelectorAttempt) -> bool:
    return row.selected == (row.skip_reason is UNSET)
