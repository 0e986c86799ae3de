"""Decides whether a client is asked for more of its page: only where what it has sent cannot answer (001 §1, 2.B)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from actors.planner.pictures import about_looks, unquoted
from protocol.acting.interact import DomMode
from protocol.acting.tree import PageTree, SemanticNode

CONTENT: Final = re.compile(
    r"\b(?:how (?:much|many)|prices?|total|costs?|count|list|show me|find out|analy[sz]e|compare)\b"
    r"|^\W*(?:which|who|where|when)\b",
    re.IGNORECASE,
)
POSITION: Final = re.compile(
    r"\b(?:top|bottom|left|right|corner|cent(?:er|re)|middle|next to|above|below|beside)\b", re.IGNORECASE
)
PLACED_SHARE: Final = 0.25
"""From which share of nodes with a place words about places can be understood."""


class WantedContext(Struct, frozen=True, kw_only=True):
    """What more of a page is wanted, and why, in words for people."""

    mode: DomMode
    reason: str
    screenshot: bool = False
    skeleton: bool = False

    @property
    def parts(self) -> frozenset[str]:
        """The parts of the page that are asked for."""
        names = {"dom": self.mode == "full", "screenshot": self.screenshot, "skeleton": self.skeleton}
        return frozenset(name for name, wanted in names.items() if wanted) or frozenset({"tree"})


class Negotiation(Struct, frozen=True, kw_only=True):
    """What is known of a round: the page, which of its parts have been sent, and which were asked for before.

    `solved` is whether rules know what to do with what there is, `asks` whether they know what to ask the user, and
    `models` whether models may be asked beyond that. `filtered`: the client has left out what it took for irrelevant.
    """

    query: str
    page: PageTree
    sent: frozenset[str]
    requested: frozenset[str] = frozenset()
    solved: bool = False
    asks: bool = False
    models: bool = False
    known: bool = True
    filtered: bool = False

    def wanted(self) -> WantedContext | None:
        """Return what more is wanted; nothing that was sent or asked for before."""
        if not self.page.url:
            return None
        for candidate in self._candidates():
            if not candidate.parts <= self.sent | self.requested:
                return candidate
        return None

    def _candidates(self) -> Sequence[WantedContext]:
        words = unquoted(self.query)
        candidates: list[WantedContext] = []
        if not self.known:
            reason = "The tree that this hash stands for is not known here: send it whole."
            candidates.append(WantedContext(mode="semantic", reason=reason))
        if self.solved:
            return candidates
        if self.known and not self.page.nodes:
            reason = "There is nothing to act on in the tree of this page."
            candidates.append(WantedContext(mode="skeleton", skeleton=True, reason=reason))
        if CONTENT.search(words):
            reason = "The question is about what the page says, and its tree does not have the answer."
            candidates.append(WantedContext(mode="full", reason=reason))
        if self.filtered and not self.asks:
            reason = "The tree is a part of the page, and what is wanted was not found in it."
            candidates.append(WantedContext(mode="full", reason=reason))
        looks = about_looks(self.query)
        if self.models and (looks or (POSITION.search(words) and placed_share(self.page.nodes) < PLACED_SHARE)):
            about = f"“{looks.lower()}”" if looks else "where something is"
            reason = f"The task is about {about}, which the tree of the page does not tell well enough."
            candidates.append(WantedContext(mode="hybrid", screenshot=True, skeleton=True, reason=reason))
        if not self.models and not self.asks:
            reason = "What is wanted was not found in the tree of the page."
            candidates.append(WantedContext(mode="full", reason=reason))
        return candidates


def placed_share(nodes: Sequence[SemanticNode]) -> float:
    """Return which share of nodes says where it is."""
    return sum(one.centre is not None or one.box is not None for one in nodes) / len(nodes) if nodes else 0.0
