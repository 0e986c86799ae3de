"""`weft doctor`: whether Weft can run here, and if not, the cure."""

from __future__ import annotations

from pathlib import Path

import anyio
import typer

from actors.cli import terminal
from actors.cli.checks import Check, State, run_all
from actors.cli.options import ConfigFile, DataDir, Json, LogLevel, read
from actors.cli.running import find
from actors.settings import Loaded, Setting, describe, load
from protocol.faults import FaultError


def doctor(
    *, as_json: Json = False, config: ConfigFile = None, data_dir: DataDir = None, log_level: LogLevel = None
) -> None:
    """Check what Weft needs, and show every setting.

    Each setting stands with its value and where it came from. Ends with 1, and the cure, when something is missing.
    A browser is optional.
    """
    loaded, first = _read(config, data_dir, log_level)
    answers = anyio.run(find, loaded.settings) is not None
    checks = [first, *run_all(loaded.settings, answers=answers)]
    ok = all(check.state is not State.MISSING for check in checks)
    settings = describe(loaded)
    if as_json:
        rows = [{"name": row.name, "value": row.value, "origin": row.origin, "env": row.env} for row in settings]
        terminal.write(terminal.json_text({"ok": ok, "checks": checks, "settings": rows}))
    else:
        _print(checks, settings)
    raise typer.Exit(0 if ok else 1)


def _read(config: Path | None, data_dir: Path | None, log_level: str | None) -> tuple[Loaded, Check]:
    """Read the settings; where that fails, go on with the defaults and say so."""
    try:
        return read(config, data_dir, log_level), Check(name="config", state=State.OK, detail="every setting is valid")
    except FaultError as error:
        cure = " ".join(action.description for action in error.fault.actions)
        check = Check(
            name="config", state=State.MISSING, detail=error.fault.message.removesuffix(cure).strip(), cure=cure
        )
        return load(config_file=None, overrides={"data_dir": data_dir}, environ={}), check


def _print(checks: list[Check], settings: tuple[Setting, ...]) -> None:
    from rich.table import Table  # noqa: PLC0415 - costs 40 ms

    signs = {"ok": "green", "warning": "yellow", "missing": "bold red"}
    console = terminal.out()
    for check in checks:
        console.print(f"{check.state.value:<8}", style=signs[check.state.value], end="")
        console.print(f"{check.name:<14}{terminal.one_line(check.detail)}", soft_wrap=True)
        if check.cure:
            console.print(f"{'':<22}cure: {terminal.one_line(check.cure)}", soft_wrap=True)
    table = Table("SETTING", "VALUE", "FROM", box=None, pad_edge=False, header_style="bold")
    for row in settings:
        table.add_row(
            row.name, terminal.one_line(row.value), row.origin, style=None if row.origin == "default" else "bold"
        )
    terminal.write("")
    terminal.table(table)
