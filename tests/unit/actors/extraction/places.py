"""Reads the places of claims as traces write them, so that tests can name them in one word."""

from __future__ import annotations

from actors.extraction.evidence.claim import ClaimPlace, PlaceKind, Standing


def place(written: str) -> ClaimPlace:
    """Return the place that is written so ("og:title", "json-ld:first.Article.headline", "h1: only")."""
    kind, _, detail = written.partition(":")
    standing, _, rest = detail.partition(".")
    if standing in {each.value for each in Standing if each}:
        return ClaimPlace(PlaceKind(kind), rest, Standing(standing))
    return ClaimPlace(PlaceKind(kind), detail.strip())
