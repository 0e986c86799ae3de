"""`./scripts/bench [NAME...]`: run the benchmarks one after the other and print one table."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Mapping

import anyio

from bus import logs
from tests.bench import browse, failure, hop, replicas, startup
from tests.bench.table import Row, show

BENCHMARKS: Mapping[str, Callable[[], Awaitable[list[Row]]]] = {
    "hop": hop.measure,
    "browse": browse.measure,
    "startup": startup.measure,
    "failure": failure.measure,
    "replicas": replicas.measure,
}


async def main(names: list[str]) -> int:
    """Run some benchmarks, or all; returns 1 when a bound is missed."""
    rows: list[Row] = []
    for name in names:
        print(f"{name} ...", file=sys.stderr, flush=True)
        rows += await BENCHMARKS[name]()
    show(rows)
    return 0 if all(row.kept for row in rows) else 1


if __name__ == "__main__":
    chosen = sys.argv[1:] or list(BENCHMARKS)
    if unknown := [name for name in chosen if name not in BENCHMARKS]:
        sys.exit(f"no benchmark {', '.join(unknown)}; there are: {', '.join(BENCHMARKS)}")
    logs.configure("error", "json")
    sys.exit(anyio.run(main, chosen))
