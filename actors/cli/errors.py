"""Errors as a person at a shell sees them: message, code, numbered next steps, exit code."""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum
from pathlib import Path
from typing import TypeVar, cast

from msgspec import UNSET

from actors.cli import terminal
from protocol.browse import StructuredError
from protocol.faults import Action, Code, Fault, FaultError, fault

E = TypeVar("E", bound=BaseException)


class Exit(IntEnum):
    """What the exit code of `weft` tells; 2, wrong usage, is typer's own."""

    OK = 0
    FAILED = 1
    NOT_RUNNING = 3
    PARTIAL = 4
    INTERRUPTED = 130


class NotRunningError(FaultError):
    """No Weft runs, or none that can be reached."""


def not_running(data_dir: Path, why: str = "No Weft runs") -> NotRunningError:
    """Make the error for a system that is looked for under `data_dir`, with its cure."""
    start = Action(action="start", description="Start Weft in another terminal: weft up")
    other = Action(
        action="choose_data_dir",
        description="If it runs with another data folder, name it: --data-dir DIR, or WEFT_DATA_DIR.",
        priority=2,
    )
    message = f"{why} with the data folder {data_dir}."
    return NotRunningError(fault(Code.INTERNAL_UNAVAILABLE, message, actions=(start, other)))


def first(error: BaseException, kind: type[E]) -> E | None:
    """Find the exception of a kind that an exception is, or that the group of a task group holds."""
    return next((one for one in _flat(error) if isinstance(one, kind)), None)


def exit_code(error: FaultError) -> Exit:
    """Return the exit code of an error."""
    return Exit.NOT_RUNNING if isinstance(error, NotRunningError) else Exit.FAILED


def show(shown: Fault, *, as_json: bool) -> None:
    """Print a fault: JSON on stdout for programs, else text on stderr."""
    if as_json:
        from actors.gateway.client import to_error  # noqa: PLC0415 - imports the gateway

        terminal.write(terminal.json_text(to_error(shown)))
        return
    console = terminal.err()
    console.print(f"error: {terminal.one_line(shown.message)} [{shown.code}]", style="bold red", soft_wrap=True)
    for number, action in enumerate(sorted(shown.actions, key=lambda action: action.priority), start=1):
        console.print(f"  {number}. {terminal.one_line(action.description)}", soft_wrap=True)


def from_structured(error: StructuredError) -> Fault:
    """Read the fault that the edge told."""
    return Fault(
        category=error.category,
        code=error.code,
        message=error.error,
        retryable=error.retryable,
        actions=error.recommended_actions,
        http_status=None if error.http_status is UNSET else error.http_status,
        field=None if error.field is UNSET else error.field,
        context=None if error.context is UNSET else error.context,
    )


def _flat(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for inner in cast("BaseExceptionGroup[BaseException]", error).exceptions:
            yield from _flat(inner)
    else:
        yield error
