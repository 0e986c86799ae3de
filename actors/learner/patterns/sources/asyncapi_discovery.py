"""Descriptions by AsyncAPI 2 and 3: what of their channels is asked by GET over HTTP is a hint, the others are not."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any, ClassVar, Final

from msgspec import Struct

from actors.learner.patterns.sources.described import addresses, dereferenced, document_at
from actors.learner.patterns.sources.source import MAX_NODES, ApiEndpoint, Ask, hints, members, resolved, text
from protocol.patterns.pattern import PagePattern, PatternSource
from protocol.patterns.sample import PageSample

PLACES: Final = ("/asyncapi.json", "/.well-known/asyncapi.json")


class AsyncApiDiscovery(Struct, frozen=True):
    """Asks for the description of a site's channels."""

    name: ClassVar[PatternSource] = PatternSource.ASYNCAPI_DISCOVERY

    async def find(self, sample: PageSample, ask: Ask) -> tuple[PagePattern, ...]:
        """Return the channels of the site that are asked by GET."""
        for url in addresses(sample, PLACES, ("asyncapi",)):
            document = await document_at(url, ask)
            if "asyncapi" in document:
                return hints(self.name, sample, channels(document, url))
        return ()


def channels(document: dict[str, Any], url: str) -> Iterator[ApiEndpoint]:
    """Yield the channels over HTTP of a description that was read at `url`."""
    base = _base(document, url)
    if not base:
        return
    listed = members(document.get("channels"))
    for name, one in islice(listed.items(), MAX_NODES):
        channel = dereferenced(document, one)
        address = text(channel.get("address"), 300) or name
        if any(_is_get(operation) for operation in _operations(document, name, channel)):
            reason = "described by AsyncAPI"
            yield ApiEndpoint(url=f"{base}/{address.lstrip('/')}", reason=reason)


def _base(document: dict[str, Any], url: str) -> str:
    """Return the address of the first server that speaks HTTP; `""` where none does."""
    for one in islice(members(document.get("servers")).values(), 20):
        server = dereferenced(document, one)
        protocol = text(server.get("protocol")).lower()
        if protocol in ("http", "https"):
            host = text(server.get("host")) or text(server.get("url"), 500)
            path = text(server.get("pathname"))
            address = host if "://" in host else f"{protocol}://{host}"
            return resolved(url, f"{address.rstrip('/')}{path}").rstrip("/")
    return ""


def _operations(document: dict[str, Any], name: str, channel: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the operations of a channel: they stand in it in version 2, and beside it in version 3."""
    for key in ("subscribe", "publish"):
        yield members(channel.get(key))
    for one in islice(members(document.get("operations")).values(), MAX_NODES):
        reference = text(members(members(one).get("channel")).get("$ref"))
        if reference == f"#/channels/{name.replace('~', '~0').replace('/', '~1')}":
            yield members(one)


def _is_get(operation: dict[str, Any]) -> bool:
    return text(members(members(operation.get("bindings")).get("http")).get("method")).upper() == "GET"
