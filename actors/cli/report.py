"""`weft report DIR`: what this Weft has done, as a page of HTML that stands for itself."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import anyio
import typer

from actors.cli import terminal
from actors.cli.connection import at_gateway
from actors.cli.options import ConfigFile, DataDir, LogLevel, read
from actors.settings import Loaded
from protocol.runs.responses import RunSummary
from protocol.visits import VisitInfo

if TYPE_CHECKING:
    from actors.gateway.client import GatewayClient
    from actors.report import ReportData

DAY_MS = 86_400_000
MOST_RUNS = 10_000
"""Runs that a report reads: the newest."""

MAX_BENCH_BYTES = 1_000_000
_PAGE = 200
_INDEX = "index.html"


def report(  # noqa: PLR0913 - the options of a command
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Where index.html is written.", file_okay=False)],
    *,
    days: Annotated[int, typer.Option("--days", min=1, max=365, help="The days that it is about.")] = 7,
    benchmarks: Annotated[
        Path | None,
        typer.Option("--bench", metavar="FILE", exists=True, dir_okay=False, help="What ./scripts/bench has printed."),
    ] = None,
    config: ConfigFile = None,
    data_dir: DataDir = None,
    log_level: LogLevel = None,
) -> None:
    """Write a report of runs and pages as HTML.

    It needs no server, runs nothing, and can be printed.
    """
    from actors.report import report_page  # noqa: PLC0415 - for this command alone

    loaded = read(config, data_dir, log_level)
    terminal.check_folder(folder, "DIR")
    printed = "" if benchmarks is None else _printed(benchmarks)
    page = report_page(anyio.run(_gathered, loaded, days, printed))
    target = folder / _INDEX
    with terminal.writing(folder, "DIR"):
        folder.mkdir(parents=True, exist_ok=True)
        target.write_text(page, encoding="utf-8")
    terminal.write(str(target))


def _printed(file: Path) -> str:
    with file.open("rb") as opened:
        return opened.read(MAX_BENCH_BYTES).decode("utf-8", "replace")


async def _gathered(loaded: Loaded, days: int, benchmarks: str) -> ReportData:
    from actors.report import ReportData  # noqa: PLC0415 - for this command alone
    from bus.clock import now_ms  # noqa: PLC0415 - imports the bus

    until = now_ms()
    since = until - days * DAY_MS
    async with at_gateway(loaded) as client:
        runs, more = await _runs(client, since)
        visits, kept_days = await _visits(client, since)
    return ReportData(
        since=since,
        until=until,
        version=metadata.version("weft"),
        runs=runs,
        visits=visits,
        kept_days=kept_days,
        more=more,
        benchmarks=benchmarks,
    )


async def _runs(client: GatewayClient, since: int) -> tuple[tuple[RunSummary, ...], bool]:
    """Return the runs that were begun since a time, the newest first, and whether there were more than are read."""
    from actors.gateway.client import RunsRequest  # noqa: PLC0415 - imports the gateway

    runs = list[RunSummary]()
    while len(runs) < MOST_RUNS:
        listed = (await client.runs(RunsRequest(limit=_PAGE, offset=len(runs)))).runs
        recent = [run for run in listed if run.created_at >= since]
        runs += recent
        if len(recent) < _PAGE:
            return tuple(runs), False
    return tuple(runs), True


async def _visits(client: GatewayClient, since: int) -> tuple[tuple[VisitInfo, ...], int]:
    """Return the pages that were read since a time, and for how many days they are kept; there are never many."""
    visits, cursor = list[VisitInfo](), None
    while True:
        listed = await client.visits(since, cursor)
        visits += listed.visits
        if listed.next_cursor is None:
            return tuple(visits), listed.kept_days
        cursor = listed.next_cursor
