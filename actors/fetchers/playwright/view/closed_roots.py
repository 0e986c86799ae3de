"""Shows our own worlds the shadow trees that are closed to scripts: the browser's own protocol knows them."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Final

import anyio
from playwright.async_api import Error

from actors.fetchers.playwright.devtools import Cdp
from actors.fetchers.playwright.view.documents import TabDocument

_PATIENCE_S = 1.0
_GROUP: Final = "weft-closed"
_UTILITY: Final = "__playwright_utility_world"
"""What the name of the world begins with in which Playwright finds elements for us."""

_CLOSED: Final = "closed"
_HOSTS: Final = "globalThis.__weftView?.hosts ?? []"
_TELL: Final = "function (host, root) { globalThis.__weftView?.closed.set(host, root); }"
_TELL_POINTER: Final = "function (host, root) { (globalThis.__weftClosed ??= new WeakMap()).set(host, root); }"


async def open_closed_roots(document: TabDocument) -> None:
    """Look into the elements that may have a closed shadow tree, and tell our worlds of those that have one."""
    cdp = document.world.cdp
    with anyio.move_on_after(_PATIENCE_S), suppress(Error):
        context = await document.world.context()
        pairs = [pair for host in await _hosts(cdp, context) for pair in await _closed(cdp, host)]
        if pairs:
            utility = await _utility_contexts(cdp, document.world.frame)
            for host, root in pairs:
                await _tell(cdp, host, root, context, _TELL)
                for other in utility:
                    await _tell(cdp, host, root, other, _TELL_POINTER)
        await cdp.send("Runtime.releaseObjectGroup", {"objectGroup": _GROUP})


async def _hosts(cdp: Cdp, context: int) -> list[str]:
    """Return the objects of the elements that `scripts/view/closed.js` has found."""
    where = {"expression": _HOSTS, "contextId": context, "objectGroup": _GROUP}
    listed = (await cdp.send("Runtime.evaluate", where))["result"]["objectId"]
    members = (await cdp.send("Runtime.getProperties", {"objectId": listed, "ownProperties": True}))["result"]
    return [str(one["value"]["objectId"]) for one in members if one["name"].isdigit()]


async def _closed(cdp: Cdp, host: str) -> list[tuple[int, int]]:
    """Return the backend ids of an element and of its closed shadow tree, if it has one."""
    node = (await cdp.send("DOM.describeNode", {"objectId": host}))["node"]
    roots = [one for one in node.get("shadowRoots", ()) if one.get("shadowRootType") == _CLOSED]
    return [(int(node["backendNodeId"]), int(one["backendNodeId"])) for one in roots]


async def _tell(cdp: Cdp, host: int, root: int, context: int, function: str) -> None:
    arguments = list[dict[str, str]]()
    for node in (host, root):
        where = {"backendNodeId": node, "executionContextId": context, "objectGroup": _GROUP}
        resolved = (await cdp.send("DOM.resolveNode", where))["object"]
        if "objectId" not in resolved:
            return  # the page has taken it into a document of another origin
        arguments.append({"objectId": str(resolved["objectId"])})
    call = {"functionDeclaration": function, "executionContextId": context, "arguments": arguments}
    await cdp.send("Runtime.callFunctionOn", call)


async def _utility_contexts(cdp: Cdp, frame: str) -> list[int]:
    """Return the worlds of Playwright's own in a frame: the browser lists all of them to whoever begins to listen."""
    contexts = list[int]()

    def created(event: dict[str, Any]) -> None:
        context = event["context"]
        if context["name"].startswith(_UTILITY) and context["auxData"].get("frameId") == frame:
            contexts.append(int(context["id"]))

    cdp.on("Runtime.executionContextCreated", created)
    await cdp.send("Runtime.enable")
    await cdp.send("Runtime.disable")
    return contexts
