"""An answer as a person at a shell sees it: what is written of it meanwhile, its words, its quotes, and who gave it."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer
from anyio.lowlevel import checkpoint
from msgspec import UNSET, UnsetType

from actors.cli import terminal
from actors.cli.terminal import Exit
from protocol.answers import LOCAL, AnswerText, ServedBy
from protocol.replicas import Progress

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.live import Live

    from actors.gateway.client import AnswerResult, ExtractResult

_MARGIN_LINES = 4
"""What of a screen is left to other lines."""


class AnswerScreen:
    """What is shown on stderr while an answer is written, if that is a terminal; it disappears at the end."""

    def __init__(self) -> None:
        """Begin with nothing read."""
        self._message = "Reading"
        self._text = ""
        self._live: Live | None = None

    @classmethod
    @contextmanager
    def shown(cls) -> Generator[AnswerScreen]:
        """Show it while the block lasts."""
        from rich.live import Live  # noqa: PLC0415 - costs 40 ms

        console = terminal.err()
        screen = cls()
        if not console.is_terminal:
            yield screen
            return
        with Live(screen, console=console, transient=True) as live:
            screen._live = live
            yield screen

    async def on_progress(self, progress: Progress) -> None:
        """Show how far it is."""
        await checkpoint()
        self._message = terminal.one_line(progress.message)
        self._refresh()

    async def on_text(self, text: AnswerText) -> None:
        """Show what was written further; what another model wrote before is void."""
        await checkpoint()
        self._text = ("" if text.restarted else self._text) + text.text
        self._refresh()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Render the message, and the end of the text as far as it fits."""
        from rich.text import Text  # noqa: PLC0415 - costs 40 ms

        yield Text(f"{self._message} ...", style="dim")
        lines = Text(terminal.unescaped(self._text)).wrap(console, options.max_width)
        yield from lines[-max(console.height - _MARGIN_LINES, 1) :]

    def _refresh(self) -> None:
        if self._live is not None:
            self._live.refresh()


def show(result: AnswerResult | ExtractResult, *, as_json: bool) -> None:
    """Print an answer, and leave with what it means.

    Raises:
        typer.Exit: PARTIAL, where a page was not read, or the pages do not say what was asked.
    """
    from actors.gateway.client import AnswerResult  # noqa: PLC0415 - imports the gateway

    if as_json:
        terminal.write(terminal.json_text(result))
    elif isinstance(result, AnswerResult):
        _show_words(result)
    else:
        terminal.write(terminal.json_text(result.data))
    if not as_json:
        _show_origin(result)
    supported = not isinstance(result, AnswerResult) or result.supported
    if not supported or any(source.error is not UNSET for source in result.sources):
        raise typer.Exit(Exit.PARTIAL)


def _show_words(result: AnswerResult) -> None:
    terminal.print_markdown(result.markdown or "")
    for line in _below(result):
        terminal.write(line)


def _below(result: AnswerResult) -> Iterator[str]:
    """Write the quotes, and what to read next."""
    if result.citations:
        yield ""
    for number, one in enumerate(result.citations, 1):
        where = one.url or one.doc_id or one.source_id or ""
        yield f'[{number}] "{terminal.one_line(one.quote or "")}" {terminal.one_line(where)}'
    if result.collect:
        yield "\nTo read next:"
        yield from (f"- {terminal.one_line(one)}" for one in result.collect)


def _show_origin(result: AnswerResult | ExtractResult) -> None:
    """Print to stderr what was not read, who has answered, and how to go on."""
    console = terminal.err()
    for source in result.sources:
        if not isinstance(source.error, UnsetType):
            why = f"{terminal.one_line(source.error.error)} [{source.error.code}]"
            console.print(f"not read: {terminal.one_line(source.url)}: {why}", style="red", soft_wrap=True)
    facts = [_served(result.served_by), f"confidence {result.confidence:.2f}", f"conversation {result.conversation.id}"]
    console.print(terminal.one_line(" · ".join(facts)), style="dim", soft_wrap=True)


def _served(served: ServedBy) -> str:
    if served.provider == LOCAL:
        return f"quoted from the pages: {served.why_local}" if served.why_local else "quoted from the pages"
    cost = "at a price that is not known" if served.cost_usd is None else f"${served.cost_usd:.4f}"
    return f"{served.provider}/{served.model}, {cost}"
