"""`./scripts/bench [NAME...]`: run the benchmarks one after the other and print one table.

`./scripts/bench extraction DATA_DIR` needs the gold pages that Weft does not carry.
"""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path

import anyio

from bus import telemetry
from tests.bench import (
    browse,
    containment,
    edge,
    extraction,
    failure,
    hop,
    hostile,
    ladder,
    replicas,
    runs,
    sessions,
    startup,
    tiers,
)
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
    "runs": runs.measure,
}

EXTRACTION = "extraction"


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
        case [name, data_dir] if name == EXTRACTION and Path(data_dir).is_dir():
            return {EXTRACTION: partial(extraction.measure, Path(data_dir))}
        case _ if set(arguments) <= set(BENCHMARKS):
            return {name: BENCHMARKS[name] for name in arguments}
        case _:
            sys.exit(f"usage: scripts/bench [{' | '.join(BENCHMARKS)}]... or scripts/bench {EXTRACTION} DATA_DIR")


if __name__ == "__main__":
    telemetry.configure("error", "json")
    sys.exit(anyio.run(main, choose(sys.argv[1:])))
