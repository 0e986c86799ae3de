"""What belongs to the work in hand: its conversation, for whom it is done, and the time it has left."""

from __future__ import annotations

import math
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from random import getrandbits

import anyio

from bus.fairness import Account
from protocol.packets import Conversation

_account: ContextVar[Account | None] = ContextVar("account", default=None)
_conversation: ContextVar[Conversation | None] = ContextVar("conversation", default=None)


def remaining_ms() -> int | None:
    """Milliseconds until the work in hand is cut off; None when nothing bounds it."""
    left = anyio.current_effective_deadline() - anyio.current_time()
    return None if math.isinf(left) else max(int(left * 1000), 0)


def current_conversation() -> Conversation:
    """Return the conversation of the work in hand, or a new one."""
    return _conversation.get() or Conversation(id=new_id())


def conversation_id() -> str | None:
    """Return the id of the conversation that the work in hand belongs to, if it belongs to one."""
    current = _conversation.get()
    return None if current is None else current.id


@contextmanager
def conversation(of: Conversation | None = None) -> Generator[str]:
    """Do what follows as part of one conversation: a new one, unless it is given. Yields its id."""
    chosen = of or Conversation(id=new_id())
    token = _conversation.set(chosen)
    try:
        yield chosen.id
    finally:
        _conversation.reset(token)


def current_account() -> Account | None:
    """Return for whom the work in hand is done; None for the system itself."""
    return _account.get()


@contextmanager
def account(of: Account | None) -> Generator[None]:
    """Do what follows for an account, wherever it leads."""
    token = _account.set(of)
    try:
        yield
    finally:
        _account.reset(token)


def new_id() -> str:
    """Return a random UUID (version 4) that names a packet: unique, which is all it need be, at a third of the cost."""
    digits = f"{getrandbits(128):032x}"
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:]}"
