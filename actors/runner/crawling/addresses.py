"""Addresses of a site that is walked through: which of them are one page, which lead nowhere, which belong to it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Final
from urllib.parse import SplitResult, urlsplit, urlunsplit

from msgspec import Struct

from actors.address_shapes import names_language
from actors.extraction.parse.addresses import without_tracking
from actors.sites import site_of

MAX_URL_CHARS: Final = 1_000
MAX_SEGMENTS: Final = 12
MAX_PARAMETERS: Final = 3
"""Parameters of an address at most: those that have more are permutations of filters."""

_REPEATED: Final = 2
"""Segments of a path that stood there before: so many of them are links that lead on to themselves."""

_DEFAULT_PORTS: Final = {"http": 80, "https": 443}

_IN_PATH: Final = re.compile(r";(?:jsessionid|phpsessid|sid)=[^/?#]*|/\((?:[A-Za-z]\([^)]*\))+\)", re.IGNORECASE)
_SESSION: Final = re.compile(
    r"(?:php|asp\.?net_?)?_?sess(?:ion)?_?id|phpsessid|aspsessionid\w*|jsessionid|oscsid|zenid|cfid|cftoken|sid|s_id",
    re.IGNORECASE,
)
_SAME_PAGE: Final = re.compile(
    r"print|printable|printer|noprint|replytocom|sort|sort_?by|order_?by|sort_?(?:order|dir|direction)"
    r"|per_?page|page_?size|amp|fontsize|ref|ref_?(?:src|url)|referrer|source|spm|returnurl|return_to|redirect_to",
    re.IGNORECASE,
)
"""Parameters after which the same is shown in another order, size or dress."""

_DRESS: Final = frozenset(
    {"view=grid", "view=list", "view=print", "view=table", "format=print", "order=asc", "order=desc", "output=amp"}
)
_ACTIONS: Final = re.compile(
    r"(?:log|sign)[-_]?(?:in|out|up|on|off)|register|cart|basket|checkout|wish-?list|share|print|password-?reset"
    r"|forgot-?password|add-to-cart|wp-login\.php|xmlrpc\.php|e?mail-?(?:to-)?friend",
    re.IGNORECASE,
)
_ACTING: Final = frozenset({"add-to-cart", "share", "oldid", "diff", "_wpnonce", "wc-ajax", "token", "nonce"})
_VERBS: Final = frozenset({"action", "do"})
_ACTING_VALUES: Final = frozenset(
    {"edit", "history", "delete", "login", "logout", "register", "share", "print", "cart"}
)
_FILES: Final = re.compile(
    r"\.(?:jpe?g|png|gif|webp|avif|svg|ico|bmp|tiff?|css|m?js|map|woff2?|ttf|eot|otf|mp[34]|m4[av]|webm|og[gv]|wav|flac"
    r"|avi|mov|mkv|zip|gz|tgz|bz2|xz|7z|rar|tar|dmg|exe|msi|apk|deb|rpm|iso|bin|psd|swf|docx?|xlsx?|pptx?|epub)$",
    re.IGNORECASE,
)
_INDEX: Final = re.compile(r"/(?:index|default)\.(?:html?|php|aspx?|jsp)$", re.IGNORECASE)
_DIGIT: Final = re.compile(r"\d")
_VARYING: Final = re.compile(
    r"\d+|(?<=[/._-])(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*(?=[/._-]|$)", re.IGNORECASE
)


class Omission(StrEnum):
    """Why an address that was found, or a page that was read, is not among the pages of a crawl."""

    OFF_SITE = "off_site"
    FILE = "file"
    EXCLUDED = "excluded"
    TOO_DEEP = "too_deep"
    ACTION = "action"
    MANY_PARAMETERS = "many_parameters"
    TRAP = "trap"
    LANGUAGE = "language"
    ROBOTS = "robots"
    NOINDEX = "noindex"
    NOT_FOUND = "not_found"
    DUPLICATE = "duplicate"
    NEAR_DUPLICATE = "near_duplicate"
    NO_TEXT = "no_text"


class SiteAddress(Struct, frozen=True):
    """An address as it is asked for (`url`), and what it is known by (`key`): one page has one, as far as can be told.

    `shape` is the key without numbers, names of months and values of parameters: pages of one template share it.
    """

    url: str
    key: str
    shape: str
    host: str
    path: str
    parameters: tuple[str, ...] = ()


class CrawlScope(Struct, frozen=True):
    """Which addresses a crawl goes to: those of the sites, whose path one of the globs has and none of the others."""

    sites: frozenset[str]
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    languages: frozenset[str] = frozenset()

    def why_not(self, address: SiteAddress) -> Omission | None:
        """Return why an address is left out; None for one that is gone to."""
        tongue = language_of(address) if self.languages else ""
        reasons = {
            Omission.OFF_SITE: not self._is_ours(address.host),
            Omission.FILE: _FILES.search(address.path) is not None,
            Omission.EXCLUDED: not self._is_wanted(address.path),
            Omission.ACTION: _acts(address),
            Omission.MANY_PARAMETERS: len(address.parameters) > MAX_PARAMETERS,
            Omission.TRAP: _is_endless(address),
            Omission.LANGUAGE: bool(tongue) and tongue not in self.languages,
        }
        return next((why for why, holds in reasons.items() if holds), None)

    def _is_wanted(self, path: str) -> bool:
        return (not self.include or _matches(path, self.include)) and not _matches(path, self.exclude)

    def _is_ours(self, host: str) -> bool:
        if host in self.sites:
            return True
        name, _, port = host.partition(":")
        return any(
            name.endswith(f".{site}") and port == at for site, _, at in (one.partition(":") for one in self.sites)
        )


def scope_of(
    url: str, hosts: Sequence[str], include: Sequence[str], exclude: Sequence[str], languages: Sequence[str]
) -> CrawlScope:
    """Return the scope of a crawl from `url`: its whole site, unless hosts are named.

    Raises:
        FaultError: VALIDATION_INVALID_REQUEST, where one of them is no host.
    """
    start = address_of(url)
    own = start.host if start else ""
    if hosts:
        sites = {own, *map(_named, hosts)}
    else:
        _, colon, port = own.partition(":")
        sites = {f"{site_of(url, 'url')}{colon}{port}"}
    return CrawlScope(
        frozenset(sites), tuple(include), tuple(exclude), frozenset(one.lower().partition("-")[0] for one in languages)
    )


def address_of(url: str) -> SiteAddress | None:
    """Return what an address is known by; None for what is no address of the web."""
    if len(url) > MAX_URL_CHARS or not url.startswith(("http://", "https://")):
        return None
    try:
        parts = urlsplit(without_tracking(url))
        host = _host(parts)
    except ValueError:
        return None
    if not host:
        return None
    path = _INDEX.sub("/", _IN_PATH.sub("", re.sub(r"/{2,}", "/", parts.path or "/")))
    kept = [part for part in parts.query.split("&") if part and not _says_nothing(part)]
    bare = path.rstrip("/") or "/"
    known = "/".join(part if _DIGIT.search(part) else part.lower() for part in bare.split("/"))
    ordered = sorted(set(kept))
    names = tuple(part.partition("=")[0] for part in ordered)
    query = "&".join(ordered)
    twin = host.removeprefix("www.")
    return SiteAddress(
        url=urlunsplit((parts.scheme.lower(), host, path, "&".join(kept), "")),
        key=f"{twin}{known}{'?' if query else ''}{query}",
        shape=f"{twin}{_VARYING.sub('0', known)}{'?' if names else ''}{'&'.join(dict.fromkeys(names))}",
        host=host,
        path=bare,
        parameters=names,
    )


def language_of(address: SiteAddress) -> str:
    """Return the language that an address names, "" where it names none."""
    first = address.path.split("/")[1] if address.path.startswith("/") else ""
    label = address.host.partition(".")[0]
    query = address.url.partition("?")[2]
    values = [part.partition("=")[2] for part in query.split("&") if part.startswith(("lang=", "hl=", "locale="))]
    for word in (*values, first, label):
        if names_language(word):
            return word.lower()[:2]
    return ""


def _host(parts: SplitResult) -> str:
    name, port = (parts.hostname or "").rstrip("."), parts.port
    if ":" in name:
        name = f"[{name}]"
    return name if port is None or port == _DEFAULT_PORTS.get(parts.scheme.lower()) else f"{name}:{port}"


def _named(host: str) -> str:
    site_of(host, "hosts")
    return host.lower().removeprefix("www.") if "://" not in host else _host(urlsplit(host))


def _says_nothing(parameter: str) -> bool:
    name, _, _ = parameter.partition("=")
    return bool(_SESSION.fullmatch(name) or _SAME_PAGE.fullmatch(name) or parameter.lower() in _DRESS)


def _matches(path: str, globs: Sequence[str]) -> bool:
    return any(fnmatchcase(path, glob) or fnmatchcase(f"{path}/", glob) for glob in globs)


def _acts(address: SiteAddress) -> bool:
    """Return whether an address does something, or shows a form for it, rather than a page."""
    if _ACTIONS.fullmatch(address.path.rpartition("/")[2]):
        return True
    pairs = (part.lower().partition("=") for part in address.url.partition("?")[2].split("&"))
    return any(name in _ACTING or (name in _VERBS and value in _ACTING_VALUES) for name, _, value in pairs)


def _is_endless(address: SiteAddress) -> bool:
    """Return whether an address has grown by links that lead ever on: many segments, or the same ones again."""
    segments = [part for part in address.path.split("/") if part]
    if len(segments) > MAX_SEGMENTS or len(set(address.parameters)) < len(address.parameters):
        return True
    names = [part for part in segments if not part.isdigit()]
    return len(names) - len(set(names)) >= _REPEATED
