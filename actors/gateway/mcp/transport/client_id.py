"""The id of a client: tells apart the clients of one caller, where they take part in that. It opens nothing.

Over HTTP a client of the older era is given its id as `Mcp-Session-Id` when it initializes and sends it with every
request. Any replica takes any id, known to it or not, so there is no session that could be lost; what the client said
it can do is written into the id itself. Over stdio the process is the client, and has an id of its own.
"""

from __future__ import annotations

import base64
import binascii
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import msgspec

HEADER = "mcp-session-id"

_NAME_BYTES = 12
_WRITTEN = re.compile(r"([A-Za-z0-9_-]{1,64})(?:\.([A-Za-z0-9_-]{0,1000}))?")
_CAPABILITIES = ("sampling", "elicitation", "roots")
"""The capabilities that a server may make use of."""

_MAX_CAPABILITIES_CHARS = 1_000


@dataclass(frozen=True)
class ClientId:
    """Who a client is, among those of its caller, and what it said it can do; None if it did not say."""

    name: str = ""
    capabilities: Mapping[str, Any] | None = None

    def written(self) -> str:
        """Write the id for a header."""
        encoded = base64.urlsafe_b64encode(msgspec.json.encode(self.capabilities or {})).decode().rstrip("=")
        return f"{self.name}.{encoded}" if len(encoded) <= _MAX_CAPABILITIES_CHARS else self.name


NO_CLIENT_ID = ClientId()


def new_client_id(capabilities: object = None) -> ClientId:
    """Make an id for a client that says it can do this (the `capabilities` of its `initialize`)."""
    known = None
    if isinstance(capabilities, dict):
        given = cast("dict[str, Any]", capabilities)
        known = {name: given[name] for name in _CAPABILITIES if isinstance(given.get(name), dict)}
    return ClientId(secrets.token_urlsafe(_NAME_BYTES), known)


def read_client_id(written: str | None) -> ClientId:
    """Read an id; what is none of ours counts as none."""
    match = _WRITTEN.fullmatch(written or "")
    if match is None:
        return NO_CLIENT_ID
    name, encoded = match.groups()
    return ClientId(name, _capabilities(encoded) if encoded else None)


def _capabilities(encoded: str) -> dict[str, Any] | None:
    try:
        return msgspec.json.decode(base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)), type=dict[str, Any])
    except (binascii.Error, msgspec.DecodeError, RecursionError):
        return None
