"""What is kept of a login: cookies and storage per profile and site, its health (000, sessions); Playwright's form."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, Raw, Struct, UnsetType

DEFAULT_PROFILE = "default"
"""The profile of a login where none is named."""

MAX_STATE_BYTES = 700_000
"""The JSON of a login at most: with what surrounds it, it has to fit into one message of NATS (1 MiB)."""

Profile = Annotated[str, Meta(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9_-][A-Za-z0-9_.-]*$(?!\n)")]
Domain = Annotated[str, Meta(min_length=1, max_length=255)]


class Cookie(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One cookie, as RFC 6265 §5.3 stores it; `expires` in seconds since the epoch, None for the end of the session.

    `domain` has no leading dot; `host_only` cookies go to that very host alone.
    """

    name: str
    value: str
    domain: str
    path: str = "/"
    expires: float | None = None
    secure: bool = False
    http_only: bool = False
    host_only: bool = False
    same_site: Literal["Strict", "Lax", "None"] | None = None


class OriginStorage(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one origin keeps in the browser; `indexed_db` is JSON of the browser's own, opaque to us."""

    origin: str
    local_storage: dict[str, str] = {}
    session_storage: dict[str, str] = {}
    indexed_db: str = ""


class SessionState(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Everything that a browser needs to be logged in again."""

    cookies: tuple[Cookie, ...] = ()
    origins: tuple[OriginStorage, ...] = ()


class SessionHealth(StrEnum):
    """How a saved login stands."""

    HEALTHY = "healthy"
    EXPIRING_SOON = "expiring_soon"
    STALE = "stale"
    EXPIRED = "expired"
    NOT_FOUND = "not_found"


class SavedSession(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One login of SESSIONS, and what is known of it; times in ms since the epoch, 0 where it never happened.

    `domain` is the site's registrable domain. `address` is a page that shows whether one is logged in, when somebody
    said which. `wall` is the page where a login was wanted at `expired`, until it is seen without.
    """

    profile: str
    domain: str
    state: SessionState = SessionState()
    address: str = ""
    created: int = 0
    updated: int = 0
    used: int = 0
    verified: int = 0
    expired: int = 0
    wall: str = ""


class SessionStatus(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """How a login stands, without a single value of it; times in ms since the epoch.

    `auth_cookies` are the names of those cookies that look like a login, `expires` is when the first of them ends.
    """

    domain: str
    profile: str
    health: SessionHealth
    cookies: int = 0
    auth_cookies: tuple[str, ...] = ()
    origins: int = 0
    expires: int | None = None
    address: str = ""
    created: int = 0
    updated: int = 0
    used: int = 0
    verified: int = 0


class SaveSession(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """SESSION_SAVE: keep this login, in place of the one that there was.

    `sealed` is the JSON of a SessionState, encrypted by the vault key for `sealed_for(profile, domain)`: it never
    travels in the open.
    """

    domain: Domain
    profile: Profile = DEFAULT_PROFILE
    address: str = ""
    sealed: bytes


class NamedSession(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """SESSION_HEALTH, SESSION_REFRESH, SESSION_DELETE: the login of this profile for the site of this host."""

    domain: Domain
    profile: Profile = DEFAULT_PROFILE


class ListSessions(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """SESSION_LIST: every login, or those of one profile."""

    profile: Profile | None = None


class SessionList(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The answer to SESSION_LIST, by profile and domain; `more` are those that were left out."""

    sessions: tuple[SessionStatus, ...] = ()
    more: int = 0


def sealed_for(profile: str, domain: str) -> str:
    """Name the place that a login on its way to SESSION_SAVE is sealed for, by the words of the request."""
    return f"session.save {profile} {domain}"


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
