"""A run as a person at a shell sees it: how it stands, what came of it, and how far it is while it is waited for."""

from __future__ import annotations

import signal
import sys
from collections.abc import AsyncIterator, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import anyio
from msgspec import UNSET

from actors.cli import terminal
from actors.cli.terminal import Exit
from protocol.runs.requests import RunNews
from protocol.runs.responses import ArtifactRef, Run, RunEvent, RunSummary
from protocol.runs.states import RunStatus

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console

    from actors.gateway.client import GatewayClient

    OnNews = Callable[[RunNews], None]

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
    from bus.clock import now_ms  # noqa: PLC0415 - imports the bus

    now = now_ms()
    rows = [
        (
            run.run_id,
            run.template_id,
            run.status.value,
            f"{run.progress.done_steps}/{run.progress.total_steps}",
            f"{terminal.duration_text(max(now - run.created_at, 0))} ago",
            "" if run.error_code is UNSET else run.error_code,
        )
        for run in runs
    ]
    terminal.print_rows(("RUN", "TEMPLATE", "STATUS", "STEPS", "CREATED", "ERROR"), rows)


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
        terminal.print_rows(("RESULT", ""), facts)
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
    terminal.print_rows([column.upper() for column in chosen], lines)
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
        case {"code": code, "errorCode": _} | {"errorCode": code}:
            return str(code)
        case _:
            text = terminal.one_line(str(value))
            return text if len(text) <= MAX_CELL_CHARS else f"{text[: MAX_CELL_CHARS - 1]}…"


def _show_artifacts(artifacts: tuple[ArtifactRef, ...]) -> None:
    from bus.clock import now_ms  # noqa: PLC0415 - imports the bus

    now = now_ms()
    rows = [
        (one.artifact_id, one.type.value, str(one.size), f"for {terminal.duration_text(max(one.expires_at - now, 0))}")
        for one in artifacts
    ]
    terminal.write("")
    terminal.print_rows(("ARTIFACT", "TYPE", "BYTES", "KEPT"), rows)


@dataclass
class Interrupts:
    """What Ctrl-C has done so far."""

    count: int = 0


async def followed(client: GatewayClient, run_id: str, *, notes: bool = False) -> tuple[Run, bool]:
    """Wait for the end of a run; return how it stands then, and whether Ctrl-C was pressed meanwhile.

    With `notes` each step is shown with what it was about, on a terminal, too.

    Raises:
        KeyboardInterrupt: Ctrl-C was pressed once more; the run stops when its step in hand is done.
        FaultError: nobody tells of the run any more.
    """
    console, interrupts = terminal.err(), Interrupts()
    with anyio.open_signal_receiver(signal.SIGINT) as signals:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_cancel_on_signal, signals, client, run_id, console, interrupts, tasks.cancel_scope)
            with _progress_of(console, run_id) as on_news:
                async with aclosing(client.follow_run(run_id, notes=notes)) as stream:
                    async for news in stream:
                        on_news(news)
            tasks.cancel_scope.cancel()
    if interrupts.count > 1:
        raise KeyboardInterrupt
    return await client.run(run_id), interrupts.count > 0


async def _cancel_on_signal(  # noqa: PLR0913, PLR0917 - what a signal has to do with
    signals: AsyncIterator[signal.Signals],
    client: GatewayClient,
    run_id: str,
    console: Console,
    interrupts: Interrupts,
    waiting: anyio.CancelScope,
) -> None:
    """Ask the run to stop at the first Ctrl-C, and leave at the second."""
    async for _ in signals:
        interrupts.count += 1
        if interrupts.count > 1:
            console.print(f"Left. See what becomes of it: weft runs show {run_id}", soft_wrap=True)
            waiting.cancel()
            return
        console.print("The run is asked to stop after the step in hand; Ctrl-C again does not wait.", soft_wrap=True)
        await client.cancel_run(run_id)


@contextmanager
def _progress_of(console: Console, run_id: str) -> Generator[OnNews]:
    if not console.is_terminal or console.is_dumb_terminal:  # which moves no cursor
        console.print(f"{run_id} begins", soft_wrap=True)
        yield lambda news: _lines(console, news)
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn  # noqa: PLC0415 - costs 40 ms

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(run_id, total=None)

        def on_news(news: RunNews) -> None:
            now = news.run
            for note in news.notes.values():
                bar.console.print(terminal.one_line(note), soft_wrap=True, markup=False, highlight=False)
            bar.update(
                task,
                description=f"{run_id} {now.status.value}",
                total=now.progress.total_steps,
                completed=now.progress.done_steps,
            )

        yield on_news


def _lines(console: Console, news: RunNews) -> None:
    for event in news.events:
        console.print(terminal.one_line(line_of(event, news.notes.get(event.id, ""))), soft_wrap=True)


def line_of(event: RunEvent, note: str = "") -> str:
    """Write an event in a line, with what its step was about."""
    if event.step is None:
        return f"{event.done_steps}/{event.total_steps} {event.event}"
    outcome = event.step_status.value if event.step_status is not None else ""
    code = f" [{event.error_code}]" if event.error_code else ""
    name = note or f"{event.name} {event.step}"
    return f"{event.done_steps}/{event.total_steps} {name} {outcome}{code}"
