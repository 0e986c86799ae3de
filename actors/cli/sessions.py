"""`weft sessions`: the saved logins of the running Weft."""

from __future__ import annotations

import time
from dataclasses import dataclass
from http.cookiejar import LoadError, MozillaCookieJar
from pathlib import Path
from typing import Annotated, Any, TypeVar
from urllib.parse import quote

import anyio
import msgspec
import typer
from msgspec import Struct

from actors.cli import terminal
from actors.cli.errors import from_structured, not_running
from actors.cli.options import ConfigFile, DataDir, Json, LogLevel, read
from actors.cli.running import find, key_of
from actors.cli.status import duration_text
from actors.settings import Loaded
from protocol.browse import StructuredError
from protocol.faults import Code, FaultError, fault
from protocol.sessions import DEFAULT_PROFILE, SessionList, SessionStatus
from protocol.storagestate import StorageState, StoredCookie

ANSWER_TIMEOUT_S = 100.0
"""What a renewal may take: two browses, and room."""

CONNECT_TIMEOUT_S = 5.0
_OK = 200

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)

Domain = Annotated[str, typer.Argument(metavar="DOMAIN", help="Host or address of the site.")]
Profile = Annotated[str, typer.Option("--profile", help="Name of the login, as browse takes it.")]
Every = Annotated[str | None, typer.Option("--profile", help="List the logins of this profile alone.")]

S = TypeVar("S", bound=Struct)


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
    ask = _Ask("GET", "/api/sessions", {"profile": profile} if profile else {})
    found = anyio.run(_answer, read(config, data_dir, log_level), ask, SessionList)
    if as_json:
        terminal.write(terminal.json_text(found.sessions))
    else:
        _print_table(found.sessions)


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
    ask = _Ask("POST", "/api/sessions", body=body)
    _show(anyio.run(_answer, read(config, data_dir, log_level), ask, SessionStatus), as_json=as_json)


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
    ask = _Ask("POST", f"{_path(domain)}/refresh", {"profile": profile})
    _show(anyio.run(_answer, read(config, data_dir, log_level), ask, SessionStatus), as_json=as_json)


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
    ask = _Ask("DELETE", _path(domain), {"profile": profile})
    _show(anyio.run(_answer, read(config, data_dir, log_level), ask, SessionStatus), as_json=as_json)


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


@dataclass(frozen=True)
class _Ask:
    """One request to the edge."""

    method: str
    path: str
    query: dict[str, str] | None = None
    body: dict[str, Any] | None = None


async def _answer(loaded: Loaded, ask: _Ask, kind: type[S]) -> S:
    settings = loaded.settings
    ready = await find(settings)
    if ready is None:
        raise not_running(settings.data_dir)
    import httpx2  # noqa: PLC0415 - costs 100 ms

    headers = {"Authorization": f"Bearer {key_of(settings, ready)}", "Content-Type": "application/json"}
    content = None if ask.body is None else msgspec.json.encode(ask.body)
    timeout = httpx2.Timeout(ANSWER_TIMEOUT_S, connect=CONNECT_TIMEOUT_S)
    try:
        # trust_env off: no proxy has business between us and our own machine
        async with httpx2.AsyncClient(trust_env=False, timeout=timeout, base_url=ready.rest) as client:
            answer = await client.request(ask.method, ask.path, params=ask.query, content=content, headers=headers)
    except httpx2.TransportError:
        raise not_running(settings.data_dir, f"The Weft at {ready.rest} went away: none runs") from None
    return _read(answer.status_code, answer.content, kind)


def _read(status: int, body: bytes, kind: type[S]) -> S:
    try:
        if status == _OK:
            return msgspec.json.decode(body, type=kind)
        told = from_structured(msgspec.json.decode(body, type=StructuredError))
    except msgspec.DecodeError:
        told = fault(Code.INTERNAL_ERROR, f"The running Weft answered with status {status} and no readable body.")
    raise FaultError(told)


def _path(domain: str) -> str:
    return f"/api/sessions/{quote(domain.partition('://')[2].partition('/')[0] or domain, safe='')}"


def _show(status: SessionStatus, *, as_json: bool) -> None:
    if as_json:
        terminal.write(terminal.json_text(status))
    else:
        _print_table((status,))


def _print_table(sessions: tuple[SessionStatus, ...]) -> None:
    from rich.table import Table  # noqa: PLC0415 - costs 40 ms

    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("DOMAIN", "PROFILE", "HEALTH", "COOKIES", "LOGIN COOKIES", "USED", "ENDS"):
        table.add_column(name, no_wrap=True)
    now = int(time.time() * 1000)
    for one in sessions:
        used = f"{duration_text(max(now - one.used, 0))} ago" if one.used else ""
        ends = f"in {duration_text(max(one.expires - now, 0))}" if one.expires else ""
        cells = (one.domain, one.profile, one.health, str(one.cookies), " ".join(one.auth_cookies), used, ends)
        table.add_row(*map(terminal.one_line, cells))
    terminal.table(table)
