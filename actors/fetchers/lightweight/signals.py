"""Judges by what was observed whether a real browser would show something else."""

from __future__ import annotations

import re

from actors.fetchers.lightweight.observed import Observed, Settling

THIN_WORDS = 40
VERY_THIN_WORDS = 12
PHRASE_WORDS = 60
MANY_LAYOUT_READS = 500

_OK = range(200, 300)
_UNSUPPORTED = re.compile(
    r"unsupported|not supported|upgrade your|update your browser|(?:enable|requires?|turn on) javascript|webgl",
    re.IGNORECASE,
)


def signals(observed: Observed) -> tuple[str, ...]:
    """Name the signals for a real browser; none where what is shown may be believed."""
    hard = _hard(observed)
    thin = observed.words < THIN_WORDS and observed.scripts > 0
    weak = [name for name, seen in (("worker", observed.workers), ("error", observed.errors)) if thin and seen]
    very_thin = ["thin"] if thin and observed.words < VERY_THIN_WORDS else []
    return (*hard, *very_thin, *weak)


def _hard(observed: Observed) -> list[str]:
    moving = observed.settling is Settling.SOFT and observed.layout_reads > MANY_LAYOUT_READS
    phrase = observed.words < PHRASE_WORDS and _UNSUPPORTED.search(observed.text)
    found = {
        "context_refused": observed.refused_contexts,
        "web_socket": observed.web_sockets,
        "extended_element": observed.extended_elements,
        "media": observed.media_elements,
        "unsupported": phrase,
        "status": observed.status not in _OK,
        "cut_short": observed.cut_short,
        "never_settled": moving,
    }
    return [name for name, seen in found.items() if seen]
