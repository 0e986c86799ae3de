"""Counts what a page asks of the network, and says on what terms it may."""

from __future__ import annotations

from dataclasses import dataclass, field

from protocol.browse import Freshness, NetworkRequest


@dataclass(frozen=True)
class Terms:
    """On what terms a page is shown: `profile` keeps its cached answers apart; `record` that exchanges are wanted.

    `obey_robots` counts for the documents that the page's own window goes to. With `single_shot` nothing that broke off
    is asked for again.
    """

    profile: str = ""
    freshness: Freshness = Freshness.ANY
    record: bool = False
    obey_robots: bool = False
    single_shot: bool = False


@dataclass
class Tally:
    """What a page has asked for so far; `limit` is the one that ended it."""

    requests: int = 0
    documents: int = 0
    frames: int = 0
    received: int = 0
    sent: int = 0
    scripts: int = 0
    failed_scripts: int = 0
    failed: int = 0
    refused: int = 0
    oversized: int = 0
    withheld: int = 0
    """Requests across origins that went without the cookies of their site, as nobody can tell whether they should."""

    left_out: int = 0
    """Frames that a page with a login confines, or writes itself: they are not shown."""

    api_4xx: int = 0
    api_5xx: int = 0
    retries: int = 0
    limit: str = ""
    exchanges: list[NetworkRequest] = field(default_factory=list[NetworkRequest])
    apis: list[NetworkRequest] = field(default_factory=list[NetworkRequest])
    """The exchanges of XHR and fetch that came to their end."""
