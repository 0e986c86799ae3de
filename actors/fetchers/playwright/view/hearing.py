"""Learns which elements of a page hear clicks: no world but the page's own sees what its scripts listen to."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import anyio
from msgspec import Struct
from playwright.async_api import Error

from actors.fetchers.playwright.view.documents import Document

_CLICKS = frozenset({"click", "mousedown", "mouseup", "pointerdown", "pointerup"})
_MAX_NODES = 30_000
"""In a page with more elements this is not asked: what is plainly there to be clicked shows it otherwise, too."""

_MAX_HEARING = 200
_HEAR_S = 1.0
_GROUP = "weft-heard"
_NOTE = "function (...elements) { for (const element of elements) globalThis.__weftView?.heard.add(element); }"


class _Size(Struct, frozen=True):
    """How many elements a document has, and which one it is."""

    nodes: int
    page: str


async def hear(document: Document) -> None:
    """Note in our own world what hears clicks; what cannot be learnt in time is done without."""
    size = await document.ask("size", _Size)
    if size.nodes > _MAX_NODES:
        return
    with anyio.move_on_after(_HEAR_S), suppress(Error):
        nodes = document.memory.unheard(size.page, await _listening(document))[:_MAX_HEARING]
        if nodes:
            await _note(document, nodes)
            document.memory.note_heard(size.page, nodes)
        await document.world.cdp.send("Runtime.releaseObjectGroup", {"objectGroup": _GROUP})


async def _listening(document: Document) -> list[int]:
    """Ask the browser for the numbers of the nodes that hear clicks; no script of the page has a part in it."""
    cdp = document.world.cdp
    whole = await cdp.send("Runtime.evaluate", {"expression": "document", "objectGroup": _GROUP})
    asked = {"objectId": whole["result"]["objectId"], "depth": -1, "pierce": True}
    listeners = (await cdp.send("DOMDebugger.getEventListeners", asked))["listeners"]
    return [int(one["backendNodeId"]) for one in listeners if one["type"] in _CLICKS and "backendNodeId" in one]


async def _note(document: Document, nodes: tuple[int, ...]) -> None:
    cdp, context = document.world.cdp, await document.world.context()
    found: list[dict[str, Any]] = []

    async def resolve(node: int) -> None:
        with suppress(Error):
            wanted = {"backendNodeId": node, "executionContextId": context, "objectGroup": _GROUP}
            found.append((await cdp.send("DOM.resolveNode", wanted))["object"])

    async with anyio.create_task_group() as tasks:
        for node in nodes:
            tasks.start_soon(resolve, node)
    arguments = [{"objectId": one["objectId"]} for one in found]
    asked = {"functionDeclaration": _NOTE, "executionContextId": context, "arguments": arguments}
    await cdp.send("Runtime.callFunctionOn", asked)
