"""Tells what was seen of the pages of a session: requests, lines of the console, downloads."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from urllib.parse import urlsplit

import anyio
from msgspec import UNSET
from msgspec.structs import replace

from actors.fetchers.playwright.held import Held
from actors.fetchers.playwright.operations.place import Means
from actors.fetchers.playwright.operations.refusing import invalid
from actors.fetchers.playwright.recording import Exchange
from protocol.browse import NetworkRequest
from protocol.browsers.operations import GetConsoleLogs, GetDownloads, GetNetworkLogs
from protocol.browsers.results import ConsoleLogs, Downloads, NetworkLogs

_SLOW_MS = 1_000
_FIRST_ERROR = 400
_SCRIPTED = frozenset({"xhr", "fetch"})
_ARRIVE_S = 10.0
"""How long files that are on their way are waited for."""

_POLL_S = 0.02
_MAX_ISSUES = 5
_CURSOR = re.compile(r"before-(\d{1,9})")


async def network(_means: Means, held: Held, do: GetNetworkLogs) -> NetworkLogs:
    """Tell the newest requests; a cursor goes on with those before them."""
    number = held.number(do.tab_id) if held.tabs or do.tab_id else None
    awake = held.awake(number) if number is not None else None
    matching = [one for one in (awake.seen.traffic.values() if awake else ()) if _fits(one, do)]
    before = _before(do.cursor)
    left = [one for one in matching if before is None or one.number < before]
    shown = left[-do.max_entries :]
    has_more = len(left) > len(shown)
    return NetworkLogs(
        tab_id=number,
        logs=tuple(_told(one.request, headers=do.include_headers) for one in shown),
        total_count=len(matching),
        truncated=has_more,
        top_issues=tuple(_issues(matching)),
        has_more=has_more,
        next_cursor=f"before-{shown[0].number}" if has_more else None,
    )


async def console(_means: Means, held: Held, do: GetConsoleLogs) -> ConsoleLogs:
    """Tell the newest lines."""
    number = held.number(do.tab_id) if held.tabs or do.tab_id else None
    awake = held.awake(number) if number is not None else None
    lines = [one for one in (awake.seen.lines if awake else ()) if do.level in ("all", one.level)]
    return ConsoleLogs(tab_id=number, logs=tuple(lines[-do.max_entries :]))


async def downloads(_means: Means, held: Held, _do: GetDownloads) -> Downloads:
    """Tell the files of all tabs, those on their way when they are there."""
    with anyio.move_on_after(_ARRIVE_S):
        while held.arriving:  # noqa: ASYNC110 - the browser tells of them by callbacks
            await anyio.sleep(_POLL_S)
    return Downloads(downloads=held.record.downloads)


def _fits(one: Exchange, do: GetNetworkLogs) -> bool:
    if do.url_pattern is not None and not _pattern(do.url_pattern).search(one.request.url):
        return False
    match do.filter:
        case "all":
            return True
        case "xhr":
            return one.kind in _SCRIPTED
        case "failed":
            return one.failed or one.request.status >= _FIRST_ERROR
        case "slow":
            return _took_ms(one.request) > _SLOW_MS


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(".*?".join(re.escape(part) for part in re.split(r"\*+", text)), re.IGNORECASE)


def _before(cursor: str | None) -> int | None:
    if cursor is None:
        return None
    found = _CURSOR.fullmatch(cursor)
    if found is None:
        raise invalid("cursor", "that is none that get_network_logs has given")
    return int(found[1])


def _told(request: NetworkRequest, *, headers: bool) -> NetworkRequest:
    return request if headers else replace(request, headers={}, request_headers={}, response_body=UNSET)


def _took_ms(request: NetworkRequest) -> int:
    return 0 if request.duration is UNSET else request.duration


def _issues(seen: Sequence[Exchange]) -> Iterable[str]:
    """Say what is wrong, the most frequent first."""
    bad = Counter(
        (one.request.status_text if one.failed else f"status {one.request.status}", _host(one.request.url))
        for one in seen
        if one.failed or one.request.status >= _FIRST_ERROR
    )
    for (what, host), count in bad.most_common(_MAX_ISSUES):
        yield f"{_requests(count)} to {host} failed: {what}."
    slow = [one.request for one in seen if _took_ms(one.request) > _SLOW_MS]
    if slow:
        slowest = max(slow, key=_took_ms)
        longest = f"the slowest, to {_host(slowest.url)}, {_took_ms(slowest)} ms"
        yield f"{_requests(len(slow))} took more than a second; {longest}."


def _requests(count: int) -> str:
    return f"{count} request" if count == 1 else f"{count} requests"


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or "?"
    except ValueError:
        return "?"
