"""What was observed of a page before and while its scripts ran, and the signals for a real browser in that."""

from __future__ import annotations

import importlib.resources
import re
from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Final

from msgspec import Struct, structs

from actors.fetchers.lightweight.rendering import Counters, RenderedContent, ScriptReport, SettleResult, Snapshot

PHRASE_WORDS: Final = 200
"""A longer text that speaks of browsers is about them."""

MANY_LAYOUT_READS: Final = 500

_OK = range(200, 300)
_RUNS = re.compile(
    rb"<(?:script|iframe|frame|embed|object)[\s>/]|\son[a-z]{3,20}\s*=|http-equiv\s*=\s*[\"']?refresh", re.IGNORECASE
)
_DATA_SCRIPT = re.compile(rb"<script[^>]{0,300}\btype\s*=\s*[\"']?application/(?:ld\+)?json", re.IGNORECASE)
_HIDDEN = (b"script", b"style", b"noscript", b"template", b"title")
_MAX_SCANNED_BYTES = 1_000_000
_UNSUPPORTED = re.compile(
    r"(?:browser|device) (?:is |may be |version is )?(?:un|not |no longer )support"
    r"|unsupported browser|(?:update|upgrade) (?:your|the|to a newer) browser|upgrade to a newer"
    r"|(?:enable|requires?|needs?|turn on|without) (?:javascript|webgl)",
    re.IGNORECASE,
)


class Observation(Struct, frozen=True):
    """Counts of what a page did and shows; everything that the page says about itself may be forged by the page.

    `text` is what it shows, from its beginning and cut; `words` and `chars` count the whole of it (a character of a
    language without blanks counts as a word). `scripts` counts those that were run, of `failed_scripts` none came.
    `contexts` holds the kinds that getContext was asked for, `refused_contexts` those it gave null for.
    `api_4xx`, `api_5xx` and `failed_requests` count XHR and fetch; `refused_requests` those that the same-origin policy
    forbade, `oversized_requests` those whose body is unknown. `missing_elements` counts custom elements that stay
    undefined at the end, `foreign_frames` frames of other origins, `empty_roots` the usual roots of apps left empty.
    """

    text: str = ""
    words: int = 0
    chars: int = 0
    status: int = 200
    settling: SettleResult = SettleResult.SETTLED
    cut_short: str = ""
    """The limit that ended the page early, as in PageEvidence; empty when none did."""

    scripts: int = 0
    failed_scripts: int = 0
    errors: int = 0
    rejections: int = 0
    requests: int = 0
    failed_requests: int = 0
    api_4xx: int = 0
    api_5xx: int = 0
    refused_requests: int = 0
    oversized_requests: int = 0
    documents: int = 1

    contexts: tuple[str, ...] = ()
    refused_contexts: tuple[str, ...] = ()
    web_sockets: int = 0
    workers: int = 0
    service_workers: int = 0
    extended_elements: int = 0
    """Calls of customElements.define with `extends`, which the engine ignores."""

    missing_elements: int = 0
    media_elements: int = 0
    canvases: int = 0
    foreign_frames: int = 0
    empty_roots: int = 0
    layout_reads: int = 0
    intersections: int = 0
    """IntersectionObservers made."""

    resizes: int = 0
    """ResizeObservers made."""

    animations: int = 0
    """Listeners for the ends of animations and transitions, which never come."""

    late_timers: int = 0
    """Timers of 600 to 3,000 ms that were under way at the end."""

    media_queries: int = 0
    """Calls of matchMedia."""

    text_before: int = 0
    """Characters that the document showed as it came, before any script ran."""

    event_sources: int = 0
    """EventSources made; none ever opens."""

    lacks: tuple[str, ...] = ()
    """What errors say is not there: names of what is not defined, no function, no constructor, or read of nothing."""

    drawn_reads: int = 0
    """Reads of what only drawing knows: boxes of SVG, pixels and widths of text in a canvas."""

    performance: int = 0
    """PerformanceObservers made."""

    tall: int = 0
    """Elements whose own style makes them higher than any window, as lists do that show only a part of themselves."""


@cache
def _platform() -> frozenset[str]:
    """Return the names of the web platform that the engine lacks: what can be called, and what is global."""
    return frozenset((importlib.resources.files(__package__ or "") / "lacking.txt").read_text("utf-8").split())


