"""`weft run`: a template, from its inputs to its result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import anyio
import msgspec
import typer

from actors.cli import terminal
from actors.cli.desk import at_gateway
from actors.cli.errors import Exit
from actors.cli.options import ConfigFile, DataDir, Json, LogLevel, read
from actors.cli.runfollowing import followed
from actors.cli.runinputs import Input, read_inputs
from actors.cli.runshown import exit_code_of, show_run
from actors.settings import Loaded
from protocol.codec import malformed
from protocol.faults import Code
from protocol.runs.responses import Run, RunAccepted
from protocol.runs.states import ArtifactType

if TYPE_CHECKING:
    from actors.gateway.client import RunRequest

MAX_TIMEOUT_MS = 86_400_000

Detached = Annotated[bool, typer.Option("--async", help="Print the id of the run, and wait for nothing.")]


def run(  # noqa: PLR0913 - the options of a command
    template: Annotated[str, typer.Argument(metavar="TEMPLATE", help="Id of the template; see: weft templates.")],
    *,
    source: Input = None,
    session: Annotated[
        str | None, typer.Option("--session", metavar="ID", help="Browser session to work in; it stays open.")
    ] = None,
    timeout_ms: Annotated[
        int | None,
        typer.Option("--timeout-ms", min=1, max=MAX_TIMEOUT_MS, help="Milliseconds that the run may take."),
    ] = None,
    artifact: Annotated[
        list[ArtifactType] | None,
        typer.Option("--artifact", help="File to keep of the result; may be repeated. json unless it is given."),
    ] = None,
    idempotency_key: Annotated[
        str | None,
        typer.Option("--idempotency-key", metavar="KEY", help="The same key within half an hour gives the same run."),
    ] = None,
    detached: Detached = False,
    as_json: Json = False,
    config: ConfigFile = None,
    data_dir: DataDir = None,
    log_level: LogLevel = None,
) -> None:
    """Run a template, tell how far it is, and print what came of it.

    Uses the running Weft; without one, and without --async, it starts a private one, whose files end with this call.
    Ctrl-C asks the run to stop after the step in hand. Exit codes: 0 succeeded, 4 succeeded in part, 1 failed or
    canceled.
    """
    options: dict[str, Any] = {"mode": "async" if detached else "sync", "timeoutMs": timeout_ms}
    arguments: dict[str, Any] = {
        "templateId": template,
        "inputs": read_inputs(source),
        "sessionId": session,
        "idempotencyKey": idempotency_key,
        "options": options | ({"artifacts": artifact} if artifact else {}),
    }
    loaded = read(config, data_dir, log_level)
    finish(*anyio.run(_run, loaded, arguments, detached), as_json=as_json)


def finish(run: RunAccepted | Run, interrupted: bool, *, as_json: bool) -> None:  # noqa: FBT001 - a pair, as `waited` gives it
    """Print a run that was begun, or has ended, and leave with what its end means."""
    if isinstance(run, RunAccepted):
        terminal.write(terminal.json_text(run) if as_json else run.run_id)
        return
    show_run(run, as_json=as_json)
    raise typer.Exit(Exit.INTERRUPTED if interrupted else exit_code_of(run))


async def _run(loaded: Loaded, arguments: dict[str, Any], detached: bool) -> tuple[RunAccepted | Run, bool]:  # noqa: FBT001 - anyio.run passes it by place
    request = _request(arguments)
    async with at_gateway(loaded, or_private=not detached) as client:
        accepted = await client.start_run(request)
        return (accepted, False) if detached else await followed(client, accepted.run_id)


def _request(arguments: dict[str, Any]) -> RunRequest:
    from actors.gateway.client import RunRequest  # noqa: PLC0415 - imports the gateway

    try:
        return msgspec.convert(arguments, RunRequest)
    except msgspec.ValidationError as error:
        raise malformed(Code.VALIDATION_INVALID_REQUEST, str(error)) from None
