"""A page as a tier with scripts has shown it, with what its scripts were answered: what patterns are learned from."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

from protocol.documents import WebObservationSummary
from protocol.tiers import RenderTier

MAX_EXCHANGES = 12
MAX_EXCHANGE_BYTES = 256 * 1024
MAX_SAMPLE_BYTES = 768 * 1024
MAX_SHOWN_CHARS = 64 * 1024
"""What of a page is told to the learner at most; what is larger is left out, the largest first."""

SAMPLES = "page-samples"
"""The place that samples are sealed for: pages of logins are among them."""

Method = Literal["GET", "HEAD", "POST"]


class ApiExchange(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A request that a page's scripts made, and the JSON that answered it.

    `headers` are those that the script itself set, beside what a browser always sends; the values of credentials are
    taken out (`REDACTED`), their names stay. `sent` is the body of a POST, `body` the parsed JSON, `took_ms` what it
    took. `from_state` names the state of a framework that stood in the page itself, and then nothing was asked.
    `places` tells where the saved login has what headers were redacted of, as `Bearer {local:token}`.
    """

    url: str
    method: Method = "GET"
    headers: dict[str, str] = {}
    with_cookies: bool = False
    sent: str = ""
    status: int = 200
    content_type: str = "application/json"
    body: Any = None
    took_ms: int = 0
    from_state: str = ""
    places: dict[str, str] = {}


class PageHints(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a page and its answer say of the program behind them and of other forms of the page.

    `links` are its `<link>` elements and Link headers: rel, absolute address, media type. `headers` are those of the
    answer that name a program (`server`, `x-powered-by`, `x-shopify-…`), `scripts` the addresses of its scripts.
    """

    links: tuple[tuple[str, str, str], ...] = ()
    generator: str = ""
    headers: dict[str, str] = {}
    scripts: tuple[str, ...] = ()


class PageSample(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A page as `tier` has shown it, and the exchanges that it was made from.

    `profile` and `caller` tell whose saved login it was read with. `shown_ms` is what it took to show it, `sample_id`
    what a PAGE_BROWSED names it by. `shown_lines` are the blocks of text that a reader sees, in their order, also those
    that are no content: of MAX_SHOWN_CHARS at most. `shown_links` are the addresses that the page leads to, as many.
    """

    url: str
    final_url: str
    tier: RenderTier
    page: WebObservationSummary
    shown_lines: tuple[str, ...] = ()
    shown_links: tuple[str, ...] = ()
    exchanges: tuple[ApiExchange, ...] = ()
    hints: PageHints = PageHints()
    profile: str = ""
    caller: str = ""
    at_ms: int = 0
    shown_ms: int = 0
    sample_id: str = ""


class SealedSample(Struct, frozen=True, kw_only=True):
    """PAGE_SAMPLED: a PageSample, deflated by zlib and sealed for SAMPLES.

    It is told before anybody knows whether the page is accepted: the `sample` of a PAGE_BROWSED says that.
    """

    sealed: bytes
