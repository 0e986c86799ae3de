"""The site of an address: its registrable domain, by the list of public suffixes."""

from __future__ import annotations

import ipaddress
import re
from functools import cache, lru_cache

import httpx2
from publicsuffixlist import PublicSuffixList

from actors.page_addresses import page_address
from protocol.faults import Code, FaultError, fault
from protocol.urls import without_userinfo

_WEB = ("http", "https")
_LABELS = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?:\.(?!-)[a-z0-9_-]{1,63})*")
_NO_TOKEN = re.compile(r"[^A-Za-z0-9_-]")
_NO_HOST = re.compile(r"[^A-Za-z0-9_.-]")


@lru_cache(maxsize=512)
def site_of(address: str, field: str = "domain") -> str:
    """Return the site of a web address or of a bare host, such as example.co.uk, 127.0.0.1 or localhost.

    Raises:
        FaultError: VALIDATION_INVALID_REQUEST for `field`, when it is neither.
    """
    try:
        address = without_userinfo(address if "://" in address else f"http://{address}")
        url = httpx2.URL(page_address(address, field))
        host = url.raw_host.decode("ascii").strip("[]").rstrip(".").lower()
    except (httpx2.InvalidURL, FaultError, ValueError):
        raise _invalid(field) from None
    if url.scheme not in _WEB:
        raise _invalid(field)
    if _is_ip(host):
        return host
    if not _LABELS.fullmatch(host):
        raise _invalid(field)
    registrable: str | None = _suffixes().privatesuffix(host)
    return registrable or host


def key_of(profile: str, site: str) -> str:
    """Return the key of a profile at a site in a bucket; two pairs never share one."""
    return f"{_escaped(_NO_TOKEN, profile)}/{host_key(site)}"


def owned_key(owner: str, profile: str, site: str) -> str:
    """Return the key of somebody's profile at a site in a bucket; two of them never share one."""
    return f"{owner_prefix(owner)}{key_of(profile, site)}"


def owner_prefix(owner: str) -> str:
    """Return how all of somebody's keys in such a bucket begin."""
    return f"{_escaped(_NO_TOKEN, owner)}/"


def host_key(host: str) -> str:
    """Return a host as a part of a key of a bucket; two hosts never share one."""
    return _escaped(_NO_HOST, host)


def of_profile(key: str, profile: str) -> bool:
    """Return whether a key is one of this profile."""
    return key.startswith(key_of(profile, ""))


@cache
def _suffixes() -> PublicSuffixList:
    return PublicSuffixList()


def _is_ip(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _escaped(out: re.Pattern[str], text: str) -> str:
    return out.sub(lambda character: f"={ord(character.group()):x}=", text)


def _invalid(field: str) -> FaultError:
    message = f"{field}: no host, such as example.com"
    return FaultError(fault(Code.VALIDATION_INVALID_REQUEST, message, field=field))
