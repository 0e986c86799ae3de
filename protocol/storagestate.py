"""The storage state of Playwright, the common form in which a login is handed from program to program."""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from protocol.sessions import Cookie, OriginStorage, SessionState

_NEVER = -1
"""The `expires` of a cookie that ends with the browser's session."""


class StoredCookie(Struct, frozen=True, kw_only=True, rename="camel"):
    """A cookie; a domain with a leading dot has subdomains too, one without is that very host."""

    name: str
    value: str
    domain: str
    path: str = "/"
    expires: float = _NEVER
    http_only: bool = False
    secure: bool = False
    same_site: Literal["Strict", "Lax", "None"] | None = None


class StoredItem(Struct, frozen=True, kw_only=True):
    """One entry of localStorage."""

    name: str
    value: str


class StoredOrigin(Struct, frozen=True, kw_only=True, rename="camel"):
    """What one origin keeps; `session_storage` is an addition of ours."""

    origin: str
    local_storage: tuple[StoredItem, ...] = ()
    session_storage: tuple[StoredItem, ...] | UnsetType = UNSET
    indexed_db: Raw | UnsetType = msgspec.field(default=UNSET, name="indexedDB")


class StorageState(Struct, frozen=True, kw_only=True):
    """Everything that a context of Playwright's is restored from."""

    cookies: tuple[StoredCookie, ...] = ()
    origins: tuple[StoredOrigin, ...] = ()


def from_storage_state(state: StorageState) -> SessionState:
    """Read a storage state as the state of a session."""
    return SessionState(
        cookies=tuple(_cookie(cookie) for cookie in state.cookies),
        origins=tuple(
            OriginStorage(
                origin=origin.origin,
                local_storage={item.name: item.value for item in origin.local_storage},
                session_storage={item.name: item.value for item in origin.session_storage or ()},
                indexed_db=bytes(origin.indexed_db).decode() if origin.indexed_db else "",
            )
            for origin in state.origins
        ),
    )


def to_storage_state(state: SessionState) -> StorageState:
    """Write the state of a session as a storage state."""
    return StorageState(
        cookies=tuple(stored_cookie(cookie) for cookie in state.cookies),
        origins=tuple(
            StoredOrigin(
                origin=origin.origin,
                local_storage=_items(origin.local_storage),
                session_storage=_items(origin.session_storage) or UNSET,
                indexed_db=Raw(origin.indexed_db.encode()) if origin.indexed_db else UNSET,
            )
            for origin in state.origins
        ),
    )


def stored_cookie(cookie: Cookie) -> StoredCookie:
    """Write one cookie as Playwright takes it."""
    return StoredCookie(
        name=cookie.name,
        value=cookie.value,
        domain=cookie.domain if cookie.host_only else f".{cookie.domain}",
        path=cookie.path,
        expires=_NEVER if cookie.expires is None else cookie.expires,
        http_only=cookie.http_only,
        secure=cookie.secure,
        same_site=cookie.same_site,
    )


def _cookie(stored: StoredCookie) -> Cookie:
    return Cookie(
        name=stored.name,
        value=stored.value,
        domain=stored.domain.removeprefix(".").lower(),
        path=stored.path or "/",
        expires=None if stored.expires < 0 else stored.expires,
        secure=stored.secure,
        http_only=stored.http_only,
        host_only=not stored.domain.startswith("."),
        same_site=stored.same_site,
    )


def _items(pairs: dict[str, str]) -> tuple[StoredItem, ...]:
    return tuple(StoredItem(name=name, value=value) for name, value in pairs.items())
