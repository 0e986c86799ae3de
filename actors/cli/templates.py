"""`weft templates`: what there is to run."""

from __future__ import annotations

import difflib
from typing import Annotated

import anyio
import typer

from actors.cli import terminal
from actors.cli.desk import at_gateway
from actors.cli.options import ConfigFile, DataDir, Json, LogLevel, read
from actors.settings import Loaded
from protocol.runs.responses import Template, TemplateList


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
    found = anyio.run(_list, read(config, data_dir, log_level))
    if template is not None:
        chosen = _chosen(found, template)
        terminal.write(terminal.json_text(chosen if as_json else chosen.inputs_schema))
    elif as_json:
        terminal.write(terminal.json_text(found))
    else:
        _print_table(found)


async def _list(loaded: Loaded) -> TemplateList:
    async with at_gateway(loaded, or_private=True) as client:
        return await client.templates()


def _chosen(found: TemplateList, template: str) -> Template:
    known = {one.template_id: one for one in found.templates}
    if template not in known:
        close = difflib.get_close_matches(template, known, n=1)
        hint = f"Did you mean {close[0]}?" if close else f"There are: {', '.join(known)}"
        raise typer.BadParameter(f"there is no template {template!r}. {hint}", param_hint="ID")
    return known[template]


def _print_table(found: TemplateList) -> None:
    from rich.table import Table  # noqa: PLC0415 - costs 40 ms

    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("TEMPLATE", "VERSION", "MODE", "FOR CLIENTS"):
        table.add_column(name, no_wrap=True)
    table.add_column("WHAT IT DOES")
    for one in found.templates:
        trust = " ".join(level.value for level in one.trust_level_support)
        cells = (one.template_id, one.version, one.execution_mode.value, trust, one.description)
        table.add_row(*map(terminal.one_line, cells))
    terminal.table(table)
