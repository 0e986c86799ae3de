"""Where the credentials that a page's scripts send stand in its login: they are known by that place, never by value.

`Bearer {local:auth#/token}` stands for the member `token` of the JSON that the page's origin keeps as `auth` in its
local storage, `{session:…}` for its session storage, `{cookie:XSRF-TOKEN}` for a cookie.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, cast
from urllib.parse import quote, unquote

import msgspec

from actors.fetchers.logins import Login
from actors.sites import site_of
from protocol.faults import FaultError
from protocol.sessions import OriginStorage, origin_of

_PLACE: Final = re.compile(r"\{(local|session|cookie):([^{}#]{1,400})((?:#[^{}]{0,400})?)\}")
_SCHEME: Final = re.compile(r"(?:[A-Za-z][\w-]{0,30} )?")
_MIN_CHARS: Final = 8
"""A shorter value stands in many places, and is no credential."""

_MAX_DEPTH: Final = 4
_MAX_ITEMS: Final = 200


def reference(value: str, login: Login, page_url: str) -> str:
    """Return the place in a login that the value of a header comes from; "" where it stands nowhere there."""
    scheme = match[0] if (match := _SCHEME.match(value)) else ""
    for prefix in dict.fromkeys((scheme, "")):
        credential = value.removeprefix(prefix)
        if len(credential) >= _MIN_CHARS and (place := _place_of(credential, login, page_url)):
            return f"{prefix}{{{place}}}"
    return ""


def resolved(template: str, login: Login, page_url: str) -> str | None:
    """Return the value of a header with what the login has in the places named; None where it has nothing there."""
    for match in list(_PLACE.finditer(template)):
        if (value := _value_at(match[1], unquote(match[2]), match[3], login, page_url)) is None:
            return None
        template = template.replace(match[0], value)
    return template if template.isprintable() else None


def same_site(url: str, page_url: str) -> bool:
    """Return whether a request stays on the site of its page: no credential goes further."""
    try:
        return site_of(url) == site_of(page_url)
    except FaultError:
        return False


def _place_of(credential: str, login: Login, page_url: str) -> str:
    for kind, kept in _stores(login, page_url).items():
        for key, stored in list(kept.items())[:_MAX_ITEMS]:
            if stored == credential:
                return f"{kind}:{quote(key, safe='')}"
            for pointer, text in _texts(stored):
                if text == credential:
                    return f"{kind}:{quote(key, safe='')}#{pointer}"
    return ""


def _value_at(kind: str, key: str, pointer: str, login: Login, page_url: str) -> str | None:
    stored = _stores(login, page_url)[kind].get(key)
    if stored is None or not pointer:
        return stored
    return next((text for place, text in _texts(stored) if place == pointer[1:]), None)


def _stores(login: Login, page_url: str) -> dict[str, Mapping[str, str]]:
    origin = origin_of(page_url)
    storage = login.origins.get(origin, OriginStorage(origin=origin))
    cookies = {cookie.name: unquote(cookie.value) for cookie in login.cookies.export(page_url)}
    return {"local": storage.local_storage, "session": storage.session_storage, "cookie": cookies}


def _texts(stored: str) -> Iterator[tuple[str, str]]:
    """Yield the texts in a value that is JSON, each with its JSON pointer."""
    if stored[:1] not in ("{", '"', "["):
        return
    try:
        parsed: object = msgspec.json.decode(stored)
    except (msgspec.DecodeError, RecursionError):
        return
    yield from _members(parsed, "", _MAX_DEPTH)


def _members(value: object, pointer: str, depth: int) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield pointer, value
    elif isinstance(value, dict) and depth:
        for key, member in list(cast("dict[str, Any]", value).items())[:_MAX_ITEMS]:
            yield from _members(member, f"{pointer}/{quote(key, safe='')}", depth - 1)
