"""`weft do`: a goal that is reached on a page, its steps as they happen, what it asks, and a run shown again."""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import anyio
import typer
from anyio import to_thread
from anyio.lowlevel import checkpoint
from msgspec import UNSET

from actors.cli import terminal
from actors.cli.connection import at_gateway
from actors.cli.options import ConfigFile, DataDir, Json, LogLevel, read
from actors.cli.terminal import Exit
from actors.cli.tools import show_waiting
from actors.settings import Loaded
from protocol.acting.tasks import MAX_STEPS, MOST_STEPS, ActingStatus
from protocol.codec import malformed
from protocol.faults import Code, FaultError, fault
from protocol.replicas import Progress

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.live import Live

    from actors.gateway.client import ActRequest, ActResult, GatewayClient

MAX_TURNS: Final = 50
"""How often a task is gone on with, whether its user was asked or its time was over."""

Goal = Annotated[
    str | None,
    typer.Argument(metavar="GOAL", help='What is to be done, such as "Search for looms and open the first result".'),
]
PageUrl = Annotated[
    str | None, typer.Argument(metavar="URL", help="Page to begin at; without: the one that is open in the session.")
]
Given = Annotated[
    list[str] | None,
    typer.Option(
        "--value",
        metavar="NAME[=TEXT]",
        help="A text that the goal calls {NAME}, told to nobody; alone it is asked for.",
    ),
]
Picture = Annotated[
    Path | None, typer.Option("--screenshot", metavar="FILE", help="Save a picture of where it ends (JPEG).")
]
Replayed = Annotated[
    str | None, typer.Option("--replay", metavar="TASK", help="Show a task that was recorded, step by step.")
]
Steps = Annotated[int, typer.Option("--steps", min=1, max=MOST_STEPS, help="How many actions at most.")]


def do(  # noqa: PLR0913 - the options of a command
    goal: Goal = None,
    url: PageUrl = None,
    *,
    values: Given = None,
    session: Annotated[str | None, typer.Option("--session", metavar="ID", help="Browser session to act in.")] = None,
    task: Annotated[str | None, typer.Option("--task", metavar="ID", help="Go on with this task.")] = None,
    steps: Steps = MAX_STEPS,
    local: Annotated[bool, typer.Option("--local", help="Ask no model.")] = False,
    screenshot: Picture = None,
    replay: Replayed = None,
    again: Annotated[
        bool, typer.Option("--again", help="With --replay: perform its actions anew, on the elements of today.")
    ] = False,
    as_json: Json = False,
    config: ConfigFile = None,
    data_dir: DataDir = None,
    log_level: LogLevel = None,
) -> None:
    """Reach a goal on a page, each action verified.

    On a terminal you are asked what only you can say. Uses the running Weft, or starts a private one for this call,
    whose browser ends with it. Exit codes: 0 done, 1 given up, 4 it waits for you.
    """
    loaded = read(config, data_dir, log_level)
    if screenshot is not None:
        terminal.check_file(screenshot, "--screenshot")
    if replay is not None and again:
        _show_result(anyio.run(_again, loaded, replay, screenshot), as_json=as_json)
        return
    if replay is not None:
        _show_result(anyio.run(_recorded, loaded, replay), as_json=as_json, whole=True)
        return
    if goal is None:
        raise _wrong("Say what is to be done: weft do GOAL URL", "GOAL")
    arguments = {
        "goal": goal,
        "url": _address(url),
        "values": dict(map(_value, values or ())),
        "session": session,
        "taskId": task,
        "maxSteps": steps,
        "localOnly": local,
        "screenshot": screenshot is not None,
    }
    result = anyio.run(_reach, loaded, _request(arguments), screenshot)
    _show_result(result, as_json=as_json)


async def _reach(loaded: Loaded, request: ActRequest, picture: Path | None) -> ActResult:
    async with at_gateway(loaded, or_private=True, watched=True) as client:
        with StepScreen.shown() as screen:
            result = await client.act(request, screen.on_progress)
        for _ in range(MAX_TURNS):
            if result.status.final or (result.waits and not sys.stdin.isatty()):
                break
            result = await _gone_on(client, result)
        if picture is not None and result.screenshot is not UNSET:
            data = await client.capture(result.screenshot.name)
            with terminal.writing(picture, "--screenshot"):
                await anyio.Path(picture).write_bytes(data)
        return result


async def _again(loaded: Loaded, task: str, picture: Path | None) -> ActResult:
    """Perform the actions of a task anew, from the page on that it began at."""
    recorded = await _recorded(loaded, task)
    arguments = {"goal": recorded.goal, "url": recorded.url or None, "again": task, "screenshot": picture is not None}
    return await _reach(loaded, _request(arguments), picture)


async def _gone_on(client: GatewayClient, result: ActResult) -> ActResult:
    """Ask the user what a task waits for, if it does, and go on with it."""
    from actors.gateway.client import ResumeActRequest  # noqa: PLC0415 - imports the gateway

    words = ""
    if result.waits:
        pending = (
            one for one in (await client.approvals(pending=True)).approvals if one.conversation == result.task_id
        )
        approval = next(pending, None)
        if approval is not None:
            show_waiting(approval)
            allowed = await to_thread.run_sync(_allowed, abandon_on_cancel=True)
            await client.answer_approval(approval.id, allow=allowed)
        else:
            _show_question(result)
            words = await to_thread.run_sync(_words, abandon_on_cancel=True)
    with StepScreen.shown() as screen:
        return await client.resume_act(result.task_id, ResumeActRequest(words=words), screen.on_progress)


