"""Takes screenshots of a page, and stores captures and downloads where other actors can fetch them."""

from __future__ import annotations

import mimetypes
import os
import secrets
import stat
from pathlib import Path
from typing import Literal

import anyio
import anyio.to_thread
import structlog
from msgspec import Struct
from playwright.async_api import Download, ElementHandle, Error, Page

from actors.extraction.parse.text import clean
from bus import TransportError
from bus.stores import FileStore
from protocol.pages import Captured, Screenshot, capture_name

log = structlog.stdlib.get_logger()

NOT_KEPT = "capture_not_kept"

_MAX_HEIGHT = 16_000
"""Pixels of a picture; Chromium draws no texture that is higher than 16,384."""

_TIMEOUT_MS = 10_000.0
_ELEMENT_MS = 500.0
"""How long an element is waited for on a stable page."""

_MAX_NAME_CHARS = 120
_A_FILE = "application/octet-stream"

CaptureKind = Literal["screenshot", "pdf", "download"]


async def screenshot(page: Page, options: Screenshot) -> bytes:
    """Take a screenshot; raises Playwright's Error where its element is not shown."""
    if not options.selector:
        return await screenshot_of(page, options)
    element = page.locator(options.selector).first
    await element.wait_for(state="visible", timeout=_ELEMENT_MS)
    handle = await element.element_handle(timeout=_ELEMENT_MS)
    return await screenshot_of(page, options, handle)


async def screenshot_of(page: Page, options: Screenshot, element: ElementHandle | None = None) -> bytes:
    """Take a screenshot of an element, or of the page; raises Playwright's Error where it is not shown in time."""
    quality = None if options.form == "png" else options.quality
    if element is not None:
        return await element.screenshot(type=options.form, quality=quality, animations="disabled", timeout=_TIMEOUT_MS)
    if not options.full_page:
        return await page.screenshot(type=options.form, quality=quality, animations="disabled", timeout=_TIMEOUT_MS)
    width, height = await page.evaluate(
        "() => [document.documentElement.scrollWidth, document.documentElement.scrollHeight]"
    )
    return await page.screenshot(
        type=options.form,
        quality=quality,
        animations="disabled",
        timeout=_TIMEOUT_MS,
        full_page=True,
        clip={"x": 0, "y": 0, "width": max(int(width), 1), "height": max(min(int(height), _MAX_HEIGHT), 1)},
    )


class CaptureStore(Struct, frozen=True):
    """Puts captures of one caller into an object store; one that it refuses is left out, and logged."""

    store: FileStore
    max_bytes: int
    caller: str

    async def save(self, kind: CaptureKind, data: bytes, media_type: str, file_name: str = "") -> tuple[Captured, ...]:
        """Store one capture."""
        name = capture_name(kind, secrets.token_hex(16), self.caller, mimetypes.guess_extension(media_type) or "")
        try:
            if len(data) > self.max_bytes:
                raise ValueError("it is larger than a page may be")  # noqa: TRY301 - as the store says of its own bound
            await self.store.put(name, data)
        except (ValueError, OSError, TransportError) as error:
            log.warning(NOT_KEPT, kind=kind, size=len(data), reason=str(error))
            return ()
        return (Captured(kind=kind, name=name, media_type=media_type, size=len(data), file_name=file_name),)

    async def save_download(self, download: Download, wait_s: float) -> tuple[Captured, ...]:
        """Store a file that the page had the browser download."""
        data = await file_of(download, self.max_bytes, wait_s)
        if data is None:
            return ()
        name = clean(Path(download.suggested_filename).name[:_MAX_NAME_CHARS])
        return await self.save("download", data, mimetypes.guess_type(name)[0] or _A_FILE, name)


async def file_of(download: Download, max_bytes: int, wait_s: float) -> bytes | None:
    """Read a download once it is complete; None where it fails, is too large or too late."""
    with anyio.move_on_after(max(wait_s, 0)):
        try:
            path = Path(await download.path())
        except Error:
            return None
        return await anyio.to_thread.run_sync(_read, path, max_bytes)
    return None


def _read(path: Path, max_bytes: int) -> bytes | None:
    """Read what the browser wrote; a link in its place, which would lead to a file of Weft's, is not followed."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK if os.name == "posix" else os.O_RDONLY)
    except OSError:
        return None
    with os.fdopen(file, "rb") as opened:
        state = os.fstat(file)
        return opened.read() if stat.S_ISREG(state.st_mode) and state.st_size <= max_bytes else None
