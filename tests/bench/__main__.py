"""`./scripts/bench [NAME...]`: run the benchmarks one after the other and print one table.

`./scripts/bench extraction DATA_DIR`, `./scripts/bench judge VERDICT_DIR DATA_DIR` and
`./scripts/bench models DATA_DIR` need pages or questions that Weft has not, and `./scripts/bench field` installs its
peers. `./scripts/bench tree DATA_DIR` reads real pages in place of made up ones.
"""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path

import anyio

from bus import telemetry
from tests.bench import (
    acting,
    browse,
    capture,
    console,
    containment,
    edge,
    extraction,
    failure,
    fairness,
    flows,
    hop,
    hostile,
    judge,
    ladder,
    models,
    patterns,
    policy,
    recording,
    replicas,
    runs,
    search,
    sessions,
    startup,
    steps,
    tiers,
    tree,
)
from tests.bench.field import run as field
from tests.bench.table import Row, show

BENCHMARKS: Mapping[str, Callable[[], Awaitable[list[Row]]]] = {
    "hop": hop.measure,
    "browse": browse.measure,
    "startup": startup.measure,
    "failure": failure.measure,
    "replicas": replicas.measure,
    "hostile": hostile.measure,
    "tiers": tiers.measure,
    "ladder": ladder.measure,
    "containment": containment.measure,
    "sessions": sessions.measure,
    "edge": edge.measure,
    "policy": policy.measure,
    "recording": recording.measure,
    "runs": runs.measure,
    "capture": capture.measure,
    "fairness": fairness.measure,
    "search": search.measure,
    "acting": acting.measure,
    "tree": tree.measure,
    "steps": steps.measure,
    "patterns": patterns.measure,
    "flows": flows.measure,
    "console": console.measure,
}

WITH_PAGES: Mapping[str, Callable[[Path], Awaitable[list[Row]]]] = {
    "extraction": extraction.measure,
    "models": models.measure,
    "tree": tree.measure,
}
"""Benchmarks that read pages or questions of a folder."""

JUDGE = "judge"

FIELD = "field"
"""It installs its peers from the package indexes, so it runs by its name alone."""


async def main(chosen: Mapping[str, Callable[[], Awaitable[list[Row]]]]) -> int:
    """Run some benchmarks; returns 1 when a bound is missed."""
    rows: list[Row] = []
    for name, measure in chosen.items():
        print(f"{name} ...", file=sys.stderr, flush=True)
        rows += await measure()
    show(rows)
    return 0 if all(row.kept for row in rows) else 1


def choose(arguments: list[str]) -> Mapping[str, Callable[[], Awaitable[list[Row]]]]:
    """Read the command line; without a word of it, everything is run that needs no data."""
    match arguments:
        case []:
            return BENCHMARKS
        case [name, data_dir] if name in WITH_PAGES and Path(data_dir).is_dir():
            return {name: partial(WITH_PAGES[name], Path(data_dir))}
        case [name] if name == FIELD:
            return {FIELD: field.measure}
        case [name, verdict_dir, data_dir] if name == JUDGE and Path(verdict_dir).is_dir() and Path(data_dir).is_dir():
            return {JUDGE: partial(judge.measure, Path(verdict_dir), Path(data_dir))}
        case _ if set(arguments) <= set(BENCHMARKS):
            return {name: BENCHMARKS[name] for name in arguments}
        case _:
            names = " | ".join((*BENCHMARKS, FIELD))
            with_data = f"{' | '.join(WITH_PAGES)} DATA_DIR, or {JUDGE} VERDICT_DIR DATA_DIR, which Weft has not"
            sys.exit(f"usage: scripts/bench [{names}]... or {with_data}")


if __name__ == "__main__":
    telemetry.configure("error", "json")
    sys.exit(anyio.run(main, choose(sys.argv[1:])))
