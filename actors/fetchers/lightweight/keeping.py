"""Keeps the cookies of a page's own site equal in the jar, which is the truth, and in the engine, which scripts see."""

from __future__ import annotations

from typing import Any, Protocol

from msgspec import Struct

from actors.fetchers.lightweight.origins import of_site
from actors.fetchers.web.cookies import Jar
from protocol.sessions import Cookie

_Key = tuple[str, str, str]


class Engine(Protocol):
    """What is used of a connection."""

    async def call(self, method: str, params: dict[str, Any] | None = None, *, session: str | None = None) -> Any:
        """Call a method and give its result."""
        ...


class _Shown(Struct, frozen=True, rename="camel"):
    """A cookie as the engine tells it."""

    name: str
    value: str
    domain: str
    path: str = "/"
    expires: float = -1
    http_only: bool = False
    secure: bool = False


class OwnCookies:
    """The cookies of the site `own` in a context of the engine; those of other sites never get there."""

    def __init__(self, jar: Jar, own: str, context: str) -> None:
        """Put nothing into the context."""
        self._jar = jar
        self._own = own
        self._context = context
        self._given: dict[_Key, str] = {}

    def explains(self, url: str, header: str) -> bool:
        """Whether the Cookie header that the engine shows, which lacks its last character, is what the jar gives."""
        ours = {f"{cookie.name}={cookie.value}" for cookie in self._jar.export(url)}
        theirs = header.split("; ") if header else []
        *whole, last = theirs or [""]
        rest = ours.difference(whole)
        return len(theirs) == len(ours) and ours.issuperset(whole) and all(pair[:-1] == last for pair in rest)

    async def hand_over(self, engine: Engine, session: str) -> None:
        """Tell the engine what has changed in the jar."""
        now = {_key(cookie): cookie for cookie in self._jar.export() if of_site(cookie.domain, self._own)}
        changed = [_shown(cookie) for key, cookie in now.items() if self._given.get(key) != cookie.value]
        gone = [key for key in self._given if key not in now]
        if changed:
            await engine.call("Network.setCookies", {"cookies": changed}, session=session)
        for domain, path, name in gone:
            asked = {"name": name, "domain": domain, "path": path}
            await engine.call("Network.deleteCookies", asked, session=session)
        self._given = {key: cookie.value for key, cookie in now.items()}

    async def take_back(self, engine: Engine) -> None:
        """Note in the jar what scripts have changed; what is hidden from them they have not."""
        answer = await engine.call("Storage.getCookies", {"browserContextId": self._context})
        seen: set[_Key] = set()
        for told in answer.get("cookies", ()):
            shown = _Shown(
                name=told["name"],
                value=told["value"],
                domain=told["domain"],
                path=told.get("path", "/"),
                expires=told.get("expires", -1),
                http_only=told.get("httpOnly", False),
                secure=told.get("secure", False),
            )
            cookie = _cookie(shown)
            key = _key(cookie)
            seen.add(key)
            if not cookie.http_only and of_site(cookie.domain, self._own) and self._given.get(key) != cookie.value:
                self._jar.load((cookie,))
                self._given[key] = cookie.value
        self._forget(seen)

    def _forget(self, seen: set[_Key]) -> None:
        hidden = {_key(cookie) for cookie in self._jar.export() if cookie.http_only}
        for stored in tuple(self._jar.jar):
            key = (stored.domain.removeprefix(".").removesuffix(".local"), stored.path, stored.name)
            if key in self._given and key not in seen and key not in hidden:
                self._jar.jar.clear(stored.domain, stored.path, stored.name)
                del self._given[key]


def _key(cookie: Cookie) -> _Key:
    return cookie.domain, cookie.path, cookie.name


def _cookie(shown: _Shown) -> Cookie:
    return Cookie(
        name=shown.name,
        value=shown.value,
        domain=shown.domain.removeprefix("."),
        path=shown.path,
        expires=shown.expires if shown.expires > 0 else None,
        secure=shown.secure,
        http_only=shown.http_only,
        host_only=not shown.domain.startswith("."),
    )


def _shown(cookie: Cookie) -> dict[str, Any]:
    scheme = "https" if cookie.secure else "http"
    shown: dict[str, Any] = {
        "name": cookie.name,
        "value": cookie.value,
        "path": cookie.path,
        "secure": cookie.secure,
        "httpOnly": cookie.http_only,
        "url": f"{scheme}://{cookie.domain}{cookie.path}",
    }
    if not cookie.host_only:
        shown["domain"] = f".{cookie.domain}"
    if cookie.expires is not None:
        shown["expires"] = cookie.expires
    if cookie.same_site:
        shown["sameSite"] = cookie.same_site
    return shown
