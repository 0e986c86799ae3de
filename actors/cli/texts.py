"""`weft sources`, `weft texts`, `weft transform`, `weft search`: what was read, what was made of it, and finding it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import anyio
import typer

from actors.cli import terminal
from actors.cli.collections import meant_collection
from actors.cli.connection import at_gateway
from actors.cli.options import ConfigFile, DataDir, Json, LogLevel, read
from actors.cli.runs import ListByDefault
from actors.cli.tools import show_outcome, typed_values
from actors.settings import Loaded
from protocol.collection_views import SourceContent, TextInfo, TextList
from protocol.faults import FaultError
from protocol.policy import ToolOutcome, ToolStatus
from protocol.search import SearchResults

sources = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
texts = typer.Typer(cls=ListByDefault, rich_markup_mode=None)

Source = Annotated[str, typer.Argument(metavar="SOURCE", help="Id of a source; see: weft collections show.")]
Text = Annotated[str, typer.Argument(metavar="TEXT", help="Id of a text; see: weft texts.")]


@sources.command("show")
def show_source(  # noqa: PLR0913 - the options of a command
    source: Source,
    *,
    version: Annotated[int | None, typer.Option("--version", min=1, help="As it was then.")] = None,
    as_json: Json = False,
    config: ConfigFile = None,
    data_dir: DataDir = None,
    log_level: LogLevel = None,
) -> None:
    """Print what was read of a source."""
    content = anyio.run(_source, read(config, data_dir, log_level), source, version)
    if as_json:
        terminal.write(terminal.json_text(content))
    else:
        terminal.print_markdown(content.markdown)


@sources.command()
def refresh(
    source: Source,
    *,
    as_json: Json = False,
    config: ConfigFile = None,
    data_dir: DataDir = None,
    log_level: LogLevel = None,
) -> None:
    """Read a source anew, and say what has changed."""
    _tell(anyio.run(_call, read(config, data_dir, log_level), "source.refresh", {"sourceId": source}), as_json=as_json)


@sources.command("delete")
def delete_source(
    source: Source,
    *,
    as_json: Json = False,
    config: ConfigFile = None,
    data_dir: DataDir = None,
    log_level: LogLevel = None,
) -> None:
    """Delete a source."""
    _tell(anyio.run(_call, read(config, data_dir, log_level), "source.delete", {"sourceId": source}), as_json=as_json)


@texts.command("list")
def list_texts(
    *,
    as_json: Json = False,
    config: ConfigFile = None,
    data_dir: DataDir = None,
    log_level: LogLevel = None,
) -> None:
    """List the texts that you keep, the newest first."""
    listed = anyio.run(_texts, read(config, data_dir, log_level))
    if as_json:
        terminal.write(terminal.json_text(listed))
        return
    if not listed.artifacts:
        terminal.err().print("You keep none yet. Make one of a collection: weft transform COLLECTION timeline")
        return
    rows = [(one.id, one.type, one.status.value, one.title) for one in listed.artifacts]
    terminal.print_rows(("TEXT", "TYPE", "STATUS", "TITLE"), rows, wrap_last=True)


@texts.command("show")
def show_text(
    text: Text,
    *,
    as_json: Json = False,
    config: ConfigFile = None,
    data_dir: DataDir = None,
    log_level: LogLevel = None,
) -> None:
    """Print a text, with what it cites."""
    kept = anyio.run(_text, read(config, data_dir, log_level), text)
    if as_json:
        terminal.write(terminal.json_text(kept))
        return
    if kept.error is not None:
        raise FaultError(kept.error)
    terminal.print_markdown(kept.content_markdown)
    for number, one in enumerate(kept.citations, 1):
        terminal.write(f'[{number}] "{terminal.one_line(one.quote or "")}" {terminal.one_line(one.url or "")}')


@texts.command("share")
def share_text(  # noqa: PLR0913 - the options of a command
    text: Text,
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", dir_okay=False, help="Where it goes.")] = None,
    *,
    form: Annotated[
        Literal["markdown", "text", "json", "csv", "pdf"], typer.Option("--format", help="What the file is to be.")
    ] = "markdown",
    config: ConfigFile = None,
    data_dir: DataDir = None,
    log_level: LogLevel = None,
) -> None:
    """Write a text to a file: Markdown, plain text, JSON, CSV of its tables, or PDF."""
    if out is not None:
        terminal.check_file(out, "--out")
    outcome, data = anyio.run(_share, read(config, data_dir, log_level), text, form)
    if outcome.result is None:
        show_outcome(outcome)
        return
    target = out or Path(str(outcome.result.payload["fileName"]))
    with terminal.writing(target, "--out"):
        target.write_bytes(data)
    terminal.err().print(f"{len(data)} bytes in {target}", soft_wrap=True)


@texts.command("delete")
def delete_text(
    text: Text,
    *,
    as_json: Json = False,
    config: ConfigFile = None,
    data_dir: DataDir = None,
    log_level: LogLevel = None,
) -> None:
    """Delete a text."""
    _tell(anyio.run(_call, read(config, data_dir, log_level), "artifact.delete", {"artifactId": text}), as_json=as_json)


def transform(  # noqa: PLR0913 - the options of a command
    collection: Annotated[
        str | None, typer.Argument(metavar="COLLECTION", help="Id or title of a collection; without: what can be made.")
    ] = None,
    kind: Annotated[str | None, typer.Argument(metavar="TYPE", help="What is made of it, such as timeline.")] = None,
    given: Annotated[
        list[str] | None, typer.Argument(metavar="[KEY=VALUE]...", help="How; see: weft transform.")
    ] = None,
    *,
    as_json: Json = False,
    config: ConfigFile = None,
    data_dir: DataDir = None,
    log_level: LogLevel = None,
) -> None:
    """Make a text of a collection, such as a timeline or a quiz."""
    loaded = read(config, data_dir, log_level)
    if collection is None or kind is None:
        _show_types(anyio.run(_call, loaded, "transform.list_types", dict[str, Any]()), as_json=as_json)
        return
    chosen: dict[str, Any] = {"type": kind} | ({"config": typed_values(given)} if given else {})
    outcome = anyio.run(_transform, loaded, collection, chosen)
    if as_json or outcome.status is ToolStatus.PENDING or outcome.result is None:
        _tell(outcome, as_json=as_json)
        return
    payload = outcome.result.payload
    terminal.print_markdown(str(payload.get("markdown", "")) or f"It is {payload.get('status')}.")
    terminal.err().print(f"Kept as {payload.get('artifactId')}; see: weft texts", soft_wrap=True)


def search(  # noqa: PLR0913 - the options of a command
    words: Annotated[list[str], typer.Argument(metavar="WORDS...", help="What is searched for.")],
    *,
    engine: Annotated[
        str | None, typer.Option("--engine", metavar="NAME", help="One that is set up, or local: what you have read.")
    ] = None,
    as_json: Json = False,
    config: ConfigFile = None,
    data_dir: DataDir = None,
    log_level: LogLevel = None,
) -> None:
    """Search the web, or what you have kept and read."""
    arguments = {"query": " ".join(words)} | ({"engine": engine} if engine else {})
    outcome = anyio.run(_call, read(config, data_dir, log_level), "search", arguments)
    if as_json or outcome.result is None:
        _tell(outcome, as_json=as_json)
        return
    _show_hits(outcome.result.payload)


async def _source(loaded: Loaded, name: str, version: int | None) -> SourceContent:
    async with at_gateway(loaded) as client:
        return await client.source(name, version)


async def _texts(loaded: Loaded) -> TextList:
    async with at_gateway(loaded) as client:
        return await client.texts()


async def _text(loaded: Loaded, name: str) -> TextInfo:
    async with at_gateway(loaded) as client:
        return await client.text(name)


async def _call(loaded: Loaded, tool: str, arguments: dict[str, Any]) -> ToolOutcome:
    async with at_gateway(loaded) as client:
        return await client.call_tool(tool, arguments)


async def _transform(loaded: Loaded, given: str, arguments: dict[str, Any]) -> ToolOutcome:
    async with at_gateway(loaded) as client:
        of = {"collectionId": await meant_collection(client, given)}
        return await client.call_tool("transform.run", of | arguments)


async def _share(loaded: Loaded, name: str, form: str) -> tuple[ToolOutcome, bytes]:
    async with at_gateway(loaded) as client:
        outcome = await client.call_tool("artifact.share", {"artifactId": name, "format": form, "target": "file"})
        data = b"" if outcome.result is None else await client.capture(str(outcome.result.payload["name"]))
        return outcome, data


def _show_types(outcome: ToolOutcome, *, as_json: bool) -> None:
    if as_json or outcome.result is None:
        _tell(outcome, as_json=as_json)
        return
    types: list[Mapping[str, Any]] = outcome.result.payload["types"]
    rows = [
        (str(one["type"]), ", ".join(one["config"].get("properties", {})), str(one["description"])) for one in types
    ]
    terminal.print_rows(("TYPE", "HOW", "WHAT IT IS"), rows, wrap_last=True)
    terminal.err().print("Make one: weft transform COLLECTION TYPE [KEY=VALUE]...", soft_wrap=True)


def _show_hits(payload: Mapping[str, Any]) -> None:
    import msgspec  # noqa: PLC0415 - only where there are results

    results = msgspec.convert(payload, SearchResults, strict=False)
    for number, hit in enumerate(results.hits, 1):
        terminal.write(f"{number}. {terminal.one_line(hit.title)}\n   {terminal.one_line(hit.url)}")
        if hit.snippet:
            terminal.write(f"   {terminal.one_line(hit.snippet)}")
    note = f" {terminal.one_line(results.note)}" if results.note else ""
    terminal.err().print(f"{len(results.hits)} results of {results.engine}.{note}", soft_wrap=True)


def _tell(outcome: ToolOutcome, *, as_json: bool) -> None:
    if as_json:
        terminal.write(terminal.json_text(outcome))
    else:
        show_outcome(outcome)
