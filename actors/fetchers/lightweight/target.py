"""Opens a page in the engine, whose every request Python answers, and the scripts that run beside the page's own."""

from __future__ import annotations

import importlib.resources
import secrets
from collections.abc import Mapping
from functools import cache
from typing import Any

import msgspec
from anyio.abc import TaskGroup
from msgspec import Struct

from actors.fetchers.lightweight import origins
from actors.fetchers.lightweight.cdp import CdpConnection
from actors.fetchers.lightweight.cookie_sync import SyncedCookies
from actors.fetchers.lightweight.network import Network
from actors.fetchers.lightweight.origins import Frames
from actors.fetchers.lightweight.page_requests import Web
from actors.fetchers.lightweight.rendering import RenderOptions
from actors.fetchers.logins import Login
from actors.fetchers.sampling import ExchangeLog
from actors.web.exchange import WebResponse
from protocol.sessions import OriginStorage

MAX_HTML_CHARS = 8_000_000
MAX_TEXT_CHARS = 20_000
MAX_STORED_CHARS = 5_000_000

INVALID_SELECTOR = "invalid"


class PageVisit(Struct, frozen=True):
    """A page to be rendered: its first document, and the login that sees it; `web` fetches what it requests.

    What its scripts are answered in JSON is gathered in `samples`.
    """

    first: WebResponse
    login: Login
    web: Web
    options: RenderOptions
    samples: ExchangeLog | None = None


class PageTarget(Struct, frozen=True):
    """A page of the engine: `session` is what its calls are sent to."""

    connection: CdpConnection
    session: str
    frames: Frames
    cookies: SyncedCookies
    network: Network

    async def call(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Call a method of the page."""
        return await self.connection.call(method, params, session=self.session)


async def open_target(connection: CdpConnection, tasks: TaskGroup, visit: PageVisit) -> PageTarget:
    """Open an empty page that has the cookies of its site, and whose first document is ready.

    Raises:
        CdpError: the engine refused.
        ClosedError: the connection broke off.
    """
    context = str((await connection.call("Target.createBrowserContext"))["browserContextId"])
    blank = {"url": "about:blank", "browserContextId": context}
    target = str((await connection.call("Target.createTarget", blank))["targetId"])
    attached = await connection.call("Target.attachToTarget", {"targetId": target, "flatten": True})
    frames = Frames(target)
    cookies = SyncedCookies(visit.login.cookies, origins.site(visit.first.url), context)
    network = Network(
        engine=connection,
        session=str(attached["sessionId"]),
        tasks=tasks,
        web=visit.web,
        frames=frames,
        jar=visit.login.cookies,
        cookies=cookies,
        first=visit.first,
        terms=visit.options.terms,
        alarm=f"http://{secrets.token_hex(8)}.invalid/" if visit.login.profile is not None else "",
        samples=visit.samples,
    )
    return PageTarget(connection, network.session, frames, cookies, network)


async def load_first(target: PageTarget, visit: PageVisit, name: str) -> None:
    """Load the first document; scripts answer to `name` from then on. Listen to the page's events before."""
    await target.connection.post("Page.enable", {}, session=target.session)
    alarm, options = target.network.alarm, visit.options
    source = watch_script(name, options.agent, _own_storage(visit), alarm=alarm, console=options.console)
    await target.call("Page.addScriptToEvaluateOnNewDocument", {"source": source})
    await target.cookies.hand_over(target.connection, target.session)
    await target.call("Fetch.enable", {"patterns": [{"urlPattern": "*"}]})
    await target.connection.post("Page.navigate", {"url": visit.first.url}, session=target.session)


def watch_script(name: str, agent: str, stored: Mapping[str, OriginStorage], *, alarm: str, console: bool) -> str:
    """Return the script that is injected before all others, and which answers to `name` afterwards.

    It requests `alarm` before a frame runs that the page wanted to be confined, and a path of it when such a frame is
    left out; without `alarm` frames are as the engine has them.
    """
    kept = {
        origin: {"local": storage.local_storage, "session": storage.session_storage}
        for origin, storage in stored.items()
    }
    watch = _called("watch.js", {"name": name, "agent": agent, "console": console, "storage": kept})
    return watch + _called("confine.js", alarm) if alarm else watch


def read_script() -> str:
    """Return the script that serializes the document, and counts what is in it."""
    return _called("read.js", MAX_HTML_CHARS, MAX_TEXT_CHARS)


def storage_script() -> str:
    """Return the script that reads the storage of the page's origin."""
    return _called("keep.js", MAX_STORED_CHARS)


def load_more_script(*, press: bool) -> str:
    """Return the script that scrolls on, and presses what loads more."""
    return _called("more.js", press)


def selector_script(selector: str) -> str:
    """Return the script that says whether an element is there, or `INVALID_SELECTOR`."""
    is_there, invalid = f"!!document.querySelector({_literal(selector)})", _literal(INVALID_SELECTOR)
    return f"(() => {{ try {{ return {is_there}; }} catch {{ return {invalid}; }} }})()"


def _own_storage(visit: PageVisit) -> Mapping[str, OriginStorage]:
    origin = origins.origin(visit.first.url)
    return {origin: stored} if (stored := visit.login.origins.get(origin)) else {}


def _called(file: str, *arguments: object) -> str:
    return f"({_source(file)})({','.join(_literal(argument) for argument in arguments)});"


def _literal(value: object) -> str:
    return msgspec.json.encode(value).decode().replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


@cache
def _source(file: str) -> str:
    text = (importlib.resources.files(__package__ or "") / "script" / file).read_text("utf-8")
    return "\n".join(line for line in text.splitlines() if not line.startswith("//")).strip()
