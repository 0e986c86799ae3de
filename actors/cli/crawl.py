"""`weft crawl` and `weft map`: the pages of a whole site as files or a collection, and its addresses alone."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal
from urllib.parse import urlsplit

import anyio
import msgspec
import typer
from msgspec import UNSET, Struct

from actors.cli import terminal
from actors.cli.artifact import pieces_of
from actors.cli.connection import at_gateway
from actors.cli.options import ConfigFile, DataDir, Json, LogLevel, named_place, read
from actors.cli.run_output import exit_code_of, followed, show_run
from actors.cli.runs import run_request
from actors.cli.terminal import Exit
from actors.settings import Loaded
from protocol.actions import Action
from protocol.faults import Code, FaultError, fault
from protocol.runs.responses import Run
from protocol.runs.states import ArtifactType, RunStatus

if TYPE_CHECKING:
    from actors.gateway.client import GatewayClient

TEMPLATE = "crawl_site"
MAP_PAGES = 10
MAX_ROUNDS = 50
"""Runs of one crawl at most: each takes as long as a run may, and goes on with the one before."""

_OUTPUTS = {"jsonl": ArtifactType.JSONL, "markdown": ArtifactType.ZIP}

SiteUrl = Annotated[str, typer.Argument(metavar="URL", help="Where it begins.")]
Depth = Annotated[int, typer.Option("--depth", min=0, max=20, help="Links from there at most.")]
Include = Annotated[
    list[str] | None, typer.Option("--include", metavar="GLOB", help="Paths to go to, such as '/docs/*'; repeatable.")
]
Exclude = Annotated[list[str] | None, typer.Option("--exclude", metavar="GLOB", help="Paths not to go to; repeatable.")]
Languages = Annotated[
    list[str] | None, typer.Option("--language", metavar="TAG", help="Languages of the pages; repeatable.")
]
Hosts = Annotated[list[str] | None, typer.Option("--host", metavar="HOST", help="Hosts that belong to it; repeatable.")]


class _Crawl(Struct, frozen=True):
    """What is asked for, and where its files go."""

    inputs: dict[str, Any]
    form: ArtifactType | None
    folder: Path | None


def crawl(  # noqa: PLR0913 - the options of a command
    url: SiteUrl,
    *,
    pages: Annotated[int, typer.Option("--pages", min=1, max=5_000, help="Pages to ask for at most.")] = 100,
    depth: Depth = 10,
    include: Include = None,
    exclude: Exclude = None,
    language: Languages = None,
    host: Hosts = None,
    to: Annotated[
        Literal["markdown", "jsonl", "collection"],
        typer.Option("--to", help="A folder of Markdown, a line of JSON for each page, or sources of a collection."),
    ] = "markdown",
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", metavar="DIR", parser=named_place, help="Folder for the files; the host unless it is given."
        ),
    ] = None,
    collection: Annotated[
        str | None, typer.Option("--collection", metavar="ID", help="The collection to keep them in; a new one.")
    ] = None,
    as_json: Json = False,
    config: ConfigFile = None,
    data_dir: DataDir = None,
    log_level: LogLevel = None,
) -> None:
    """Walk through a site, and keep each of its pages once.

    It goes by site maps and links, heeds robots.txt and the pace of the host, and passes traps and duplicates over.
    Ctrl-C asks it to stop after the pages in hand; what was read is kept, and the run can be resumed. Uses the running
    Weft; without one it starts a private one, but for a collection. Exit codes as of weft run.
    """
    inputs: dict[str, Any] = {"url": url, "pages": pages, "depth": depth}
    given = {"include": include, "exclude": exclude, "languages": language, "hosts": host}
    inputs |= {name: value for name, value in given.items() if value}
    if to == "collection":
        inputs |= {"to": "collection", **({"collectionId": collection} if collection else {})}
    folder = out or Path((urlsplit(url if "://" in url else f"//{url}").hostname or "site").strip("."))
    wanted = _Crawl(inputs, _OUTPUTS.get(to), None if to == "collection" else folder)
    loaded = read(config, data_dir, log_level)
    if wanted.folder is not None:
        terminal.check_folder(wanted.folder, "--out")
    run, data, interrupted = anyio.run(_crawl, loaded, wanted)
    saved = data is not None and _save(wanted, run, data)
    show_run(run, as_json=as_json)
    if not as_json:
        _tell(run, wanted.folder if saved else None, interrupted=interrupted)
    raise typer.Exit(Exit.INTERRUPTED if interrupted else exit_code_of(run))


def map_site(  # noqa: PLR0913 - the options of a command
    url: SiteUrl,
    *,
    pages: Annotated[
        int, typer.Option("--pages", min=1, max=5_000, help="Pages that are read for their links.")
    ] = MAP_PAGES,
    include: Include = None,
    exclude: Exclude = None,
    language: Languages = None,
    host: Hosts = None,
    as_json: Json = False,
    config: ConfigFile = None,
    data_dir: DataDir = None,
    log_level: LogLevel = None,
) -> None:
    """List the addresses of a site, and read next to nothing."""
    inputs: dict[str, Any] = {"url": url, "pages": pages, "to": "addresses"}
    given = {"include": include, "exclude": exclude, "languages": language, "hosts": host}
    inputs |= {name: value for name, value in given.items() if value}
    wanted = _Crawl(inputs, ArtifactType.JSONL, None)
    run, data, interrupted = anyio.run(_crawl, read(config, data_dir, log_level), wanted)
    if data is None:
        show_run(run, as_json=as_json)
    else:
        addresses = [msgspec.json.decode(line, type=dict[str, str])["url"] for line in data.splitlines()]
        listed = terminal.json_text(addresses) if as_json else "\n".join(map(terminal.one_line, addresses))
        terminal.write(listed)
    raise typer.Exit(Exit.INTERRUPTED if interrupted else exit_code_of(run))


async def _crawl(loaded: Loaded, wanted: _Crawl) -> tuple[Run, bytes | None, bool]:
    """Run it, as often as its time is over before its end; return the last run with its file."""
    forms = ["json", wanted.form.value] if wanted.form is not None else ["json"]
    arguments = {"templateId": TEMPLATE, "inputs": wanted.inputs, "options": {"mode": "async", "artifacts": forms}}
    # A collection has to outlive this call.
    async with at_gateway(loaded, or_private=wanted.inputs.get("to") != "collection") as client:
        run_id = (await client.start_run(run_request(arguments))).run_id
        run, interrupted = await followed(client, run_id, notes=True)
        for _ in range(MAX_ROUNDS):
            if interrupted or run.error_code != Code.RUN_TIMEOUT:
                break
            run, interrupted = await followed(client, await _resumed(client, run.run_id), notes=True)
        return run, await _file(client, run, wanted.form), interrupted


async def _resumed(client: GatewayClient, run_id: str) -> str:
    from actors.gateway.client import ResumeRequest  # noqa: PLC0415 - imports the gateway

    terminal.err().print(f"The time of {run_id} is over; the crawl goes on in another run.", soft_wrap=True)
    return (await client.resume_run(run_id, ResumeRequest(inputs={}))).run_id


async def _file(client: GatewayClient, run: Run, form: ArtifactType | None) -> bytes | None:
    kept = [] if run.artifacts is UNSET else [one for one in run.artifacts if one.type is form]
    if not kept:
        return None
    return b"".join([piece async for piece in pieces_of(client, kept[0].artifact_id)])


def _save(wanted: _Crawl, run: Run, data: bytes) -> bool:
    """Write the files in the place of those of the same name; returns whether there were any.

    Raises:
        FaultError: VALIDATION_INVALID_REQUEST, where the folder cannot be written.
    """
    assert wanted.folder is not None  # noqa: S101 - its caller knows
    try:
        if wanted.form is ArtifactType.JSONL:
            wanted.folder.mkdir(parents=True, exist_ok=True)
            (wanted.folder / "pages.jsonl").write_bytes(data)
            return bool(data)
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if archive.namelist():
                wanted.folder.mkdir(parents=True, exist_ok=True)
                archive.extractall(wanted.folder)
            return bool(archive.namelist())
    except OSError as error:
        message = f"{wanted.folder}: {error.strerror or error}; the pages are not there"
        kept = (
            "Where a Weft runs, it has them as a file of the run, for a day: weft artifact ID -o FILE, and its ID by: "
        )
        show = Action(action="use_artifact", description=f"{kept}weft runs show {run.run_id}")
        raise FaultError(fault(Code.VALIDATION_INVALID_REQUEST, message, field="--out", actions=(show,))) from None


def _tell(run: Run, folder: Path | None, *, interrupted: bool) -> None:
    if folder is not None:
        terminal.write(f"The pages are in {terminal.one_line(str(folder))}.")
    if interrupted or run.status is RunStatus.FAILED:
        terminal.err().print(f"Go on with it: weft runs resume {run.run_id}", soft_wrap=True)
