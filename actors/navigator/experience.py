"""What a browse asks of experience with a site: where to begin, whether to hurry, and what it teaches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from actors.navigator.attempts import Attempt
from protocol.tiers import RenderTier


@dataclass(frozen=True)
class Start:
    """The tier to begin with, and why what is cheaper is passed over."""

    tier: RenderTier | None = None
    reason: str = ""


@dataclass(frozen=True)
class Early:
    """A better tier that is to be started early: when the one at work has no page after so long."""

    tier: RenderTier
    after_ms: int


class Experience(Protocol):
    """What is known of sites."""

    def start(self, url: str, allowed: Sequence[RenderTier]) -> Start:
        """Say where to begin among the tiers that are allowed."""
        ...

    def hedge(
        self, url: str, tier: RenderTier, allowed: Sequence[RenderTier], *, climbed: bool = False
    ) -> Early | None:
        """Say whether the next tier is to be started early; `climbed`: a cheaper one was not enough in this browse."""
        ...

    def teach(self, url: str, attempts: Sequence[Attempt]) -> None:
        """Learn from a browse that has ended."""
        ...


class NoExperience:
    """Knows nothing of any site."""

    def start(self, url: str, allowed: Sequence[RenderTier]) -> Start:
        """Begin with the cheapest."""
        del url, allowed
        return Start()

    def hedge(
        self, url: str, tier: RenderTier, allowed: Sequence[RenderTier], *, climbed: bool = False
    ) -> Early | None:
        """Never hurry."""
        del url, tier, allowed, climbed
        return None

    def teach(self, url: str, attempts: Sequence[Attempt]) -> None:
        """Learn nothing."""
