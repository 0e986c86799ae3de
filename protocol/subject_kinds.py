"""The kinds of entries that the table of subjects has: what is asked, told and queued on the bus, and what it keeps."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Generic, Self, TypeVar

from msgspec import Struct

A = TypeVar("A")
R = TypeVar("R")

REPLICA = "replica"

_SLOT = re.compile(r"\{(\w+)\}")
_TOKEN = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True)
class Subject(Generic[A]):
    """A pattern of tokens such as `web.fetch.{tier}`, and what is sent to it.

    Each replica that answers a pattern with the slot `{replica}` answers under its own name alone.
    """

    pattern: str
    args: type[A]
    form: str | None = field(default=None, kw_only=True)
    """The pattern before its slots were filled, if they were."""

    @property
    def task(self) -> str:
        """The name of the task in a packet: the pattern without its slots and filled tokens."""
        return (self.form or self.pattern).partition(".{")[0]

    @property
    def wildcard(self) -> str:
        """The NATS subject that matches every filled form."""
        return _SLOT.sub("*", self.pattern)

    def answered_by(self, replica: str) -> Self:
        """Return the subject as this replica answers it."""
        slot = f"{{{REPLICA}}}"
        if slot not in self.pattern:
            return self
        return replace(self, pattern=self.pattern.replace(slot, replica), form=self.form or self.pattern)

    @property
    def slots(self) -> tuple[str, ...]:
        """The names of what is still open."""
        return tuple(_SLOT.findall(self.pattern))


@dataclass(frozen=True)
class Call(Subject[A], Generic[A, R]):
    """Asked, and answered once. `idempotent`: asking again does no harm, so the bus may.

    `timeout_ms` bounds a call whose caller has no deadline of its own.
    """

    answer: type[R]
    idempotent: bool = True
    timeout_ms: int = 30_000

    def at(self, **tokens: str) -> Call[A, R]:
        """Return the call with its slots filled; each token is letters, digits, `_` and `-`."""
        return replace(self, pattern=fill(self.pattern, tokens), form=self.form or self.pattern)


@dataclass(frozen=True)
class Event(Subject[A]):
    """Told; nobody need listen."""

    def at(self, **tokens: str) -> Event[A]:
        """Return the event with its slots filled; each token is letters, digits, `_` and `-`."""
        return replace(self, pattern=fill(self.pattern, tokens), form=self.form or self.pattern)


@dataclass(frozen=True)
class Work(Subject[A]):
    """Put into a durable queue and taken by a replica that has room; done at least once, known by its packet id.

    A replica that shows no life for `ack_wait_ms` loses the work to another; after `max_deliver` losses it is dead
    (None: never).
    """

    ack_wait_ms: int = 5_000
    max_deliver: int | None = 5
    at_once: int | None = None
    """How many pieces are in hand at the same time at most, in all replicas on all hosts; None: any number.

    A piece that waits to be handed out again keeps its place.
    """

    share: int | None = None
    """How many pieces of one account stand in the queue at most; None: all of them, in the order in which they came.

    What an account has more waits in a line of its own, of which the first takes the place of each piece that is over:
    so that accounts take turns, whoever has put how much.
    """

    @property
    def kept(self) -> tuple[str, ...]:
        """The NATS subjects of what stands in the queue or waits in lines."""
        return (self.wildcard,) if self.share is None else (self.wildcard, self.standing("*"), self.waiting("*"))

    def standing(self, line: str) -> str:
        """Return the subject of what stands in the queue of one account's line; `line` is a token."""
        return f"{self.wildcard}.next.{line}"

    def waiting(self, line: str) -> str:
        """Return the subject of what waits in one account's line."""
        return f"{self.wildcard}.line.{line}"

    def either(self, line: str) -> str:
        """Return what matches both."""
        return f"{self.wildcard}.*.{line}"


class Bucket(Struct, Generic[A], frozen=True):
    """A table of keys and values that every replica may watch (JetStream KV)."""

    name: str
    value: type[A]
    history: int = 1
    ttl_ms: int | None = None
    sealed: bool = False
    """Whether values are encrypted before they reach the bus; whoever uses such a bucket is given the key."""


class Objects(Struct, frozen=True):
    """Files by name (JetStream object store), kept for `ttl_ms`; the oldest go when all exceed `max_bytes`."""

    name: str
    ttl_ms: int
    max_bytes: int
    sealed: bool = False
    """Whether files are encrypted before they reach the bus; whoever uses such a store is given the key."""


class Journal(Struct, Generic[A], frozen=True):
    """Lines that are written once and never changed, in the order of all (JetStream stream), each under a topic.

    They are kept for `ttl_ms`, and the oldest go when all exceed `max_bytes`; without `ttl_ms` they are kept for good,
    and a line that exceeds them is refused.
    """

    name: str
    line: type[A]
    ttl_ms: int | None
    max_bytes: int
    sealed: bool = False
    """Whether lines are encrypted before they reach the bus; whoever uses such a journal is given the key."""


def fill(pattern: str, tokens: dict[str, str]) -> str:
    """Fill the slots of a pattern.

    Raises:
        ValueError: a slot without a token, a token without a slot, or a token that NATS would read as several.
    """
    for name, token in tokens.items():
        if f"{{{name}}}" not in pattern:
            msg = f"{pattern} has no slot {name}"
            raise ValueError(msg)
        if not _TOKEN.fullmatch(token):
            msg = f"{name}={token!r} is not one token of letters, digits, _ and -"
            raise ValueError(msg)
        pattern = pattern.replace(f"{{{name}}}", token)
    if "{" in pattern:
        msg = f"{pattern} has open slots"
        raise ValueError(msg)
    return pattern


def matches(subject: str, wildcard: str) -> bool:
    """Whether NATS would deliver `subject` to a subscription of `wildcard`."""
    have, want = subject.split("."), wildcard.split(".")
    for index, token in enumerate(want):
        if token == ">":  # noqa: S105 - a token of a subject
            return len(have) > index
        if index >= len(have) or token not in ("*", have[index]):
            return False
    return len(have) == len(want)
