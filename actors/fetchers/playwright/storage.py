"""Carries cookies and storage between a session and a context of the browser."""

from __future__ import annotations

from typing import Any, cast

import msgspec
from msgspec import Raw
from playwright.async_api import BrowserContext, StorageState

from actors.fetchers.playwright.loading import script
from actors.fetchers.sessions import Session
from protocol.sessions import Cookie, OriginStorage

_NEVER = -1
"""What Playwright calls a cookie that ends with the browser."""


def state_of(session: Session) -> StorageState | None:
    """Give what a session remembers in Playwright's form; None for nothing."""
    cookies = [_given(cookie) for cookie in session.cookies.export()]
    origins = [_origin(storage) for storage in session.origins.values() if storage.local_storage or storage.indexed_db]
    return cast("StorageState", {"cookies": cookies, "origins": origins}) if cookies or origins else None


async def restore(context: BrowserContext, session: Session) -> None:
    """Have each tab begin with the session storage of its origin."""
    kept = {origin: dict(storage.session_storage) for origin, storage in session.origins.items()}
    if any(kept.values()):
        data = msgspec.json.encode(kept).decode()
        await context.add_init_script(f"({script('session_storage')})({data})")


async def keep(context: BrowserContext, session: Session) -> None:
    """Take what the pages of a context have left into its session, which has been changed by nobody else meanwhile."""
    state = cast("dict[str, Any]", await context.storage_state(indexed_db=True))
    session.cookies.jar.clear()
    session.cookies.load(_taken(cookie) for cookie in state["cookies"] if not cookie.get("partitionKey"))
    tabs = {page.url.split("#")[0]: page for page in context.pages}
    in_tabs: dict[str, dict[str, str]] = {}
    for page in tabs.values():
        origin, entries = cast("list[Any]", await page.evaluate("[location.origin, {...sessionStorage}]"))
        in_tabs[origin] = entries
    local = {origin["origin"]: origin for origin in state["origins"]}
    for origin in {*local, *in_tabs} - {"null"}:
        session.origins[origin] = _storage(origin, local.get(origin, {}), in_tabs.get(origin, {}))


def _storage(origin: str, local: dict[str, Any], in_tab: dict[str, str]) -> OriginStorage:
    databases = local.get("indexedDB")
    return OriginStorage(
        origin=origin,
        local_storage={entry["name"]: entry["value"] for entry in local.get("localStorage", ())},
        session_storage=in_tab,
        indexed_db=Raw(msgspec.json.encode(databases)) if databases else None,
    )


def _origin(storage: OriginStorage) -> dict[str, Any]:
    local = [{"name": name, "value": value} for name, value in storage.local_storage.items()]
    databases = {"indexedDB": msgspec.json.decode(storage.indexed_db)} if storage.indexed_db else {}
    return {"origin": storage.origin, "localStorage": local, **databases}


def _given(cookie: Cookie) -> dict[str, Any]:
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


def _taken(cookie: dict[str, Any]) -> Cookie:
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
