"""What is answered about patterns: who may see which, how they are listed, exchanged and judged. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

import msgspec
from msgspec import UNSET, structs

from actors.learner.patterns.sources.source import ApiEndpoint, HintOrigin, slots_of
from actors.patterns.addresses import fill
from actors.patterns.slots import fits
from actors.patterns.templates import AddressSlot
from actors.patterns.trust import after_feedback, can_bypass, decayed, trust_of
from protocol.actions import Action
from protocol.faults import Code, FaultError, fault
from protocol.patterns.listing import (
    FiledPattern,
    ImportedPatterns,
    ListPatterns,
    PatternAsker,
    PatternFile,
    PatternId,
    PatternInfo,
    PatternList,
    PatternRequest,
    RefusedPattern,
)
from protocol.patterns.pattern import MAX_DECAYS, MAX_PATTERNS, ApiRequest, PagePattern, PatternSource

SHIFT: Final = 0.05
"""What one judgement adds or takes away (1.B, `ai_feedback`)."""

_ANSWER_SLOT: Final = re.compile(r"\{\d+:")
_GUESS: Final = re.compile(r"\{\w+=")


def is_visible(pattern: PagePattern, asker: PatternAsker) -> bool:
    """Return whether somebody may know of a pattern.

    What was learned with a login is its owner's alone. A hint at the only page that was seen names that page, and who
    has visited it is nobody's business but the operator's.
    """
    if not (pattern.caller or pattern.profile):
        return asker.with_single_pages or not _is_of_single_page(pattern)
    return asker.with_logins and pattern.caller == asker.caller


def _is_of_single_page(pattern: PagePattern) -> bool:
    is_seen = pattern.source is PatternSource.API_EXTRACTION and pattern.mapping is None and pattern.page != ""
    return is_seen and ("{" not in pattern.page or _GUESS.search(pattern.page) is not None)


def visible(pattern: PagePattern | None, asker: PatternAsker) -> PagePattern:
    """Return a pattern that somebody may know of.

    Raises:
        FaultError: VALIDATION_UNKNOWN_PATTERN, there is none, or it is somebody else's.
    """
    if pattern is None or not is_visible(pattern, asker):
        raise FaultError(fault(Code.VALIDATION_UNKNOWN_PATTERN, field="patternId"))
    return pattern


def info(pattern: PagePattern, now_ms: int) -> PatternInfo:
    """Return a pattern as clients see it, as far as it is trusted now."""
    current = decayed(pattern, now_ms)
    trust = trust_of(current, now_ms)
    return PatternInfo(
        pattern_id=pattern.pattern_id,
        domain=pattern.domain,
        page=pattern.page or UNSET,
        requests=tuple(_shown(one) for one in pattern.requests),
        parameters=parameters_of(pattern),
        source=pattern.source,
        trust=trust,
        confidence=trust,
        confidence_score=current.score,
        can_bypass=can_bypass(current, now_ms),
        reproduced=len(pattern.reproduced),
        observations=pattern.observations,
        failures=pattern.failures,
        archived=current.archived,
        created_at=pattern.created_at or UNSET,
        last_verified_at=pattern.verified_at or UNSET,
        last_used_at=pattern.used_at or UNSET,
        decays=current.decays[-MAX_DECAYS:],
        profile=pattern.profile or UNSET,
        reason=pattern.reason or UNSET,
        version=pattern.version,
    )


def parameters_of(pattern: PagePattern) -> tuple[str, ...]:
    """Return the slots that whoever calls an API fills, in the order in which they stand there."""
    return tuple(dict.fromkeys(slot.name for one in pattern.requests for slot in _slots(one)))


def _slots(request: ApiRequest) -> tuple[AddressSlot, ...]:
    return (*slots_of(request.url), *slots_of(request.body))


def _shown(request: ApiRequest) -> PatternRequest:
    return PatternRequest(
        method=request.method, url=request.url, auth_type=request.auth, auth_headers=request.auth_headers
    )


def listed(patterns: Iterable[PagePattern], request: ListPatterns, now_ms: int) -> PatternList:
    """Return the patterns that somebody may know of behind a cursor, by domain and id.

    Raises:
        FaultError: VALIDATION_INVALID_REQUEST, the cursor is none, or that of the list of another domain.
    """
    ordered = sorted((one for one in patterns if is_visible(one, request)), key=_place)
    behind = ordered
    if request.cursor:
        last = _read_cursor(request.cursor)
        if request.domain is not None and ordered and last[0] != ordered[0].domain:
            raise _no_cursor("it belongs to the list of another domain")
        behind = [one for one in ordered if _place(one) > last]
    page = behind[: request.limit]
    more = len(behind) > len(page)
    return PatternList(
        patterns=tuple(info(one, now_ms) for one in page), next_cursor="/".join(_place(page[-1])) if more else UNSET
    )


def _place(pattern: PagePattern) -> tuple[str, str]:
    return pattern.domain, pattern.pattern_id


def _read_cursor(cursor: str) -> tuple[str, str]:
    domain, _, pattern_id = cursor.partition("/")
    try:
        return domain, msgspec.convert(pattern_id, PatternId)
    except msgspec.ValidationError:
        raise _no_cursor("it is none that an answer gave") from None


def _no_cursor(why: str) -> FaultError:
    again = Action(action="start_again", description="Leave the cursor out to list from the beginning.")
    return FaultError(fault(Code.VALIDATION_INVALID_REQUEST, f"cursor: {why}", field="cursor", actions=(again,)))


# -- files -------------------------------------------------------------------------------------------------------------


def exported(patterns: Iterable[PagePattern]) -> PatternFile:
    """Return what others may have of patterns: those of no login that are one request without a body."""
    filed = (_filed(one) for one in sorted(patterns, key=_place) if _is_exchangeable(one))
    return PatternFile(format="weft-patterns", version=1, patterns=tuple(filed))


def _is_exchangeable(pattern: PagePattern) -> bool:
    if pattern.caller or pattern.profile or pattern.archived or len(pattern.requests) != 1:
        return False
    (request,) = pattern.requests
    return request.method == "GET" and not request.body and not request.headers


def _filed(pattern: PagePattern) -> FiledPattern:
    (request,) = pattern.requests
    return FiledPattern(
        url=request.url,
        page=pattern.page,
        auth_type=request.auth,
        auth_headers=request.auth_headers,
        reason=pattern.reason[:200],
    )


@dataclass
class Import:
    """The patterns of a file as hints: `new` are to be written, the others are known or refused."""

    kept: Sequence[PagePattern]
    """All patterns there are."""
    new: dict[str, PagePattern] = field(default_factory=dict[str, PagePattern])
    again: int = 0
    refused: list[RefusedPattern] = field(default_factory=list[RefusedPattern])

    def take(self, file: PatternFile, now_ms: int) -> None:
        """Take the patterns of a file, each held to what a source is held to; none of them is trusted."""
        known = {one.pattern_id for one in self.kept}
        everyones = {_page_and_request(one) for one in self.kept if _is_exchangeable(one)}
        counts = Counter(one.domain for one in self.kept)
        for number, one in enumerate(file.patterns):
            hint = imported(one, now_ms)
            if isinstance(hint, str):
                self.refused.append(RefusedPattern(number=number, reason=hint))
            elif hint.pattern_id in known or hint.pattern_id in self.new or _page_and_request(hint) in everyones:
                self.again += 1
            elif counts[hint.domain] >= MAX_PATTERNS:
                self.refused.append(RefusedPattern(number=number, reason=f"{hint.domain} has {MAX_PATTERNS} already"))
            else:
                self.new[hint.pattern_id] = hint
                counts[hint.domain] += 1

    def answer(self) -> ImportedPatterns:
        """Return what came of the file."""
        return ImportedPatterns(imported=tuple(self.new), known=self.again, refused=tuple(self.refused))


def _page_and_request(pattern: PagePattern) -> tuple[str, str]:
    """Return which page a pattern is for, and what it asks instead, however it was learned."""
    return pattern.page, pattern.requests[0].url


def imported(one: FiledPattern, now_ms: int) -> PagePattern | str:
    """Return the hint that a pattern of a file is, or why it is none."""
    if _ANSWER_SLOT.search(one.url):
        return "it needs the answer of another request"
    hint_origin = HintOrigin(PatternSource.MANUAL, one.page or one.url, now_ms)
    endpoint = ApiEndpoint(
        url=one.url,
        page=one.page,
        auth=one.auth_type,
        auth_headers=one.auth_headers,
        reason=f"imported ({one.reason})" if one.reason else "imported",
    )
    return hint_origin.hint_or_why(endpoint)


# -- judging and calling -----------------------------------------------------------------------------------------------


def judged(pattern: PagePattern, *, steps: int, now_ms: int) -> tuple[PagePattern, float]:
    """Return a pattern after feedback that moves it by steps (-1, 0, 1), and how far that has shifted its score."""
    before = decayed(pattern, now_ms)
    after = after_feedback(before, steps * SHIFT, now_ms) if steps else before
    return after, round(after.score - before.score, 6)


def prepared(pattern: PagePattern, parameters: Mapping[str, str]) -> tuple[tuple[ApiRequest, ...], dict[str, str]]:
    """Return the requests of a pattern and the values of their slots: what a query need not have is left out.

    Raises:
        FaultError: VALIDATION_INVALID_REQUEST for a parameter that there is not, or one that is missing.
    """
    known = parameters_of(pattern)
    if unknown := [name for name in parameters if name not in known]:
        hint = f"it takes {', '.join(known)}" if known else "it takes none"
        raise _wrong(f"parameters: there is no {unknown[0][:40]!r}; {hint}")
    usual = {slot.name: slot.fixed for one in pattern.requests for slot in _slots(one) if slot.fixed}
    slots = {**usual, **parameters}
    requests = tuple(structs.replace(one, url=_without(one.url, slots)) for one in pattern.requests)
    missing = [slot.name for one in requests for slot in _slots(one) if slot.name not in slots]
    if missing:
        raise _wrong(f"parameters: {', '.join(dict.fromkeys(missing))} is missing")
    if wrong := [name for name, value in slots.items() if not fits(name, value)]:
        raise _wrong(f"parameters: {wrong[0]} has no such value")
    for one in requests:
        _check_filled(one, slots)
    return requests, slots


def _check_filled(request: ApiRequest, slots: Mapping[str, str]) -> None:
    """Refuse values that would leave their place in the address, as far as it is known before anything is asked."""
    if _ANSWER_SLOT.search(f"{request.url}{request.body}"):
        return
    try:
        fill(request.url, slots)
        if request.body:
            fill(request.body, slots)
    except ValueError:
        raise _wrong("parameters: with these values the address would be another") from None


def _without(url: str, slots: Mapping[str, str]) -> str:
    base, mark, query = url.partition("?")
    pairs: Sequence[str] = query.split("&") if mark else ()
    kept = [pair for pair in pairs if all(slot.name in slots for slot in slots_of(pair))]
    return f"{base}?{'&'.join(kept)}" if kept else base


def site_of_call(pattern: PagePattern) -> str:
    """Return an address of the site that a pattern belongs to."""
    parts = urlsplit(pattern.page or pattern.requests[0].url)
    return f"{parts.scheme}://{parts.netloc}/"


def _wrong(message: str) -> FaultError:
    return FaultError(fault(Code.VALIDATION_INVALID_REQUEST, message, field="parameters"))
