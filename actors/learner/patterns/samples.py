"""The last samples of each kind of page, in memory alone and within bounds: what patterns are learned from."""

from __future__ import annotations

from collections import OrderedDict, deque
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from actors.patterns.addresses import page_kind
from protocol.codec import encode
from protocol.patterns.sample import PageSample

SAMPLES_OF_KIND: Final = 6
"""Pages of one kind that are remembered; two kinds whose addresses have the same form share them."""

MAX_BYTES: Final = 48 * 1024 * 1024
"""What all samples may take as JSON; the kinds that were seen longest ago are forgotten first."""

KindKey: TypeAlias = tuple[str, str, str]


@dataclass
class SampleMemory:
    """The last samples by kind."""

    max_bytes: int = MAX_BYTES
    _kinds: OrderedDict[KindKey, deque[tuple[int, PageSample]]] = field(
        default_factory=OrderedDict[KindKey, deque[tuple[int, PageSample]]], init=False
    )
    _bytes: int = field(default=0, init=False)

    def others(self, sample: PageSample) -> tuple[PageSample, ...]:
        """Return the samples of other pages of the same kind, the newest first."""
        kept = self._kinds.get(kind_of(sample), ())
        return tuple(one for _, one in reversed(kept) if one.final_url != sample.final_url)

    def add(self, sample: PageSample) -> None:
        """Remember a sample, in the place of an earlier one of the same page."""
        key, size = kind_of(sample), len(encode(sample))
        kept = self._kinds.setdefault(key, deque())
        self._kinds.move_to_end(key)
        for entry in [one for one in kept if one[1].final_url == sample.final_url]:
            kept.remove(entry)
            self._bytes -= entry[0]
        kept.append((size, sample))
        self._bytes += size
        if len(kept) > SAMPLES_OF_KIND:
            self._bytes -= kept.popleft()[0]
        while self._bytes > self.max_bytes and len(self._kinds) > 1:
            _, forgotten = self._kinds.popitem(last=False)
            self._bytes -= sum(taken for taken, _ in forgotten)


def kind_of(sample: PageSample) -> KindKey:
    """Return what pages of one kind have in common before any pattern is known: form of address, and login."""
    return page_kind(sample.final_url), sample.profile, sample.caller
