"""`weft runs`: list runs, look at one, stop it, go on with it."""

from __future__ import annotations

from typing import Annotated, Any

import anyio
import typer
from typer.core import TyperGroup

from actors.cli import terminal
from actors.cli.desk import at_gateway
from actors.cli.options import ConfigFile, DataDir, Json, LogLevel, read
from actors.cli.run import Detached, finish
from actors.cli.runfollowing import followed
from actors.cli.runinputs import Input, read_inputs
from actors.cli.runshown import show_run, show_runs
from actors.settings import Loaded
from protocol.runs.responses import CancelAnswer, Run, RunAccepted, RunList
from protocol.runs.states import DEFAULT_LISTED, MAX_LISTED, MAX_OFFSET, RunStatus

RunId = Annotated[str, typer.Argument(metavar="ID", help="Id of the run.")]


class Listing(TyperGroup):
    """A group that lists where no verb is named."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Take options alone for those of the list."""
        named = [word for word in args[:1] if not word.startswith("-") or word in ctx.help_option_names]
        return super().parse_args(ctx, args if named else ["list", *args])


app = typer.Typer(cls=Listing, rich_markup_mode=None)


@app.command("list")
def list_runs(  # noqa: PLR0913 - the options of a command
    *,
    status: Annotated[RunStatus | None, typer.Option("--status", help="List those alone that stand so.")] = None,
    template: Annotated[
        str | None, typer.Option("--template", metavar="ID", help="List those of this template alone.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=MAX_LISTED, help="How many.")] = DEFAULT_LISTED,
    offset: Annotated[int, typer.Option("--offset", min=0, max=MAX_OFFSET, help="Leave out so many.")] = 0,
    as_json: Json = False,
    config: ConfigFile = None,
    data_dir: DataDir = None,
    log_level: LogLevel = None,
) -> None:
    """List runs, newest first."""
    chosen = {"status": status, "template_id": template, "limit": limit, "offset": offset}
    listed = anyio.run(_list, read(config, data_dir, log_level), chosen)
    if as_json:
        terminal.write(terminal.json_text(listed))
    else:
        show_runs(listed.runs)


@app.command()
def show(
    run_id: RunId,
    *,
    as_json: Json = False,
    config: ConfigFile = None,
    data_dir: DataDir = None,
    log_level: LogLevel = None,
) -> None:
    """Return how a run stands, and what came of it."""
    show_run(anyio.run(_get, read(config, data_dir, log_level), run_id), as_json=as_json)


@app.command()
def cancel(
    run_id: RunId,
    *,
    as_json: Json = False,
    config: ConfigFile = None,
    data_dir: DataDir = None,
    log_level: LogLevel = None,
) -> None:
    """Ask a run to stop after the step in hand."""
    told = anyio.run(_cancel, read(config, data_dir, log_level), run_id)
    if as_json:
        terminal.write(terminal.json_text(told))
    elif told.cancel_requested:
        terminal.write(f"The run is asked to stop after the step in hand; it is {told.current_status.value}.")
    else:
        terminal.write(f"There is nothing to stop; the run is {told.current_status.value}.")


@app.command()
def resume(  # noqa: PLR0913 - the options of a command
    run_id: RunId,
    *,
    source: Input = None,
    detached: Detached = False,
    as_json: Json = False,
    config: ConfigFile = None,
    data_dir: DataDir = None,
    log_level: LogLevel = None,
) -> None:
    """Go on, in a new run, with one that has ended.

    It takes over the steps which succeeded; a login begins anew in its session. Its inputs are those of the run before;
    --input holds only what is secret in them, which is kept nowhere.
    """
    loaded = read(config, data_dir, log_level)
    finish(*anyio.run(_resume, loaded, run_id, read_inputs(source), detached), as_json=as_json)


async def _list(loaded: Loaded, chosen: dict[str, Any]) -> RunList:
    from actors.gateway.client import RunsRequest  # noqa: PLC0415 - imports the gateway

    async with at_gateway(loaded) as client:
        return await client.runs(RunsRequest(**chosen))


async def _get(loaded: Loaded, run_id: str) -> Run:
    async with at_gateway(loaded) as client:
        return await client.run(run_id)


async def _cancel(loaded: Loaded, run_id: str) -> CancelAnswer:
    async with at_gateway(loaded) as client:
        return await client.cancel_run(run_id)


async def _resume(
    loaded: Loaded,
    run_id: str,
    inputs: dict[str, Any],
    detached: bool,  # noqa: FBT001 - anyio.run passes it by place
) -> tuple[RunAccepted | Run, bool]:
    from actors.gateway.client import ResumeRequest  # noqa: PLC0415 - imports the gateway

    async with at_gateway(loaded) as client:
        accepted = await client.resume_run(run_id, ResumeRequest(inputs=inputs))
        return (accepted, False) if detached else await followed(client, accepted.run_id)
