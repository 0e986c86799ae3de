"""What is kept of a login: cookies and storage per profile and site, its health (000, sessions); Playwright's form."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Final, Literal
from urllib.parse import urlsplit

import msgspec
from msgspec import UNSET, Meta, Raw, Struct, UnsetType

from protocol.access import OWNER_NAME

DEFAULT_PROFILE = "default"
"""The profile of a login where none is named."""

PASS: Final = "session.pass"  # noqa: S105 - a purpose, no password
"""The purpose that a LoginPass is sealed for."""

OPENED: Final = "session.opened"
"""The purpose that a login on its way to a fetcher is sealed for, by a key of that answer alone."""

LEASE: Final = "session.lease"
"""The purpose that a LoginLeased is sealed for, by which the actor of the logins knows its own leases again."""

CHANGE: Final = "session.change"
"""The purpose that a LoginChange is sealed for, by the key of its lease."""

SAVING: Final = "session.save"
"""The purpose that a login on its way into the vault is sealed for."""

MAX_STATE_BYTES = 700_000
"""The JSON of a login at most: with what surrounds it, it has to fit into one message of NATS (1 MiB)."""

MAX_LOGINS = 500
"""Saved logins of one key; no more are listed."""

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


class LoginGrant(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Whom the owner of a login shares it with: a caller, such as `key-abcdefghijkl`.

    With `read_only` pages are read with it, and nothing that they change of it is saved.
    """

    key: str
    read_only: bool = False


class SavedSession(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One login of SESSIONS, and what is known of it; times in ms since the epoch, 0 where it never happened.

    `domain` is the site's registrable domain. `address` is a page that shows whether one is logged in, when somebody
    said which. `wall` is the page where a login was wanted at `expired`, until it is seen without. `origin` is where
    the site was visited last: its scheme, host and port. `owner` is the caller whose it is; `epoch` is new whenever the
    login was handed in or renewed.
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
    origin: str = ""
    owner: str = OWNER_NAME
    grants: tuple[LoginGrant, ...] = ()
    epoch: str = ""


class SessionStatus(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """How a login stands, without a single value of it; times in ms since the epoch.

    `auth_cookies` are the names of those cookies that look like a login, `expires` is when the first of them ends.
    `owner` is whose it is, `grants` (for the owner alone) whom it is shared with; `read_only`: whoever asks may use it,
    and change nothing of it.
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
    owner: str = ""
    grants: tuple[LoginGrant, ...] = ()
    read_only: bool = False


class SaveSession(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """SESSION_SAVE: keep this login of `caller`, in place of the one that they had; nobody else's is touched.

    `sealed` is the JSON of a SessionState, encrypted by the vault key for `sealed_for(profile, domain)`: it never
    travels in the open.
    """

    domain: Domain
    profile: Profile = DEFAULT_PROFILE
    address: str = ""
    sealed: bytes
    caller: str


class NamedSession(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """SESSION_HEALTH, SESSION_REFRESH, SESSION_DELETE: the login of this profile for the site of this host.

    It is the one that `caller` owns, or else one that is shared with them; any other is as if it were not there.
    """

    domain: Domain
    profile: Profile = DEFAULT_PROFILE
    caller: str


class ShareSession(NamedSession, frozen=True, kw_only=True, omit_defaults=True):
    """SESSION_SHARE: share a login of `caller` with somebody else (see LoginGrant), or with `remove` no longer."""

    key: Annotated[str, Meta(min_length=1, max_length=200)]
    read_only: bool = False
    remove: bool = False


class ListSessions(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """SESSION_LIST: every login that `caller` owns or may use, or those of one profile."""

    profile: Profile | None = None
    caller: str


class SessionList(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The answer to SESSION_LIST, by profile and domain; `more` are those that were left out."""

    sessions: tuple[SessionStatus, ...] = ()
    more: int = 0


class LoginPass(Struct, frozen=True, kw_only=True):
    """What opens one login for whoever holds it, sealed for PASS: that of `profile` at `site`, as `caller` may use it.

    The gateway and the runner make it, and the fetchers pass it on: it opens nothing but itself, until `until` (ms
    since the epoch).
    """

    caller: str
    profile: str
    site: str
    until: int


class OpenLogin(Struct, frozen=True, kw_only=True):
    """SESSION_OPEN: open the login of this pass for the key pair whose public half is `public`."""

    login: bytes
    public: bytes


class OpenedLogin(Struct, frozen=True, kw_only=True):
    """SESSION_OPEN: a LoginContent, sealed for the key pair of the one who asked and OPENED."""

    sealed: bytes


class LoginContent(Struct, frozen=True, kw_only=True):
    """A login as a fetch has it: `partition` is where its answers are cached, `created` is 0 where there was none.

    What the fetch changes goes back sealed by `key`, with the `lease`.
    """

    profile: str
    site: str
    state: SessionState
    partition: str
    created: int
    used: int
    key: bytes
    lease: bytes


class LoginLeased(Struct, frozen=True, kw_only=True):
    """What a lease says to the actor that made it, which alone can read it: who may change which login."""

    caller: str
    owner: str
    profile: str
    site: str
    created: int
    key: bytes


class KeepLogin(Struct, frozen=True, kw_only=True):
    """SESSION_KEEP: save what a fetch has changed: `sealed` is a LoginChange, encrypted by the key of the lease."""

    lease: bytes
    sealed: bytes


class LoginChange(Struct, frozen=True, kw_only=True):
    """A login before and after a fetch; `origin` is that of the address that was fetched."""

    before: SessionState
    after: SessionState
    origin: str = ""


class KeptLogin(Struct, frozen=True, kw_only=True):
    """SESSION_KEEP: whether it was saved, and since when there is that login."""

    saved: bool
    lease: bytes = b""


def origin_of(address: str) -> str:
    """Return scheme, host and port of a web address; nothing for what is none."""
    try:
        parts = urlsplit(address)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return ""
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    return f"{parts.scheme}://{host}{port}" if parts.scheme in ("http", "https") and host else ""


def sealed_for(profile: str, domain: str) -> str:
    """Name the place that a login on its way to SESSION_SAVE is sealed for, by the words of the request."""
    return f"{SAVING} {profile} {domain}"


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
