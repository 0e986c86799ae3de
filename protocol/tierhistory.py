"""What is kept of a site's past visits, for the choice of the tier that the next one begins with."""

from __future__ import annotations

from msgspec import Struct

from protocol.tiers import RenderTier


class TierRecord(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What became of the pages for which no cheaper tier was enough: how many this tier was `enough` for, or `refused`.

    Both fade, so neither is a whole number. `run` counts the last results that were alike (below 0: refusals), `odds`
    how probable such a run was, and `passed_over` the visits since the tier was last tried. `took_ms` is what it took
    on average where it was enough, lately above all, and `worked_ms` when it was so last (since the epoch).
    """

    enough: float = 0.0
    refused: float = 0.0
    run: int = 0
    odds: float = 1.0
    passed_over: int = 0
    took_ms: int = 0
    worked_ms: int = 0


class TierHistory(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is known of one host, as of `at_ms` (since the epoch); a tier without a record was never of use."""

    at_ms: int
    tiers: dict[RenderTier, TierRecord] = {}
