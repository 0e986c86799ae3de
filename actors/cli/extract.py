"""`weft extract`: what stands in pages that are already here, one or many, without a network."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from actors.cli import terminal
from actors.cli.browse import look_up
from actors.cli.options import (
    ConfigFile,
    Cursor,
    DataDir,
    Json,
    Jsonl,
    LogLevel,
    MaxChars,
    OutFolder,
    PageUrl,
    Query,
    SectionName,
    Workers,
    read,
)
from actors.markdown.excerpt import excerpt
from protocol.actions import REPORT
from protocol.browse import BrowseOptions
from protocol.faults import Code, FaultError, fault

STDIN = "-"


def extract(  # noqa: PLR0913 - the options of a command
    page: Annotated[
        str,
        typer.Argument(metavar="FILE|URL|-", help="A file, an address, or - for what comes in.", show_default=False),
    ] = "",
    *,
    jsonl: Jsonl = None,
    out: OutFolder = None,
    workers: Workers = 0,
    url: PageUrl = "",
    as_json: Json = False,
    max_chars: MaxChars = None,
    cursor: Cursor = None,
    section: SectionName = None,
    query: Query = None,
    config: ConfigFile = None,
    data_dir: DataDir = None,
    log_level: LogLevel = None,
) -> None:
    """Extract what pages say that are already here.

    Prints Markdown, or with --json every field with its confidence. A file needs no running Weft and no network; an
    address is read as `weft browse` does it. A line of --jsonl that fails is told with its field, and the others go on.
    Exit codes: 4 some pages failed, 1 all did.
    """
    if jsonl is not None or out is not None:
        if url or any(one is not None for one in (max_chars, cursor, section, query)):
            raise typer.BadParameter("a --url or an excerpt is of a single page; --jsonl writes whole pages")
        _many(page, jsonl, out, workers, as_json=as_json)
        return
    options = BrowseOptions(max_chars=max_chars, cursor=cursor, section=section, query=query)
    if "://" in page:
        look_up(page, options, read(config, data_dir, log_level), as_json=as_json)
        return
    from actors.cli.file_extraction import extract_page  # noqa: PLC0415 - brings the parser along

    result = extract_page(_body(page), url or _address(page), name=url if page == STDIN else page)
    if not result.markdown and not as_json:
        message = f"{page}: no text is shown in it; --json tells what else it says"
        raise FaultError(fault(Code.CONTENT_EMPTY, message, actions=(REPORT,)))
    part = excerpt(result.markdown, max_chars=max_chars, cursor=cursor, section=section, query=query)
    whole = msgspec.structs.replace(result, markdown=part.markdown)
    terminal.write(terminal.json_text(whole) if as_json else terminal.plain(part.markdown))


def _many(page: str, jsonl: Path | None, out: Path | None, workers: int, *, as_json: bool) -> None:
    if page or jsonl is None or out is None:
        raise typer.BadParameter("give both --jsonl IN and --out DIR, and no single page with them")
    from actors.cli.file_extraction import extract_many  # noqa: PLC0415 - brings the parser along

    terminal.check_folder(out, "--out")
    with terminal.writing(out, "--out"):
        result = extract_many(jsonl, out, workers)
    if as_json:
        terminal.write(terminal.json_text(result))
    if result.failed:
        raise typer.Exit(terminal.Exit.PARTIAL if result.extracted else terminal.Exit.FAILED)


def _body(page: str) -> bytes:
    if not page:
        raise typer.BadParameter("name a file or an address, or - for what comes in")
    try:
        return sys.stdin.buffer.read() if page == STDIN else Path(page).read_bytes()
    except OSError as error:
        message = f"{page}: {error.strerror or error}; name a file that can be read, a full address, or -"
        raise FaultError(fault(Code.VALIDATION_INVALID_REQUEST, message, field="FILE")) from None


def _address(page: str) -> str:
    return "" if page == STDIN else Path(page).resolve().as_uri()
