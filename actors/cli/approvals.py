"""`weft approvals`: what waits for you, and your answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import anyio
import typer

from actors.cli import terminal
from actors.cli.connection import at_gateway
from actors.cli.options import ConfigFile, DataDir, Json, LogLevel, read
from actors.cli.runs import ListByDefault
from actors.settings import Loaded
from protocol.faults import Code, FaultError, fault
from protocol.policy import Approval, ApprovalList, ApprovalState, Remembered

if TYPE_CHECKING:
    from actors.gateway.client import GatewayClient

app = typer.Typer(cls=ListByDefault, rich_markup_mode=None)

Id = Annotated[
    str | None,
    typer.Argument(metavar="[ID]", help="Which one; may be left out where one alone waits."),
]
Remember = Annotated[
    Remembered,
    typer.Option("--remember", help="once: this call alone; conversation or site: the same tool there, from now on."),
]


@app.command("list")
def list_approvals(
    *,
    every: Annotated[bool, typer.Option("--all", help="List those that were answered, too.")] = False,
    as_json: Json = False,
    config: ConfigFile = None,
    data_dir: DataDir = None,
    log_level: LogLevel = None,
) -> None:
    """List the calls that wait for you to allow them."""
    listed = anyio.run(_list, read(config, data_dir, log_level), not every)
    if as_json:
        terminal.write(terminal.json_text(listed))
        return
    if not listed.approvals:
        terminal.err().print("Nothing waits for you." if not every else "Nothing has waited for you yet.")
        return
    _print(listed)


@app.command()
def show(
    name: Id = None,
    *,
    as_json: Json = False,
    config: ConfigFile = None,
    data_dir: DataDir = None,
    log_level: LogLevel = None,
) -> None:
    """Show what a call would do, why it waits, and what came of it."""
    approval = anyio.run(_get, read(config, data_dir, log_level), name)
    _tell(approval, as_json=as_json)


@app.command()
def allow(  # noqa: PLR0913 - the options of a command
    name: Id = None,
    *,
    remember: Remember = Remembered.ONCE,
    as_json: Json = False,
    config: ConfigFile = None,
    data_dir: DataDir = None,
    log_level: LogLevel = None,
) -> None:
    """Allow what waits; it runs at once."""
    approval = anyio.run(_answer, read(config, data_dir, log_level), name, "allow", remember)
    _tell(approval, as_json=as_json)


@app.command()
def deny(
    name: Id = None,
    *,
    as_json: Json = False,
    config: ConfigFile = None,
    data_dir: DataDir = None,
    log_level: LogLevel = None,
) -> None:
    """Deny what waits; it never runs."""
    approval = anyio.run(_answer, read(config, data_dir, log_level), name, "deny", Remembered.ONCE)
    _tell(approval, as_json=as_json)


async def _list(loaded: Loaded, pending: bool) -> ApprovalList:  # noqa: FBT001 - anyio.run passes it by place
    async with at_gateway(loaded) as client:
        return await client.approvals(pending=pending)


async def _get(loaded: Loaded, name: str | None) -> Approval:
    async with at_gateway(loaded) as client:
        return await client.approval(await _meant(client, name))


async def _answer(loaded: Loaded, name: str | None, answer: Literal["allow", "deny"], remember: Remembered) -> Approval:
    async with at_gateway(loaded) as client:
        return await client.answer_approval(await _meant(client, name), allow=answer == "allow", remember=remember)


async def _meant(client: GatewayClient, name: str | None) -> str:
    """Return the one that is meant: where none is named, the only one that waits.

    Raises:
        FaultError: VALIDATION_INVALID_REQUEST, none waits, or several do.
    """
    if name is not None:
        return name
    waiting = (await client.approvals(pending=True)).approvals
    if len(waiting) == 1:
        return waiting[0].id
    message = f"{len(waiting)} calls wait: name one of them; see: weft approvals" if waiting else "Nothing waits."
    raise FaultError(fault(Code.VALIDATION_INVALID_REQUEST, message, field="ID"))


def _print(listed: ApprovalList) -> None:
    from bus.clock import now_ms  # noqa: PLC0415 - imports the bus

    now = now_ms()
    rows = [(one.id, one.state.value, one.tool, _left(one, now), one.words) for one in listed.approvals]
    terminal.print_rows(("ID", "STATE", "TOOL", "ENDS", "WHAT IT WOULD DO"), rows, wrap_last=True)
    if any(one.state is ApprovalState.PENDING for one in listed.approvals):
        terminal.err().print("Answer with: weft approvals allow ID, or weft approvals deny ID", soft_wrap=True)


def _left(one: Approval, now: int) -> str:
    return f"in {terminal.duration_text(max(one.expires_at - now, 0))}" if one.state is ApprovalState.PENDING else ""


def _tell(approval: Approval, *, as_json: bool) -> None:
    if as_json:
        terminal.write(terminal.json_text(approval))
        return
    terminal.write(f"{approval.state.value}: {terminal.one_line(approval.words)}")
    if approval.effect:
        terminal.write(f"  it would: {terminal.one_line(approval.effect)}")
    terminal.write(f"  why it waits: {terminal.one_line(approval.decision.why or approval.decision.reason_code)}")
    if approval.result is not None:
        if approval.result.fault is not None:
            raise FaultError(approval.result.fault)
        terminal.write(terminal.json_text(approval.result.payload))
