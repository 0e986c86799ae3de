"""What a page would take, and what is known of a domain: told from memory, nothing is fetched for it."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from protocol.browse import SCHEMA_VERSION, ApiPattern, Freshness
from protocol.faults import Fault
from protocol.pages import Url
from protocol.patterns.listing import PatternInfo
from protocol.tiers import HostKind, RenderTier

_SITE_MS = Meta(ge=0, description="Milliseconds since the epoch.")


class LatencySource(StrEnum):
    """Where an expected latency comes from."""

    HISTORY = "history"
    """Earlier visits of this host."""

    CONTRACT = "contract"
    """The range that the tier is known for everywhere."""

    CACHE = "cache"
    """A stored answer would do."""


class LatencyRange(Struct, frozen=True, kw_only=True, rename="camel"):
    """What something is expected to take, in milliseconds, and where that is known from."""

    from_ms: int
    to_ms: int
    source: LatencySource


class CostRange(Struct, frozen=True, kw_only=True, rename="camel"):
    """Cost units of a visit: the tiers count 1, 5 and 25. `expected` weighs each further tier by how probable it is."""

    least: int
    most: int
    expected: float


class TierPlan(Struct, frozen=True, kw_only=True, rename="camel"):
    """A tier that would be tried, in its turn; `chance` is how probable it is that it is enough, once it is tried.

    `early_after_ms` is set where it is started before the one in front of it has ended. `pattern` names the learned API
    that is asked in the place of the page: then it is what that tier does first.
    """

    tier: RenderTier
    reason: str
    latency: LatencyRange
    cost_units: int
    chance: float
    available: bool
    absence: str | UnsetType = UNSET
    early_after_ms: int | UnsetType = UNSET
    pattern: str | UnsetType = UNSET


class TierLeftOut(Struct, frozen=True, kw_only=True, rename="camel"):
    """A tier that would not be tried, and why."""

    tier: RenderTier
    reason: str


class RobotsOutlook(Struct, frozen=True, kw_only=True, rename="camel"):
    """What is known of a site's robots.txt: what it says of a page and of the time between two requests.

    `obeyed` tells whether it counts for this page. `allows` is unset where nobody has read it yet.
    """

    known: bool
    obeyed: bool
    allows: bool | UnsetType = UNSET
    crawl_delay_ms: int | UnsetType = UNSET


class PaceOutlook(Struct, frozen=True, kw_only=True, rename="camel"):
    """How fast a host is asked by all replicas together, and how long one more page waits now; 0 is no limit.

    `limited` is false for the networks that the operator has allowed. `refusals` counts the 429 and 503 in a row that
    the host last answered.
    """

    limited: bool
    wait_ms: int
    pages_per_minute: int
    burst: int
    at_once: int
    refusals: int = 0


class Obstacle(Struct, frozen=True, kw_only=True, rename="camel"):
    """What stands in the way of a page, with the fault that a browse would end in."""

    code: str
    message: str
    retry_after_ms: int | UnsetType = UNSET


class Preview(Struct, frozen=True, kw_only=True, rename="camel"):
    """What would be done for a page, and what it would cost.

    `tiers` stand in the order in which they would be tried. `cached` tells whether a stored answer would do; it, the
    pace and robots.txt are unset while no fetcher is there to say.
    """

    url: str
    tiers: tuple[TierPlan, ...]
    left_out: tuple[TierLeftOut, ...]
    cost: CostRange
    latency: LatencyRange
    obstacles: tuple[Obstacle, ...]
    cached: bool | UnsetType = UNSET
    robots: RobotsOutlook | UnsetType = UNSET
    pace: PaceOutlook | UnsetType = UNSET
    schema_version: str = SCHEMA_VERSION


class AskDomain(Struct, frozen=True, kw_only=True):
    """DOMAIN: tell what is known of this host, with its port where that is not the usual one.

    `visits`: also when it was visited and how often, by whichever key.
    """

    domain: Annotated[str, Meta(min_length=1, max_length=261)]
    visits: bool = False


class TierKnowledge(Struct, frozen=True, kw_only=True, rename="camel"):
    """What visits have shown of a tier at a host: how probable it is that it is enough, and what it typically took.

    For how many pages it was `enough`, or `refused` (old ones count less), and when it last worked tells of the visits
    of all keys: who may not know that is not told.
    """

    tier: RenderTier
    chance: float
    enough: float | UnsetType = UNSET
    refused: float | UnsetType = UNSET
    last_worked_at: Annotated[int, _SITE_MS] | UnsetType = UNSET
    typical_ms: int | UnsetType = UNSET


class DomainKnowledge(Struct, frozen=True, kw_only=True, rename="camel"):
    """What is known of a domain; `known` is false where nobody has visited it.

    A visit would begin with `start_tier`, for `start_reason`. `apis` are the patterns found behind its pages.
    `patterns` are those that were learned, with how far each is trusted, when it was last verified and its last decays.
    `saved_logins` counts those of the site, and `updated_at` is when somebody last visited it, for whoever may know.
    """

    domain: str
    known: bool
    start_tier: RenderTier
    start_reason: str
    tiers: tuple[TierKnowledge, ...] = ()
    updated_at: Annotated[int, _SITE_MS] | UnsetType = UNSET
    kind: HostKind | UnsetType = UNSET
    robots: RobotsOutlook | UnsetType = UNSET
    pace: PaceOutlook | UnsetType = UNSET
    apis: tuple[ApiPattern, ...] = ()
    patterns: tuple[PatternInfo, ...] = ()
    saved_logins: int | UnsetType = UNSET
    schema_version: str = SCHEMA_VERSION


class ForeseePage(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """FORESEE: say what would happen to this page before the site is asked, from what is stored."""

    url: Url
    freshness: Freshness = Freshness.ANY
    session: str | None = None
    obey_robots: bool = False
    login: bytes = b""


class Foreseen(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The answer to FORESEE: `refused` is why the address is never fetched, and then nothing else is told."""

    cached: bool = False
    robots: RobotsOutlook | None = None
    pace: PaceOutlook | None = None
    refused: Fault | None = None


class AbsentPage(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a host answered in a tier to an address that cannot exist, asked at `at_ms` (since the epoch).

    `status` is 0 while it is being asked, and below 0 where there was no answer. `sketch` holds hashes of pieces of its
    text, and nothing of what it says.
    """

    tier: RenderTier
    at_ms: int
    status: int = 0
    sketch: tuple[int, ...] = ()


class TextPlace(Struct, frozen=True, kw_only=True):
    """A text that stood at an address of a host: hashes of both."""

    address: str
    sketch: tuple[int, ...]


class HostTexts(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The texts of a host's doubtful pages, the newest last: whether several addresses gave the same one."""

    places: tuple[TextPlace, ...] = ()
