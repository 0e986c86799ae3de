"""What replicas tell each other: that they come and go, how far work is, and what a client has replied."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct


class ReplicaReady(Struct, frozen=True, kw_only=True):
    """A replica serves from now on; `started` in ms since the epoch."""

    actor: str
    replica: str
    host: str
    pid: int
    version: str
    started: int


class ReplicaGone(Struct, frozen=True, kw_only=True):
    """Who has started a replica found it dead, or gave up to start it again.

    `answers` are the subjects that it answered, so that whoever waits for it need not wait in vain.
    """

    actor: str
    replica: str
    reason: Literal["died", "given_up"]
    answers: tuple[str, ...] = ()


class ReplicaDrained(Struct, frozen=True, kw_only=True):
    """A replica has stopped in order: what it could finish is finished."""

    replica: str


class StorageFilled(Struct, frozen=True, kw_only=True):
    """The disk of what is kept has no room: nothing is written until there is some again. Told every few seconds."""

    free_bytes: int


class WhyAbsent(Struct, frozen=True, kw_only=True):
    """WHY_ABSENT: a replica that runs, but cannot do what it is for, answers this and nothing else."""


class Absence(Struct, frozen=True, kw_only=True):
    """Why an actor cannot work where it was started, and the cure; both are for people."""

    reason: str
    cure: str = ""


class Cancel(Struct, frozen=True, kw_only=True):
    """Stop the work whose answer would go to this inbox: its caller is gone."""

    reply: str


Name = Annotated[str, Meta(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
"""One token of a subject."""


class VaultKeyMark(Struct, frozen=True, kw_only=True):
    """The row `root` of VAULT: by what the vault key is known that all that is kept was sealed with."""

    fingerprint: str


class Watch(Struct, frozen=True, kw_only=True):
    """Who wants to hear how far a piece of work is: a replica, and the name by which it knows the work."""

    replica: Name
    token: Name


class Progress(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """PROGRESS: how far the work is that a replica knows as `token`.

    `done` parts of it are over, of `total` where their number is known. `message` is a sentence of ours about what
    comes next, for people and models: it has no word of a page and no address.
    """

    token: Name
    done: int
    message: str
    total: int | None = None


class ClientReply(Struct, frozen=True, kw_only=True):
    """EDGE_REPLY: what a client answered to a question of the replica that is asked, for the work that waits for it.

    `message` is the JSON-RPC response as the client wrote it, `caller` who sent it.
    """

    question: Name
    caller: str
    message: str


class ReplyTaken(Struct, frozen=True, kw_only=True):
    """The answer to EDGE_REPLY: whether somebody waited for the reply, and asked this very caller."""

    taken: bool


class CallCancelled(Struct, frozen=True, kw_only=True):
    """CALL_CANCELLED: a client wants no answer to its request any more; whichever replica works on it stops.

    `client` is the label that the client was given, `request` the id that it gave its request.
    """

    caller: str
    client: str
    request: str
