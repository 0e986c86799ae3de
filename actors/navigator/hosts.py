"""Hosts: the keys that they and the shapes of their addresses are remembered by, and those whose kind is known."""

from __future__ import annotations

import hashlib
import importlib.resources
import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from importlib.resources.abc import Traversable
from pathlib import Path
from types import MappingProxyType
from typing import Annotated

import httpx2
import msgspec
from msgspec import Meta, Struct

from actors.address_shapes import address_shape
from actors.page_addresses import page_address
from actors.sites import host_key, site_of
from protocol.actions import Action
from protocol.faults import Code, FaultError, fault
from protocol.tiers import HostKind

SHIPPED = "config/hosts.toml"

Host = Annotated[str, Meta(pattern=r"^[a-z0-9_-]+(\.[a-z0-9_-]+)*$(?!\n)", max_length=253)]


class HostLists(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The form of the files; each name stands for the host and all hosts below it. `ordinary` takes one off."""

    static: tuple[Host, ...] = ()
    browser_only: tuple[Host, ...] = ()
    ordinary: tuple[Host, ...] = ()


class KnownHosts(Struct, frozen=True):
    """The known hosts by name; None for one that is declared ordinary."""

    kinds: Mapping[str, HostKind | None] = msgspec.field(default_factory=dict[str, HostKind | None])

    def kind(self, host: str) -> HostKind | None:
        """Return the kind of a host in lower case ASCII; of several names that cover it, the longest decides."""
        name, dot = host, "."
        while dot:
            if name in self.kinds:
                return self.kinds[name]
            _, dot, name = name.partition(".")
        return None


def known_hosts(hosts_file: str = "") -> KnownHosts:
    """Read the shipped lists, and over them the file of the operator, if there is one.

    Raises:
        FaultError: CONFIG_INVALID, when a file cannot be read.
    """
    kinds = dict(shipped_hosts())
    if hosts_file:
        kinds |= dict(_entries(read(Path(hosts_file).expanduser(), hosts_file)))
    return KnownHosts(kinds)


@cache
def shipped_hosts() -> Mapping[str, HostKind | None]:
    """Read the shipped lists, once for all navigators that are forked from this process."""
    return MappingProxyType(dict(_entries(read(importlib.resources.files("config") / "hosts.toml", SHIPPED))))


def read(path: Traversable, name: str) -> HostLists:
    """Read the lists of one file, which is called `name` where it is wrong."""
    try:
        return msgspec.toml.decode(path.read_bytes(), type=HostLists)
    except OSError as error:
        raise _invalid(f"{name} cannot be read: {error.strerror}") from None
    except (msgspec.DecodeError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise _invalid(f"{name} does not hold lists of hosts: {error}") from None


def _entries(lists: HostLists) -> Iterator[tuple[str, HostKind | None]]:
    for names, kind in (
        (lists.static, HostKind.STATIC),
        (lists.browser_only, HostKind.BROWSER_ONLY),
        (lists.ordinary, None),
    ):
        for name in names:
            yield name, kind


def _invalid(what: str) -> FaultError:
    action = Action(action="fix_setting", description=f"Write it like {SHIPPED}, or leave hosts_file empty.")
    return FaultError(fault(Code.CONFIG_INVALID, f"hosts_file: {what}", field="hosts_file", actions=(action,)))


_WEB = ("http", "https")
_MAX_CHARS = 253
_NUMBERS = re.compile(r"(.*\.)?[0-9]+")


class SiteKey(Struct, frozen=True):
    """A host in lower case ASCII, with the keys of its history, of that of its domain, and of the address's shape.

    Nothing else of an address is in the keys, but for a port that is not the usual one (there is another site) and a
    hash of the shape.
    """

    host: str
    key: str
    domain_key: str | None
    shape_key: str


@lru_cache(maxsize=512)
def site_key_of(url: str) -> SiteKey | None:
    """Return the key of a web address, if it is one."""
    try:
        parsed = httpx2.URL(page_address(url))
        host = parsed.raw_host.decode("ascii").strip("[]").rstrip(".").lower()
        domain = site_of(url)
    except (httpx2.InvalidURL, FaultError, UnicodeError, ValueError):
        return None
    if not 0 < len(host) <= _MAX_CHARS or parsed.scheme not in _WEB:
        return None
    shape = hashlib.blake2b(address_shape(parsed).encode(), digest_size=_SHAPE_BYTES).hexdigest()
    if parsed.port is not None:
        key = f"{host_key(host)}/{parsed.port}"
        return SiteKey(host, key, None, f"{key}{SHAPE}{shape}")
    has_domain = "." in host and not _NUMBERS.fullmatch(host)
    key = host_key(host)
    return SiteKey(host, key, f"{host_key(domain)}/any" if has_domain else None, f"{key}{SHAPE}{shape}")


SHAPE = "/shape/"
"""Stands between the key of a host and the hash of a shape."""

_SHAPE_BYTES = 6
