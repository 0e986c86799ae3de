"""What the operator says of the gate: modes of surfaces and sites, own rules, and how approvals last (policy.toml)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta, Struct

from protocol.documents import NonEmpty
from protocol.policy import APPROVAL_MS, Verb
from protocol.tools.tool import Risk, Surface, Tool
from protocol.tools.web import WEB_TOOLS

HostGlob = Annotated[
    str,
    Meta(
        max_length=253,
        pattern=r"^[a-z0-9*._:-]+$(?!\n)",
        description="A host in small ASCII letters; * stands for any part. *.example.com is example.com, too.",
    ),
]
ToolGlob = Annotated[str, Meta(max_length=128, pattern=r"^[A-Za-z0-9*._-]+$(?!\n)")]

READING: Final = WEB_TOOLS["browse"]
"""The tool that pages are read by, whatever they are read for."""

_DAY_MS: Final = 86_400_000


class GateMode(StrEnum):
    """How free calls are, from the least to the most."""

    OFF = "off"
    """Nothing is done, nor read."""

    OBSERVE = "observe"
    """Pages are opened, read, kept and worked on; nothing is done in them, sent out or deleted."""

    ASSIST = "assist"
    """The table of 003: what acts is asked about."""

    PREAPPROVED = "preapproved"
    """What the table asks about, the caller has allowed by asking for it, but for the risks in `ask`."""


_STRICTNESS: Final = {mode: place for place, mode in enumerate(GateMode)}


class SurfaceRules(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How calls of a surface are taken; `ask` are risks that are asked about in any mode."""

    mode: GateMode
    ask: tuple[Risk, ...] = ()


class SiteRules(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What may be done at some hosts at most, whatever the mode of the surface."""

    hosts: Annotated[tuple[HostGlob, ...], Meta(min_length=1)]
    mode: GateMode


class GateRule(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A rule of the operator's: what it leaves out is any; `reason` is what callers are told."""

    decision: Verb
    reason: NonEmpty
    hosts: tuple[HostGlob, ...] = ()
    tools: tuple[ToolGlob, ...] = ()
    surfaces: tuple[Surface, ...] = ()

    def suits(self, tool: Tool[Any], surface: Surface, hosts: Iterable[str]) -> bool:
        """Return whether the rule is about a call; one that allows has to know every host of the call."""
        if self.surfaces and surface not in self.surfaces:
            return False
        names = (tool.name, *tool.aliases.values())
        if self.tools and not any(fnmatchcase(name, glob) for name in names for glob in self.tools):
            return False
        if not self.hosts:
            return True
        known = [host_matches(self.hosts, host) for host in hosts]
        return bool(known) and (all(known) if self.decision is Verb.ALLOW else any(known))


class ApprovalRules(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How long an approval waits for its answer, and how long an answer for a conversation or a site counts."""

    lifetime_s: Annotated[int, Meta(ge=10, le=86_400)] = APPROVAL_MS // 1_000
    remember_days: Annotated[int, Meta(ge=1, le=30)] = 30


class PolicyFile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The form of the files."""

    surfaces: dict[Surface, SurfaceRules] = {}
    sites: tuple[SiteRules, ...] = ()
    rules: tuple[GateRule, ...] = ()
    approvals: ApprovalRules | None = None


class PlacedRule(Struct, frozen=True, kw_only=True):
    """A rule, and the file and line that it stands in."""

    rule: GateRule
    place: str


class GateRules(Struct, frozen=True, kw_only=True):
    """The files, one over the other."""

    surfaces: Mapping[Surface, SurfaceRules] = msgspec.field(default_factory=dict[Surface, SurfaceRules])
    sites: tuple[SiteRules, ...] = ()
    rules: tuple[PlacedRule, ...] = ()
    approvals: ApprovalRules = msgspec.field(default_factory=ApprovalRules)

    def over(self, file: PolicyFile, places: Iterable[str]) -> GateRules:
        """Return them with another file on top, whose rules stand at `places`."""
        placed = (PlacedRule(rule=rule, place=place) for rule, place in zip(file.rules, places, strict=True))
        return GateRules(
            surfaces={**self.surfaces, **file.surfaces},
            sites=(*self.sites, *file.sites),
            rules=(*self.rules, *placed),
            approvals=file.approvals or self.approvals,
        )

    def surface(self, surface: Surface) -> SurfaceRules:
        """Return how calls of a surface are taken; of one that no file names like proposals."""
        return self.surfaces.get(surface) or SurfaceRules(mode=GateMode.ASSIST)

    def site_mode(self, hosts: Iterable[str]) -> GateMode:
        """Return what may be done at all of some hosts."""
        modes = (one.mode for one in self.sites for host in hosts if host_matches(one.hosts, host))
        return min(modes, key=_STRICTNESS.__getitem__, default=GateMode.PREAPPROVED)

    def unread(self, host: str) -> str:
        """Return why no page of a host is read, whoever asks and however; "" where pages are."""
        if self.site_mode((host,)) is GateMode.OFF:
            return "The operator has switched this site off."
        denying = (one for one in self.rules if one.rule.decision is Verb.DENY and not one.rule.surfaces)
        matching = (one for one in denying if one.rule.suits(READING, Surface.REST, (host,)))
        return next((f"{one.rule.reason} ({one.place})" for one in matching), "")

    @property
    def by_host(self) -> bool:
        """Whether it matters at which host something is done."""
        return bool(self.sites) or any(one.rule.hosts for one in self.rules)

    def remembered_ms(self) -> int:
        """Return how long an answer counts for more than its call (ms)."""
        return self.approvals.remember_days * _DAY_MS

    def approval_ms(self) -> int:
        """Return how long an approval waits for its answer (ms)."""
        return self.approvals.lifetime_s * 1_000


def stricter(one: GateMode, other: GateMode) -> GateMode:
    """Return the mode that lets less be done."""
    return min(one, other, key=_STRICTNESS.__getitem__)


def host_matches(globs: Iterable[str], host: str) -> bool:
    """Return whether one of some globs is about a host; `*.` before a name is the name itself, too."""
    return any(fnmatchcase(host, glob) or (glob.startswith("*.") and host == glob[2:]) for glob in globs)
