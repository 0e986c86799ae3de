"""The requests that the scripts of a page have made: each is a hint before a pattern of pages is made of several."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from msgspec import Struct

from actors.learner.patterns.sources.source import ApiEndpoint, Ask, generalised, hints
from actors.patterns.safety import credential_headers, refusal
from protocol.patterns.pattern import AuthKind, PagePattern, PatternSource
from protocol.patterns.sample import ApiExchange, PageSample


class ApiExtraction(Struct, frozen=True):
    """Reads the exchanges of a page: those by GET that were answered with JSON."""

    name: ClassVar[PatternSource] = PatternSource.API_EXTRACTION

    async def find(self, sample: PageSample, ask: Ask) -> tuple[PagePattern, ...]:  # noqa: ARG002 - it asks nobody
        """Return what the page's scripts have asked, with ids and parameters left open."""
        return hints(self.name, sample, _endpoints(sample))


def _endpoints(sample: PageSample) -> Iterator[ApiEndpoint]:
    for exchange in sample.exchanges:
        if exchange.from_state or exchange.method != "GET" or not isinstance(exchange.body, dict | list):
            continue
        if refusal(exchange, sample.final_url):
            continue
        names = credential_headers(exchange)
        yield ApiEndpoint(
            url=generalised(exchange.url),
            auth=_auth(names, exchange),
            auth_headers=names,
            reason="asked by a script of the page",
        )


def _auth(names: tuple[str, ...], exchange: ApiExchange) -> AuthKind | None:
    if "authorization" in names:
        return "bearer"
    if names:
        return "header"
    return "cookie" if exchange.with_cookies else None
