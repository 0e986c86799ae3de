"""`weft collections`: collections of pages and notes, and what they hold."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import anyio
import typer
from msgspec import Struct, structs

from actors.cli import terminal
from actors.cli.connection import at_gateway
from actors.cli.options import ConfigFile, DataDir, Json, LogLevel, read
from actors.cli.runs import ListByDefault
from actors.cli.tools import show_outcome
from actors.settings import Loaded
from protocol.collection_views import CollectionList, CollectionView, ImportedSources, ImportFormat, SourceInfo
from protocol.collections import MAX_ADDED
from protocol.faults import Code, FaultError, fault
from protocol.policy import ToolOutcome, ToolStatus

if TYPE_CHECKING:
    from actors.gateway.client import GatewayClient

Q = TypeVar("Q", bound=Struct)

app = typer.Typer(cls=ListByDefault, rich_markup_mode=None)

Collection = Annotated[str, typer.Argument(metavar="COLLECTION", help="Id of a collection, or its title.")]


@app.command("list")
def list_collections(
    *,
    as_json: Json = False,
    config: ConfigFile = None,
    data_dir: DataDir = None,
    log_level: LogLevel = None,
) -> None:
    """List your collections, the newest first."""
    listed = anyio.run(_list, read(config, data_dir, log_level))
    if as_json:
        terminal.write(terminal.json_text(listed))
        return
    if not listed.collections:
        terminal.err().print('You have none yet. Begin one: weft collections new "My reading"', soft_wrap=True)
        return
    rows = [(one.id, str(one.sources), str(one.failed or ""), terminal.cut(one.title)) for one in listed.collections]
    terminal.print_rows(("COLLECTION", "SOURCES", "FAILED", "TITLE"), rows, wrap_last=True)


@app.command()
def new(  # noqa: PLR0913 - the options of a command
    title: Annotated[str, typer.Argument(metavar="TITLE", help="What it is about.")],
    *,
    tag: Annotated[list[str] | None, typer.Option("--tag", help="A word to find it by; may be repeated.")] = None,
    as_json: Json = False,
    config: ConfigFile = None,
    data_dir: DataDir = None,
    log_level: LogLevel = None,
) -> None:
    """Begin a collection, and print its id."""
    arguments: dict[str, Any] = {"title": title} | ({"tags": tag} if tag else {})
    outcome = anyio.run(_call, read(config, data_dir, log_level), "collection.create", None, arguments)
    if as_json or outcome.status is ToolStatus.PENDING:
        _show(outcome, as_json=as_json)
        return
    name = _payload(outcome)["collectionId"]
    terminal.write(str(name))
    terminal.err().print(f"Add pages to it: weft collections add {name} https://example.com/", soft_wrap=True)


@app.command()
def show(
    collection: Collection,
    *,
    as_json: Json = False,
    config: ConfigFile = None,
    data_dir: DataDir = None,
    log_level: LogLevel = None,
) -> None:
    """Show a collection and its sources."""
    view = anyio.run(_get, read(config, data_dir, log_level), collection)
    if as_json:
        terminal.write(terminal.json_text(view))
        return
    one = view.collection
    terminal.write(f"{terminal.cut(one.title)} ({one.id}): {view.total} sources")
    if one.watch_every_ms:
        terminal.write(f"read anew every {terminal.duration_text(one.watch_every_ms)}")
    rows = [(one.id, one.status.value, _age(one), terminal.cut(one.title or one.url)) for one in view.sources]
    terminal.print_rows(("SOURCE", "STATUS", "READ", "TITLE"), rows, wrap_last=True)


@app.command()
def add(  # noqa: PLR0913 - the options of a command
    collection: Collection,
    urls: Annotated[list[str] | None, typer.Argument(metavar="URL...", help="Addresses of pages.")] = None,
    *,
    note: Annotated[list[str] | None, typer.Option("--note", help="Words of your own; may be repeated.")] = None,
    as_json: Json = False,
    config: ConfigFile = None,
    data_dir: DataDir = None,
    log_level: LogLevel = None,
) -> None:
    """Add pages and notes; pages are read meanwhile."""
    pages: list[dict[str, str]] = [{"type": "url", "url": url} for url in urls or ()]
    notes = [{"type": "note", "text": text} for text in note or ()]
    if not pages + notes:
        raise typer.BadParameter("name a page, or write a --note", param_hint="URL")
    if len(pages + notes) > MAX_ADDED:
        raise typer.BadParameter(f"{MAX_ADDED} at a time; weft collections import takes lists", param_hint="URL")
    arguments = {"sources": pages + notes}
    _show(
        anyio.run(_call, read(config, data_dir, log_level), "collection.add_sources", collection, arguments),
        as_json=as_json,
    )


@app.command("import")
def import_list(  # noqa: PLR0913 - the options of a command
    collection: Collection,
    file: Annotated[Path, typer.Argument(metavar="FILE", exists=True, dir_okay=False, help="List of addresses.")],
    *,
    form: Annotated[
        ImportFormat, typer.Option("--format", help="What kind of list it is; auto looks at what stands in it.")
    ] = "auto",
    as_json: Json = False,
    config: ConfigFile = None,
    data_dir: DataDir = None,
    log_level: LogLevel = None,
) -> None:
    """Add the addresses of a list: OPML, bookmarks, a sitemap, a feed, CSV, or one address a line."""
    done = anyio.run(_import, read(config, data_dir, log_level), collection, file.read_bytes(), form)
    if as_json:
        terminal.write(terminal.json_text(done))
        return
    refused = f", {done.refused_count} cannot be kept" if done.refused_count else ""
    terminal.write(f"{done.read} addresses: {done.added} new, {done.known} known{refused}.")
    for one in done.refused:
        terminal.err().print(f"  {terminal.one_line(one.url)}: {terminal.one_line(one.reason)}", soft_wrap=True)


@app.command()
def export(
    collection: Collection,
    folder: Annotated[Path, typer.Argument(metavar="DIR", file_okay=False, help="Where; it is made if need be.")],
    *,
    config: ConfigFile = None,
    data_dir: DataDir = None,
    log_level: LogLevel = None,
) -> None:
    """Write a collection as a folder of Markdown files with front matter."""
    terminal.check_folder(folder, "DIR")
    written = anyio.run(_export, read(config, data_dir, log_level), collection, folder)
    terminal.err().print(f"{written} files in {folder}", soft_wrap=True)


@app.command()
def watch(  # noqa: PLR0913 - the options of a command
    collection: Collection,
    every: Annotated[str, typer.Argument(metavar="30m|6h|1d|off", help="How often its pages are read anew.")],
    *,
    webhook: Annotated[
        str | None, typer.Option("--webhook", metavar="NAME", help="Integration that is told of changes.")
    ] = None,
    as_json: Json = False,
    config: ConfigFile = None,
    data_dir: DataDir = None,
    log_level: LogLevel = None,
) -> None:
    """Have the pages of a collection read anew on schedule, or no more."""
    arguments: dict[str, Any] = {"every": None if every == "off" else every}
    arguments |= {"webhook": webhook} if webhook else {}
    _show(
        anyio.run(_call, read(config, data_dir, log_level), "collection.watch", collection, arguments),
        as_json=as_json,
    )


@app.command()
def delete(
    collection: Collection,
    *,
    as_json: Json = False,
    config: ConfigFile = None,
    data_dir: DataDir = None,
    log_level: LogLevel = None,
) -> None:
    """Delete a collection with its sources; texts that were made of it stay."""
    outcome = anyio.run(_call, read(config, data_dir, log_level), "collection.delete", collection, dict[str, Any]())
    _show(outcome, as_json=as_json)


async def with_meant_collection(client: GatewayClient, request: Q) -> Q:
    """Return a request with the id of the collection that it names by its id or its title, if any.

    Raises:
        FaultError: as `meant_collection` says.
    """
    given = getattr(request, "collection", None)
    return structs.replace(request, collection=await meant_collection(client, given)) if given else request


async def meant_collection(client: GatewayClient, given: str) -> str:
    """Return the id of a collection that is named by its id or its title.

    Raises:
        FaultError: VALIDATION_UNKNOWN_COLLECTION, or VALIDATION_INVALID_REQUEST where several have that title.
    """
    if given.startswith(("col_", "col:")):
        return given
    listed = (await client.collections()).collections
    matches = [one.id for one in listed if one.title.casefold() == given.casefold()]
    if len(matches) == 1:
        return matches[0]
    if matches:
        message = f"{len(matches)} collections are called {given!r}: name one by its id. See: weft collections"
        raise FaultError(fault(Code.VALIDATION_INVALID_REQUEST, message, field="COLLECTION"))
    known = terminal.similar(given, [one.title for one in listed]) if listed else "You have none yet."
    raise FaultError(fault(Code.VALIDATION_UNKNOWN_COLLECTION, f"There is no collection {given!r}. {known}"))


async def _list(loaded: Loaded) -> CollectionList:
    async with at_gateway(loaded) as client:
        return await client.collections()


async def _get(loaded: Loaded, given: str) -> CollectionView:
    async with at_gateway(loaded) as client:
        return await client.collection(await meant_collection(client, given))


async def _call(loaded: Loaded, tool: str, given: str | None, arguments: dict[str, Any]) -> ToolOutcome:
    async with at_gateway(loaded) as client:
        of = {} if given is None else {"collectionId": await meant_collection(client, given)}
        return await client.call_tool(tool, of | arguments)


async def _import(loaded: Loaded, given: str, data: bytes, form: ImportFormat) -> ImportedSources:
    async with at_gateway(loaded) as client:
        return await client.import_sources(await meant_collection(client, given), data, form)


async def _export(loaded: Loaded, given: str, folder: Path) -> int:
    written = 0
    async with at_gateway(loaded) as client:
        target = anyio.Path(folder)
        with terminal.writing(folder, "DIR"):
            await target.mkdir(parents=True, exist_ok=True)
        async for file in client.export(await meant_collection(client, given)):
            with terminal.writing(folder, "DIR"):
                await (target / file.name).write_bytes(file.data)
            written += 1
    return written


def _age(source: SourceInfo) -> str:
    return "" if source.age_ms is None else f"{terminal.duration_text(max(source.age_ms, 0))} ago"


def _payload(outcome: ToolOutcome) -> dict[str, Any]:
    return {} if outcome.result is None else outcome.result.payload


def _show(outcome: ToolOutcome, *, as_json: bool) -> None:
    if as_json:
        terminal.write(terminal.json_text(outcome))
    else:
        show_outcome(outcome)
