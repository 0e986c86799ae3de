"""Reports what was recorded of the pages of a session: requests, console lines, downloads."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from urllib.parse import urlsplit

import anyio
from msgspec import UNSET
from msgspec.structs import replace

from actors.fetchers.playwright import faults
from actors.fetchers.playwright.open_session import OpenSession
from actors.fetchers.playwright.operations.context import OperationContext
from actors.fetchers.playwright.recording import PageRecorder, RecordedRequest
from protocol.browse import NetworkRequest
from protocol.browsers.operations import GetConsoleLogs, GetDownloads, GetNetworkLogs
from protocol.browsers.results import ConsoleLogs, Downloads, NetworkLogs

_SLOW_MS = 1_000
_FIRST_ERROR = 400
_SCRIPTED = frozenset({"xhr", "fetch"})
_DOWNLOAD_S = 10.0
"""How long downloads in flight are waited for."""

_POLL_S = 0.02
_MAX_ISSUES = 5
_CURSOR = re.compile(r"before-(\d{1,9})")


async def network(op: OperationContext, do: GetNetworkLogs) -> NetworkLogs:
    """List the newest requests; a cursor continues with those before them."""
    number, recorder = _recorder(op.session, do.tab_id)
    matching = [one for one in (recorder.traffic.values() if recorder else ()) if _matches(one, do)]
    end = _sequence_number(do.cursor)
    left = [one for one in matching if end is None or one.number < end]
    shown = left[-do.max_entries :]
    has_more = len(left) > len(shown)
    return NetworkLogs(
        tab_id=number,
        logs=tuple(_without_details(one.request, headers=do.include_headers) for one in shown),
        total_count=len(matching),
        truncated=has_more,
        top_issues=tuple(_issues(matching)),
        has_more=has_more,
        next_cursor=f"before-{shown[0].number}" if has_more else None,
    )


async def console(op: OperationContext, do: GetConsoleLogs) -> ConsoleLogs:
    """List the newest console lines."""
    number, recorder = _recorder(op.session, do.tab_id)
    lines = [one for one in (recorder.lines if recorder else ()) if do.level in ("all", one.level)]
    return ConsoleLogs(tab_id=number, logs=tuple(lines[-do.max_entries :]))


async def downloads(op: OperationContext, _do: GetDownloads) -> Downloads:
    """List the downloads of all tabs, after those in flight are complete."""
    with anyio.move_on_after(_DOWNLOAD_S):
        while op.session.downloading:  # noqa: ASYNC110 - the browser announces them by callbacks
            await anyio.sleep(_POLL_S)
    return Downloads(downloads=op.session.record.downloads)


def _recorder(session: OpenSession, wanted: int | None) -> tuple[int | None, PageRecorder | None]:
    """Return the number of a tab, and its recorder where it is open."""
    number = session.tab_number(wanted) if session.tabs or wanted else None
    open_tab = session.open_tab(number) if number is not None else None
    return number, open_tab.recorder if open_tab is not None else None


def _matches(one: RecordedRequest, do: GetNetworkLogs) -> bool:
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


def _sequence_number(cursor: str | None) -> int | None:
    if cursor is None:
        return None
    match = _CURSOR.fullmatch(cursor)
    if match is None:
        raise faults.invalid("cursor", "that is none that get_network_logs has given")
    return int(match[1])


def _without_details(request: NetworkRequest, *, headers: bool) -> NetworkRequest:
    return request if headers else replace(request, headers={}, request_headers={}, response_body=UNSET)


def _took_ms(request: NetworkRequest) -> int:
    return 0 if request.duration is UNSET else request.duration


def _issues(requests: Sequence[RecordedRequest]) -> Iterable[str]:
    """Yield what is wrong, the most frequent first."""
    bad = Counter(
        (one.request.status_text if one.failed else f"status {one.request.status}", _host(one.request.url))
        for one in requests
        if one.failed or one.request.status >= _FIRST_ERROR
    )
    for (what, host), count in bad.most_common(_MAX_ISSUES):
        yield f"{_counted(count)} to {host} failed: {what}."
    slow = [one.request for one in requests if _took_ms(one.request) > _SLOW_MS]
    if slow:
        slowest = max(slow, key=_took_ms)
        longest = f"the slowest, to {_host(slowest.url)}, {_took_ms(slowest)} ms"
        yield f"{_counted(len(slow))} took more than a second; {longest}."


def _counted(count: int) -> str:
    return f"{count} request" if count == 1 else f"{count} requests"


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or "?"
    except ValueError:
        return "?"
