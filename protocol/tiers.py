"""The tiers that get a page: all that is known of each (a row of `RenderTier`), and what visits show of it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Self

from msgspec import Struct


class HostKind(StrEnum):
    """What a host is known to need without a visit."""

    STATIC = "static"
    """Nothing: its pages are whole without scripts."""
    BROWSER_ONLY = "browser_only"
    """A real browser: nothing less shows its pages."""


class Prior(Struct, frozen=True):
    """What is believed before anything was seen: as if so many pages had been seen already."""

    enough: float
    refused: float


class TierSpec(Struct, frozen=True, kw_only=True):
    """What is known of a tier, whatever the page.

    `typical_ms` is its usual latency, from least to most. `is_browser`: a real one, so nothing more of a page is to
    come. `uses_cache`: it answers with a stored page where that will do. `progress` is said to who watches it begin.
    `prior` is what is believed of it at any host, `host_priors` at hosts whose kind is known.
    """

    cost_units: int
    typical_ms: tuple[int, int]
    runs_scripts: bool
    is_browser: bool = False
    uses_cache: bool = True
    progress: str
    prior: Prior
    host_priors: Mapping[HostKind, Prior] = {}


class RenderTier(StrEnum):
    """The three ways to get a page, cheapest first (000 §7)."""

    # Cost units are those of 000 (usage analytics), latencies those of 000 §7; both stand in the same proportion.
    # The priors are a mix of 60 % static, 25 % light and 15 % browser pages; a quarter of a page in weight, as of two
    # pages of one host nine in ten times both need the same. Those of known hosts weigh a whole page, so that a few
    # visits outweigh them.

    _value_: str
    spec: TierSpec

    INTELLIGENCE = (
        "intelligence",
        TierSpec(
            cost_units=1,
            typical_ms=(50, 200),
            runs_scripts=False,
            progress="Reading the page as the site sends it.",
            prior=Prior(0.150, 0.100),
            host_priors={HostKind.STATIC: Prior(0.95, 0.05), HostKind.BROWSER_ONLY: Prior(0.01, 0.99)},
        ),
    )
    LIGHTWEIGHT = (
        "lightweight",
        TierSpec(
            cost_units=5,
            typical_ms=(200, 500),
            runs_scripts=True,
            progress="Running the scripts of the page without a browser.",
            prior=Prior(0.156, 0.094),
            host_priors={HostKind.BROWSER_ONLY: Prior(0.02, 0.98)},
        ),
    )
    PLAYWRIGHT = (
        "playwright",
        TierSpec(
            cost_units=25,
            typical_ms=(2_000, 5_000),
            runs_scripts=True,
            is_browser=True,
            uses_cache=False,
            progress="Opening the page in a real browser.",
            prior=Prior(0.250, 0.0),
        ),
    )

    def __new__(cls, value: str, spec: TierSpec) -> Self:
        """Make a member out of its name on the wire and its row."""
        member = str.__new__(cls, value)
        member._value_ = value
        member.spec = spec
        return member

    @property
    def rank(self) -> int:
        """The place in the order of cost, from 0."""
        return TIERS.index(self)

    @property
    def expected_ms(self) -> int:
        """What the tier takes at least, in milliseconds."""
        return self.spec.typical_ms[0]

    @property
    def actor(self) -> str:
        """The name of the actor that is this tier."""
        return f"fetchers.{self.value}"


TIERS: tuple[RenderTier, ...] = tuple(RenderTier)
"""Every tier, cheapest first."""

SCRIPTED: tuple[RenderTier, ...] = tuple(tier for tier in TIERS if tier.spec.runs_scripts)
"""The tiers that run a page's scripts."""

BROWSER: RenderTier = next(tier for tier in TIERS if tier.spec.is_browser)
"""The tier in whose browser sessions live."""


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
