"""The addresses that are tried: those that nobody may reach, by class, and those that everybody may."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import msgspec
from msgspec import Struct

from tests.support.scale import is_full

_FILE = Path(__file__).with_name("corpus.toml")


class Address(Struct, frozen=True, forbid_unknown_fields=True):
    """What somebody asks for, and what is special about it."""

    url: str
    why: str


class Corpus(Struct, frozen=True, forbid_unknown_fields=True):
    """Attacks by their class, and the controls, of which each leads to a public address."""

    attacks: dict[str, tuple[Address, ...]]
    controls: dict[str, tuple[Address, ...]]

    @property
    def count(self) -> int:
        """How many attacks there are."""
        return sum(map(len, self.attacks.values()))

    @property
    def honest(self) -> tuple[Address, ...]:
        """The controls."""
        return tuple(address for addresses in self.controls.values() for address in addresses)


SAMPLED = 2
"""Attacks of each class that a tier with scripts is tried with, unless everything is: each takes it a second."""


def attacks(tier: str) -> Mapping[str, tuple[Address, ...]]:
    """Return the attacks that a tier is tried with, by their class."""
    whole = tier == "intelligence" or is_full()
    return {kind: every if whole else every[:SAMPLED] for kind, every in corpus().attacks.items()}


@cache
def corpus() -> Corpus:
    """Read the corpus."""
    return msgspec.toml.decode(_FILE.read_bytes(), type=Corpus)