async def _recorded(loaded: Loaded, task: str) -> ActResult:
    async with at_gateway(loaded) as client:
        return await client.acted(task)


class StepScreen:
    """The steps that were begun, on stderr: a list that grows on a terminal, a line each elsewhere."""

    def __init__(self) -> None:
        """Begin with no step."""
        self._lines: list[str] = []
        self._live: Live | None = None

    @classmethod
    @contextmanager
    def shown(cls) -> Generator[StepScreen]:
        """Show them while the block lasts."""
        from rich.live import Live  # noqa: PLC0415 - costs 40 ms

        console, screen = terminal.err(), cls()
        if not console.is_terminal:
            yield screen
            return
        with Live(screen, console=console, transient=True) as live:
            screen._live = live
            yield screen

    async def on_progress(self, progress: Progress) -> None:
        """Show the step that has begun."""
        await checkpoint()
        line = terminal.one_line(progress.message)
        if self._live is None:
            terminal.err().print(line, style="dim", soft_wrap=True)
        elif line not in self._lines[-1:]:
            self._lines.append(line)
            self._live.refresh()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Render the steps, the last ones as far as they fit; that which is at work is marked."""
        from rich.text import Text  # noqa: PLC0415 - costs 40 ms

        del options
        shown = self._lines[-max(console.height - 2, 1) :]
        for line in shown[:-1]:
            yield Text(f"  {line}", style="dim")
        yield Text(f"> {shown[-1]} ..." if shown else "> Looking at the page ...")


def _show_result(result: ActResult, *, as_json: bool, whole: bool = False) -> None:
    """Print a task, and leave with what it means; `whole` with why each action was taken, and what was found of it.

    Raises:
        typer.Exit: FAILED where it was given up, PARTIAL where it waits or is not over.
    """
    if as_json:
        terminal.write(terminal.json_text(result))
    else:
        console = terminal.out() if whole else terminal.err()
        for line in _whole_lines(result) if whole else _lines(result):
            console.print(terminal.one_line(line), style=None if whole else "dim", soft_wrap=True)
        if result.waits:
            _show_question(result)
        elif result.text:
            terminal.write(terminal.plain(result.text))
    if whole or result.status is ActingStatus.COMPLETED:
        return
    raise typer.Exit(Exit.FAILED if result.status is ActingStatus.FAILED else Exit.PARTIAL)


def _lines(result: ActResult) -> Iterator[str]:
    from actors.gateway.client import step_lines  # noqa: PLC0415 - imports the gateway

    yield from step_lines(result)
    yield f"task {result.task_id} in session {result.session}: {result.status}, confidence {result.confidence:.2f}"


def _whole_lines(result: ActResult) -> Iterator[str]:
    """Yield what was recorded of a task, step by step."""
    yield f"goal: {result.goal}"
    for number, step in enumerate(result.plan, 1):
        yield f"plan {number}: {step.description} ({step.status})"
    for one in result.steps:
        yield f"{one.number + 1}. {one.action} ({one.by}, {one.confidence:.2f}) {one.thought}"
        if one.status:
            error = f" {one.error}: {one.message}" if one.error is not UNSET else ""
            yield f"   {one.status}{error}"
        if one.verdict is not UNSET:
            done = "done" if one.verdict.succeeded else "not done"
            yield f"   {done} ({one.verdict.confidence:.2f}): {' '.join(one.verdict.evidence)}"
    yield f"{result.status}, confidence {result.confidence:.2f}"


def _show_question(result: ActResult) -> None:
    console = terminal.err()
    question = result.question if result.question is not UNSET else "It waits for you."
    console.print(terminal.one_line(question), soft_wrap=True)
    if result.options is not UNSET:
        for one in result.options:
            console.print(f"  - {terminal.one_line(one)}", soft_wrap=True)
    if not sys.stdin.isatty():
        console.print(f"  then: weft do --task {result.task_id} with the same goal, on a terminal", soft_wrap=True)


def _words() -> str:
    words: str = typer.prompt("Your answer", err=True)
    return words


def _allowed() -> bool:
    return typer.confirm("Allow it once?", default=False, err=True)


def _value(given: str) -> tuple[str, str]:
    """Return the name and the text of a value; a text that is not given is asked for, and not shown."""
    name, sign, text = given.partition("=")
    if sign:
        return name, text
    if not sys.stdin.isatty():
        raise _wrong(f"--value {name}: say NAME=TEXT, or run it on a terminal", "--value")
    hidden: str = typer.prompt(name, hide_input=True, err=True)
    return name, hidden


def _address(url: str | None) -> str | None:
    return url if url is None or "://" in url else f"https://{url}"


def _request(arguments: Mapping[str, object]) -> ActRequest:
    import msgspec  # noqa: PLC0415 - beside the gateway

    from actors.gateway.client import ActRequest  # noqa: PLC0415 - imports the gateway

    try:
        return msgspec.convert({name: value for name, value in arguments.items() if value is not None}, ActRequest)
    except msgspec.ValidationError as error:
        raise malformed(Code.VALIDATION_INVALID_REQUEST, str(error), ActRequest) from None


def _wrong(message: str, field: str) -> FaultError:
    return FaultError(fault(Code.VALIDATION_INVALID_REQUEST, message, field=field))
