"""`weft keys`: who else may come in, besides the owner of the installation."""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime
from typing import Annotated
from urllib.parse import quote

import anyio
import typer

from actors.cli import terminal
from actors.cli.connection import EdgeRequest, ask_edge
from actors.cli.options import ConfigFile, DataDir, Json, LogLevel, read
from protocol.access import KeyInfo, KeysAnswer, NewKey, RevokedKey, Scope
from protocol.faults import Code, FaultError, fault

_SECONDS = {"m": 60, "h": 3_600, "d": 86_400, "w": 7 * 86_400, "y": 365 * 86_400}
_LIMITS = {"at-once": "atOnce", "per-minute": "perMinute", "weight": "weight"}
_SPAN = re.compile(r"(\d{1,6})([mhdwy])")

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)

Name = Annotated[str, typer.Argument(metavar="NAME", help="What the key is for, such as laptop.")]
Key = Annotated[str, typer.Argument(metavar="NAME|ID", help="Name or id of the key.")]
Scopes = Annotated[
    list[Scope] | None,
    typer.Option(
        "--scope",
        help="What it is good for; may be repeated. All but integrations, models, routes, operate and pair, "
        "unless it is given.",
    ),
]
Expires = Annotated[
    str | None,
    typer.Option(
        "--expires", metavar="30d|DATE", help="How long it is good (m, h, d, w, y), or until which day (UTC)."
    ),
]

Limits = Annotated[
    list[str] | None,
    typer.Option(
        "--limit",
        metavar="NAME=N",
        help="What it may have: at-once=10 or per-minute=60 requests, weight=2 for twice the share; may be repeated.",
    ),
]


@app.command()
def add(  # noqa: PLR0913 - the options of a command
    name: Name,
    *,
    scope: Scopes = None,
    expires: Expires = None,
    limit: Limits = None,
    as_json: Json = False,
    config: ConfigFile = None,
    data_dir: DataDir = None,
    log_level: LogLevel = None,
) -> None:
    """Make a key and print it, this once: only its hash is kept."""
    body = {
        "name": name,
        "scopes": scope or None,
        "expiresIn": seconds_of(expires, time.time()) if expires else None,
        "limits": limits_of(limit) if limit else None,
    }
    given = {field: value for field, value in body.items() if value is not None}
    made = anyio.run(ask_edge, read(config, data_dir, log_level), EdgeRequest("POST", "/api/keys", body=given), NewKey)
    if as_json:
        terminal.write(terminal.json_text(made))
        return
    terminal.write(made.key)
    until = f", until {_date(made.expires)}" if made.expires else ""
    good = " ".join(made.scopes) or "nothing"
    console = terminal.err()
    console.print(f"The key {made.name} ({made.id}), good for {good}{until}. It is not shown again.", soft_wrap=True)


@app.command("list")
def list_keys(
    *,
    as_json: Json = False,
    config: ConfigFile = None,
    data_dir: DataDir = None,
    log_level: LogLevel = None,
) -> None:
    """List the keys; none of them is shown."""
    listed = anyio.run(ask_edge, read(config, data_dir, log_level), EdgeRequest("GET", "/api/keys"), KeysAnswer)
    if as_json:
        terminal.write(terminal.json_text(listed.keys))
    else:
        _print_table(listed.keys)


@app.command()
def revoke(
    key: Key,
    *,
    as_json: Json = False,
    config: ConfigFile = None,
    data_dir: DataDir = None,
    log_level: LogLevel = None,
) -> None:
    """Take a key back: within a second it opens nothing any more."""
    request = EdgeRequest("DELETE", f"/api/keys/{quote(key, safe='')}")
    gone = anyio.run(ask_edge, read(config, data_dir, log_level), request, RevokedKey)
    if as_json:
        terminal.write(terminal.json_text(gone))
    else:
        terminal.err().print(f"Revoked the key {gone.name} ({gone.id}).", soft_wrap=True)


def seconds_of(text: str, now_s: float) -> int:
    """Read how long a key is good: a span such as 30d, or a day or a time of ISO 8601, in UTC unless it says.

    Raises:
        FaultError: VALIDATION_INVALID_REQUEST, when it is neither, or over.
    """
    if match := _SPAN.fullmatch(text.strip()):
        seconds = int(match[1]) * _SECONDS[match[2]]
    else:
        try:
            when = datetime.fromisoformat(text.strip())
        except ValueError:
            raise _wrong(f"--expires {text}: neither a span such as 30d nor a date such as 2027-01-31") from None
        seconds = int(when.replace(tzinfo=when.tzinfo or UTC).timestamp() - now_s)
    if seconds <= 0:
        raise _wrong(f"--expires {text}: that time is over")
    return seconds


def limits_of(texts: list[str]) -> dict[str, int]:
    """Read the limits of a key as REST takes them.

    Raises:
        FaultError: VALIDATION_INVALID_REQUEST for what is none of them, or no number.
    """
    limits: dict[str, int] = {}
    for text in texts:
        name, _, number = text.partition("=")
        if name not in _LIMITS or not (number.isascii() and number.isdigit()):
            raise _wrong(f"--limit {text}: one of {', '.join(_LIMITS)} with a number, such as at-once=10", "limits")
        limits[_LIMITS[name]] = int(number)
    return limits


def _wrong(message: str, field: str = "expires") -> FaultError:
    return FaultError(fault(Code.VALIDATION_INVALID_REQUEST, message, field=field))


def _date(ms: int) -> str:
    return f"{datetime.fromtimestamp(ms / 1_000, UTC):%Y-%m-%d %H:%M} UTC"


def _print_table(keys: tuple[KeyInfo, ...]) -> None:
    from bus.clock import now_ms  # noqa: PLC0415 - imports the bus

    now = now_ms()
    terminal.print_rows(("NAME", "ID", "SCOPES", "MADE", "ENDS"), [_row(one, now) for one in keys])


def _row(key: KeyInfo, now: int) -> tuple[str, ...]:
    made = f"{terminal.duration_text(max(now - key.created, 0))} ago"
    left = f"in {terminal.duration_text(key.expires - now)}" if key.expires else "never"
    return key.name, key.id, " ".join(key.scopes), made, "expired" if key.expired else left
