"""`weft templates`, `weft run` and `weft runs`: what there is to run, one run of it, and the runs there are."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import anyio
import msgspec
import typer
from typer.core import TyperGroup

from actors.cli import terminal
from actors.cli.connection import at_gateway
from actors.cli.options import (
    BrowserSession,
    ConfigFile,
    DataDir,
    Detached,
    IdempotencyKey,
    InputFile,
    Json,
    KeptArtifacts,
    LogLevel,
    RunTimeout,
    Screenshots,
    read,
)
from actors.cli.run_output import exit_code_of, followed, show_run, show_runs
from actors.cli.terminal import Exit
from actors.settings import Loaded
from protocol.actions import Action
from protocol.codec import malformed
from protocol.faults import Code, FaultError, fault
from protocol.runs.responses import CancelAnswer, Run, RunAccepted, RunList, Template, TemplateList
from protocol.runs.states import DEFAULT_LISTED, MAX_LISTED, MAX_OFFSET, RunStatus

if TYPE_CHECKING:
    from actors.gateway.client import RunRequest

STDIN = "-"

RunId = Annotated[str, typer.Argument(metavar="ID", help="Id of the run.")]


def run(  # noqa: PLR0913 - the options of a command
    template: Annotated[
        str, typer.Argument(metavar="TEMPLATE --input FILE|-", help="Id of the template; see: weft templates.")
    ],
    *,
    source: InputFile = None,
    session: BrowserSession = None,
    timeout_ms: RunTimeout = None,
    artifact: KeptArtifacts = None,
    screenshots: Screenshots = False,
    idempotency_key: IdempotencyKey = None,
    detached: Detached = False,
    as_json: Json = False,
    config: ConfigFile = None,
    data_dir: DataDir = None,
    log_level: LogLevel = None,
) -> None:
    """Run a template, and print what came of it.

    Its steps are shown on stderr as they are done.

    Uses the running Weft; without one, and without --async, it starts a private one, whose files end with this call.
    Ctrl-C asks the run to stop after the step in hand. Exit codes: 0 succeeded, 4 succeeded in part, 1 failed or
    canceled.
    """
    mode = "async" if detached else "sync"
    options: dict[str, Any] = {"mode": mode, "timeoutMs": timeout_ms, "screenshots": screenshots}
    arguments: dict[str, Any] = {
        "templateId": template,
        "inputs": _inputs(source),
        "sessionId": session,
        "idempotencyKey": idempotency_key,
        "options": options | ({"artifacts": artifact} if artifact else {}),
    }
    loaded = read(config, data_dir, log_level)
    with _how_to_give_inputs(template):
        run, interrupted = anyio.run(_run, loaded, arguments, detached)
    finish(run, interrupted, as_json=as_json)


@contextmanager
def _how_to_give_inputs(template: str) -> Generator[None]:
    """Say, of a run whose inputs are at fault, how they are given on a command line."""
    try:
        yield
    except (FaultError, ExceptionGroup) as error:
        failure = terminal.first(error, FaultError)  # a task group may hold it
        if failure is None or not (failure.fault.field or "").startswith("inputs"):
            raise
        description = (
            f"Give the inputs as a JSON object: weft run {template} --input FILE, or --input - for what comes in; "
            f"weft templates {template} shows what it takes."
        )
        give = Action(action="fix_request", description=description)
        raise FaultError(msgspec.structs.replace(failure.fault, actions=(give,))) from None


def finish(run: RunAccepted | Run, interrupted: bool, *, as_json: bool) -> None:  # noqa: FBT001 - a pair, as `waited` gives it
    """Print a run that was begun, or has ended, and leave with what its end means."""
    if isinstance(run, RunAccepted):
        terminal.write(terminal.json_text(run) if as_json else run.run_id)
        return
    show_run(run, as_json=as_json)
    raise typer.Exit(Exit.INTERRUPTED if interrupted else exit_code_of(run))


async def _run(loaded: Loaded, arguments: dict[str, Any], detached: bool) -> tuple[RunAccepted | Run, bool]:  # noqa: FBT001 - anyio.run passes it by place
    request = run_request(arguments)
    async with at_gateway(loaded, or_private=not detached) as client:
        accepted = await client.start_run(request)
        return (accepted, False) if detached else await followed(client, accepted.run_id)


def run_request(arguments: dict[str, Any]) -> RunRequest:
    """Return the request for a run.

    Raises:
        FaultError: VALIDATION_INVALID_REQUEST.
    """
    from actors.gateway.client import RunRequest  # noqa: PLC0415 - imports the gateway

    try:
        return msgspec.convert(arguments, RunRequest)
    except msgspec.ValidationError as error:
        raise malformed(Code.VALIDATION_INVALID_REQUEST, str(error), RunRequest) from None


class ListByDefault(TyperGroup):
    """A group that lists where no verb is named."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Take options alone for those of the list."""
        named = [word for word in args[:1] if not word.startswith("-") or word in ctx.help_option_names]
        return super().parse_args(ctx, args if named else ["list", *args])


