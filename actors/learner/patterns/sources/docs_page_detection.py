"""Documentation of an API: pages with lines such as `GET /users/{id}`, and with commands of curl."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import ClassVar, Final

from msgspec import UNSET, Struct

from actors.learner.patterns.sources.source import ApiEndpoint, Ask, generalised, hints, of_site, origin_of
from protocol.patterns.pattern import AuthKind, PagePattern, PatternSource
from protocol.patterns.sample import PageSample

MAX_CHARS: Final = 60_000
MIN_LINES: Final = 2
"""Requests that a page names before it is documentation."""

_LINE: Final = re.compile(r"(?<![\w/])GET[ \t`*]{1,6}((?:https?://|/)[^\s`*\"'|)<]{1,300}|/[^\s`*\"'|)]{1,300})")
_CURL: Final = re.compile(r"(?<![\w/])curl[ \t]([^\n]{1,600}(?:\\\n[^\n]{1,300}){0,8})")
_ADDRESS: Final = re.compile(r"https?://[^\s\"'`\\<]{4,400}")
_SENDS: Final = re.compile(
    r"(?:^|\s)(?:-d|--data[\w-]*|-F|--form|-T|--json)\b|(?:-X|--request)[ =]?['\"]?(?!GET\b)[A-Z]"
)
_BEARER: Final = re.compile(r"Authorization:\s*Bearer", re.IGNORECASE)
_HEADER: Final = re.compile(r"(?:-H|--header)\s+['\"](x-[\w-]{1,40}):", re.IGNORECASE)
_PARAMETER: Final = re.compile(r"(?<=/)(?::([A-Za-z]\w{0,40})|<(?:\w+:)?([A-Za-z]\w{0,40})>)(?=/|\.|$|\?)")


class DocsPageDetection(Struct, frozen=True):
    """Reads the words of a page that documents an API of its own site."""

    name: ClassVar[PatternSource] = PatternSource.DOCS_PAGE_DETECTION

    async def find(self, sample: PageSample, ask: Ask) -> tuple[PagePattern, ...]:  # noqa: ARG002 - it asks nobody
        """Return the requests by GET that the page documents."""
        plain_text = sample.page.text if sample.page.text is not UNSET else ""
        words = f"{sample.page.markdown[:MAX_CHARS]}\n{plain_text[:MAX_CHARS]}"
        commands = list(_commands(words))
        lines = list(dict.fromkeys(_LINE.findall(words)))
        if len(lines) + len(commands) < MIN_LINES:
            return ()
        own = (origin_of(one.url) for one in commands if of_site(one.url, sample.final_url))
        base = next(own, origin_of(sample.final_url))
        return hints(self.name, sample, [*_lines(lines, base), *commands])


def _lines(lines: list[str], base: str) -> Iterator[ApiEndpoint]:
    for line in lines:
        address = _PARAMETER.sub(lambda match: f"{{{match[1] or match[2]}}}", line.rstrip(".,;:"))
        yield ApiEndpoint(url=base + address if address.startswith("/") else address, reason="documented on a page")


def _commands(words: str) -> Iterator[ApiEndpoint]:
    """Yield what the commands of curl ask that send nothing; a key in an address is never taken."""
    for command in dict.fromkeys(_CURL.findall(words)):
        address = _ADDRESS.search(command)
        if address is None or _SENDS.search(command):
            continue
        names = tuple(dict.fromkeys(_HEADER.findall(command)))
        auth: AuthKind | None = "header" if names else None
        if _BEARER.search(command):
            auth, names = "bearer", ("Authorization",)
        reason = "documented by a command of curl"
        yield ApiEndpoint(url=generalised(address[0]), auth=auth, auth_headers=names, reason=reason)
