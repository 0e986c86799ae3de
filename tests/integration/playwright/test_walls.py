"""No page that the browser shows reaches an address that is forbidden, whichever way it tries."""

from __future__ import annotations

import socket
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest

from protocol.faults import Code, FaultError
from tests.integration.playwright.browsing import Browsing, browsing, page
from tests.site.scripted import ARTICLE
from tests.support.scale import one_in

pytestmark = [pytest.mark.browser, pytest.mark.slow]

PROSE = f"<p>{ARTICLE}</p>"
FORBIDDEN = "127.0.0.2"


@dataclass
class Listener:
    """Counts who connects or sends to it, and lets nobody in."""

    port: int
    connects: list[str] = field(default_factory=list[str])


@contextmanager
def listener(address: str = FORBIDDEN) -> Generator[Listener]:
    """Listen for TCP and UDP on one port while the block lasts."""
    with socket.socket() as tcp, socket.socket(type=socket.SOCK_DGRAM) as udp:
        tcp.bind((address, 0))
        tcp.listen()
        udp.bind(tcp.getsockname())
        heard = Listener(tcp.getsockname()[1])
        stop = threading.Event()

        def hear() -> None:
            for one in (tcp, udp):
                one.settimeout(0.02)
            while not stop.is_set():
                try:
                    connection, _ = tcp.accept()
                    heard.connects.append("tcp")
                    connection.close()
                except TimeoutError:
                    pass
                try:
                    udp.recvfrom(2048)
                    heard.connects.append("udp")
                except TimeoutError:
                    pass

        thread = threading.Thread(target=hear)
        thread.start()
        try:
            yield heard
        finally:
            stop.set()
            thread.join()


@pytest.fixture(scope="module")
def web() -> Generator[Browsing]:
    with browsing(allow_private=("127.0.0.1/32",)) as running:
        yield running


SPECULATION = '{{"prerender": [{{"source": "list", "urls": ["{http}/"]}}]}}'
WAYS = {
    "image": "<img src='{http}/a.png'>",
    "script": "<script src='{http}/a.js'></script>",
    "style": "<link rel=stylesheet href='{http}/a.css'>",
    "font": "<style>@font-face {{ font-family: f; src: url('{http}/a.woff2') }} p {{ font-family: f }}</style>",
    "frame": "<iframe src='{http}/'></iframe>",
    "object": "<object data='{http}/a.html' width=90 height=90></object><embed src='{http}/b.html'>",
    "media": "<video src='{http}/a.mp4' autoplay muted></video><audio src='{http}/a.mp3' autoplay></audio>",
    "fetch": "<script>fetch('{http}/a', {{mode: 'no-cors'}})</script>",
    "xhr": "<script>x = new XMLHttpRequest(); x.open('GET', '{http}/a'); x.send()</script>",
    "https": "<script>fetch('https://{host}/a', {{mode: 'no-cors'}})</script>",
    "beacon": "<script>navigator.sendBeacon('{http}/a', 'x')</script>",
    "socket": "<script>new WebSocket('ws://{host}/a')</script>",
    "secure socket": "<script>new WebSocket('wss://{host}/a')</script>",
    "events": "<script>new EventSource('{http}/a')</script>",
    "redirect": "<img src='/redirect/private?to={http}/a'><script>fetch('/redirect/private?to={http}/a')</script>",
    "preconnect": "<link rel=preconnect href='{http}'><link rel=dns-prefetch href='{http}'>",
    "prefetch": "<link rel=prefetch href='{http}/a'><link rel=preload as=script href='{http}/b'>",
    "speculation": f"<script type=speculationrules>{SPECULATION}</script>",
    "worker": "<script>new Worker(URL.createObjectURL(new Blob([`fetch('{http}/a', {{mode: 'no-cors'}})`])))</script>",
    "service worker": "<script>navigator.serviceWorker.register('/asked?type=text/javascript&body='"
    " + encodeURIComponent(`fetch('{http}/a', {{mode: 'no-cors'}})`))</script>",
    "module": "<script type=module>import('{http}/a.js').catch(() => 0)</script>",
    "form": "<iframe name=f></iframe><form id=g action='{http}/' target=f></form><script>g.submit()</script>",
    "popup": "<script>open('{http}/')</script>",
    "peer": "<script>(async () => {{ const p = new RTCPeerConnection({{iceServers: [{{urls: 'stun:{host}'}},"
    " {{urls: 'turn:{host}?transport=tcp', username: 'u', credential: 'c'}}]}}); p.createDataChannel('d');"
    " await p.setLocalDescription(await p.createOffer()) }})()</script>",
    "transport": "<script>try {{ new WebTransport('https://{host}/') }} catch {{}}</script>",
    "manifest": "<link rel=manifest href='{http}/m.json'><link rel=icon href='{http}/i.ico'>",
    "csp": "<meta http-equiv=Content-Security-Policy content=\"img-src 'none'; report-uri {http}/r\"><img src=/x>",
    "name": "<img src='http://localhost:{port}'><script>fetch('http://0.0.0.0:{port}/', {{mode: 'no-cors'}})</script>",
}  # fmt: skip


@pytest.mark.parametrize("way", one_in(6, WAYS))
def test_nothing_reaches_a_forbidden_address(web: Browsing, way: str) -> None:
    with listener() as forbidden:
        host = f"{FORBIDDEN}:{forbidden.port}"
        html = WAYS[way].format(http=f"http://{host}", host=host, port=forbidden.port)
        found = web.fetch(page(html + PROSE), screenshot=None)

        assert (forbidden.connects, "Thread 11" in found.document.content.markdown) == ([], True)


@pytest.mark.parametrize(
    "html",
    [
        "<script>location = '{http}/'</script>",
        "<meta http-equiv=refresh content='0;url={http}/'>",
        "<form id=g action='{http}/'></form><script>g.submit()</script>",
    ],
)
def test_a_page_that_leads_there_is_refused(web: Browsing, html: str) -> None:
    with listener() as forbidden:
        with pytest.raises(FaultError) as caught:
            web.fetch(page(html.format(http=f"http://{FORBIDDEN}:{forbidden.port}")))

        assert (caught.value.fault.code, forbidden.connects) == (Code.SECURITY_ADDRESS_BLOCKED, [])


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_an_address_that_redirects_there_is_refused(web: Browsing, scheme: str) -> None:
    with listener() as forbidden:
        with pytest.raises(FaultError) as caught:
            web.fetch(f"/redirect/private?to={scheme}://{FORBIDDEN}:{forbidden.port}/")

        assert (caught.value.fault.code, forbidden.connects) == (Code.SECURITY_ADDRESS_BLOCKED, [])


@pytest.mark.full
def test_the_listener_hears_who_may_come() -> None:
    with listener() as open_door, browsing() as free:
        free.fetch(page(f"<img src='http://{FORBIDDEN}:{open_door.port}/a.png'>{PROSE}"), pdf=True)

        assert "tcp" in open_door.connects


def test_a_name_that_leads_there_is_refused(web: Browsing) -> None:
    with pytest.raises(FaultError) as caught:
        web.fetch("http://127.0.0.2.nip.invalid/")

    assert caught.value.fault.code is Code.NETWORK_DNS_FAILED


def test_files_of_this_machine_stay_unread(web: Browsing) -> None:
    found = web.text(
        page(f"<iframe src='file:///etc/passwd'></iframe><object data='file:///etc/passwd'></object>{PROSE}")
    )

    assert "root:" not in found