MARKS: Final[Mapping[str, Callable[[Observation], object]]] = MappingProxyType(
    {
        "status": lambda page: page.status not in _OK,
        "cut_short": lambda page: page.cut_short,
        "never_settled": lambda page: (
            page.settling is not SettleResult.SETTLED and page.layout_reads > MANY_LAYOUT_READS
        ),
        "unsupported": lambda page: page.words < PHRASE_WORDS and _UNSUPPORTED.search(page.text),
        "context_refused": lambda page: page.refused_contexts,
        "web_socket": lambda page: page.web_sockets,
        "event_source": lambda page: page.event_sources,
        "extended_element": lambda page: page.extended_elements,
        "oversized_request": lambda page: page.oversized_requests,
        "lacking": lambda page: not _platform().isdisjoint(page.lacks),
        "media": lambda page: page.media_elements,
        "tall": lambda page: page.tall,
        "animation": lambda page: page.animations,
        "drawn": lambda page: page.drawn_reads,
        "foreign_frame": lambda page: page.foreign_frames,
        "error": lambda page: page.errors or page.rejections,
        "worker": lambda page: page.workers,
        "empty_root": lambda page: page.empty_roots,
        "failed_script": lambda page: page.failed_scripts,
        "failed_request": lambda page: page.failed_requests or page.api_4xx or page.api_5xx or page.refused_requests,
        "late_timer": lambda page: page.late_timers,
        "unsettled": lambda page: page.settling is not SettleResult.SETTLED,
        "measured": lambda page: page.layout_reads,
        "resized": lambda page: page.resizes,
        "canvas": lambda page: page.contexts,
        "performance": lambda page: page.performance,
        "missing_element": lambda page: page.missing_elements,
    }
)
"""The marks that may speak for a browser, by name: predicates on an observation."""


class Rule(Struct, frozen=True):
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


def observe(snapshot: Snapshot, text_before: int) -> Observation:
    """Return what was observed of a page; `text_before` as in Observation."""
    observation = Observation(
        status=snapshot.status, settling=snapshot.settling, cut_short=snapshot.cut_short, text_before=text_before
    )
    observation = _with_counters(observation, snapshot.counters)
    observation = _with_content(observation, snapshot.content)
    return _with_report(observation, snapshot.report)


def signals(observation: Observation, rule: Rule = RULE) -> tuple[str, ...]:
    """Return the names of the signals for a real browser; none where what is shown may be believed."""
    return raised(marks(observation), observation, rule)


def marks(observation: Observation) -> tuple[str, ...]:
    """Return the names of all marks of a page."""
    return tuple(name for name, bears in MARKS.items() if bears(observation))


def raised(borne: tuple[str, ...], observation: Observation, rule: Rule) -> tuple[str, ...]:
    """Return the marks that count by a rule, and `thin` where the page is thin by itself."""
    runs = observation.scripts > 0
    counting = rule.alone | rule.beside if runs and observation.words < rule.few_words else rule.alone
    thin = ("thin",) if runs and observation.words < rule.thin_words else ()
    return (*(name for name in borne if name in counting), *thin)


def runs_scripts(body: bytes) -> bool:
    """Return whether a document holds anything that runs, or that loads other documents into it."""
    count = sum(1 for _ in _RUNS.finditer(body))
    return count > sum(1 for _ in _DATA_SCRIPT.finditer(body))


def shown_chars(body: bytes) -> int:
    """Return, roughly, the bytes of text that a document shows before any script has run."""
    rest, count, at = body[:_MAX_SCANNED_BYTES].lower(), 0, 0
    while (start := rest.find(b"<", at)) >= 0:
        count += len(rest[at:start].strip())
        name = next((name for name in _HIDDEN if rest.startswith(name, start + 1)), None)
        closing = rest.find(b"</" + name, start) if name else -1
        end = rest.find(b">", max(start, closing))
        if end < 0 or (name and closing < 0):
            return count
        at = end + 1
    return count + len(rest[at:].strip())


def _with_counters(observation: Observation, counters: Counters) -> Observation:
    return structs.replace(
        observation,
        scripts=counters.scripts,
        failed_scripts=counters.failed_scripts,
        requests=counters.requests,
        failed_requests=counters.failed,
        api_4xx=counters.api_4xx,
        api_5xx=counters.api_5xx,
        refused_requests=counters.refused,
        oversized_requests=counters.oversized,
        documents=counters.documents,
    )


def _with_content(observation: Observation, content: RenderedContent) -> Observation:
    return structs.replace(
        observation,
        text=content.text,
        words=content.words,
        chars=content.chars,
        scripts=max(observation.scripts, content.scripts),
        missing_elements=content.missing,
        media_elements=content.media,
        canvases=content.canvases,
        foreign_frames=content.foreign,
        empty_roots=content.empty_roots,
        tall=content.tall,
    )


def _with_report(observation: Observation, report: ScriptReport) -> Observation:
    return structs.replace(
        observation,
        errors=report.errors,
        rejections=report.rejections,
        contexts=tuple(report.contexts.split()),
        refused_contexts=tuple(report.refused.split()),
        web_sockets=report.n_web_sockets,
        workers=report.n_workers,
        extended_elements=report.n_extended_elements,
        layout_reads=report.n_layout_reads,
        intersections=report.n_intersections,
        resizes=report.n_resizes,
        animations=report.n_animations,
        late_timers=report.lates,
        media_queries=report.n_media_queries,
        event_sources=report.n_event_sources,
        lacks=tuple(report.lacks.split()),
        drawn_reads=report.n_drawn_reads,
        performance=report.n_performance,
    )
