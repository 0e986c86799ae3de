"""Moves cookies and storage between a saved session and a context of the browser.

Playwright opens a page for every origin whose storage it restores, which takes 60 ms each: it restores only those with
databases. All others are restored by a script, when a tab first navigates to them.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, cast
from urllib.parse import urlsplit

import anyio
import msgspec
from playwright.async_api import BrowserContext, Error, Page, StorageState

from actors.fetchers.logins import Login
from actors.fetchers.playwright.devtools import Cdp, script
from protocol.sessions import Cookie, OriginStorage

_ATTACH_S = 1.0
"""How long a tab that does not respond may delay its document."""

_NEVER = -1
"""Playwright's expiry of a session cookie."""


def state_of(session: Login) -> StorageState | None:
    """Convert a session to Playwright's storage state; None for an empty one."""
    cookies = [_to_playwright(cookie) for cookie in session.cookies.export()]
    origins = [_playwright_origin(storage) for storage in session.origins.values() if storage.indexed_db]
    return cast("StorageState", {"cookies": cookies, "origins": origins}) if cookies or origins else None


@dataclass(eq=False)
class StorageRestorer:
    """Restores the storage of the session into the first document of each origin in a context.

    Later documents are left alone: what a page has removed stays removed.
    """

    context: BrowserContext
    _waiting: dict[str, dict[str, dict[str, str]]] = field(default_factory=dict[str, dict[str, dict[str, str]]])
    _visited: set[str] = field(default_factory=set[str])
    _scripts: dict[Cdp, str] = field(default_factory=dict[Cdp, str])

    def prepare(self, session: Login) -> None:
        """Collect what is to be restored, before the first tab is opened."""
        for origin, storage in session.origins.items():
            local = {} if storage.indexed_db else storage.local_storage
            if local or storage.session_storage:
                self._waiting[origin] = {"local": local, "session": storage.session_storage}

    async def attach(self, tab: Cdp) -> None:
        """Restore in this tab, too, by a script that runs in every new document."""
        if self._waiting:
            source = f"({script('storage')})({msgspec.json.encode(self._waiting).decode()})"
            await tab.send("Page.enable")  # without it the script is taken, and never run
            response = await tab.send("Page.addScriptToEvaluateOnNewDocument", {"source": source})
            self._scripts[tab] = response["identifier"]

    async def before_document(self, url: str) -> None:
        """Stop restoring an origin whose second document is about to be requested; called before it is."""
        origin = _origin_of(url)
        if origin in self._visited and self._waiting.pop(origin, None) is not None:
            for tab, identifier in [*self._scripts.items()]:
                del self._scripts[tab]
                with suppress(Error), anyio.move_on_after(_ATTACH_S):
                    await tab.send("Page.removeScriptToEvaluateOnNewDocument", {"identifier": identifier})
                    await self.attach(tab)
        self._visited.add(origin)


async def save(
    restorer: StorageRestorer, session: Login, pages: Sequence[Page] | None = None, *, whole: bool = True
) -> None:
    """Save cookies and storage of a context into its session, which nobody else has changed meanwhile.

    `pages` are those that respond, all of them by default; not `whole`, only cookies are saved.
    """
    context = restorer.context
    if not whole:
        _save_cookies(session, cast("list[dict[str, Any]]", await context.cookies()))
        return
    state = cast("dict[str, Any]", await context.storage_state(indexed_db=True))
    _save_cookies(session, state["cookies"])
    tabs = {page.url.split("#")[0]: page for page in (context.pages if pages is None else pages)}
    in_tabs: dict[str, dict[str, str]] = {}
    for page in tabs.values():
        with suppress(Error):  # about:blank has none, nor has what is being left
            origin, entries = cast("list[Any]", await page.evaluate("[location.origin, {...sessionStorage}]"))
            in_tabs[origin] = _texts_of(entries)
    local = {origin["origin"]: origin for origin in state["origins"]}
    for origin in {*local, *in_tabs} - {"null"}:
        session.origins[origin] = _storage(origin, local.get(origin, {}), in_tabs.get(origin, {}))


def _save_cookies(session: Login, cookies: list[dict[str, Any]]) -> None:
    session.cookies.jar.clear()
    session.cookies.load(_from_playwright(one) for one in cookies if not one.get("partitionKey") and _is_kept(one))


def _is_kept(cookie: dict[str, Any]) -> bool:
    return _is_whole(cookie["name"]) and _is_whole(cookie["value"])


def _storage(origin: str, local: dict[str, Any], in_tab: dict[str, str]) -> OriginStorage:
    return OriginStorage(
        origin=origin,
        local_storage=_encodable({entry["name"]: entry["value"] for entry in local.get("localStorage", ())}),
        session_storage=_encodable(in_tab),
        indexed_db=_databases(local.get("indexedDB")),
    )


def _texts_of(entries: object) -> dict[str, str]:
    """Return what a page says of its storage; its scripts may have it say anything."""
    try:
        return msgspec.convert(entries, dict[str, str])
    except msgspec.ValidationError:
        return {}


def _encodable(entries: dict[str, str]) -> dict[str, str]:
    """Leave out what has half a surrogate pair: it cannot be written, and the page would misread anything else."""
    return {name: value for name, value in entries.items() if _is_whole(name) and _is_whole(value)}


def _is_whole(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _databases(databases: object) -> str:
    """Write the databases of an origin; none of them where one has what `_encodable` leaves out."""
    try:
        return msgspec.json.encode(databases).decode() if databases else ""
    except UnicodeEncodeError:
        return ""


def _playwright_origin(storage: OriginStorage) -> dict[str, Any]:
    local = [{"name": name, "value": value} for name, value in storage.local_storage.items()]
    databases = {"indexedDB": msgspec.json.decode(storage.indexed_db)} if storage.indexed_db else {}
    return {"origin": storage.origin, "localStorage": local, **databases}


def _origin_of(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def _to_playwright(cookie: Cookie) -> dict[str, Any]:
    return {
        "name": cookie.name,
        "value": cookie.value,
        "domain": cookie.domain if cookie.host_only else f".{cookie.domain}",
        "path": cookie.path,
        "expires": _NEVER if cookie.expires is None else cookie.expires,
        "httpOnly": cookie.http_only,
        "secure": cookie.secure,
        "sameSite": cookie.same_site or "Lax",
    }


def _from_playwright(cookie: dict[str, Any]) -> Cookie:
    domain = str(cookie["domain"])
    return Cookie(
        name=cookie["name"],
        value=cookie["value"],
        domain=domain.removeprefix("."),
        path=cookie["path"],
        expires=None if cookie["expires"] == _NEVER else float(cookie["expires"]),
        secure=cookie["secure"],
        http_only=cookie["httpOnly"],
        host_only=not domain.startswith("."),
        same_site=cookie.get("sameSite"),
    )
