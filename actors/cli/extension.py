"""`weft extension`: write the browser extension as a folder or a zip, and print a link that pairs it."""

from __future__ import annotations

import json
import re
import secrets
import shutil
import socket
import zipfile
from collections.abc import Iterator
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Annotated, Final

import anyio
import typer

from actors.cli import terminal
from actors.cli.connection import EdgeRequest, find, send
from actors.cli.options import ConfigFile, DataDir, LogLevel, read
from actors.settings import Loaded
from protocol.access import NewKey, Scope
from protocol.faults import Code, FaultError, fault

MANIFEST: Final = "manifest.json"
FOLDER: Final = Path("weft-extension")

CODE_S: Final = 600
"""How long a pairing code is good."""

_PAGE_CODE: Final = "view"
"""Where the page code stands in the extension, which the browser tier has too."""

_UNUSED: Final = frozenset({"closed", "colours", "content", "facts", "markers", "news", "observe", "rows", "snapshot"})
"""Parts of the page code that are only called by the browser tier."""

_EXECUTOR: Final = ("executor", "elements", "pointing", "typing", "reading", "capture", "mark")
"""The parts of `page/` in the order in which they run, after the page code."""

_EPOCH: Final = (1980, 1, 1, 0, 0, 0)
"""The date of every file of a zip, so that the same files make the same zip."""

_NAME_CHARS: Final = 40

Target = Annotated[
    Path, typer.Argument(metavar="DIR|FILE.zip", help="Folder to write, or a zip of it.", show_default=True)
]
WithModels = Annotated[bool, typer.Option("--models", help="Let it have models asked, too, which may cost.")]
OnlyPair = Annotated[bool, typer.Option("--pair", help="Write nothing; print a link that pairs the extension.")]


def extension(  # noqa: PLR0913 - the options of the command
    target: Target = FOLDER,
    *,
    pair: OnlyPair = False,
    models: WithModels = False,
    config: ConfigFile = None,
    data_dir: DataDir = None,
    log_level: LogLevel = None,
) -> None:
    """Write the browser extension, and print a link that pairs it.

    The folder is loaded unpacked. The link is of the Weft that runs, and good once, for ten minutes.
    """
    console, loaded = terminal.err(), read(config, data_dir, log_level)
    if not pair:
        write_extension(target)
        console.print(
            f"Wrote {target}. To load it: chrome://extensions, Developer mode, Load unpacked.", soft_wrap=True
        )
    scopes = (Scope.PAIR, Scope.MODELS) if models else (Scope.PAIR,)
    link = anyio.run(_pairing_link, loaded, pair, scopes)
    if link:
        console.print("Open this link in that browser, or paste it into the settings of the extension:", soft_wrap=True)
        terminal.write(link)
    else:
        console.print("To pair it: weft extension --pair, while Weft runs.", soft_wrap=True)


def write_extension(target: Path) -> None:
    """Write the extension as a folder, or as a zip where the name ends so.

    Raises:
        FaultError: VALIDATION_INVALID_REQUEST for a folder of something else, or a place that cannot be written.
    """
    if target.suffix == ".zip":
        terminal.check_file(target, "FILE.zip")
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
            for name, content in extension_files():
                archive.writestr(zipfile.ZipInfo(name, _EPOCH), content, zipfile.ZIP_DEFLATED)
        return
    terminal.check_folder(target, "DIR")
    if target.exists() and any(target.iterdir()):
        if not (target / MANIFEST).is_file() or not (target / _PAGE_CODE).is_dir():
            message = f"{target} holds something else than the extension."
            raise FaultError(fault(Code.VALIDATION_INVALID_REQUEST, message))
        shutil.rmtree(target)
    for name, content in extension_files():
        path = target / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def extension_files() -> Iterator[tuple[str, bytes]]:
    """Yield every file of the extension by its name: its own, the page code that it calls, and the order of both."""
    from actors.fetchers.playwright.view.documents import PARTS, minified, page_code  # noqa: PLC0415 - imports Playwright

    for name, content in _files(resources.files("actors") / "gateway" / "extension", ""):
        yield name, minified(content.decode()).encode() if name.endswith(".js") else content
    parts = [part for part in PARTS if part not in _UNUSED]
    for part in parts:
        yield f"{_PAGE_CODE}/{part}.js", page_code(part).encode()
    order = [f"{_PAGE_CODE}/{part}.js" for part in parts] + [f"page/{part}.js" for part in _EXECUTOR]
    yield "page/files.js", f"export const FILES={json.dumps(order)};\n".encode()


def _files(folder: Traversable, prefix: str) -> Iterator[tuple[str, bytes]]:
    for entry in sorted(folder.iterdir(), key=lambda one: one.name):
        if entry.is_dir():
            yield from _files(entry, f"{prefix}{entry.name}/")
        elif not entry.name.startswith(".") and not entry.name.endswith(".py"):
            yield f"{prefix}{entry.name}", entry.read_bytes()


async def _pairing_link(loaded: Loaded, needed: bool, scopes: tuple[Scope, ...]) -> str:  # noqa: FBT001 - an option
    """Return a link with a new code; "" where no Weft runs and none is `needed`."""
    ready = await find(loaded.settings)
    if ready is None:
        if needed:
            raise terminal.not_running(loaded.settings.data_dir)
        return ""
    host = re.sub(r"[^A-Za-z0-9_.-]+", "-", socket.gethostname())[:_NAME_CHARS].strip("-.") or "host"
    name = f"pairing-{secrets.token_hex(3)}-extension-on-{host}"
    body = {"name": name, "scopes": [one.value for one in scopes], "expiresIn": CODE_S}
    made = await send(loaded.settings, ready, EdgeRequest("POST", "/api/keys", body=body), NewKey)
    return f"{loaded.settings.public_url or ready.rest}/pair#{made.key}"
