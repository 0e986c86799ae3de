"""How far work is that somebody waits for: where to tell it, and what is told."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

Name = Annotated[str, Meta(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
"""One token of a subject."""


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
