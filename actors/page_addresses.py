"""What a client means by an address: a page's, as it is fetched, and back again as it is shown to people."""

from __future__ import annotations

import re
import unicodedata
from ipaddress import ip_address
from typing import Final, NamedTuple
from urllib.parse import urlsplit

import idna
from rapidfuzz.distance import OSA

from protocol.faults import Code, FaultError, fault
from protocol.urls import without_userinfo

_WEB: Final = ("https", "http")
_OTHERS: Final = frozenset(
    {"about", "blob", "chrome", "data", "devtools", "dict", "file", "filesystem", "ftp", "ftps", "git", "gopher"}
    | {"imap", "irc", "jar", "javascript", "ldap", "magnet", "mailto", "netdoc", "news", "nntp", "pop", "rtsp", "sftp"}
    | {"sip", "smb", "sms", "ssh", "tel", "telnet", "tftp", "unix", "urn", "view-source", "ws", "wss"}
)
"""Schemes that are meant as they are written, and never fetched."""

HOLDS_USERINFO: Final = "The address holds a user name or password; use a session profile instead."

_MAX_SLIPS: Final = 2
_MAX_SHOWN: Final = 200
_SCHEME: Final = re.compile(r"([a-z][a-z0-9+.-]*):(.*)", re.IGNORECASE | re.DOTALL)
_PORT: Final = re.compile(r"[0-9]{1,5}(?:[/?#].*)?", re.DOTALL)
_AUTHORITY: Final = re.compile(r"([^/?#]*)(.*)", re.DOTALL)
_PLACE: Final = re.compile(r"(.*?)(:[0-9]*)?", re.DOTALL)
_REFUSED: Final = re.compile(r"[\x00-\x1f\x7f\\]")
_NAME: Final = re.compile(r"[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*\.?")
_ACE: Final = "xn--"
_LOCAL: Final = (".localhost", ".local", ".internal", ".lan", ".home.arpa")
"""Ends of names that no public server has."""


class _Parts(NamedTuple):
    """An address: `rest` is its path, query and fragment."""

    scheme: str
    authority: str
    rest: str


def page_address(text: str, field: str = "url") -> str:
    """Return the address that a client means: without a scheme https, blanks encoded, and the host in ASCII (UTS 46).

    What is never fetched is returned as it is, for the guard of the fetchers to refuse.

    Raises:
        FaultError: VALIDATION_INVALID_REQUEST for `field`, for what is no address of a page, with what may be meant.
    """
    address = text.strip(" ")
    if _REFUSED.search(address):
        return address
    parts = _parts(address, field)
    if parts is None:
        return address
    if "@" in parts.authority:
        raise FaultError(fault(Code.SECURITY_URL_BLOCKED, HOLDS_USERINFO, field=field))
    if " " in parts.authority:
        raise _invalid(field, "the host holds a space: an address is wanted, such as https://example.com/")
    place = _PLACE.fullmatch(parts.authority)
    if not parts.authority or place is None or not place[1]:
        raise _invalid(field, "no host, such as in https://example.com/")
    host = place[1]
    if not host.isascii():
        try:
            host = ascii_host(host)
        except ValueError:
            raise _invalid(field, "its host is no name of the internet") from None
    return f"{parts.scheme}://{host}{place[2] or ''}{parts.rest.replace(' ', '%20')}"


def by_http(text: str) -> str:
    """Return an address that was written without a scheme as one of http; nothing for any that has one.

    Nothing, too, for what leads farther than this machine and private networks: a site of the internet is not to be
    asked without encryption for a mistake.
    """
    address = text.strip(" ")
    if _schemeless(address):
        try:
            meant = page_address(address)
            host = urlsplit(meant).hostname or ""
        except (FaultError, ValueError):
            return ""
        if meant.startswith("https://") and is_local(host):
            return f"http{meant.removeprefix('https')}"
    return ""


def is_local(host: str) -> bool:
    """Return whether a host, in ASCII, is this machine or one of a private network by its name alone."""
    name = host.rstrip(".").lower()
    try:
        return ip_address(name).is_private
    except ValueError:
        return "." not in name or name.endswith(_LOCAL)


def ascii_host(host: str) -> str:
    """Return a host in ASCII, as it is looked up (UTS 46, not transitional).

    Raises:
        ValueError: it is none, or would become something else than a name or an address of IPv4.
    """
    if host.isascii():
        return host.lower()
    mapped = idna.uts46_remap(host, std3_rules=False)
    name = ".".join(map(_ascii_label, mapped.split(".")))
    # Letters that stand for several, such as the sign for a/c, must not end the host.
    if not _NAME.fullmatch(name):
        raise ValueError(name)
    return name


def readable(url: str) -> str:
    """Return an address with its host in letters of its own, where none of them could pass for others."""
    scheme, separator, rest = url.partition("://")
    authority, *tail = re.split(r"(?=[/?#])", rest, maxsplit=1)
    if not separator or _ACE not in authority.lower():
        return url
    host, colon, port = authority.partition(":")
    return f"{scheme}://{readable_host(host)}{colon}{port}{''.join(tail)}"


