"""What is kept of a login: cookies and storage per profile and site, and how healthy it is (000, sessions)."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from msgspec import Raw, Struct


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
    """What one origin keeps in the browser; `indexed_db` is the browser's own JSON, opaque to us."""

    origin: str
    local_storage: dict[str, str] = {}
    session_storage: dict[str, str] = {}
    indexed_db: Raw | None = None


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
