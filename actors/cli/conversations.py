"""`weft conversations`: what was asked of pages and answered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import anyio
import typer

from actors.cli import terminal
from actors.cli.connection import at_gateway
from actors.cli.options import ConfigFile, DataDir, Json, LogLevel, read
from actors.settings import Loaded
from protocol.answers import ConversationList

if TYPE_CHECKING:
    from actors.gateway.client import ConversationView

DEFAULT_LISTED = 20
MAX_LISTED = 200


def conversations(  # noqa: PLR0913 - the options of a command
    name: Annotated[
        str | None, typer.Argument(metavar="ID", help="One conversation, with what was said; without: the list.")
    ] = None,
    *,
    limit: Annotated[int, typer.Option("--limit", min=1, max=MAX_LISTED, help="How many.")] = DEFAULT_LISTED,
    as_json: Json = False,
    config: ConfigFile = None,
    data_dir: DataDir = None,
    log_level: LogLevel = None,
) -> None:
    """List your conversations, or show one.

    They are kept for 30 days, of pages no more than a digest and a beginning.
    """
    loaded = read(config, data_dir, log_level)
    if name is not None:
        log = anyio.run(_get, loaded, name)
        _show_log(log, as_json=as_json)
        return
    listed = anyio.run(_list, loaded, limit)
    if as_json:
        terminal.write(terminal.json_text(listed))
    else:
        _show_list(listed)


async def _list(loaded: Loaded, limit: int) -> ConversationList:
    async with at_gateway(loaded) as client:
        return await client.conversations(limit)


async def _get(loaded: Loaded, name: str) -> ConversationView:
    async with at_gateway(loaded) as client:
        return await client.conversation(name)


def _show_list(listed: ConversationList) -> None:
    from bus.clock import now_ms  # noqa: PLC0415 - imports the bus

    now = now_ms()
    rows = [
        (one.id, str(one.turns), f"{terminal.duration_text(max(now - one.updated_at, 0))} ago", one.task, one.preview)
        for one in listed.conversations
    ]
    terminal.print_rows(("CONVERSATION", "TURNS", "LAST", "TASK", "FIRST ASKED"), rows, wrap_last=True)


def _show_log(log: ConversationView, *, as_json: bool) -> None:
    if as_json:
        terminal.write(terminal.json_text(log))
        return
    for event in log.events:
        served = event.served_by
        by = "" if served is None else f" by {served.provider}/{served.model}" if served.model else " by quotes"
        terminal.write(terminal.one_line(f"{event.turn}. {event.role} ({event.task}){by}"))
        terminal.print_markdown(event.markdown)
        for number, one in enumerate(event.citations, 1):
            terminal.write(f'[{number}] "{terminal.one_line(one.quote or "")}" {terminal.one_line(one.url or "")}')
        if event.error is not None:
            terminal.write(f"error: {terminal.one_line(event.error.error)} [{event.error.code}]")
        terminal.write("")