app = typer.Typer(cls=ListByDefault, rich_markup_mode=None)


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
    """Show how a run stands, and what came of it."""
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
    answer = anyio.run(_cancel, read(config, data_dir, log_level), run_id)
    if as_json:
        terminal.write(terminal.json_text(answer))
    elif answer.cancel_requested:
        terminal.write(f"The run is asked to stop after the step in hand; it is {answer.current_status.value}.")
    else:
        terminal.write(f"There is nothing to stop; the run is {answer.current_status.value}.")


@app.command()
def resume(  # noqa: PLR0913 - the options of a command
    run_id: RunId,
    *,
    source: InputFile = None,
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
    finish(*anyio.run(_resume, loaded, run_id, _inputs(source), detached), as_json=as_json)


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


def templates(
    template: Annotated[
        str | None, typer.Argument(metavar="ID", help="One template, with the schema of its inputs; without: all.")
    ] = None,
    *,
    as_json: Json = False,
    config: ConfigFile = None,
    data_dir: DataDir = None,
    log_level: LogLevel = None,
) -> None:
    """List the templates that can be run.

    Uses the running Weft, or starts a private one for this call.
    """
    listed = anyio.run(_list_templates, read(config, data_dir, log_level))
    if template is not None:
        chosen = _named_template(listed, template)
        terminal.write(terminal.json_text(chosen if as_json else chosen.inputs_schema))
    elif as_json:
        terminal.write(terminal.json_text(listed))
    else:
        _show_templates(listed)


async def _list_templates(loaded: Loaded) -> TemplateList:
    async with at_gateway(loaded, or_private=True) as client:
        return await client.templates()


def _named_template(listed: TemplateList, name: str) -> Template:
    known = {one.template_id: one for one in listed.templates}
    if name not in known:
        message = f"there is no template {name!r}. {terminal.similar(name, known)}"
        raise typer.BadParameter(message, param_hint="ID")
    return known[name]


def _show_templates(listed: TemplateList) -> None:
    rows = [
        (
            one.template_id,
            one.version,
            one.execution_mode.value,
            " ".join(level.value for level in one.trust_level_support),
            one.description,
        )
        for one in listed.templates
    ]
    terminal.print_rows(("TEMPLATE", "VERSION", "MODE", "FOR CLIENTS", "WHAT IT DOES"), rows, wrap_last=True)


def _inputs(source: str | None) -> dict[str, Any]:
    """Read a JSON object; without a source it is empty.

    Raises:
        FaultError: VALIDATION_INVALID_REQUEST; no word of the file is repeated, as it may hold a password.
    """
    if source is None:
        return {}
    try:
        written = sys.stdin.buffer.read() if source == STDIN else Path(source).read_bytes()
        return msgspec.json.decode(written, type=dict[str, Any])
    except OSError as error:
        complaint = f"{source}: {error.strerror or type(error).__name__}"
    except (msgspec.DecodeError, UnicodeDecodeError):
        complaint = f"{source}: no JSON object"
    raise FaultError(fault(Code.VALIDATION_INVALID_REQUEST, complaint, field="--input"))
