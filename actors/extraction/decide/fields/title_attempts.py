"""Tells where a title was looked for, and why each place but one was skipped (000 §6)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import UNSET

from actors.extraction.decide.fields.election import Elected
from actors.extraction.decide.fields.vote import Candidate, head
from actors.extraction.evidence.claim import Claim
from actors.extraction.evidence.normalise import loose, one_line
from protocol.browse import TitleAttempt

MAX_ATTEMPTS = 12
MAX_CHARS = 300
MAX_NAMED = 3

_LOOKED_FOR = ("og:title", "h1", "title")
"""Places that are told of even where they are empty."""


def attempts(
    claims: Sequence[Claim], candidates: Sequence[Candidate], elected: Elected | None
) -> tuple[TitleAttempt, ...]:
    """Tell of each claim how likely it was, and of all but the first that says the winner why it was skipped."""
    return (*_told(claims, candidates, elected), *_missing(claims)) if elected else tuple(_missing(claims))


def _told(claims: Sequence[Claim], candidates: Sequence[Candidate], elected: Elected) -> Iterator[TitleAttempt]:
    winner = elected.winner
    share = {candidate.key: likely for candidate, likely in zip(candidates, elected.shares, strict=True)}
    agreeing = {claim for claim, _ in winner.said}
    selected = next((claim for claim, form in winner.said if not form), winner.said[0][0])
    likely = {
        claim: max(share.get(loose(claim.value), 0.0), share[winner.key] * (claim in agreeing)) for claim in claims
    }
    for claim in sorted(claims, key=lambda claim: (claim is not selected, -likely[claim]))[:MAX_ATTEMPTS]:
        yield TitleAttempt(
            source=_place(claim),
            matched=True,
            confidence_score=round(elected.score if claim is selected else likely[claim], 3),
            selected=claim is selected,
            value=one_line(claim.value, MAX_CHARS),
            skip_reason=UNSET if claim is selected else _reason(claim, winner, selected, agreeing),
        )


def _reason(claim: Claim, winner: Candidate, selected: Claim, agreeing: set[Claim]) -> str:
    if loose(claim.value) == winner.key:
        return f"says the same as {_place(selected)}"
    if claim in agreeing:
        return "says the same beside more, such as the name of the site"
    places = dict.fromkeys(_place(said) for said, form in winner.said if not form or said is selected)
    return f"disagrees with {' and '.join(list(places)[:MAX_NAMED])}"


def _place(claim: Claim) -> str:
    """Return the name of a place without what describes where it stands."""
    return head(claim) if head(claim) in ("h1", "h2", "called title") else claim.place


def _missing(claims: Sequence[Claim]) -> list[TitleAttempt]:
    there = {_place(claim) for claim in claims}
    return [
        TitleAttempt(
            source=place, matched=False, confidence_score=0.0, selected=False, skip_reason="not there or empty"
        )
        for place in _LOOKED_FOR
        if place not in there
    ]
