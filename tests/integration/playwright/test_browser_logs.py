"""What is seen of the pages of a browser session: requests and lines of the console, without credentials."""

from __future__ import annotations

from collections.abc import Generator
from typing import Literal
from urllib.parse import unquote

import pytest

from protocol.browse import NetworkRequest
from protocol.browsers.operations import CreateTab, GetConsoleLogs, GetNetworkLogs, ListTabs
from protocol.browsers.results import ConsoleLogs, NetworkLogs, Tabs
from protocol.faults import Code
from tests.integration.playwright.browsing import Browsing
from tests.integration.playwright.driving import Driving, code, driving, site_and_browser

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.full]

ASKS = """<title>Asks</title><img src=/status/404><script>
const secret = 'need' + 'le';
Promise.allSettled([fetch('/told?n=1', {headers: {authorization: `Bearer ${secret}`}}), fetch('/late-data/x?ms=1300'),
  fetch('/status/503'), fetch('/hangup'), fetch(`/told?token=${secret}`)]).then(() => { window.all = 1 });
</script>"""


@pytest.fixture(scope="module")
def web() -> Generator[Browsing]:
    with site_and_browser() as running:
        yield running


@pytest.fixture
def it(web: Browsing) -> Generator[Driving]:
    with driving(web) as driven:
        yield driven


@pytest.fixture
def asked(it: Driving) -> Driving:
    it.show(ASKS)
    while it.js("window.all") != 1:
        it.breathe()
    return it


def paths(it: Driving, logs: NetworkLogs) -> list[str]:
    return [one.url.removeprefix(it.url("")).split("?")[0] for one in logs.logs]


@pytest.mark.parametrize(
    ("which", "expected"),
    [
        ("all", ["/asked", "/hangup", "/late-data/x", "/status/404", "/status/503", "/told", "/told"]),
        ("xhr", ["/hangup", "/late-data/x", "/status/503", "/told", "/told"]),
        ("failed", ["/hangup", "/status/404", "/status/503"]),
        ("slow", ["/late-data/x"]),
    ],
)
def test_requests_are_told_by_what_is_looked_for(
    asked: Driving, which: Literal["all", "xhr", "failed", "slow"], expected: list[str]
) -> None:
    logs = asked.do(GetNetworkLogs(filter=which), NetworkLogs)

    assert sorted(paths(asked, logs)) == expected
    assert (logs.total_count, logs.truncated, logs.has_more, logs.next_cursor) == (len(expected), False, False, None)


def test_what_went_wrong_is_said_first(asked: Driving) -> None:
    issues = asked.do(GetNetworkLogs(), NetworkLogs).top_issues

    assert "1 request to 127.0.0.1 failed: status 404." in issues
    assert "1 request to 127.0.0.1 failed: status 503." in issues
    assert "1 request to 127.0.0.1 failed: NETWORK_CONNECTION_FAILED." in issues
    assert issues[-1].startswith("1 request took more than a second; the slowest, to 127.0.0.1,")


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("told", ["/told", "/told"]),
        ("/status/*", ["/status/404", "/status/503"]),
        ("STATUS*50", ["/status/503"]),
        ("a.*d", []),
        ("nowhere", []),
    ],
)
def test_requests_are_told_by_a_part_of_their_address(asked: Driving, pattern: str, expected: list[str]) -> None:
    found = paths(asked, asked.do(GetNetworkLogs(url_pattern=pattern), NetworkLogs))
    assert sorted(one for one in found if one != "/asked") == expected  # its address holds its markup


def test_headers_come_only_when_asked_for_and_never_a_credential(asked: Driving) -> None:
    plain = asked.do(GetNetworkLogs(), NetworkLogs)
    whole = asked.do(GetNetworkLogs(include_headers=True), NetworkLogs)

    def headers(one: NetworkRequest) -> bool:
        return bool(one.headers or one.request_headers)

    assert not any(headers(one) for one in plain.logs)
    assert any(one.request_headers.get("authorization") == "[redacted]" for one in whole.logs)
    assert any("token=[redacted]" in unquote(one.url) for one in plain.logs)
    assert "needle" not in repr((plain, whole))


def test_a_cursor_goes_back_to_what_came_before(asked: Driving) -> None:
    seen = list[str]()
    cursor = None
    for _ in range(4):
        logs = asked.do(GetNetworkLogs(max_entries=2, cursor=cursor), NetworkLogs)
        seen = paths(asked, logs) + seen
        cursor = logs.next_cursor
        assert (logs.has_more, logs.truncated) == (cursor is not None, cursor is not None)

    assert cursor is None
    assert seen == paths(asked, asked.do(GetNetworkLogs(), NetworkLogs))


def test_a_cursor_that_nobody_gave_is_refused(it: Driving) -> None:
    it.show("<p>x</p>")

    assert code(it.fault(GetNetworkLogs(cursor="first"))) == (Code.VALIDATION_INVALID_REQUEST, "cursor")


def test_lines_of_the_console_are_told_by_their_level_with_errors_that_nobody_caught(it: Driving) -> None:
    it.show(
        "<script>console.log('one', 1); console.warn('two'); console.error('three'); console.info('four');"
        "console.debug('five')</script><script>undefinedThing()</script>"
    )
    every = it.do(GetConsoleLogs(), ConsoleLogs).logs
    errors = it.do(GetConsoleLogs(level="error"), ConsoleLogs).logs
    last = it.do(GetConsoleLogs(max_entries=1), ConsoleLogs).logs

    assert [(one.level, one.text) for one in every[:5]] == [
        ("log", "one 1"),
        ("warning", "two"),
        ("error", "three"),
        ("info", "four"),
        ("debug", "five"),
    ]
    assert [one.text for one in errors] == ["three", "undefinedThing is not defined"]
    assert last == every[-1:]


def test_no_title_and_no_line_says_what_nobody_sees(it: Driving) -> None:
    it.show("<title>Lo&#x202e;oms&#xe0041;</title><script>console.log('o\\u001bn\\u202ee\\u{e0041}')</script>")

    assert [one.title for one in it.do(ListTabs(), Tabs).tabs] == ["Looms"]
    assert [one.text for one in it.do(GetConsoleLogs(), ConsoleLogs).logs] == ["one"]


def test_logs_are_those_of_one_tab(it: Driving) -> None:
    it.show("<script>console.log('first')</script>")
    it.do(CreateTab(), object)

    assert it.do(GetConsoleLogs(), ConsoleLogs).logs == ()
    assert it.do(GetNetworkLogs(), NetworkLogs).total_count == 0
    assert [one.text for one in it.do(GetConsoleLogs(tab_id=1), ConsoleLogs).logs] == ["first"]
