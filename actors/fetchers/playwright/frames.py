"""Puts into the markup of a page what its frames of other origins show."""

from __future__ import annotations

import re

import anyio
from playwright.async_api import Error, Frame

from actors.fetchers.playwright.loading import script

_MAX_FRAMES = 20
_MAX_DEPTH = 3
_FRAME_S = 1.0
_PLACE = re.compile(r"<!--weft-frame ([0-9.]+)-->")
_BODY = re.compile(r"<body[^>]*>(.*)</body>", re.DOTALL | re.IGNORECASE)
_INDEX = """element => {
  const view = element.ownerDocument.defaultView;
  for (let index = 0; index < view.length; index++) if (view[index] === element.contentWindow) return index;
  return -1;
}"""


async def filled(frame: Frame, html: str, limit: int) -> str:
    """Fill the places that the serialiser left in the markup of `frame`; a frame that does not answer stays empty."""
    return await _filled(frame, html, limit, _MAX_DEPTH)


async def _filled(frame: Frame, html: str, limit: int, depth: int) -> str:
    wanted = set(_PLACE.findall(html))
    if not wanted:
        return html
    found: dict[str, str] = {}
    if depth:
        for way, inner in (await _ways(frame)).items():
            if way in wanted and len(html) < limit:
                found[way] = await _read(inner, limit - len(html), depth - 1)
    return _PLACE.sub(lambda place: found.get(place[1], ""), html)


async def _ways(frame: Frame) -> dict[str, Frame]:
    """Find by which numbers of window.frames each frame below is reached."""
    ways: dict[str, Frame] = {}
    todo: list[tuple[tuple[str, ...], Frame]] = [((), frame)]
    while todo and len(ways) < _MAX_FRAMES:
        way, parent = todo.pop()
        for child in parent.child_frames:
            with anyio.move_on_after(_FRAME_S):
                try:
                    element = await child.frame_element()
                    index = int(await element.evaluate(_INDEX))
                except Error:
                    continue
                path = (*way, str(index))
                ways[".".join(path)] = child
                todo.append((path, child))
    return ways


async def _read(frame: Frame, limit: int, depth: int) -> str:
    with anyio.move_on_after(_FRAME_S):
        try:
            written = await frame.evaluate(f"() => ({script('serialise')})({max(limit, 0)})")
        except Error:
            return ""
        body = _BODY.search(str(written["html"]))
        return await _filled(frame, body[1], limit, depth) if body else ""
    return ""
