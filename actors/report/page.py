"""Writes a report: one page that runs nothing, loads nothing, and can be printed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Final
from xml.etree.ElementTree import Element, tostring

from actors.report.charts import Child, columns, node, reliability, stacked
from actors.report.figures import (
    ReportData,
    confidence_counts,
    pages_by_tier,
    runs_by_template,
    shipped_reliability,
)
from protocol.runs.states import RunStatus

_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_STYLE: Final = """
:root { color-scheme: light dark; --ink: #1c2326; --soft: #566066; --line: #dedbd2; --paper: #fff; --good: #2f8f57;
  --warn: #c98a1b; --bad: #b3263a; --info: #2a6fb5; --dot: #2563eb; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6ecec; --soft: #a3b0b3; --line: #2c363a; --paper: #171e21;
  --good: #6fd18b; --warn: #f0b95a; --bad: #ff949b; --info: #86bdf5; --dot: #86bdf5; } }
body { margin: 2rem auto; padding: 0 1rem; max-width: 56rem; font: 15px/1.55 system-ui, sans-serif; color: var(--ink);
  background: var(--paper); overflow-wrap: anywhere; }
h1, h2 { line-height: 1.25; } h2 { margin-top: 2.2rem; border-top: 1px solid var(--line); padding-top: 1rem; }
p.soft, caption { color: var(--soft); } caption { text-align: start; }
table { border-collapse: collapse; width: 100%; } th, td { padding: .3rem .8rem .3rem 0; text-align: start;
  border-bottom: 1px solid var(--line); } .n { text-align: end; font-variant-numeric: tabular-nums; }
svg { max-width: 100%; height: auto; font: 12px system-ui, sans-serif; display: block; margin: .8rem 0; }
svg text { fill: var(--ink); } .even { stroke: var(--soft); stroke-dasharray: 4 4; } .grid { stroke: var(--line); }
.dot { fill: var(--dot); fill-opacity: .75; } rect { fill: var(--soft); }
.k-read, .k-succeeded { fill: var(--good); } .k-failed { fill: var(--bad); }
.k-running, .k-queued { fill: var(--info); } .k-partial_success, .k-canceled { fill: var(--warn); }
pre { white-space: pre-wrap; font-size: .85em; }
@media print { body { margin: 0; max-width: none; } h2, svg, tr { break-inside: avoid; } }
"""


def report_page(data: ReportData) -> str:
    """Return the report as HTML."""
    title = f"Weft, {_day(data.since)} to {_day(data.until)}"
    head = node(
        "head",
        node("meta", charset="utf-8"),
        node("meta", name="viewport", content="width=device-width, initial-scale=1"),
        node("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        node("title", title),
        node("style", _STYLE),
    )
    more = " There was more than a report reads: the newest are counted." if data.more else ""
    about = node("p", f"Weft {data.version}. What the owner of this Weft has had done.{more}", class_="soft")
    main = node("main", node("h1", title), about, *_runs(data), *_pages(data), *_sure(data), *_benchmarks(data))
    whole = node("html", head, node("body", main), lang="en")
    return f"<!doctype html>\n{tostring(whole, encoding='unicode', method='html')}\n"


def _runs(data: ReportData) -> Iterable[Element]:
    yield node("h2", f"Runs ({len(data.runs):,})")
    if not data.runs:
        yield node("p", "There were none.", class_="soft")
        return
    counted = runs_by_template(data.runs)
    kinds = [status.value for status in RunStatus]
    yield stacked(counted, kinds, "Runs by template, parted by how they stand")
    shown = [kind for kind in kinds if any(counts[kind] for counts in counted.values())]
    rows = [(name, *(f"{counts[kind]:,}" for kind in shown)) for name, counts in counted.items()]
    yield _table(
        "Runs by template and by how they stand", ("Template", *(kind.replace("_", " ") for kind in shown)), rows, 1
    )


def _pages(data: ReportData) -> Iterable[Element]:
    yield node("h2", f"Pages ({len(data.visits):,})")
    kept = f"Pages that were read without a login, as they are kept: for {data.kept_days} days (keep_pages_days)."
    yield node("p", kept if data.kept_days else "None are kept: keep_pages_days is 0.", class_="soft")
    if not data.visits:
        return
    rows = pages_by_tier(data.visits)
    tiers: dict[str, dict[str, int]] = {}
    for row in rows:
        of_tier = tiers.setdefault(row.tier, {"read": 0, "failed": 0})
        of_tier["read" if row.outcome == "read" else "failed"] += row.count
    yield stacked(tiers, ("read", "failed"), "Pages by tier, parted by whether they were read")
    cells = [(row.tier, row.outcome, f"{row.count:,}", f"{row.p50_ms:,}", f"{row.p99_ms:,}") for row in rows]
    yield _table("Pages by tier and outcome", ("Tier", "Outcome", "Pages", "p50 in ms", "p99 in ms"), cells, 2)


def _sure(data: ReportData) -> Iterable[Element]:
    yield node("h2", "Confidence")
    counts = confidence_counts(data.visits)
    if any(counts):
        yield node("p", f"How sure Weft was of the {sum(counts):,} pages that were read, by tenths.", class_="soft")
        yield columns(counts, "Pages by their overall confidence")
    measured = shipped_reliability()
    words = (
        "Whether confidence holds cannot be told from these pages: nobody has said what of them is right. The diagram "
        f"is of the {sum(one.pages for one in measured.measured):,} pages with a gold that the models were measured on "
        f"before they were shipped: of {measured.of}."
    )
    yield node("p", words, class_="soft")
    yield reliability(measured.measured, "Reliability: what was said against what came")
    cells = [
        (f"{one.start:.1f}", f"{one.pages:,}", f"{one.predicted:.3f}", f"{one.result:.3f}") for one in measured.measured
    ]
    yield _table(
        "The same as a table", ("Confidence from", "Pages", "Mean of what was said", "Mean of what came"), cells, 0
    )


def _benchmarks(data: ReportData) -> Iterable[Element]:
    if data.benchmarks:
        yield node("h2", "Benchmarks")
        yield node("p", "As ./scripts/bench has printed them.", class_="soft")
        yield node("pre", data.benchmarks)


def _table(caption: str, header: Sequence[str], rows: Iterable[Sequence[str]], numbers: int) -> Element:
    """Write a table whose cells are numbers from the column `numbers` on."""

    def row(tag: str, cells: Sequence[str]) -> Element:
        scope = {"scope": "col"} if tag == "th" else {}
        return node(
            "tr",
            *(node(tag, cell, class_="n" if place >= numbers else "w", **scope) for place, cell in enumerate(cells)),
        )

    body: list[Child] = [row("td", cells) for cells in rows]
    return node("table", node("caption", caption), node("thead", row("th", header)), node("tbody", *body))


def _day(at_ms: int) -> str:
    return datetime.fromtimestamp(at_ms / 1_000, UTC).strftime("%Y-%m-%d")
