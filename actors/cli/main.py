"""The entry point of `weft`: which verbs it has, and what an error or Ctrl-C ends in."""

from __future__ import annotations

import io
import os
import sys

import typer

from actors.cli.terminal import Exit, exit_code, first, show
from protocol.faults import FaultError

STARTING = ("up", "mcp", "status")
"""The verbs of `up.py`, which somebody waits for who starts Weft."""


def main() -> None:
    """Run the command line of this process and exit."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a page may say what the terminal's encoding cannot
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run one command line and return its exit code."""
    try:
        _app(arguments)(arguments, prog_name="weft")
    except SystemExit as done:
        return _flushed(done.code if isinstance(done.code, int) else 0)
    except BaseException as error:
        if first(error, KeyboardInterrupt):  # a task group may hold it
            return Exit.INTERRUPTED
        if failure := first(error, FaultError):
            show(failure.fault, as_json="--json" in arguments)
            return exit_code(failure)
        if not first(error, BrokenPipeError):
            raise
    return _flushed(Exit.OK)


def _app(arguments: list[str]) -> typer.Typer:
    """Return all verbs, or those of a start alone, which has not to wait for the others to be made: 80 ms."""
    if arguments and arguments[0] in STARTING:
        from actors.cli import up as starting  # noqa: PLC0415 - one of both is wanted

        return starting.app
    from actors.cli import verbs  # noqa: PLC0415 - as above

    return verbs.app


def _flushed(code: int) -> int:
    """Flush stdout; whoever closed it (as `head` does) has read enough."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return code