def readable_host(host: str) -> str:
    """Return a host in letters of its own, where none of them could pass for others (UTS 39); else in ASCII."""
    labels = host.lower().split(".")
    if not any(label.startswith(_ACE) for label in labels):
        return host
    shown = [_unicode_label(label) for label in labels]
    if None in shown:
        return host
    top = _script(shown[-1] or shown[-2] or "")
    return ".".join(str(label) for label in shown) if all(_is_plain(str(label), top) for label in shown) else host


def _parts(address: str, field: str) -> _Parts | None:
    """Take an address apart; None for what is never fetched."""
    match = _SCHEME.fullmatch(address)
    scheme = match[1].lower() if match else ""
    if match is None or _schemeless(address):
        if address[:1] in ("", "/", "?", "#", ".", ":") and not address.startswith("//"):
            raise _invalid(field, "no host, such as in https://example.com/")
        return _split("https", address.removeprefix("//"))
    if scheme in _WEB:
        if not match[2].startswith("//"):
            raise _meant(field, scheme, match[2])
        return _split(scheme, match[2][2:])
    near = min(_WEB, key=lambda web: OSA.distance(web, scheme))
    if scheme not in _OTHERS and OSA.distance(near, scheme) <= _MAX_SLIPS:
        raise _meant(field, near, match[2])
    return None


def _schemeless(address: str) -> bool:
    """Return whether an address begins with its host, perhaps with a port."""
    match = _SCHEME.fullmatch(address)
    return match is None or (match[1].lower() not in (*_WEB, *_OTHERS) and _PORT.fullmatch(match[2]) is not None)


def _split(scheme: str, rest: str) -> _Parts:
    match = _AUTHORITY.fullmatch(rest)
    return _Parts(scheme, match[1], match[2]) if match else _Parts(scheme, rest, "")


def _ascii_label(label: str) -> str:
    if label.isascii():
        return label
    try:
        return idna.alabel(label).decode("ascii")
    except idna.IDNAError:
        # IDNA 2008 knows no pictures, browsers and registries do: UTS 46 has let them pass.
        return _ACE + label.encode("punycode").decode("ascii")


def _meant(field: str, scheme: str, rest: str) -> FaultError:
    meant = without_userinfo(f"{scheme}://{rest.lstrip('/:')}")
    return _invalid(field, f"no address of a page: did you mean {meant[:_MAX_SHOWN]}")


def _invalid(field: str, complaint: str) -> FaultError:
    return FaultError(fault(Code.VALIDATION_INVALID_REQUEST, f"{field}: {complaint}", field=field))


# -- what is safe to show ----------------------------------------------------------------------------------------------

_COMMON: Final = frozenset("0123456789-_")
_ALONE: Final = frozenset(
    {"LATIN", "CYRILLIC", "GREEK", "ARABIC", "HEBREW", "THAI", "DEVANAGARI", "BENGALI", "TAMIL", "TELUGU", "GUJARATI"}
    | {"KANNADA", "MALAYALAM", "GURMUKHI", "SINHALA", "HANGUL", "CJK", "HIRAGANA", "KATAKANA"}
)
_TOGETHER: Final = (
    frozenset({"CJK", "HIRAGANA", "KATAKANA"}),
    frozenset({"CJK", "HANGUL"}),
)
"""Scripts that words mix in Japanese and Korean."""

_LIKE_LATIN: Final = frozenset("асԁеһіјӏорԛѕԝхуъьҽпгѵѡкмтвнαβεικνορτυωχγη")
"""Letters of Cyrillic and Greek that pass for Latin ones, as browsers hold them."""

_ACCENTED: Final = re.compile(r"[a-z0-9ßà-öø-ÿāăąćčďđēĕėęěğģīĭįķĺļľłńņňōŏőœŕřśşšţťūŭůűųŵŷźżžșț-]+")
"""What is shown of the many letters of Latin: those of which none has the shape of another."""


def _unicode_label(label: str) -> str | None:
    """Return a label in its letters; None for what encodes none, or not as it should."""
    if not label.startswith(_ACE):
        return label
    try:
        shown = idna.ulabel(label)
        return shown if idna.alabel(shown).decode("ascii") == label else None
    except (idna.IDNAError, UnicodeError):
        return None


def _scripts(label: str) -> frozenset[str]:
    letters = (letter for letter in label if letter not in _COMMON)
    return frozenset(unicodedata.name(letter, "?").split()[0].partition("-")[0] for letter in letters)


def _script(label: str) -> str:
    return min(_scripts(label), default="")


def _is_plain(label: str, top: str) -> bool:
    """Return whether no letter of a label could pass for another; `top` is the script of the last label."""
    if label.isascii():
        return True
    scripts = _scripts(label)
    if len(scripts) > 1:
        return any(scripts <= mixed for mixed in _TOGETHER)
    (script,) = scripts or {""}
    if script == "LATIN":
        return _ACCENTED.fullmatch(label) is not None
    if script in ("CYRILLIC", "GREEK") and top != script:
        return not _LIKE_LATIN.issuperset(label.replace("-", ""))
    return script in _ALONE
