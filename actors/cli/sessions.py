"""`weft sessions`: the saved logins of the running Weft."""

from __future__ import annotations

from http.cookiejar import LoadError, MozillaCookieJar
from pathlib import Path
from typing import Annotated
from urllib.parse import quote

import anyio
import msgspec
import typer

from actors.cli import terminal
from actors.cli.connection import EdgeRequest, ask_edge
from actors.cli.options import ConfigFile, DataDir, Json, LogLevel, read
from protocol.faults import Code, FaultError, fault
from protocol.sessions import DEFAULT_PROFILE, SessionList, SessionStatus, StorageState, StoredCookie

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)

Domain = Annotated[str, typer.Argument(metavar="DOMAIN", help="Host or address of the site.")]
Profile = Annotated[str, typer.Option("--profile", help="Name of the login, as browse takes it.")]
With = Annotated[str, typer.Option("--with", metavar="KEY", help="Name or id of the other key.")]
Every = Annotated[str | None, typer.Option("--profile", help="List the logins of this profile alone.")]


@app.command("list")
def list_sessions(
    *,
    profile: Every = None,
    as_json: Json = False,
    config: ConfigFile = None,
    data_dir: DataDir = None,
    log_level: LogLevel = None,
) -> None:
    """List the saved logins, and how each stands."""
    request = EdgeRequest("GET", "/api/sessions", {"profile": profile} if profile else {})
    listed = anyio.run(ask_edge, read(config, data_dir, log_level), request, SessionList)
    if as_json:
        terminal.write(terminal.json_text(listed.sessions))
    else:
        _print_table(listed.sessions)


@app.command("import")
def import_session(  # noqa: PLR0913 - the options of a command
    file: Annotated[
        Path, typer.Argument(metavar="FILE", exists=True, dir_okay=False, help="Storage state, or cookies.txt.")
    ],
    domain: Domain,
    *,
    profile: Profile = DEFAULT_PROFILE,
    address: Annotated[str, typer.Option("--address", help="A page that only who is logged in gets to see.")] = "",
    as_json: Json = False,
    config: ConfigFile = None,
    data_dir: DataDir = None,
    log_level: LogLevel = None,
) -> None:
    """Keep a login from a file: a storage state of Playwright, or cookies.txt as browsers export it."""
    body = {"domain": domain, "profile": profile, "address": address, "state": read_state(file)}
    request = EdgeRequest("POST", "/api/sessions", body=body)
    _show(anyio.run(ask_edge, read(config, data_dir, log_level), request, SessionStatus), as_json=as_json)


@app.command()
def refresh(  # noqa: PLR0913 - the options of a command
    domain: Domain,
    *,
    profile: Profile = DEFAULT_PROFILE,
    as_json: Json = False,
    config: ConfigFile = None,
    data_dir: DataDir = None,
    log_level: LogLevel = None,
) -> None:
    """Visit the site with a saved login, so that it is renewed."""
    request = EdgeRequest("POST", f"{_path(domain)}/refresh", {"profile": profile})
    _show(anyio.run(ask_edge, read(config, data_dir, log_level), request, SessionStatus), as_json=as_json)


@app.command()
def delete(  # noqa: PLR0913 - the options of a command
    domain: Domain,
    *,
    profile: Profile = DEFAULT_PROFILE,
    as_json: Json = False,
    config: ConfigFile = None,
    data_dir: DataDir = None,
    log_level: LogLevel = None,
) -> None:
    """Forget a saved login."""
    request = EdgeRequest("DELETE", _path(domain), {"profile": profile})
    _show(anyio.run(ask_edge, read(config, data_dir, log_level), request, SessionStatus), as_json=as_json)


@app.command()
def share(  # noqa: PLR0913 - the options of a command
    domain: Domain,
    *,
    with_key: With,
    profile: Profile = DEFAULT_PROFILE,
    read_only: Annotated[bool, typer.Option("--read-only", help="Save nothing that its pages change of it.")] = False,
    as_json: Json = False,
    config: ConfigFile = None,
    data_dir: DataDir = None,
    log_level: LogLevel = None,
) -> None:
    """Share a saved login with another key; until then it does not exist for anybody else."""
    query = {"profile": profile, "with": with_key, "readOnly": str(read_only).lower()}
    request = EdgeRequest("POST", f"{_path(domain)}/share", query)
    _show(anyio.run(ask_edge, read(config, data_dir, log_level), request, SessionStatus), as_json=as_json)


@app.command()
def unshare(  # noqa: PLR0913 - the options of a command
    domain: Domain,
    *,
    with_key: With,
    profile: Profile = DEFAULT_PROFILE,
    as_json: Json = False,
    config: ConfigFile = None,
    data_dir: DataDir = None,
    log_level: LogLevel = None,
) -> None:
    """Share a saved login with that key no longer."""
    request = EdgeRequest("DELETE", f"{_path(domain)}/share", {"profile": profile, "with": with_key})
    _show(anyio.run(ask_edge, read(config, data_dir, log_level), request, SessionStatus), as_json=as_json)


def read_state(file: Path) -> StorageState:
    """Read a login from a file.

    Raises:
        FaultError: VALIDATION_INVALID_REQUEST, when it is neither a storage state nor a cookies.txt; no word of the
            file is repeated.
    """
    try:
        if file.read_bytes().lstrip().startswith(b"{"):
            return msgspec.json.decode(file.read_bytes(), type=StorageState)
        jar = MozillaCookieJar()
        jar.load(str(file), ignore_discard=True, ignore_expires=True)
    except (msgspec.DecodeError, LoadError, OSError, UnicodeDecodeError):
        message = f"{file}: neither a storage state (JSON) nor a cookies.txt"
        raise FaultError(fault(Code.VALIDATION_INVALID_REQUEST, message)) from None
    return StorageState(
        cookies=tuple(
            StoredCookie(
                name=cookie.name,
                value=cookie.value or "",
                domain=cookie.domain,
                path=cookie.path,
                expires=float(cookie.expires) if cookie.expires else -1,
                secure=cookie.secure,
                http_only=cookie.has_nonstandard_attr("HTTPOnly"),  # as http.cookiejar spells it
            )
            for cookie in jar
        )
    )


def _path(domain: str) -> str:
    return f"/api/sessions/{quote(domain.partition('://')[2].partition('/')[0] or domain, safe='')}"


def _show(status: SessionStatus, *, as_json: bool) -> None:
    if as_json:
        terminal.write(terminal.json_text(status))
    else:
        _print_table((status,))


def _print_table(sessions: tuple[SessionStatus, ...]) -> None:
    from bus.clock import now_ms  # noqa: PLC0415 - imports the bus

    now, rows = now_ms(), list[tuple[str, ...]]()
    for one in sessions:
        used = f"{terminal.duration_text(max(now - one.used, 0))} ago" if one.used else ""
        ends = f"in {terminal.duration_text(max(one.expires - now, 0))}" if one.expires else ""
        shared = " ".join(f"{grant.key}{' (read only)' if grant.read_only else ''}" for grant in one.grants)
        cookies = (str(one.cookies), " ".join(one.auth_cookies))
        rows.append((one.domain, one.profile, one.health, *cookies, used, ends, one.owner, shared))
    head = ("DOMAIN", "PROFILE", "HEALTH", "COOKIES", "LOGIN COOKIES", "USED", "ENDS", "OWNER", "SHARED WITH")
    terminal.print_rows(head, rows)
