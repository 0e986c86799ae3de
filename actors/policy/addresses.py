"""Takes addresses apart for the gate: host, site, what they carry, and whether a host only looks like another."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final
from urllib.parse import parse_qsl, unquote, urlsplit

import idna
from msgspec import Struct

from actors.fields.normalisation import mixes_scripts, skeleton, visible
from actors.sites import site_of
from protocol.faults import FaultError

_ADDRESS: Final = re.compile(r"https?://[^\s<>\"'`\])}|\\^]{1,4096}", re.IGNORECASE)
_HOST: Final = re.compile(r"(?<![\w@.-])(?:[\w-]{1,63}\.){1,8}[a-z]{2,24}(?![\w-])", re.IGNORECASE)
_DIGITS: Final = re.compile(r"\d")
_TRAILING: Final = ".,;:!?"
_PORTS: Final = {"http": 80, "https": 443}
_TYPO_CHARS: Final = 6
"""From which length on a name that differs in one letter is taken for a slip on purpose."""


class Address(Struct, frozen=True):
    """An address in its parts: `data` is path, query and fragment, decoded once."""

    given: str
    normal: str
    host: str
    site: str
    userinfo: str
    data: str

    @property
    def subdomain(self) -> str:
        """Return the labels before the site."""
        return self.host.removesuffix(self.site).rstrip(".")


@lru_cache(maxsize=4_096)
def parsed(text: str) -> Address | None:
    """Take a web address apart; None for what is none."""
    given = visible(text).strip()
    try:
        parts = urlsplit(given)
        port = parts.port
    except ValueError:
        return None
    if parts.scheme not in _PORTS or not parts.hostname:
        return None
    host = _unicode_host(parts.hostname.rstrip(".").lower())
    path = unquote(parts.path).rstrip("/")
    pairs = parse_qsl(parts.query, keep_blank_values=True)
    query = " ".join(f"{name} {value}" for name, value in pairs) if pairs else unquote(parts.query)
    shown_port = "" if port in (None, _PORTS[parts.scheme]) else f":{port}"
    normal = f"{host}{shown_port}{path}" + (f"?{unquote(parts.query)}" if parts.query else "")
    userinfo = parts.netloc.rpartition("@")[0]
    return Address(
        given, normal, host, _site(host, shown_port), userinfo, f"{path} {query} {unquote(parts.fragment)}".strip()
    )


def addresses_in(text: str) -> Iterator[Address]:
    """Return the web addresses that stand in a text."""
    for match in _ADDRESS.finditer(visible(text)):
        address = parsed(match[0].rstrip(_TRAILING))
        if address is not None:
            yield address


def hosts_in(text: str) -> frozenset[str]:
    """Return the hosts that a text names, with or without a scheme."""
    shown = visible(text)
    named = {match[0].lower().rstrip(".") for match in _HOST.finditer(shown)}
    return frozenset(named | {address.host for address in addresses_in(shown)})


def looks_like(host: str, known: Iterable[str]) -> str | None:
    """Return the known host that another one looks like and is not, or what is odd about its letters."""
    known = [one for one in known if one]
    if any(host == one or _site(host) == _site(one) for one in known):
        return None
    site, shape = _site(host), skeleton(host)
    for one in known:
        other = _site(one)
        if skeleton(site) == skeleton(other) or shape == skeleton(one):
            return one
        if f".{one}." in f".{host}" or f".{one.replace('.', '-')}" in f".{host}":
            return one
        if _differ_by_one(site.partition(".")[0], other.partition(".")[0]):
            return one
    return "one in Latin letters" if any(mixes_scripts(label) for label in host.split(".")) else None


def _unicode_host(host: str) -> str:
    """Return a host as a person sees it."""
    if "xn--" not in host:
        return host
    try:
        return str(idna.decode(host))
    except (idna.IDNAError, UnicodeError):
        return host


@lru_cache(maxsize=4_096)
def _site(host: str, port: str = "") -> str:
    """Return the site of a host; of a number or a bare name each port is a site of its own."""
    try:
        site = _unicode_host(site_of(f"http://{host}/"))
    except FaultError:
        site = ".".join(host.split(".")[-2:])
    return f"{site}{port}" if "." not in site or site.replace(".", "").isdigit() else site


def _differ_by_one(one: str, other: str) -> bool:
    """Whether two names differ in one letter, or in two that have changed places; digits count series (mirror2)."""
    if min(len(one), len(other)) < _TYPO_CHARS or abs(len(one) - len(other)) > 1 or _DIGITS.search(one + other):
        return False
    short, long = sorted((one, other), key=len)
    if len(short) < len(long):
        return any(long[:at] + long[at + 1 :] == short for at in range(len(long)))
    wrong = [at for at in range(len(one)) if one[at] != other[at]]
    if len(wrong) == 1:
        return True
    swapped = len(wrong) == 2 and wrong[1] == wrong[0] + 1  # noqa: PLR2004 - two letters that have changed places
    return swapped and one[wrong[0]] == other[wrong[1]] and one[wrong[1]] == other[wrong[0]]
