"""The other forms of a page that it links to: JSON, feeds, oEmbed (RFC 8288), and the links in answers (HATEOAS)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any, ClassVar, Final
from urllib.parse import urlsplit

from msgspec import Struct

from actors.learner.patterns.sources.source import (
    ApiEndpoint,
    Ask,
    generalised,
    hints,
    items,
    members,
    origin_of,
    resolved,
)
from protocol.patterns.pattern import PagePattern, PatternSource
from protocol.patterns.sample import PageSample

MAX_LINKS: Final = 60

_JSON: Final = re.compile(r"(?:application|text)/(?:[\w.-]+\+)?json")
_FEED: Final = re.compile(r"application/(?:rss|atom)\+xml")
_RELATIONS: Final = frozenset({"alternate", "item", "collection", "self", "next", "prev", "related", "up"})


class LinkDiscovery(Struct, frozen=True):
    """Reads the links of a page, of its answer, and of the answers that its scripts got."""

    name: ClassVar[PatternSource] = PatternSource.LINK_DISCOVERY

    async def find(self, sample: PageSample, ask: Ask) -> tuple[PagePattern, ...]:  # noqa: ARG002 - it asks nobody
        """Return what the page and its answers link to."""
        return hints(self.name, sample, [*_of_page(sample), *_of_answers(sample)])


def _of_page(sample: PageSample) -> Iterator[ApiEndpoint]:
    for relation, address, media_type in sample.hints.links[:MAX_LINKS]:
        kind = media_type.partition(";")[0].strip().lower()
        if "alternate" not in relation.lower().split() or not (url := resolved(sample.final_url, address)):
            continue
        if kind.endswith("json+oembed"):
            yield ApiEndpoint(url=_oembed(url), reason="linked as the page's oEmbed")
        elif _JSON.fullmatch(kind):
            page, template = variant(sample.final_url, url)
            yield ApiEndpoint(url=template, page=page, reason="linked as the page in JSON")
        elif _FEED.fullmatch(kind):
            yield ApiEndpoint(url=generalised(url), reason="linked as a feed")


def variant(page_url: str, url: str) -> tuple[str, str]:
    """Return the templates of a page and of another form of it, which has the last step of the page's path in its own.

    Where it has not, there is none of the page: the other form stands for itself.
    """
    parts = urlsplit(page_url)
    head, _, last = parts.path.rstrip("/").rpartition("/")
    stem = last.partition(".")[0]
    stem_pattern = re.compile(rf"(?<![\w-]){re.escape(stem)}(?![\w-])") if stem else None
    path = urlsplit(url).path
    if stem_pattern is None or len(stem_pattern.findall(path)) != 1:
        return "", generalised(url)
    template = stem_pattern.sub("{slug}", path)
    query = f"?{urlsplit(url).query}" if urlsplit(url).query else ""
    page = f"{head}/{{slug}}{last[len(stem) :]}{'/' if parts.path.endswith('/') else ''}"
    return origin_of(page_url) + page, f"{origin_of(url)}{template}{query}"


def _oembed(url: str) -> str:
    """Return an address of oEmbed with the page's address left open."""
    return re.sub(r"(?<=[?&]url=)[^&]*", "{url}", url)


def _of_answers(sample: PageSample) -> Iterator[ApiEndpoint]:
    for exchange in sample.exchanges:
        for reference in islice(_references(exchange.body), MAX_LINKS):
            if url := resolved(exchange.url, reference):
                yield ApiEndpoint(url=generalised(url), reason="linked by an answer of the site's API")


def _references(body: Any) -> Iterator[object]:
    """Yield what an answer, or the first members of a list of it, links to: `_links` of HAL, `links` of JSON:API."""
    for one in [body, *items(body)[:3], *items(members(body).get("data"))[:3]]:
        for holder in ("_links", "links"):
            for relation, link in members(members(one).get(holder)).items():
                if relation in _RELATIONS:
                    yield link if isinstance(link, str) else members(link).get("href")
