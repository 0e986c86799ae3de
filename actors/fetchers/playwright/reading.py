"""Reads what the browser got: the page as it is shown, or the bytes of what is no page."""

from __future__ import annotations

import time
from dataclasses import dataclass

import anyio
from playwright.async_api import Download, Error

from actors.fetchers import answering
from actors.fetchers.playwright import captures
from actors.fetchers.playwright.tab import Tab
from protocol.faults import Code, FaultError, fault

_MARKUP = frozenset({"", "text/html", "application/xhtml+xml"})
_DOWNLOAD_S = 1.0
"""How long after a page turned out to be a file it may take until the file is announced."""

_POLL_S = 0.01


@dataclass(frozen=True)
class Body:
    """The bytes of what is no page."""

    data: bytes
    content_type: str
    url: str


def is_markup(content_type: str) -> bool:
    """Whether a browser makes a document of its own of such an answer."""
    return content_type.partition(";")[0].strip().lower() in _MARKUP


async def body_of(tab: Tab, max_bytes: int, deadline_s: float, *, as_file: bool) -> Body:
    """Read an answer that is no page: JSON, text, PDF, an image.

    Raises:
        FaultError: CONTENT_TOO_LARGE or NETWORK_CONNECTION_FAILED.
    """
    main = tab.seen.main
    content_type = main.headers.get("content-type", "") if main else ""
    if as_file:
        download = await _announced(tab)
        data = await captures.file_of(download, max_bytes, deadline_s - time.monotonic()) if download else None
        if data is None:
            raise FaultError(fault(Code.CONTENT_TOO_LARGE, f"The file is larger than {max_bytes} bytes, or broke off."))
        return Body(data, content_type, download.url if download else tab.seen.main_url)
    if main is None:
        raise FaultError(fault(Code.NETWORK_CONNECTION_FAILED))
    length = main.headers.get("content-length", "")
    if length.isdecimal() and int(length[:15]) > max_bytes:
        raise FaultError(fault(Code.CONTENT_TOO_LARGE, f"The page is larger than {max_bytes} bytes."))
    try:
        await main.finished()
        if (await main.request.sizes())["responseBodySize"] > max_bytes:
            raise FaultError(fault(Code.CONTENT_TOO_LARGE, f"The page is larger than {max_bytes} bytes."))
        return Body(*answering.readable(await main.body(), content_type, main.status), tab.page.url)
    except Error as error:
        raise tab.fault(error) from error


async def _announced(tab: Tab) -> Download | None:
    with anyio.move_on_after(_DOWNLOAD_S):
        while not tab.seen.downloads:  # noqa: ASYNC110 - Playwright announces it by a callback at any moment
            await anyio.sleep(_POLL_S)
    return tab.seen.downloads.pop(0) if tab.seen.downloads else None
