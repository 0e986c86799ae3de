"""`weft status`: every live replica of every actor."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio

from actors.cli import terminal
from actors.cli.connection import connected
from actors.cli.options import ConfigFile, DataDir, Json, LogLevel, read
from actors.cli.terminal import not_running
from actors.settings import Loaded

if TYPE_CHECKING:
    from bus.stats import Replica


def status(
    *, as_json: Json = False, config: ConfigFile = None, data_dir: DataDir = None, log_level: LogLevel = None
) -> None:
    """Show every live replica of every actor.

    Where it runs, what it has in hand, what it has done, and how fast.
    """
    from bus.clock import now_ms  # noqa: PLC0415 - imports the bus

    replicas = anyio.run(_ask, read(config, data_dir, log_level))
    now = now_ms()
    if as_json:
        terminal.write(terminal.json_text([row(replica, now) for replica in replicas]))
    else:
        _print_table(replicas, now)


def row(replica: Replica, now: int) -> dict[str, str | int | float]:
    """Write one replica for a program; times in ms, `started` since the epoch."""
    return {
        "actor": replica.actor,
        "replica": replica.replica,
        "host": replica.host,
        "pid": replica.pid,
        "version": replica.version,
        "started": replica.started,
        "uptimeMs": max(now - replica.started, 0),
        "inFlight": replica.in_flight,
        "queued": replica.queued,
        "served": replica.served,
        "errors": replica.errors,
        "p50Ms": replica.p50_ms,
        "p99Ms": replica.p99_ms,
    }


def _print_table(replicas: tuple[Replica, ...], now: int) -> None:
    from rich.table import Table  # noqa: PLC0415 - costs 40 ms

    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("ACTOR", "REPLICA", "HOST", "PID", "VERSION", "UP"):
        table.add_column(name, no_wrap=True)
    for name in ("IN FLIGHT", "QUEUED", "SERVED", "ERRORS", "P50 MS", "P99 MS"):
        table.add_column(name, justify="right", no_wrap=True)
    for one in replicas:
        names = (one.actor, one.replica, one.host, str(one.pid), one.version)
        counts = (one.in_flight, one.queued, one.served, one.errors)
        latency = (f"{one.p50_ms:.1f}", f"{one.p99_ms:.1f}")
        cells = (*names, terminal.duration_text(now - one.started), *map(str, counts), *latency)
        table.add_row(*map(terminal.one_line, cells), style="yellow" if one.errors else None)
    terminal.table(table)


async def _ask(loaded: Loaded) -> tuple[Replica, ...]:
    async with connected(loaded) as bus:
        replicas = await bus.replicas()
    if not replicas:
        raise not_running(loaded.settings.data_dir, "No actor answers")
    return replicas
