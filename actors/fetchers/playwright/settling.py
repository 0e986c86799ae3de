"""Judges whether a page has come to rest."""

from __future__ import annotations

from dataclasses import dataclass

from msgspec import Struct


@dataclass(frozen=True)
class Settling:
    """What counts as rest: nothing came, went or moved for `quiet_ms`; after `cap_ms` a page is taken as it is."""

    cap_ms: int
    quiet_ms: int


FOR_FETCH = Settling(3_000, 300)
FOR_STEP = Settling(5_000, 500)
"""After a step of an interaction, whose effects are awaited longer."""

POLL_MS = 50
"""How long after one look at a page the next is worth its while."""


class Look(Struct, frozen=True):
    """What the observing script says of a document; `quiet` in ms, `programs` counts scripts that run."""

    ready: str
    quiet: float
    loading: bool
    programs: int
    length: int


def wait_ms(look: Look, network_quiet_ms: float, settling: Settling, *, scripts: int) -> float:
    """Tell how long to wait before another look; 0 for a page that has come to rest.

    `network_quiet_ms` is how long nothing came over the network, 0 while something is under way; `scripts` counts those
    that were asked for. A page without any is at rest when it is there.
    """
    if look.ready != "complete" or network_quiet_ms == 0:
        return POLL_MS
    if look.programs == 0 and scripts == 0:
        return 0
    if look.loading:
        return POLL_MS
    left = settling.quiet_ms - min(look.quiet, network_quiet_ms)
    return 0 if left <= 0 else max(left, POLL_MS / 2)
