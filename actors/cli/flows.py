"""`weft flows`: what was done in a browser session, recorded, listed, shown, done again and forgotten."""

from __future__ import annotations

import sys
from typing import Annotated

import anyio
import typer
from anyio import to_thread

from actors.cli import terminal
from actors.cli.connection import at_gateway
from actors.cli.options import ConfigFile, DataDir, Detached, Json, LogLevel, RunTimeout, Screenshots, read
from actors.cli.run_output import followed
from actors.cli.runs import ListByDefault, finish
from actors.settings import Loaded
from protocol.faults import Code, FaultError, fault
from protocol.flows import Flow, FlowForgotten, FlowList, FlowParameter, FlowRecording, KeptRecording
from protocol.runs.requests import RunOptions
from protocol.runs.responses import Run, RunAccepted
from protocol.runs.states import Mode

app = typer.Typer(cls=ListByDefault, rich_markup_mode=None)

FlowArgument = Annotated[str, typer.Argument(metavar="ID", help="Id of the flow.")]
RecordedSession = Annotated[
    str | None, typer.Option("--session", metavar="ID", help="Browser session; without: the one that you have anyway.")
]
Given = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=TEXT", help="A parameter that is to have another value than was recorded."),
]
Confided = Annotated[
    list[str] | None,
    typer.Option("--secret", metavar="NAME[=TEXT]", help="A parameter that is secret; alone it is asked for."),
]


@app.command("list")
def list_flows(
    *, as_json: Json = False, config: ConfigFile = None, data_dir: DataDir = None, log_level: LogLevel = None
) -> None:
    """List your flows, newest first."""
    listed = anyio.run(_list, read(config, data_dir, log_level))
    if as_json:
        terminal.write(terminal.json_text(listed))
    elif not listed.flows:
        terminal.err().print("You have no flows: weft flows record NAME URL")
    else:
        rows = [(one.flow_id, one.name, str(one.steps), _names(one.parameters), one.url) for one in listed.flows]
        terminal.print_rows(("FLOW", "NAME", "STEPS", "PARAMETERS", "BEGINS AT"), rows, wrap_last=True)


@app.command()
def show(
    flow_id: FlowArgument,
    *,
    as_json: Json = False,
    config: ConfigFile = None,
    data_dir: DataDir = None,
    log_level: LogLevel = None,
) -> None:
    """Show the steps of a flow, and its parameters."""
    _show(anyio.run(_get, read(config, data_dir, log_level), flow_id), as_json=as_json)


@app.command()
def record(  # noqa: PLR0913 - the options of a command
    name: Annotated[str, typer.Argument(metavar="NAME", help="What the flow is called.")],
    url: Annotated[str | None, typer.Argument(metavar="URL", help="Page to go to first.")] = None,
    *,
    session: RecordedSession = None,
    begin: Annotated[bool, typer.Option("--begin", help="Begin, and leave it recording.")] = False,
    end: Annotated[bool, typer.Option("--end", help="End what --begin has begun, and keep it.")] = False,
    drop: Annotated[bool, typer.Option("--drop", help="End what --begin has begun, and keep nothing.")] = False,
    as_json: Json = False,
    config: ConfigFile = None,
    data_dir: DataDir = None,
    log_level: LogLevel = None,
) -> None:
    """Record what is done in a browser session, by browser tools or weft do, until you press Enter.

    What is secret is never recorded: it is asked for when the flow is done again. Needs a running Weft.
    """
    loaded = read(config, data_dir, log_level)
    if drop:
        anyio.run(_drop, loaded, session)
        return
    if not end:
        recording = anyio.run(_begin, loaded, session, url)
        if begin:
            terminal.write(terminal.json_text(recording) if as_json else recording.session_id)
            return
        terminal.err().print(f"What is done in {recording.session_id} is recorded. Press Enter to end it.")
        sys.stdin.readline()
    _show(anyio.run(_keep, loaded, session, name), as_json=as_json)


@app.command()
def replay(  # noqa: PLR0913 - the options of a command
    flow_id: FlowArgument,
    *,
    given: Given = None,
    confided: Confided = None,
    session: RecordedSession = None,
    timeout_ms: RunTimeout = None,
    screenshots: Screenshots = False,
    detached: Detached = False,
    as_json: Json = False,
    config: ConfigFile = None,
    data_dir: DataDir = None,
    log_level: LogLevel = None,
) -> None:
    """Do a flow again, with other inputs, and print what came of it.

    No model is asked. It stops where an element is gone or cannot be told from another. On a terminal secrets that are
    missing are asked for. Exit codes: 0 done, 1 stopped.
    """
    parameters = dict(_pair(one, "--set") for one in given or ())
    secrets = dict(_secret(one) for one in confided or ())
    loaded = read(config, data_dir, log_level)
    options = RunOptions(timeout_ms=timeout_ms, mode=Mode.ASYNC, screenshots=screenshots)
    run, interrupted = anyio.run(_replay, loaded, flow_id, parameters, secrets, session, options, detached)
    finish(run, interrupted, as_json=as_json)


