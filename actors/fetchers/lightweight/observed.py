"""What the tier lightweight saw of a page while its scripts ran: what the signals for a real browser are judged by."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Settling(StrEnum):
    """How a page came to its end: quiet, moving still though nothing came over the network, or at the last moment."""

    SETTLED = "settled"
    SOFT = "soft"
    HARD = "hard"


@dataclass(frozen=True)
class Observed:
    """Counts of what a page did and shows; everything that the page says about itself may be forged by the page.

    `text` is what it shows, from its beginning and cut; `words` and `chars` count the whole of it (a character of a
    language without blanks counts as a word). `scripts` counts those that were run, of `failed_scripts` none came.
    `contexts` holds the kinds that getContext was asked for, `refused_contexts` those it gave null for.
    `api_4xx`, `api_5xx` and `failed_requests` count XHR and fetch; `refused_requests` those that the same-origin policy
    forbade, `oversized_requests` those whose body could not be had. `missing_elements` counts custom elements that stay
    undefined at the end, `foreign_frames` frames of other origins, `empty_roots` the usual roots of apps left empty.
    """

    text: str = ""
    words: int = 0
    chars: int = 0
    status: int = 200
    settling: Settling = Settling.SETTLED
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
