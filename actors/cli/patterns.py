"""`weft patterns`: what was learned of the APIs behind pages."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import anyio
import msgspec
import typer
from msgspec import UNSET, UnsetType

from actors.cli import terminal
from actors.cli.connection import at_gateway
from actors.cli.options import ConfigFile, DataDir, Json, LogLevel, read
from actors.cli.runs import ListByDefault
from actors.settings import Loaded
from protocol.faults import Code, FaultError, fault
from protocol.patterns.listing import (
    ForgottenPattern,
    ImportedPatterns,
    PatternFile,
    PatternInfo,
    PatternList,
    PatternVerdict,
    PatternView,
)

MAX_FILE_BYTES = 4 * 1024 * 1024

app = typer.Typer(cls=ListByDefault, rich_markup_mode=None)

Id = Annotated[str, typer.Argument(metavar="ID", help="Id of a pattern, as the list has it.")]
OfDomain = Annotated[str | None, typer.Argument(metavar="[DOMAIN]", help="Host, such as example.com; all without it.")]


@app.command("list")
def list_patterns(
    domain: OfDomain = None,
    *,
    as_json: Json = False,
    config: ConfigFile = None,
    data_dir: DataDir = None,
    log_level: LogLevel = None,
) -> None:
    """List patterns, by domain."""
    listed = anyio.run(_list, read(config, data_dir, log_level), domain)
    if as_json:
        terminal.write(terminal.json_text(listed))
        return
    if not listed.patterns:
        terminal.err().print("Nothing is learned yet." if domain is None else f"Nothing is learned of {domain} yet.")
        return
    heads = ("PATTERN", "TRUST", "SCORE", "USED", "WHAT IT ASKS")
    terminal.print_rows(heads, [_row(one) for one in listed.patterns], wrap_last=True)
    if listed.next_cursor is not UNSET:
        terminal.err().print("There are more: name a domain.")


@app.command()
def show(
    name: Id,
    *,
    as_json: Json = False,
    config: ConfigFile = None,
    data_dir: DataDir = None,
    log_level: LogLevel = None,
) -> None:
    """Show a pattern, how far it is trusted, and what it has lost trust by."""
    view = anyio.run(_show, read(config, data_dir, log_level), name)
    if as_json:
        terminal.write(terminal.json_text(view))
        return
    _tell(view.pattern)


@app.command()
def verify(  # noqa: PLR0913 - the options of a command
    name: Id,
    url: Annotated[
        str | None,
        typer.Argument(metavar="[URL]", help="Page to verify it by; left out where it has one alone."),
    ] = None,
    *,
    as_json: Json = False,
    config: ConfigFile = None,
    data_dir: DataDir = None,
    log_level: LogLevel = None,
) -> None:
    """Render a page, have the pattern make it, and tell whether both say the same."""
    verdict = anyio.run(_verify, read(config, data_dir, log_level), name, url)
    if as_json:
        terminal.write(terminal.json_text(verdict))
        return
    terminal.write(_verdict(verdict))
    terminal.write(f"  trusted: {verdict.pattern.trust} ({verdict.pattern.confidence_score:.2f})")


@app.command()
def forget(
    name: Id,
    *,
    as_json: Json = False,
    config: ConfigFile = None,
    data_dir: DataDir = None,
    log_level: LogLevel = None,
) -> None:
    """Forget a pattern; it may be learned again."""
    forgotten = anyio.run(_forget, read(config, data_dir, log_level), name)
    terminal.write(terminal.json_text(forgotten) if as_json else f"{forgotten.pattern_id} is forgotten.")


@app.command()
def export(
    domain: OfDomain = None,
    *,
    config: ConfigFile = None,
    data_dir: DataDir = None,
    log_level: LogLevel = None,
) -> None:
    """Write patterns as JSON to stdout, for another Weft; none was learned with a login."""
    terminal.write(terminal.json_text(anyio.run(_export, read(config, data_dir, log_level), domain)))


@app.command("import")
def import_file(
    file: Annotated[Path, typer.Argument(metavar="FILE", exists=True, dir_okay=False, help="What export has written.")],
    *,
    as_json: Json = False,
    config: ConfigFile = None,
    data_dir: DataDir = None,
    log_level: LogLevel = None,
) -> None:
    """Keep the patterns of a file as hints: none is trusted before pages were reproduced with it."""
    done = anyio.run(_import, read(config, data_dir, log_level), _file(file))
    if as_json:
        terminal.write(terminal.json_text(done))
        return
    terminal.write(f"{len(done.imported)} new, {done.known} known, {len(done.refused)} refused.")
    for one in done.refused:
        terminal.err().print(f"  number {one.number + 1}: {terminal.one_line(one.reason)}", soft_wrap=True)


def _file(path: Path) -> PatternFile:
    """Read a file of patterns.

    Raises:
        FaultError: VALIDATION_INVALID_REQUEST, with what is wrong of it.
    """
    if path.stat().st_size > MAX_FILE_BYTES:
        raise _wrong(f"it has more than {MAX_FILE_BYTES // 1024 // 1024} MiB")
    try:
        return msgspec.json.decode(path.read_bytes(), type=PatternFile)
    except msgspec.MsgspecError as error:
        raise _wrong(str(error)) from None


def _wrong(why: str) -> FaultError:
    return FaultError(fault(Code.VALIDATION_INVALID_REQUEST, f"FILE is no file of patterns: {why}", field="FILE"))


async def _list(loaded: Loaded, domain: str | None) -> PatternList:
    async with at_gateway(loaded) as client:
        return await client.patterns(domain)


async def _show(loaded: Loaded, name: str) -> PatternView:
    async with at_gateway(loaded) as client:
        return await client.pattern(name)


async def _verify(loaded: Loaded, name: str, url: str | None) -> PatternVerdict:
    async with at_gateway(loaded) as client:
        return await client.verify_pattern(name, url)


async def _forget(loaded: Loaded, name: str) -> ForgottenPattern:
    async with at_gateway(loaded) as client:
        return await client.forget_pattern(name)


async def _export(loaded: Loaded, domain: str | None) -> PatternFile:
    async with at_gateway(loaded) as client:
        return await client.export_patterns(domain)


async def _import(loaded: Loaded, file: PatternFile) -> ImportedPatterns:
    async with at_gateway(loaded) as client:
        return await client.import_patterns(file)


def _row(one: PatternInfo) -> tuple[str, ...]:
    used = "directly" if one.can_bypass else ("archived" if one.archived else "as a hint")
    requests = ", ".join(f"{request.method} {request.url}" for request in one.requests)
    return one.pattern_id, one.trust, f"{one.confidence_score:.2f}", used, terminal.one_line(requests)


def _tell(one: PatternInfo) -> None:
    from bus.clock import now_ms  # noqa: PLC0415 - imports the bus

    now = now_ms()
    terminal.write(f"{one.pattern_id}: {terminal.one_line(one.domain)}, {one.trust} ({one.confidence_score:.2f})")
    facts = {
        "pages": one.page or "none",
        "asks": "; ".join(f"{request.method} {request.url}" for request in one.requests),
        "parameters": ", ".join(one.parameters),
        "from": f"{one.source.value}{f' ({one.reason})' if one.reason else ''}",
        "profile": one.profile or "",
        "reproduced": f"{one.reproduced} pages",
        "verified": _ago(one.last_verified_at, now),
        "used": _ago(one.last_used_at, now),
    }
    for name, value in facts.items():
        if value:
            terminal.write(f"  {name}: {terminal.one_line(value)}")
    for decay in one.decays:
        terminal.write(f"  lost {-decay.shift:.2f} by {decay.reason.value}, {_ago(decay.at, now)}")


def _ago(at: int | UnsetType, now: int) -> str:
    return "never" if at is UNSET else f"{terminal.duration_text(max(now - at, 0))} ago"


def _verdict(verdict: PatternVerdict) -> str:
    if verdict.same is UNSET:
        return "Its API answers; it makes no page yet." if verdict.answered else f"No answer: {verdict.reason or ''}"
    shares = ""
    if verdict.fields is not UNSET and verdict.text is not UNSET:
        shares = f" ({verdict.fields:.0%} of the fields, {verdict.text:.0%} of the text)"
    unlike = f": {terminal.one_line(', '.join(verdict.unlike))}" if verdict.unlike else ""
    reason = f" {terminal.one_line(verdict.reason)}" if verdict.reason else ""
    return f"{'The same' if verdict.same else 'Not the same'}{shares}{unlike}.{reason}"
