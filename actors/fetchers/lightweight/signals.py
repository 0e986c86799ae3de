"""Judges by what was observed whether a real browser would show something else."""

from __future__ import annotations

import importlib.resources
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Final

from actors.fetchers.lightweight.observed import Observed, Settling

PHRASE_WORDS: Final = 200
"""A longer text that speaks of browsers is about them."""

MANY_LAYOUT_READS: Final = 500

_OK = range(200, 300)
_UNSUPPORTED = re.compile(
    r"(?:browser|device) (?:is |may be |version is )?(?:un|not |no longer )support"
    r"|unsupported browser|(?:update|upgrade) (?:your|the|to a newer) browser|upgrade to a newer"
    r"|(?:enable|requires?|needs?|turn on|without) (?:javascript|webgl)",
    re.IGNORECASE,
)


@cache
def _platform() -> frozenset[str]:
    """Return the names of what browsers have and the engine has not: what can be called, and what is global."""
    return frozenset((importlib.resources.files(__package__ or "") / "lacking.txt").read_text("utf-8").split())


MARKS: Final[Mapping[str, Callable[[Observed], object]]] = MappingProxyType(
    {
        "status": lambda seen: seen.status not in _OK,
        "cut_short": lambda seen: seen.cut_short,
        "never_settled": lambda seen: seen.settling is not Settling.SETTLED and seen.layout_reads > MANY_LAYOUT_READS,
        "unsupported": lambda seen: seen.words < PHRASE_WORDS and _UNSUPPORTED.search(seen.text),
        "context_refused": lambda seen: seen.refused_contexts,
        "web_socket": lambda seen: seen.web_sockets,
        "event_source": lambda seen: seen.event_sources,
        "extended_element": lambda seen: seen.extended_elements,
        "oversized_request": lambda seen: seen.oversized_requests,
        "lacking": lambda seen: not _platform().isdisjoint(seen.lacks),
        "media": lambda seen: seen.media_elements,
        "tall": lambda seen: seen.tall,
        "animation": lambda seen: seen.animations,
        "drawn": lambda seen: seen.drawn_reads,
        "foreign_frame": lambda seen: seen.foreign_frames,
        "error": lambda seen: seen.errors or seen.rejections,
        "worker": lambda seen: seen.workers,
        "empty_root": lambda seen: seen.empty_roots,
        "failed_script": lambda seen: seen.failed_scripts,
        "failed_request": lambda seen: seen.failed_requests or seen.api_4xx or seen.api_5xx or seen.refused_requests,
        "late_timer": lambda seen: seen.late_timers,
        "unsettled": lambda seen: seen.settling is not Settling.SETTLED,
        "measured": lambda seen: seen.layout_reads,
        "resized": lambda seen: seen.resizes,
        "canvas": lambda seen: seen.contexts,
        "performance": lambda seen: seen.performance,
        "missing_element": lambda seen: seen.missing_elements,
    }
)
"""What may speak for a browser, by the name of its signal."""


@dataclass(frozen=True)
class Rule:
    """Which marks count alone, and which only beside few words; fewer than `thin_words` count alone, too."""

    alone: frozenset[str]
    beside: frozenset[str]
    thin_words: int
    few_words: int


RULE: Final = Rule(
    alone=frozenset(
        {
            "status",
            "cut_short",
            "never_settled",
            "unsupported",
            "context_refused",
            "web_socket",
            "event_source",
            "extended_element",
            "oversized_request",
            "lacking",
            "tall",
        }
    ),
    beside=frozenset({"error", "worker", "media", "empty_root", "failed_script", "measured", "resized"}),
    thin_words=12,
    few_words=30,
)


def signals(observed: Observed, rule: Rule = RULE) -> tuple[str, ...]:
    """Name the signals for a real browser; none where what is shown may be believed."""
    return raised(marks(observed), observed, rule)


def marks(observed: Observed) -> tuple[str, ...]:
    """Name all marks that a page bears."""
    return tuple(name for name, seen in MARKS.items() if seen(observed))


def raised(borne: tuple[str, ...], observed: Observed, rule: Rule) -> tuple[str, ...]:
    """Name those of the marks that count by a rule, and whether the page is thin by itself."""
    runs = observed.scripts > 0
    counting = rule.alone | rule.beside if runs and observed.words < rule.few_words else rule.alone
    thin = ("thin",) if runs and observed.words < rule.thin_words else ()
    return (*(name for name in borne if name in counting), *thin)
