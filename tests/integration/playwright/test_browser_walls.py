"""No page of a browser session reaches an address that is forbidden: by windows, clicks or scripts of its caller."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from protocol.browsers.operations import ListTabs, Navigate, SetValue, Wait
from protocol.browsers.results import Acted, Navigated, Tabs
from protocol.faults import Code
from tests.integration.playwright.browsing import Browsing, page
from tests.integration.playwright.driving import Driving, driving, site_and_browser
from tests.integration.playwright.test_walls import FORBIDDEN, WAYS, Listener, listener
from tests.support.scale import one_in

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.full]

CLICKS = {
    "link": "<a href='{http}/'>Go</a>",
    "blank": "<a target=_blank href='{http}/'>Go</a>",
    "opener": "<a target=_blank rel=opener href='{http}/'>Go</a>",
    "window": "<button onclick=\"window.open('{http}/')\">Go</button>",
    "window led on": "<button onclick=\"w = window.open(''); w.location = '{http}/'\">Go</button>",
    "window written": "<button onclick=\"window.open('').document.write('<img src={http}/a>')\">Go</button>",
    "window of ours": "<button onclick=\"window.open('{inner}')\">Go</button>",
    "form": "<form target=_blank method=post action='{http}/'><button>Go</button></form>",
    "download": "<a download href='{http}/a.zip'>Go</a>",
    "ping": "<a href=/article ping='{http}/'>Go</a>",
}


@pytest.fixture(scope="module")
def web() -> Generator[Browsing]:
    with site_and_browser(allow_private=("127.0.0.1/32",)) as running:
        yield running


@pytest.fixture
def it(web: Browsing) -> Generator[Driving]:
    with driving(web) as driven:
        yield driven


@pytest.fixture
def forbidden() -> Generator[Listener]:
    with listener() as heard:
        yield heard


@pytest.mark.parametrize("way", one_in(4, CLICKS))
def test_no_click_leads_there(it: Driving, forbidden: Listener, way: str) -> None:
    http = f"http://{FORBIDDEN}:{forbidden.port}"
    inner = page(f"<img src={http}/a.png><script>fetch(`{http}/b`, {{mode: `no-cors`}})</script>")
    it.show(CLICKS[way].format(http=http, inner=inner))
    it.click("Go")
    it.do(Wait(milliseconds=300), Acted)

    assert forbidden.connects == []


@pytest.mark.parametrize("way", one_in(3, ["fetch", "socket", "redirect", "worker", "peer", "preconnect"]))
def test_no_page_in_a_window_gets_there(it: Driving, forbidden: Listener, way: str) -> None:
    host = f"{FORBIDDEN}:{forbidden.port}"
    inner = page(WAYS[way].format(http=f"http://{host}", host=host, port=forbidden.port))
    it.show(f'<a target=_blank href="{inner.replace("&", "&amp;")}">Go</a>')
    opened = it.click("Go").new_tab_created
    it.do(Wait(tab_id=opened, milliseconds=500), Acted)

    assert (opened, forbidden.connects) == (2, [])


def test_no_script_of_a_caller_gets_there(it: Driving, forbidden: Listener) -> None:
    it.show("<title>Loom</title>")
    it.js(f"fetch('http://{FORBIDDEN}:{forbidden.port}/', {{mode: 'no-cors'}}).catch(() => 0)")
    it.js(f"new Image().src = 'http://{FORBIDDEN}:{forbidden.port}/'")
    it.do(Wait(milliseconds=300), Acted)

    assert forbidden.connects == []


def test_no_html_of_a_caller_gets_there(it: Driving, forbidden: Listener) -> None:
    it.show("<div contenteditable=true role=textbox aria-label=Post></div>")
    markup = f"<img src='http://{FORBIDDEN}:{forbidden.port}/a.png'>"
    it.do(SetValue(element_id=it.id_of("Post"), value=markup, is_html=True), Acted)
    it.do(Wait(milliseconds=300), Acted)

    assert forbidden.connects == []


def test_an_address_that_leads_there_is_refused(it: Driving, forbidden: Listener) -> None:
    there = f"http://{FORBIDDEN}:{forbidden.port}/"

    for url in (there, it.url(f"/redirect/private?to={there}"), it.url(page(f"<script>location = '{there}'</script>"))):
        assert it.fault(Navigate(url=url)).code is Code.SECURITY_ADDRESS_BLOCKED
    assert forbidden.connects == []


def test_files_of_this_machine_stay_unread(it: Driving) -> None:
    it.show("<a href='file:///etc/passwd'>Go</a><button onclick=\"window.open('file:///etc/passwd')\">Open</button>")
    it.click("Go")
    it.click("Open")
    shown = [it.js("document.documentElement.innerText", tab=one.tab) for one in it.do(ListTabs(), Tabs).tabs]

    assert not any("root:" in str(words) for words in shown)
    assert it.do(Navigate(tab_id=1, url=it.url("/article")), Navigated).success
