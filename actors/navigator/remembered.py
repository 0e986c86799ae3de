"""The histories of hosts as one navigator sees them: those on the bus, and on top what it has not yet written there."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field

from actors.navigator.history import Lessons, inherited, learned
from actors.navigator.places import Place
from protocol.tierhistory import TierHistory

MAX_HOSTS = 10_000
"""Keys that are remembered, about 1 KB each; of what was longer unused, history is read again when it is written."""

MAX_WAITING = 100
"""Visits of one key that wait for the bus; what comes on top is not told to the others."""

Lesson = tuple[Lessons, int, int]
"""What a visit teaches, when it ended (ms since the epoch), and how long the tier with the page took in ms."""


@dataclass
class Remembered:
    """One key: what is `stored` on the bus, the lessons `waiting` to be, and what is known `now` by both.

    `legacy` is what it began with, where nothing is stored.
    """

    legacy: TierHistory | None = None
    stored: TierHistory | None = None
    revision: int = 0
    waiting: list[Lesson] = field(default_factory=list[Lesson])
    now: TierHistory | None = None

    def refresh(self) -> None:
        """Work out what is known now."""
        nothing = self.stored is None and not self.waiting
        self.now = None if nothing else _after(self.stored or self.legacy, self.waiting)


@dataclass
class Histories:
    """The keys, of which the one that was longest unused is forgotten first; `due` are those with lessons waiting."""

    max_hosts: int = MAX_HOSTS
    due: dict[str, None] = field(default_factory=dict[str, None])
    _keys: OrderedDict[str, Remembered] = field(default_factory=OrderedDict[str, Remembered])

    def of(self, place: Place) -> TierHistory | None:
        """Return what is known of a host, or else what its domain leaves to it."""
        own = self._keys.get(place.key)
        if own is not None and own.now is not None:
            self._keys.move_to_end(place.key)
            return own.now
        return self._inherited(place.domain_key)

    def add(self, key: str, lesson: Lesson, *, heir_of: str | None = None) -> None:
        """Learn a lesson at once, and let it wait for the bus; a new host begins with what its domain leaves to it."""
        remembered = self._entry(key)
        if remembered.now is None:
            remembered.legacy = self._inherited(heir_of)
        remembered.now = _after(remembered.now or remembered.legacy, [lesson])
        if len(remembered.waiting) < MAX_WAITING:
            remembered.waiting.append(lesson)
            self.due[key] = None

    def hear(self, key: str, value: TierHistory | None, revision: int) -> None:
        """Take what is on the bus by now, unless something newer was seen there already."""
        if key not in self._keys and value is None:
            return
        remembered = self._keys.get(key) or self._entry(key)
        if revision > remembered.revision:
            remembered.stored, remembered.revision = value, revision
            remembered.refresh()

    def stored(self, key: str) -> tuple[TierHistory | None, int]:
        """Return what was last seen on the bus, with its revision; 0 when there was none."""
        remembered = self._keys.get(key) or Remembered()
        return remembered.stored, remembered.revision

    def waiting(self, key: str) -> int:
        """Count the lessons of a key that wait."""
        return len(self._keys[key].waiting) if key in self._keys else 0

    def merged(self, key: str, stored: TierHistory | None, lessons: int) -> TierHistory | None:
        """Return what the first `lessons` that wait make of what is `stored`."""
        remembered = self._keys.get(key) or Remembered()
        return _after(stored or remembered.legacy, remembered.waiting[:lessons])

    def written(self, key: str, value: TierHistory, revision: int, lessons: int) -> None:
        """Note that the first `lessons` that waited are in `value`, which is on the bus."""
        remembered = self._keys.get(key)
        if remembered is None:
            return
        del remembered.waiting[:lessons]
        if not remembered.waiting:
            self.due.pop(key, None)
        if revision >= remembered.revision:
            remembered.stored, remembered.revision = value, revision
        remembered.refresh()

    def _entry(self, key: str) -> Remembered:
        found = self._keys.setdefault(key, Remembered())
        self._keys.move_to_end(key)
        if len(self._keys) > self.max_hosts:
            oldest, _ = self._keys.popitem(last=False)
            self.due.pop(oldest, None)
        return found

    def _inherited(self, key: str | None) -> TierHistory | None:
        domain = self._keys.get(key) if key is not None else None
        return inherited(domain.now) if domain is not None and domain.now is not None else None


def _after(history: TierHistory | None, lessons: Iterable[Lesson]) -> TierHistory | None:
    for visit, at_ms, took_ms in lessons:
        history = learned(history, visit, at_ms, took_ms)
    return history
