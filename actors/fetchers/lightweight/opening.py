"""Opens an empty page in the engine whose every request Python answers."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from anyio.abc import TaskGroup

from actors.fetchers.lightweight import origins, scripts
from actors.fetchers.lightweight.engine.cdp import Connection
from actors.fetchers.lightweight.frames import Frames
from actors.fetchers.lightweight.keeping import OwnCookies
from actors.fetchers.lightweight.network import Network
from actors.fetchers.lightweight.sight import Visit
from protocol.sessions import OriginStorage


@dataclass(frozen=True)
class Target:
    """A page of the engine: `session` is what its calls are sent to."""

    connection: Connection
    session: str
    frames: Frames
    cookies: OwnCookies
    network: Network

    async def call(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Call a method of the page."""
        return await self.connection.call(method, params, session=self.session)


async def opened(connection: Connection, tasks: TaskGroup, visit: Visit) -> Target:
    """Make a page that knows the cookies of its site, and has its first document ready.

    Raises:
        CdpError: the engine refused.
        ClosedError: the connection broke off.
    """
    context = str((await connection.call("Target.createBrowserContext"))["browserContextId"])
    made = {"url": "about:blank", "browserContextId": context}
    target = str((await connection.call("Target.createTarget", made))["targetId"])
    attached = await connection.call("Target.attachToTarget", {"targetId": target, "flatten": True})
    frames = Frames(target)
    cookies = OwnCookies(visit.session.cookies, origins.site(visit.first.url), context)
    network = Network(
        engine=connection,
        session=str(attached["sessionId"]),
        tasks=tasks,
        web=visit.web,
        frames=frames,
        jar=visit.session.cookies,
        cookies=cookies,
        first=visit.first,
        terms=visit.wish.terms,
        alarm=f"http://{secrets.token_hex(8)}.invalid/" if visit.session.profile is not None else "",
    )
    return Target(connection, network.session, frames, cookies, network)


async def begin(target: Target, visit: Visit, name: str) -> None:
    """Have the page load its first document, with `name` as what it answers to; listen to its events before."""
    await target.connection.post("Page.enable", {}, session=target.session)
    alarm, wish = target.network.alarm, visit.wish
    source = scripts.watching(name, wish.agent, _own_storage(visit), alarm=alarm, console=wish.console)
    await target.call("Page.addScriptToEvaluateOnNewDocument", {"source": source})
    await target.cookies.hand_over(target.connection, target.session)
    await target.call("Fetch.enable", {"patterns": [{"urlPattern": "*"}]})
    await target.connection.post("Page.navigate", {"url": visit.first.url}, session=target.session)


def _own_storage(visit: Visit) -> Mapping[str, OriginStorage]:
    origin = origins.origin(visit.first.url)
    return {origin: stored} if (stored := visit.session.origins.get(origin)) else {}
