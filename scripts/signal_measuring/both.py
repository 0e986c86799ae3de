"""Shows the pages in Chromium and in the tier, and compares the words."""

from __future__ import annotations

import re

from msgspec import Struct
from rapidfuzz.distance import LCSseq

from actors.fetchers.lightweight.rendering import RenderFailure
from actors.fetchers.lightweight.signals import Observation
from scripts.signal_measuring.corpus import Sample
from scripts.signal_measuring.each import each
from scripts.signal_measuring.references import references
from tests.site import serve_site
from tests.support.light import open_light

EQUAL = 0.98
WRONG = 0.9
_AT_ONCE = 2
_MIN_WORDS = 8


class Shown(Struct, frozen=True):
    """A page in both. `words` is what Chromium shows; `observed` is None where the tier gave up.

    `similarity` is twice the words that both show in the same order, by all words of both; `kept` is the share of
    Chromium's words that the tier shows, too.
    """

    sample: Sample
    words: int
    similarity: float
    kept: float
    observed: Observation | None

    @property
    def wrong(self) -> bool:
        """Whether a reader would be told something else, or too little."""
        return self.similarity < WRONG and not self.more

    @property
    def equal(self) -> bool:
        """Whether it is the same page."""
        return self.similarity >= EQUAL

    @property
    def more(self) -> bool:
        """Whether all that Chromium shows is there, among more: what style sheets hide, or what waits further down."""
        return self.similarity < EQUAL <= self.kept


async def show_all(samples: list[Sample]) -> list[Shown]:
    """Show all pages in both; those that show hardly anything in Chromium are left out."""
    async with serve_site() as site:
        wanted = await references(site, samples)
        async with open_light() as light:
            seen = await each(samples, lambda sample: light.see(site.url(sample.path)), _AT_ONCE)
    shown = [_compared(sample, wanted[sample.name], seen[sample.name]) for sample in samples]
    return [page for page in shown if page.words >= _MIN_WORDS]


def _compared(sample: Sample, wanted: str, seen: Observation | RenderFailure) -> Shown:
    expected = _words(wanted)
    if isinstance(seen, RenderFailure):
        return Shown(sample, len(expected), 0.0, 0.0, None)
    found = _words(seen.text)
    common = LCSseq.similarity(expected, found)
    similarity = 2 * common / max(len(expected) + len(found), 1)
    return Shown(sample, len(expected), similarity, common / max(len(expected), 1), seen)


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text)
