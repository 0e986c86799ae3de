"""Merges the changes of a fetch to a login with what others have changed meanwhile."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from protocol.sessions import MAX_STATE_BYTES, Cookie, OriginStorage, SessionState

MAX_COOKIES = 300

K = TypeVar("K")
V = TypeVar("V")

CookieId = tuple[str, bool, str, str]


def merged(before: SessionState, after: SessionState, latest: SessionState) -> SessionState:
    """Apply to `latest` the changes from `before` to `after`: cookie by cookie, entry by entry.

    What was not changed stays as it is in `latest`; what was set last is last.
    """
    cookies = _merged(_by_id(before), _by_id(after), _by_id(latest))
    old, new, origins = _by_origin(before), _by_origin(after), _by_origin(latest)
    for origin in {**old, **new}:
        nothing = OriginStorage(origin=origin)
        storage = _storage(old.get(origin, nothing), new.get(origin, nothing), origins.get(origin, nothing))
        if storage == nothing:
            origins.pop(origin, None)
        else:
            origins[origin] = storage
    return SessionState(cookies=tuple(cookies.values())[-MAX_COOKIES:], origins=tuple(origins.values()))


def fitting(state: SessionState, limit: int = MAX_STATE_BYTES) -> SessionState:
    """Return as much of a state as fits into `limit` bytes of JSON: cookies first, the largest origins last."""
    left = limit - _size(state.cookies)
    kept: list[OriginStorage] = []
    for origin in sorted(state.origins, key=_size):
        for fewer in (origin, replace(origin, indexed_db="")):
            if (size := _size(fewer)) <= left:
                kept.append(fewer)
                left -= size
                break
    if len(kept) == len(state.origins) and all(one in state.origins for one in kept):
        return state
    return replace(state, origins=tuple(kept))


def _storage(before: OriginStorage, after: OriginStorage, latest: OriginStorage) -> OriginStorage:
    untouched = before.indexed_db == after.indexed_db
    return OriginStorage(
        origin=latest.origin,
        local_storage=_merged(before.local_storage, after.local_storage, latest.local_storage),
        session_storage=_merged(before.session_storage, after.session_storage, latest.session_storage),
        indexed_db=latest.indexed_db if untouched else after.indexed_db,
    )


def _merged(before: Mapping[K, V], after: Mapping[K, V], latest: Mapping[K, V]) -> dict[K, V]:
    changed = {key: value for key, value in after.items() if before.get(key) != value}
    gone = (before.keys() - after.keys()) | changed.keys()
    return {key: value for key, value in latest.items() if key not in gone} | changed


def _by_id(state: SessionState) -> dict[CookieId, Cookie]:
    return {(cookie.domain, cookie.host_only, cookie.path, cookie.name): cookie for cookie in state.cookies}


def _by_origin(state: SessionState) -> dict[str, OriginStorage]:
    return {origin.origin: origin for origin in state.origins}


def _size(part: object) -> int:
    return len(msgspec.json.encode(part))