@app.command()
def forget(
    flow_id: FlowArgument,
    *,
    as_json: Json = False,
    config: ConfigFile = None,
    data_dir: DataDir = None,
    log_level: LogLevel = None,
) -> None:
    """Forget a flow."""
    gone = anyio.run(_forget, read(config, data_dir, log_level), flow_id)
    terminal.write(terminal.json_text(gone) if as_json else f"{gone.flow_id} is forgotten.")


def _show(flow: Flow, *, as_json: bool) -> None:
    if as_json:
        terminal.write(terminal.json_text(flow))
        return
    terminal.write(f"{flow.flow_id}  {terminal.one_line(flow.name)}  {terminal.one_line(flow.url)}")
    for number, step in enumerate(flow.steps, 1):
        about = "" if step.target is None else f" {terminal.one_line(step.target.name)!r}"
        put = f" = {{{step.parameter}}}" if step.parameter else ""
        why = f"  (cannot be done again: {step.obstacle})" if step.obstacle else ""
        terminal.write(f"{number:>3}. {step.tool}{about}{put}{why}")
    for one in flow.parameters:
        has = "secret, needed each time" if one.secret else f"{one.type}, {terminal.one_line(one.default or '')!r}"
        terminal.write(f"     {{{one.name}}}: {has}")


def _names(parameters: tuple[FlowParameter, ...]) -> str:
    return " ".join(f"{one.name}{'*' if one.secret else ''}" for one in parameters)


def _pair(text: str, option: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise typer.BadParameter("write NAME=TEXT", param_hint=option)
    return name, value


def _secret(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not name:
        raise typer.BadParameter("write NAME or NAME=TEXT", param_hint="--secret")
    if equals or sys.stdin.isatty():
        return name, value if equals else _prompt(name)
    line = sys.stdin.readline().rstrip("\r\n")
    if not line:
        message = f"--secret {name}: say NAME=TEXT, give it on standard input, or run it on a terminal"
        raise FaultError(fault(Code.VALIDATION_INVALID_REQUEST, message, field="--secret"))
    return name, line


def _prompt(name: str) -> str:
    """Ask for a secret on the terminal, without showing it."""
    hidden: str = typer.prompt(name, hide_input=True, err=True)
    return hidden


async def _list(loaded: Loaded) -> FlowList:
    async with at_gateway(loaded) as client:
        return await client.flows()


async def _get(loaded: Loaded, flow_id: str) -> Flow:
    async with at_gateway(loaded) as client:
        return await client.flow(flow_id)


async def _begin(loaded: Loaded, session: str | None, url: str | None) -> FlowRecording:
    from actors.gateway.client import RecordRequest  # noqa: PLC0415 - imports the gateway

    async with at_gateway(loaded) as client:
        return await client.record_flow(RecordRequest(session_id=session, url=url))


async def _keep(loaded: Loaded, session: str | None, name: str) -> Flow:
    from actors.gateway.client import KeepRequest  # noqa: PLC0415 - imports the gateway

    async with at_gateway(loaded) as client:
        return await client.keep_flow(KeepRequest(session_id=session, name=name))


async def _drop(loaded: Loaded, session: str | None) -> KeptRecording:
    from actors.gateway.client import ForgetRequest  # noqa: PLC0415 - imports the gateway

    async with at_gateway(loaded) as client:
        return await client.forget_recording(ForgetRequest(session_id=session))


async def _forget(loaded: Loaded, flow_id: str) -> FlowForgotten:
    async with at_gateway(loaded) as client:
        return await client.forget_flow(flow_id)


async def _replay(  # noqa: PLR0913, PLR0917 - anyio.run passes them by place
    loaded: Loaded,
    flow_id: str,
    parameters: dict[str, str],
    secrets: dict[str, str],
    session: str | None,
    options: RunOptions,
    detached: bool,  # noqa: FBT001 - as above
) -> tuple[RunAccepted | Run, bool]:
    from actors.gateway.client import ReplayRequest  # noqa: PLC0415 - imports the gateway

    async with at_gateway(loaded) as client:
        complete = await _completed(await client.flow(flow_id), secrets)
        arguments = ReplayRequest(parameters=parameters, secrets=complete, session_id=session, options=options)
        accepted = await client.replay_flow(flow_id, arguments)
        return (accepted, False) if detached else await followed(client, accepted.run_id)


async def _completed(flow: Flow, secrets: dict[str, str]) -> dict[str, str]:
    """Ask for the secrets that are missing, where somebody sits at a terminal."""
    missing = [one.name for one in flow.parameters if one.secret and one.name not in secrets]
    if not missing or not sys.stdin.isatty():
        return secrets
    return secrets | {name: await to_thread.run_sync(_prompt, name) for name in missing}
