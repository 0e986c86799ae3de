"""Reads what a tab has loaded: the markup of a page with its frames, or the bytes of what is no page."""

from __future__ import annotations

import re
import time
from contextlib import suppress

import anyio
from msgspec import Struct
from playwright.async_api import Download, Error, Frame, Response

from actors.fetchers import page_answer
from actors.fetchers.playwright import captures
from actors.fetchers.playwright.devtools import script
from actors.fetchers.playwright.tab import Tab
from actors.web.page_redirects import MAX_FRAMED_BYTES
from protocol.faults import Code, FaultError, fault

_MARKUP = frozenset({"", "text/html", "application/xhtml+xml"})
_DOWNLOAD_S = 1.0
"""How long after a page turned out to be a file it may take until the download is announced."""

_OK = 200
_POLL_S = 0.01
_BODY_S = 2.0
_TAIL_BYTES = 4_096
"""After the end of its markup a document may have comments and scripts of those who deliver it."""

_MAX_FRAMES = 20
_MAX_DEPTH = 3
_FRAME_S = 1.0
_PLACEHOLDER = re.compile(r"<!--weft-frame ([0-9.]+)-->")
_BODY = re.compile(r"<body[^>]*>(.*)</body>", re.DOTALL | re.IGNORECASE)
_INDEX = """element => {
  const view = element.ownerDocument.defaultView;
  for (let index = 0; index < view.length; index++) if (view[index] === element.contentWindow) return index;
  return -1;
}"""


class SerializedPage(Struct, frozen=True):
    """A document as the serializer wrote it, and how many elements; `cut` where it is longer than the limit."""

    html: str
    cut: bool
    elements: int


class Body(Struct, frozen=True):
    """The bytes of what is no page."""

    data: bytes
    content_type: str
    url: str


def is_markup(content_type: str) -> bool:
    """Whether a browser makes a document of its own of a response of this type."""
    return content_type.partition(";")[0].strip().lower() in _MARKUP


async def html_of(tab: Tab, limit: int) -> SerializedPage:
    """Serialize the page as it is shown, `limit` characters at most; scripts of a hung page are stopped first.

    Raises:
        FaultError: BROWSER_PAGE_HUNG where even that does not help; PAGE_CRASHED.
    """
    expression = f"({script('serialise')})({limit})"
    page = await tab.run(expression, SerializedPage)
    if page is None:
        await tab.stop()
        page = await tab.run(expression, SerializedPage)
    if page is None:
        raise FaultError(fault(Code.BROWSER_PAGE_HUNG))
    return SerializedPage(
        await _with_frames(tab.page.main_frame, page.html, limit, _MAX_DEPTH), page.cut, page.elements
    )


async def may_be_half(main: Response) -> bool:
    """Return whether a compressed document ends without the end of its markup, where no proxy has looked at it."""
    if not main.url.startswith("https:") or "content-encoding" not in main.headers or main.request.method != "GET":
        return False
    try:
        with anyio.move_on_after(_BODY_S):
            tail = (await main.body())[-_TAIL_BYTES:].lower()
            return b"</html" not in tail and b"</body" not in tail
    except Error:
        pass
    return False


async def small_source(tab: Tab) -> bytes:
    """Return a document as its site sent it, where it is so small that it may be no more than a frame; else nothing."""
    main = tab.recorder.main
    if main is None or main.status != _OK or not tab.recorder.whole:
        return b""
    with anyio.move_on_after(_BODY_S), suppress(Error):
        if (await main.request.sizes())["responseBodySize"] <= MAX_FRAMED_BYTES:
            return await main.body()
    return b""


