"""What clients hold of work that goes on: sealed, so that it is the caller's alone and good at every replica."""

from __future__ import annotations

import base64
import binascii

from mcp.server.request_state import InvalidRequestState
from msgspec import Struct

from actors.gateway.access.caller import Caller
from actors.gateway.mcp import HANDLES
from bus.seal import Seal, UnsealError, new_key

_STATE = f"{HANDLES} request state"
_TASK = f"{HANDLES} task of"

MAX_HANDLE_CHARS = 2_000


class TaskName(Struct, frozen=True):
    """A task: whose it is to do, and the id by which that actor knows it."""

    actor: str
    id: str


class Handles(Struct, frozen=True):
    """Seals what is handed to clients; `seal` is what every replica has."""

    seal: Seal

    def task(self, caller: Caller, name: TaskName) -> str:
        """Return the id of a task to the caller."""
        return _text(self.seal.seal(f"{name.actor} {name.id}".encode(), f"{_TASK} {caller.name}"))

    def open_task(self, caller: Caller, handle: str) -> TaskName | None:
        """Unseal the id of a task of the caller; anybody else's opens as little as one that nobody was given."""
        if len(handle) > MAX_HANDLE_CHARS:
            return None
        try:
            actor, _, name = self.seal.unseal(_bytes(handle), f"{_TASK} {caller.name}").decode().partition(" ")
        except (UnsealError, ValueError):
            return None
        return TaskName(actor, name)


class StateCodec(Struct, frozen=True):
    """What the SDK seals `requestState` with; it looks after its age, its request and its caller."""

    sealing: Seal

    def seal(self, payload: bytes) -> str:
        """Encrypt a state."""
        return _text(self.sealing.seal(payload, _STATE))

    def unseal(self, token: str) -> bytes:
        """Decrypt a state.

        Raises:
            InvalidRequestState: it is none of ours, or has been changed.
        """
        try:
            return self.sealing.unseal(_bytes(token), _STATE)
        except (UnsealError, ValueError):
            raise InvalidRequestState("seal") from None


def handles(seal: Seal | None) -> Handles:
    """Return the handles of a gateway; one without a key has one client, and a key for as long as that stays."""
    return Handles(seal or Seal.of(new_key()))


def _text(sealed: bytes) -> str:
    return base64.urlsafe_b64encode(sealed).decode().rstrip("=")


def _bytes(text: str) -> bytes:
    """Decode what `_text` wrote, and nothing that only decodes to the same.

    Raises:
        ValueError: it is something else.
    """
    try:
        data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except (binascii.Error, UnicodeEncodeError) as error:
        raise ValueError(text) from error
    if _text(data) != text:
        raise ValueError(text)
    return data
