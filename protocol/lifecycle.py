"""What actors and the runtime tell each other about their own lives."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct


class ReplicaReady(Struct, frozen=True, kw_only=True):
    """A replica serves from now on; `started` in ms since the epoch."""

    actor: str
    replica: str
    host: str
    pid: int
    version: str
    started: int


class ReplicaGone(Struct, frozen=True, kw_only=True):
    """A replica has stopped: `drained` when it finished its work, `died` when the supervisor found it dead.

    `answers` are the subjects that it answered, so that whoever waits for it need not wait in vain.
    """

    actor: str
    replica: str
    reason: Literal["drained", "died", "given_up"]
    answers: tuple[str, ...] = ()


class WhyAbsent(Struct, frozen=True, kw_only=True):
    """WHY_ABSENT: a replica that runs, but cannot do what it is for, answers this and nothing else."""


class Absence(Struct, frozen=True, kw_only=True):
    """Why an actor cannot work where it was started, and the cure; both are for people."""

    reason: str
    cure: str = ""


class Cancel(Struct, frozen=True, kw_only=True):
    """Stop the work whose answer would go to this inbox: its caller is gone."""

    reply: str
