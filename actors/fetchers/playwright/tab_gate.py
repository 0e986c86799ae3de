"""Decides on the requests of a tab before they are sent: proxy credentials, refused documents, blocked resources."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import anyio
from playwright.async_api import Error

from actors.fetchers.playwright.devtools import Cdp
from actors.fetchers.playwright.proxy import Proxy
from actors.web import guard
from protocol.faults import Code, Fault, FaultError, fault

_DOCUMENT = "Document"
_NOT_SHOWN = ("Image", "Font", "Media")
_TRACKERS = (
    "google-analytics.com", "googletagmanager.com", "doubleclick.net", "googlesyndication.com", "googleadservices.com",
    "adservice.google.com", "connect.facebook.net", "analytics.twitter.com", "static.ads-twitter.com",
    "snap.licdn.com", "px.ads.linkedin.com", "bat.bing.com", "clarity.ms", "hotjar.com", "fullstory.com",
    "mixpanel.com", "amplitude.com", "segment.io", "segment.com", "scorecardresearch.com", "quantserve.com",
    "criteo.com", "criteo.net", "taboola.com", "outbrain.com", "adnxs.com", "amazon-adsystem.com", "rubiconproject.com",
    "pubmatic.com", "openx.net", "casalemedia.com", "moatads.com", "chartbeat.com", "newrelic.com", "nr-data.net",
)  # fmt: skip
"""Hosts of analytics and advertising, with their subdomains; no page shows content of theirs."""

_BLOCKED: tuple[dict[str, str], ...] = (
    *({"resourceType": kind} for kind in _NOT_SHOWN),
    *({"urlPattern": f"*://{start}{host}/*"} for host in _TRACKERS for start in ("", "*.")),
)
"""Patterns of requests that are paused only to be refused."""


@dataclass(eq=False)
class TabGate:
    """Pauses the documents of one tab; `refused` is the fault of the last one that was refused.

    `before_document` is called with the address of each document of the tab itself, whose frame id is `frame`,
    before it is requested.
    """

    cdp: Cdp
    proxy: Proxy
    before_document: Callable[[str], Awaitable[None]]
    refused: Fault | None = None
    frame: str = ""
    _tried: set[str] = field(default_factory=set[str])

    async def attach(self, *, block: bool) -> None:
        """Intercept the tab's documents, and with `block` what nobody looks at."""
        self.frame = (await self.cdp.send("Page.getFrameTree"))["frameTree"]["frame"]["id"]
        self.cdp.on("Fetch.authRequired", self._authenticate)
        self.cdp.on("Fetch.requestPaused", self._decide)
        patterns = [{"resourceType": _DOCUMENT}, *(_BLOCKED if block else ())]
        await self.cdp.send("Fetch.enable", {"handleAuthRequests": True, "patterns": patterns})

    async def _authenticate(self, event: dict[str, Any]) -> None:
        """Answer the proxy's challenge, once; a site that challenges gets no credentials."""
        request, challenge = str(event["requestId"]), event["authChallenge"]
        response: dict[str, str] = {"response": "CancelAuth"}
        ours = challenge.get("source") == "Proxy" and challenge.get("origin") == self.proxy.server
        if ours and request not in self._tried:
            self._tried.add(request)
            credentials = {"username": self.proxy.username, "password": self.proxy.password}
            response = {"response": "ProvideCredentials", **credentials}
        await self._send("Fetch.continueWithAuth", {"requestId": request, "authChallengeResponse": response})

    async def _decide(self, event: dict[str, Any]) -> None:
        request = event["requestId"]
        if event["resourceType"] != _DOCUMENT:
            await self._send("Fetch.failRequest", {"requestId": request, "errorReason": "BlockedByClient"})
            return
        url = str(event["request"]["url"]).partition("#")[0]
        try:
            guard.check_url(url)
        except FaultError as error:
            if event["frameId"] == self.frame:
                self.refused = error.fault
            await self._send("Fetch.failRequest", {"requestId": request, "errorReason": "BlockedByClient"})
            return
        if event["frameId"] == self.frame and "redirectedRequestId" not in event:
            await self.before_document(url)
        await self._send("Fetch.continueRequest", {"requestId": request})

    async def _send(self, method: str, parameters: dict[str, Any]) -> None:
        with suppress(Error):
            await self.cdp.send(method, parameters)


@dataclass(eq=False)
class BodyMeter:
    """Counts the bytes of a tab's document as they arrive, after decompression; calls `stop` once they are too many.

    It listens until the document is there; a limit of 0 is none.
    """

    cdp: Cdp
    frame: str
    max_bytes: int
    stop: Callable[[], None]
    over: anyio.Event = field(default_factory=anyio.Event)
    _document: str = ""
    _received: int = 0
    _attached: bool = False
    _listens: bool = False

    async def start(self) -> None:
        """Count the next document; raises Playwright's Error where the tab is gone."""
        if not self.max_bytes or self._listens:
            return
        if not self._attached:
            self._attached = True
            self.cdp.on("Network.requestWillBeSent", self._begin)
            self.cdp.on("Network.dataReceived", self._count)
            self.cdp.on("Network.loadingFinished", self._end)
        self._listens = True
        await self.cdp.send("Network.enable", {"maxTotalBufferSize": 0, "maxResourceBufferSize": 0})

    def check(self, size: int = 0) -> None:
        """Raise where the document is too large; `size` is what it came to, if it is whole.

        Raises:
            FaultError: CONTENT_TOO_LARGE.
        """
        if self.over.is_set() or size > self.max_bytes > 0:
            raise FaultError(self.too_large)

    @property
    def too_large(self) -> Fault:
        """The fault of a document that is."""
        return fault(Code.CONTENT_TOO_LARGE, f"The page is larger than {self.max_bytes} bytes.")

    def _begin(self, event: dict[str, Any]) -> None:
        if event.get("frameId") == self.frame and event["requestId"] == event["loaderId"]:
            self._document, self._received = event["requestId"], 0

    def _count(self, event: dict[str, Any]) -> None:
        if event["requestId"] == self._document and not self.over.is_set():
            self._received += int(event["dataLength"])
            if self._received > self.max_bytes:
                self.over.set()
                self.stop()

    async def _end(self, event: dict[str, Any]) -> None:
        if event["requestId"] == self._document and self._listens:
            self._listens = False
            with suppress(Error):
                await self.cdp.send("Network.disable")
