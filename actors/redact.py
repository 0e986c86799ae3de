"""Removes credentials from what is recorded of an exchange with a site, and from words that go to strangers."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import pairwise
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

_NAME_CHARS = 64
"""Names up to here are remembered; strangers write longer ones, too."""

_WORDS = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")
_PAIR = re.compile(r"([^&;=]+)=([^&;]*)")
_USERINFO = re.compile(r"(\w://)[^\s/?#\"'<>]*@")

# What credentials look like in prose. Repetitions are bounded: strangers write what is read here.
_AUTHORITY_USER = re.compile(r"//[^/]*@")
# It begins with letters, which are searched for as such, in a tenth of the time.
_ADDRESS = re.compile(r"http(?<=\bhttp)s?://(?:\[redacted\]|[^\s<>\"'\])}]){1,8192}")
_FORMS = re.compile(
    r"\b(?:[spr]k[-_](?=[\w-]{0,512}\d)[\w-]{16,512}|gh[pousr]_\w{20,255}|github_pat_\w{20,255}|glpat-[\w-]{16,255}"
    r"|A(?:KIA|SIA)[0-9A-Z]{16}|AIza[\w-]{30,64}|xox[abeprs]-[\w-]{10,255}|hf_\w{20,64}|ya29\.[\w-]{20,512}"
    r"|weft_[a-z0-9]{12}_\w{1,128}|eyJ[\w-]{8,4096}\.[\w-]{8,8192}(?:\.[\w-]{0,4096})?)"
)
_FORM_BEGINNINGS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("_", ("sk_", "pk_", "rk_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "hf_", "weft_")),
    ("k-", ("sk-", "pk-", "rk-")),
    ("", ("glpat-", "AKIA", "ASIA", "AIza", "xox", "ya29.", "eyJ")),
)
"""How the forms begin, by what stands in all of some."""

_PRIVATE_KEY = re.compile(r"(-----BEGIN [A-Z ]{0,32}PRIVATE KEY-----)[^-]{1,16384}(?=-----END|$)")
_HEADER_LINE = re.compile(
    r"\b((?:set-)?cookie2?\s{0,4}:\s{0,4}(?=[\w.-]{1,128}=)|(?:proxy-)?authorization\s{0,4}:\s{0,4})[^\r\n]{1,8192}",
    re.IGNORECASE,
)
_SCHEME = re.compile(r"\b(bearer|basic)(\s{1,4})([\w.~+/=-]{8,4096})", re.IGNORECASE)
# A value is looked for first, and its name before it: there are few of those, and many words that could be names.
_VALUE = re.compile(r"[=:](?<=[\w.\-\"'\s].)(?=\s{0,4}[\"']?[^\s\"'<>&;,]{6})")
# Possessive: what ends a name is no part of one, so that a shorter name would do no better.
_NAME = re.compile(r"\b[\w.-]{2,64}+[\"']?\s{0,4}\Z")
_NAME_SPAN = 64 + 1 + 4
_NAMED = re.compile(r"([\w.-]{2,64}+)([\"']?\s{0,4}[=:]\s{0,4}[\"']?)([^\s\"'<>&;,]{6,4096})")
_RANDOM = re.compile(r"[A-Za-z0-9+/_=-]{40,512}")
_RANDOM_SWITCHES = 0.45
"""From which share of neighbours that differ in kind (capital, small, digit) a long word is no word: keys have 0.6."""


def url(address: str) -> str:
    """Replace the values of credential-like query and fragment parameters, and any user name and password."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return REDACTED
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, host, parts.path, _query(parts.query), _query(parts.fragment)))


def without_query(address: str) -> str:
    """Cut off query, fragment and userinfo; works on what is no URL, too."""
    return _AUTHORITY_USER.sub("//", re.split(r"[?#]", address, maxsplit=1)[0], count=1)


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


def text(words: str) -> str:
    """Replace what is a credential in prose: by its form, in addresses and headers, or behind a telling name."""
    words = _PRIVATE_KEY.sub(rf"\1{REDACTED}", words)
    words = _ADDRESS.sub(lambda match: url(match[0]), words)
    # That a page has no such words is told at a hundredth of the cost. To their forms, i is an i with and without dot.
    if any(common in words and any(one in words for one in beginnings) for common, beginnings in _FORM_BEGINNINGS):
        words = _FORMS.sub(REDACTED, words)
    folded = words.casefold().replace("\u0131", "i").replace("i\u0307", "i")
    if "cookie" in folded or "authorization" in folded:
        words = _HEADER_LINE.sub(rf"\1{REDACTED}", words)
    if "bearer" in folded or "basic" in folded:
        words = _SCHEME.sub(
            lambda match: f"{match[1]}{match[2]}{REDACTED}" if _has_digit(match[3]) else match[0], words
        )
    words = _without_named(words)
    return _RANDOM.sub(lambda match: REDACTED if _is_random(match[0]) else match[0], words)


def is_secret(name: str) -> bool:
    """Return whether the name of a parameter, a field or a header says that its value is a credential."""
    return _tells_secret(name) if len(name) <= _NAME_CHARS else _tells_secret.__wrapped__(name)


@lru_cache(2_048)  # the same headers and fields come again and again
def _tells_secret(name: str) -> bool:
    words = (name, *_WORDS.findall(name))
    return any(word.lower() in _SECRET_WORDS or word.lower().endswith(_SECRET_ENDINGS) for word in words)


def _header(name: str, value: str) -> str:
    if is_secret(name) or name.startswith("proxy-"):
        return REDACTED
    return url(value) if name in _HEADERS_WITH_URLS else _USERINFO.sub(r"\1", value)


def _query(query: str) -> str:
    return _PAIR.sub(lambda pair: f"{pair[1]}={REDACTED}" if is_secret(pair[1]) else pair[0], query)


def _without_named(words: str) -> str:
    """Replace the values of telling names."""
    pieces, end = list[str](), 0
    for value in _VALUE.finditer(words):
        at = value.start()
        name = _NAME.search(words, max(end, at - _NAME_SPAN), at) if at >= end else None
        if name is not None and (pair := _NAMED.match(words, name.start())) is not None:
            pieces += words[end : name.start()], _named(pair)
            end = pair.end()
    return "".join((*pieces, words[end:])) if pieces else words


def _named(pair: re.Match[str]) -> str:
    name, between, value = pair.groups()
    telling = name.lower().endswith(_SECRET_ENDINGS) and "=" in between
    mixed = _has_digit(value) and any(character.isalpha() for character in value)
    return f"{name}{between}{REDACTED}" if is_secret(name) and (telling or mixed) else pair[0]


def _has_digit(word: str) -> bool:
    return any(character.isdigit() for character in word)


def _is_random(word: str) -> bool:
    kinds = [(one.isdigit(), one.isupper()) for one in word]
    switches = sum(one != other for one, other in pairwise(kinds))
    return switches >= _RANDOM_SWITCHES * len(word) and not (word.islower() or word.isupper())  # a digest is no key
