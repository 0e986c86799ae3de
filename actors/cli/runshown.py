"""A run as a person at a shell sees it: how it stands, what came of it, and its files."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from msgspec import UNSET

from actors.cli import terminal
from actors.cli.errors import Exit
from actors.cli.status import duration_text
from bus.clock import now_ms
from protocol.runs.responses import ArtifactRef, Run, RunSummary
from protocol.runs.states import RunStatus

if TYPE_CHECKING:
    from rich.table import Table

MAX_ROWS = 50
"""Rows of a list in a result that are shown."""

MAX_COLUMNS = 7
MAX_CELL_CHARS = 60

_ERROR = "error"
_GAP = 2

_CODES = {RunStatus.SUCCEEDED: Exit.OK, RunStatus.PARTIAL_SUCCESS: Exit.PARTIAL}


def exit_code_of(run: Run) -> Exit:
    """Return the exit code for what a run has ended in."""
    return _CODES.get(run.status, Exit.FAILED)


def show_run(run: Run, *, as_json: bool) -> None:
    """Print a run: all of it as JSON, or what a person wants to know, its error on stderr."""
    if as_json:
        terminal.write(terminal.json_text(run))
        return
    terminal.write(terminal.one_line(_heading(run)))
    _show_error(run)
    result: Any = run.result
    if isinstance(result, dict):
        _show_result(cast("dict[str, Any]", result))
    if run.result_truncated is True:
        terminal.write("The result is shortened here; the file of type json has it whole.")
    if run.artifacts:
        _show_artifacts(run.artifacts)


def show_runs(runs: Sequence[RunSummary]) -> None:
    """Print a list of runs."""
    now = now_ms()
    rows = [
        (
            run.run_id,
            run.template_id,
            run.status.value,
            f"{run.progress.done_steps}/{run.progress.total_steps}",
            f"{duration_text(max(now - run.created_at, 0))} ago",
            "" if run.error_code is UNSET else run.error_code,
        )
        for run in runs
    ]
    terminal.table(_table(("RUN", "TEMPLATE", "STATUS", "STEPS", "CREATED", "ERROR"), rows))


def _heading(run: Run) -> str:
    parts = [
        f"{run.run_id}  {run.template_id}  {run.status.value}",
        f"{run.progress.done_steps} of {run.progress.total_steps} steps",
        f"{run.metrics.elapsed_ms / 1000:.1f} s",
    ]
    if run.session_preserved is True and run.session_id is not UNSET:
        parts.append(f"session {run.session_id}")
    return " · ".join(parts)


def _show_error(run: Run) -> None:
    if run.error is UNSET:
        return
    console, details = terminal.err(), run.details
    code = f" [{run.error_code}]" if run.error_code is not UNSET else ""
    console.print(f"error: {terminal.one_line(run.error)}{code}", style="bold red", soft_wrap=True)
    if details is not UNSET and details.failed_step is not UNSET:
        step_code = f" [{details.step_error_code}]" if details.step_error_code is not UNSET else ""
        console.print(f"  at the step {terminal.one_line(details.failed_step)}{step_code}", soft_wrap=True)
    if run.recover_hint is not UNSET:
        console.print(f"  1. {terminal.one_line(run.recover_hint)}", soft_wrap=True)


def _show_result(result: Mapping[str, Any]) -> None:
    facts = [(name, _cell(value)) for name, value in _facts(result)]
    if facts:
        terminal.table(_table(("RESULT", ""), facts))
    for name, value in result.items():
        if isinstance(value, list):
            rows = [cast("dict[str, Any]", row) for row in cast("Iterable[Any]", value) if isinstance(row, dict)]
            _show_list(name, rows)


def _facts(result: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Return what is no list, that of inner objects under the names of both."""
    for name, value in result.items():
        if isinstance(value, dict):
            yield from _facts(cast("dict[str, Any]", value), f"{prefix}{name}.")
        elif not isinstance(value, list):
            yield f"{prefix}{name}", value


def _show_list(name: str, rows: list[dict[str, Any]]) -> None:
    shown = rows[:MAX_ROWS]
    names = dict.fromkeys(column for row in shown for column in row)
    short = [column for column in names if all(_is_short(row.get(column)) for row in shown)]
    cells = {column: [_cell(row.get(column)) for row in shown] for column in short}
    chosen = _fitting(cells, terminal.out().width if sys.stdout.isatty() else terminal.PIPE_COLUMNS)
    if not chosen:
        return
    terminal.write("")
    lines = [[cells[column][place] for column in chosen] for place in range(len(shown))]
    terminal.table(_table([column.upper() for column in chosen], lines))
    if len(rows) > len(shown):
        terminal.write(f"… {len(rows) - len(shown)} more of {terminal.one_line(name)} with --json")


def _fitting(cells: Mapping[str, Sequence[str]], width: int) -> list[str]:
    """Choose the columns for which there is room; why something failed is worth more than all but the first."""
    first = [name for name in cells if name != _ERROR][:1]
    wanted: list[str] = list(dict.fromkeys([*first, *(name for name in cells if name == _ERROR), *cells]))
    fitting, room = set[str](), width
    for name in wanted:
        room -= max(len(name), *(len(cell) for cell in cells[name])) + _GAP
        if room < 0 or len(fitting) == MAX_COLUMNS:
            break
        fitting.add(name)
    return [name for name in cells if name in fitting]


def _is_short(value: Any) -> bool:
    if isinstance(value, dict):
        return "errorCode" in value
    return not isinstance(value, list) and len(str(value)) <= MAX_CELL_CHARS * 3


def _cell(value: Any) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case {"errorCode": code}:
            return str(code)
        case _:
            text = terminal.one_line(str(value))
            return text if len(text) <= MAX_CELL_CHARS else f"{text[: MAX_CELL_CHARS - 1]}…"


def _show_artifacts(artifacts: tuple[ArtifactRef, ...]) -> None:
    now = now_ms()
    rows = [
        (one.artifact_id, one.type.value, str(one.size), f"for {duration_text(max(one.expires_at - now, 0))}")
        for one in artifacts
    ]
    terminal.write("")
    terminal.table(_table(("ARTIFACT", "TYPE", "BYTES", "KEPT"), rows))


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    from rich.table import Table  # noqa: PLC0415 - costs 40 ms

    table = Table(box=None, pad_edge=False, header_style="bold")
    for head in heads:
        table.add_column(terminal.one_line(head), no_wrap=True)
    for row in rows:
        table.add_row(*map(terminal.one_line, row))
    return table
