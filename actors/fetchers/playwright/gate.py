"""Answers what the browser asks before it sends: the proxy's credential, and what a page does without."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from playwright.async_api import Error

from actors.fetchers.playwright.cdp import Cdp
from actors.fetchers.playwright.proxy import Proxy
from actors.fetchers.web import guard
from protocol.faults import Fault, FaultError

_DOCUMENT = "Document"
_UNSEEN = ("Image", "Font", "Media")
_TRACKERS = (
    "google-analytics.com", "googletagmanager.com", "doubleclick.net", "googlesyndication.com", "googleadservices.com",
    "adservice.google.com", "connect.facebook.net", "analytics.twitter.com", "static.ads-twitter.com",
    "snap.licdn.com", "px.ads.linkedin.com", "bat.bing.com", "clarity.ms", "hotjar.com", "fullstory.com",
    "mixpanel.com", "amplitude.com", "segment.io", "segment.com", "scorecardresearch.com", "quantserve.com",
    "criteo.com", "criteo.net", "taboola.com", "outbrain.com", "adnxs.com", "amazon-adsystem.com", "rubiconproject.com",
    "pubmatic.com", "openx.net", "casalemedia.com", "moatads.com", "chartbeat.com", "newrelic.com", "nr-data.net",
)  # fmt: skip
"""Hosts that count visitors or sell their attention, with their subdomains; no page shows anything of theirs."""

_NOT_ASKED_FOR: tuple[dict[str, str], ...] = (
    *({"resourceType": kind} for kind in _UNSEEN),
    *({"urlPattern": f"*://{start}{host}/*"} for host in _TRACKERS for start in ("", "*.")),
)
"""What is paused only to be refused."""


@dataclass(eq=False)
class Gate:
    """Stands before one tab; `refused` says why a document was not asked for.

    `coming` hears of each document of the tab itself, whose number is `frame`, before it is asked for.
    """

    cdp: Cdp
    proxy: Proxy
    coming: Callable[[str], Awaitable[None]]
    refused: Fault | None = None
    frame: str = ""
    _tried: set[str] = field(default_factory=set[str])

    async def close_in(self, *, block: bool) -> None:
        """Take hold of the tab's documents, and with `block` of what nobody looks at."""
        self.frame = (await self.cdp.send("Page.getFrameTree"))["frameTree"]["frame"]["id"]
        self.cdp.on("Fetch.authRequired", self._authenticate)
        self.cdp.on("Fetch.requestPaused", self._decide)
        patterns = [{"resourceType": _DOCUMENT}, *(_NOT_ASKED_FOR if block else ())]
        await self.cdp.send("Fetch.enable", {"handleAuthRequests": True, "patterns": patterns})

    async def _authenticate(self, event: dict[str, Any]) -> None:
        """Return the proxy its credential, once; a site that asks for one gets none."""
        request, challenge = str(event["requestId"]), event["authChallenge"]
        answer: dict[str, str] = {"response": "CancelAuth"}
        ours = challenge.get("source") == "Proxy" and challenge.get("origin") == self.proxy.server
        if ours and request not in self._tried:
            self._tried.add(request)
            known = {"username": self.proxy.username, "password": self.proxy.password}
            answer = {"response": "ProvideCredentials", **known}
        await self._send("Fetch.continueWithAuth", {"requestId": request, "authChallengeResponse": answer})

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
            await self.coming(url)
        await self._send("Fetch.continueRequest", {"requestId": request})

    async def _send(self, method: str, parameters: dict[str, Any]) -> None:
        with suppress(Error):
            await self.cdp.send(method, parameters)
