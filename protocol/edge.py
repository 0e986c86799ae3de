"""What the replicas of the gateway pass on to each other, so that a client may speak with any of them."""

from __future__ import annotations

from msgspec import Struct

from protocol.progress import Name


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
