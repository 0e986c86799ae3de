"""The report: what it counts, and that nothing in it is more than words."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

from actors.report import ReportData, report_page
from actors.report.figures import PageRow, confidence_counts, pages_by_tier, shipped_reliability
from protocol.faults import Code
from protocol.runs.responses import RunSummary
from protocol.runs.states import RunStatus
from protocol.tiers import RenderTier
from protocol.visits import VisitInfo
from tests.site.vectors import own_vectors

NOW = 1_790_000_000_000
CHEAP = RenderTier.INTELLIGENCE


def visit(number: int, **other: Any) -> VisitInfo:
    fields: dict[str, Any] = {"at": NOW, "url": "https://site.example/", "took_ms": 10 * number, "tier": CHEAP}
    return VisitInfo(id=f"vis_{number:022d}", **fields | other)


def run(template: str, status: RunStatus) -> RunSummary:
    return RunSummary(run_id="run_1", template_id=template, status=status, created_at=NOW, updated_at=NOW)


def written(**other: Any) -> str:
    fields: dict[str, Any] = {"since": NOW, "until": NOW, "version": "1", "runs": (), "visits": (), "kept_days": 3}
    return report_page(ReportData(**fields | other))


class Elements(HTMLParser):
    """The elements of a page with their attributes, and its words."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags, self.attributes, self.words = set[str](), set[str](), list[str]()
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def test_pages_are_counted_by_tier_and_outcome() -> None:
    visits = [*(visit(number, confidence=number / 100) for number in range(1, 101)), visit(7, code=Code.HTTP_NOT_FOUND)]

    assert pages_by_tier(visits) == (
        PageRow(tier="intelligence", outcome="read", count=100, p50_ms=500, p99_ms=990),
        PageRow(tier="intelligence", outcome="HTTP_NOT_FOUND", count=1, p50_ms=70, p99_ms=70),
    )
    assert confidence_counts(visits) == (9, 10, 10, 10, 10, 10, 10, 10, 10, 11)


def test_the_report_says_what_there_was_and_of_what_its_diagram_is() -> None:
    runs = (run("crawl_site", RunStatus.SUCCEEDED), run("crawl_site", RunStatus.FAILED))

    words = " ".join(Elements(written(runs=runs, visits=(visit(1, confidence=0.9),), benchmarks="hop 1.2x")).words)

    assert "Runs (2)" in words
    assert "crawl_site, failed: 1" in words
    assert "Pages (1)" in words
    assert f"{sum(one.pages for one in shipped_reliability().measured):,} pages with a gold" in words
    assert "hop 1.2x" in words


def test_what_stands_in_it_is_words() -> None:
    vectors = "\n".join(own_vectors())
    plain = Elements(written(runs=(run("a", RunStatus.FAILED),), visits=(visit(1),), benchmarks="x"))

    page = written(runs=(run(vectors, RunStatus.FAILED),), visits=(visit(1),), benchmarks=vectors, version=vectors)

    shown = Elements(page)
    assert (shown.tags, shown.attributes) == (plain.tags, plain.attributes)
    assert "default-src 'none'" in page
