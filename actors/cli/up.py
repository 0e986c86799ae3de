"""`weft up`, `weft status`, `weft mcp`: start actors here, and NATS with them, list all that live, or speak MCP."""

from __future__ import annotations

import gc
import importlib
import sys
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Annotated, cast

import anyio
import typer

from actors.cli import terminal
from actors.cli.connection import connected, connected_or_private
from actors.cli.options import ConfigFile, DataDir, Json, LogLevel, named_place, read
from actors.cli.root import new_app
from actors.cli.terminal import not_running
from actors.settings import Loaded, secret_variables

MAX_REPLICAS = 256


def up(  # noqa: PLR0913 - the options of a command
    *,
    single_process: Annotated[
        bool, typer.Option("--single-process", help="Run all actors in one process, on one event loop.")
    ] = False,
    nats: Annotated[
        str | None, typer.Option("--nats", "--nats-url", metavar="URL", help="Join this NATS; start none.")
    ] = None,
    actors: Annotated[
        str | None,
        typer.Option("--actors", metavar="NAME[=N],...", help="Run only these actors, each in N replicas (default 1)."),
    ] = None,
    host: Annotated[str | None, typer.Option("--host", help="Address that the gateway listens on.")] = None,
    port: Annotated[
        int | None, typer.Option("--port", min=0, max=65_535, help="Port that the gateway listens on; 0: a free one.")
    ] = None,
    ready_file: Annotated[
        Path | None,
        typer.Option(
            "--ready-file",
            metavar="FILE",
            parser=named_place,
            help="Write the addresses to FILE, as JSON, when all is ready.",
        ),
    ] = None,
    config: ConfigFile = None,
    data_dir: DataDir = None,
    log_level: LogLevel = None,
) -> None:
    """Start Weft here, and keep it running until Ctrl-C.

    Without options: every actor in a process of its own, a NATS server of our own, REST and MCP on 127.0.0.1:8720.
    """
    _import_log()
    from actors.router.providers.table import VARIABLES  # noqa: PLC0415 - costs 20 ms
    from actors.runner.variables import VARIABLES as KEYS_AND_SECRETS  # noqa: PLC0415 - as above
    from actors.runtime.withheld import withhold  # noqa: PLC0415 - as above

    withheld = withhold((*VARIABLES, *KEYS_AND_SECRETS, *secret_variables()), anew=not single_process)
    loaded = read(config, data_dir, log_level, nats_url=nats, host=host, port=port)
    if ready_file is not None:
        terminal.check_folder(ready_file.parent, "--ready-file")  # it is made
        if ready_file.parent.exists():
            terminal.check_file(ready_file, "--ready-file")
    from actors.registry import ACTORS  # noqa: PLC0415 - imports the bus
    from actors.runtime.launch import up as launch_up  # noqa: PLC0415 - as above

    chosen = dict.fromkeys(ACTORS, 1) if actors is None else parse_actors(actors, ACTORS)
    status = launch_up(loaded, single_process=single_process, actors=chosen, ready_file=ready_file, withheld=withheld)
    raise typer.Exit(status)


def _import_log() -> None:
    """Import structlog, and not what it would take of rich for tracebacks that nobody has it write.

    That is 4 MB of every system, and 40 ms of its start.
    """
    modules = cast("dict[str, ModuleType | None]", sys.modules)
    modules.setdefault("rich", None)  # this is how Python blocks an import
    importlib.import_module("structlog")
    if modules["rich"] is None:
        del modules["rich"]


def parse_actors(text: str, known: Iterable[str]) -> dict[str, int]:
    """Read a choice of actors such as `navigator,verifier=3`: the number of replicas by name.

    Raises:
        typer.BadParameter: an actor that is not `known`, or is named twice, or a number that is none.
    """
    names = sorted(known)
    chosen: dict[str, int] = {}
    for part in filter(None, map(str.strip, text.split(","))):
        name, equals, number = map(str.strip, part.partition("="))
        if name not in names:
            raise _refused(f"there is no actor {name!r}. {terminal.similar(name, names)}")
        if name in chosen:
            raise _refused(f"{name} is named twice")
        chosen[name] = _replicas(name, number) if equals else 1
    if not chosen:
        raise _refused(f"no actor is named. There are: {', '.join(names)}")
    return chosen


def _replicas(name: str, number: str) -> int:
    if not (number.isascii() and number.isdigit()) or not 1 <= int(number[:5]) <= MAX_REPLICAS:
        raise _refused(f"{name}={number}: the replicas are a number from 1 to {MAX_REPLICAS}")
    return int(number)


def _refused(why: str) -> typer.BadParameter:
    return typer.BadParameter(why, param_hint="--actors")


def mcp(*, config: ConfigFile = None, data_dir: DataDir = None, log_level: LogLevel = None) -> None:
    """Speak MCP over stdin and stdout.

    For an MCP client that starts its servers itself. Uses the running Weft, or starts a private one that ends with the
    client. Nothing but the protocol is written to stdout; the log goes to stderr.
    """
    gc.disable()  # the client waits while thousands of classes are made, and the collector would look at all of them
    anyio.run(_serve, read(config, data_dir, log_level))


async def _serve(loaded: Loaded) -> None:
    from actors.gateway.client import load_stdio_server  # noqa: PLC0415 - imports the gateway

    serve_stdio = load_stdio_server()
    gc.freeze()
    gc.enable()
    async with connected_or_private(loaded, stdio=True) as bus:
        await serve_stdio(bus, loaded.settings)


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
        cells = (*names, terminal.duration_text(max(now - one.started, 0)), *map(str, counts), *latency)
        table.add_row(*map(terminal.one_line, cells), style="yellow" if one.errors else None)
    terminal.table(table)


async def _ask(loaded: Loaded) -> tuple[Replica, ...]:
    async with connected(loaded) as bus:
        replicas = await bus.replicas()
    if not replicas:
        raise not_running(loaded.settings.data_dir, "No actor answers")
    return replicas


app = new_app()
for _verb in (up, status, mcp):
    app.command()(_verb)
