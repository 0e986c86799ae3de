"""The label of a client: tells apart the clients of one caller, where they take part in that. It opens nothing.

Over HTTP a client of the older era is given its label as `Mcp-Session-Id` when it initializes and sends it with every
request. Any replica takes any label, known to it or not, so there is no session that could be lost; what the client
said it can do is written into the label itself. `client_label()` is '' for a client without one; over stdio the
process is the client, and has a label of its own.
"""

from __future__ import annotations

import base64
import binascii
import re
import secrets
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, cast

import msgspec

HEADER = "mcp-session-id"

_NAME_BYTES = 12
_WRITTEN = re.compile(r"([A-Za-z0-9_-]{1,64})(?:\.([A-Za-z0-9_-]{0,1000}))?")
_TOLD = ("sampling", "elicitation", "roots")
"""The capabilities that a server may make use of."""

_MAX_TOLD_CHARS = 1_000


@dataclass(frozen=True)
class Label:
    """Who a client is, among those of its caller, and what it said it can do; None if it did not say."""

    name: str = ""
    capabilities: Mapping[str, Any] | None = None

    def written(self) -> str:
        """Write the label for a header."""
        told = base64.urlsafe_b64encode(msgspec.json.encode(self.capabilities or {})).decode().rstrip("=")
        return f"{self.name}.{told}" if len(told) <= _MAX_TOLD_CHARS else self.name


NO_LABEL = Label()


def new_label(capabilities: object = None) -> Label:
    """Make a label for a client that says it can do this (the `capabilities` of its `initialize`)."""
    known = None
    if isinstance(capabilities, dict):
        told = cast("dict[str, Any]", capabilities)
        known = {name: told[name] for name in _TOLD if isinstance(told.get(name), dict)}
    return Label(secrets.token_urlsafe(_NAME_BYTES), known)


def read_label(written: str | None) -> Label:
    """Read a label; what is none of ours counts as none."""
    found = _WRITTEN.fullmatch(written or "")
    if found is None:
        return NO_LABEL
    name, told = found.groups()
    return Label(name, _capabilities(told) if told else None)


def client_label() -> str:
    """Name the client that asks, among those of its caller; '' where that is not known."""
    return _label.get()


@contextmanager
def labelled(name: str) -> Generator[None]:
    """Do what is in the block for the client of this name."""
    token = _label.set(name)
    try:
        yield
    finally:
        _label.reset(token)


_label: ContextVar[str] = ContextVar("weft_client_label", default="")


def _capabilities(told: str) -> dict[str, Any] | None:
    try:
        return msgspec.json.decode(base64.urlsafe_b64decode(told + "=" * (-len(told) % 4)), type=dict[str, Any])
    except (binascii.Error, msgspec.DecodeError, RecursionError):
        return None
