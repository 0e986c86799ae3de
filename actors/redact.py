"""Removes credentials from what is recorded of an exchange with a site."""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import urlsplit, urlunsplit

import msgspec
from msgspec import UNSET

REDACTED = "[redacted]"
MAX_RECORDED_BODY_BYTES = 65_536
"""The longest JSON body that is recorded with its exchange."""

_HEADERS_WITH_URLS = frozenset({"location", "content-location", "referer"})
# By whole words, so that `monkey` and `encode` stay readable: a word ends at `_`, `-`, `.`, `[` or a capital.
_SECRET_WORDS = frozenset(
    {"token", "key", "apikey", "sig", "signature", "hmac", "password", "passwd", "pwd", "pass", "secret", "code"}
    | {"session", "sessionid", "sid", "auth", "authorization", "jwt", "otp", "ticket", "credential", "credentials"}
    | {"nonce", "state", "assertion", "samlresponse", "samlrequest", "phpsessid", "jsessionid"}
    | {"cookie", "cookie2", "authentication", "bearer", "csrf", "xsrf"}
)
_SECRET_ENDINGS = ("token", "apikey", "password", "passwd", "secret", "signature", "credential", "sessid")
"""What ends a word that is written as one, such as `csrftoken`."""

_WORDS = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")
_PAIR = re.compile(r"([^&;=]+)=([^&;]*)")
_USERINFO = re.compile(r"(\w://)[^\s/?#\"'<>]*@")


def url(address: str) -> str:
    """Replace the values of credential-like query and fragment parameters, and any user name and password."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return REDACTED
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, host, parts.path, _query(parts.query), _query(parts.fragment)))


def host(address: str) -> str:
    """Return the host of an address."""
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""


def headers(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Join the values of each header, lower-cased by name, and replace those that hold credentials."""
    recorded: dict[str, str] = {}
    for name, value in pairs:
        shown = _header(name.lower(), value)
        former = recorded.get(name.lower())
        recorded[name.lower()] = shown if former is None or shown == REDACTED else f"{former}, {shown}"
    return recorded


def json_body(body: bytes, content_type: str) -> object:
    """Parse a JSON body for the record; UNSET for what is none, is broken or is too long."""
    media_type = content_type.partition(";")[0].strip().lower()
    if not (media_type == "application/json" or media_type.endswith("+json")) or len(body) > MAX_RECORDED_BODY_BYTES:
        return UNSET
    try:
        parsed: object = msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError):
        return UNSET
    return parsed


def is_secret(name: str) -> bool:
    """Return whether the name of a parameter, a field or a header says that its value is a credential."""
    words = (name, *_WORDS.findall(name))
    return any(word.lower() in _SECRET_WORDS or word.lower().endswith(_SECRET_ENDINGS) for word in words)


def _header(name: str, value: str) -> str:
    if is_secret(name) or name.startswith("proxy-"):
        return REDACTED
    return url(value) if name in _HEADERS_WITH_URLS else _USERINFO.sub(r"\1", value)


def _query(query: str) -> str:
    return _PAIR.sub(lambda pair: f"{pair[1]}={REDACTED}" if is_secret(pair[1]) else pair[0], query)