async def body_of(tab: Tab, max_bytes: int, deadline_s: float, *, as_file: bool) -> Body:
    """Read a response that is no page: JSON, text, PDF, an image.

    Raises:
        FaultError: CONTENT_TOO_LARGE or NETWORK_CONNECTION_FAILED.
    """
    main = tab.recorder.main
    content_type = main.headers.get("content-type", "") if main else ""
    if as_file:
        return await _downloaded(tab, content_type, max_bytes, deadline_s)
    if main is None:
        raise FaultError(fault(Code.NETWORK_CONNECTION_FAILED))
    length = main.headers.get("content-length", "")
    if length.isdecimal() and int(length[:15]) > max_bytes:
        raise _too_large(max_bytes)
    try:
        await _whole(tab, main)
        if (await main.request.sizes())["responseBodySize"] > max_bytes:
            raise _too_large(max_bytes)
        return Body(*page_answer.readable(await main.body(), content_type, main.status), tab.page.url)
    except Error as error:
        raise tab.fault(error) from error


async def _whole(tab: Tab, main: Response) -> None:
    """Wait until a response has come to its end, or is too large.

    Raises:
        FaultError: CONTENT_TOO_LARGE.
    """
    async with anyio.create_task_group() as tasks:

        async def watch() -> None:
            await tab.meter.over.wait()
            tasks.cancel_scope.cancel()

        tasks.start_soon(watch)
        with suppress(Error):
            await main.finished()
        tasks.cancel_scope.cancel()
    tab.meter.check()


async def _downloaded(tab: Tab, content_type: str, max_bytes: int, deadline_s: float) -> Body:
    download = await _announced(tab)
    data = await captures.file_of(download, max_bytes, deadline_s - time.monotonic()) if download else None
    if data is None:
        raise FaultError(fault(Code.CONTENT_TOO_LARGE, f"The file is larger than {max_bytes} bytes, or broke off."))
    return Body(data, content_type, download.url if download else tab.recorder.main_url)


async def _announced(tab: Tab) -> Download | None:
    downloads = tab.recorder.downloads
    with anyio.move_on_after(_DOWNLOAD_S):
        while not downloads:  # noqa: ASYNC110 - Playwright announces it by a callback at any moment
            await anyio.sleep(_POLL_S)
    return downloads.pop(0) if downloads else None


def _too_large(max_bytes: int) -> FaultError:
    return FaultError(fault(Code.CONTENT_TOO_LARGE, f"The page is larger than {max_bytes} bytes."))


# -- frames of other origins -------------------------------------------------------------------------------------------


async def _with_frames(frame: Frame, html: str, limit: int, depth: int) -> str:
    """Replace the placeholders of the serializer by the markup of frames; one that does not respond stays empty."""
    wanted = set(_PLACEHOLDER.findall(html))
    if not wanted:
        return html
    markup: dict[str, str] = {}
    if depth:
        for path, inner in (await _frame_paths(frame)).items():
            if path in wanted and len(html) < limit:
                markup[path] = await _frame_html(inner, limit - len(html), depth - 1)
    return _PLACEHOLDER.sub(lambda match: markup.get(match[1], ""), html)


async def _frame_paths(frame: Frame) -> dict[str, Frame]:
    """Map the frames below by their path of indexes in `window.frames`."""
    paths: dict[str, Frame] = {}
    todo: list[tuple[tuple[str, ...], Frame]] = [((), frame)]
    while todo and len(paths) < _MAX_FRAMES:
        above, parent = todo.pop()
        for child in parent.child_frames:
            with anyio.move_on_after(_FRAME_S):
                try:
                    element = await child.frame_element()
                    index = int(await element.evaluate(_INDEX))
                except Error:
                    continue
                path = (*above, str(index))
                paths[".".join(path)] = child
                todo.append((path, child))
    return paths


async def _frame_html(frame: Frame, limit: int, depth: int) -> str:
    with anyio.move_on_after(_FRAME_S):
        try:
            page = await frame.evaluate(f"() => ({script('serialise')})({max(limit, 0)})")
        except Error:
            return ""
        body = _BODY.search(str(page["html"]))
        return await _with_frames(frame, body[1], limit, depth) if body else ""
    return ""
