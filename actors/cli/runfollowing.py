"""Waiting for the end of a run: how far it is, on a terminal as a bar, else line by line; Ctrl-C asks it to stop."""

from __future__ import annotations

import signal
from collections.abc import AsyncIterator, Generator
from contextlib import aclosing, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import anyio

from actors.cli import terminal
from protocol.runs.requests import RunNews
from protocol.runs.responses import Run, RunEvent

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console

    from actors.gateway.client import GatewayClient

    Hear = Callable[[RunNews], None]


@dataclass
class Interrupts:
    """What Ctrl-C has done so far."""

    count: int = 0


async def followed(client: GatewayClient, run_id: str) -> tuple[Run, bool]:
    """Wait for the end of a run; give how it stands then, and whether Ctrl-C was pressed meanwhile.

    Raises:
        KeyboardInterrupt: Ctrl-C was pressed once more; the run stops when its step in hand is done.
        FaultError: nobody tells of the run any more.
    """
    console, interrupts = terminal.err(), Interrupts()
    with anyio.open_signal_receiver(signal.SIGINT) as signals:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_heed, signals, client, run_id, console, interrupts, tasks.cancel_scope)
            with _telling(console, run_id) as hear:
                async with aclosing(client.follow_run(run_id)) as stream:
                    async for news in stream:
                        hear(news)
            tasks.cancel_scope.cancel()
    if interrupts.count > 1:
        raise KeyboardInterrupt
    return await client.run(run_id), interrupts.count > 0


async def _heed(  # noqa: PLR0913, PLR0917 - what a signal has to do with
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
def _telling(console: Console, run_id: str) -> Generator[Hear]:
    if not console.is_terminal or console.is_dumb_terminal:  # which moves no cursor
        console.print(f"{run_id} begins", soft_wrap=True)
        yield lambda news: _lines(console, news.events)
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn  # noqa: PLC0415 - costs 40 ms

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(run_id, total=None)

        def hear(news: RunNews) -> None:
            now = news.run
            bar.update(
                task,
                description=f"{run_id} {now.status.value}",
                total=now.progress.total_steps,
                completed=now.progress.done_steps,
            )

        yield hear


def _lines(console: Console, events: tuple[RunEvent, ...]) -> None:
    for event in events:
        console.print(terminal.one_line(line_of(event)), soft_wrap=True)


def line_of(event: RunEvent) -> str:
    """Write an event in a line."""
    if event.step is None:
        return f"{event.done_steps}/{event.total_steps} {event.event}"
    outcome = event.step_status.value if event.step_status is not None else ""
    code = f" [{event.error_code}]" if event.error_code else ""
    return f"{event.done_steps}/{event.total_steps} {event.name} {event.step} {outcome}{code}"
