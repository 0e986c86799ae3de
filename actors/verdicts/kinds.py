"""What each kind of stand-in means to a client: its code, and the words for people."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from protocol.faults import Code
from protocol.page import PageKind

CODES: Mapping[PageKind, Code] = MappingProxyType(
    {
        PageKind.NOT_FOUND: Code.HTTP_NOT_FOUND,
        PageKind.GONE: Code.HTTP_NOT_FOUND,
        PageKind.SERVER_ERROR: Code.HTTP_SERVER_ERROR,
        PageKind.MAINTENANCE: Code.HTTP_SERVICE_UNAVAILABLE,
        PageKind.FORBIDDEN: Code.HTTP_FORBIDDEN,
        PageKind.RATE_LIMITED: Code.BLOCKED_RATE_LIMITED,
        PageKind.GEO_BLOCKED: Code.BLOCKED_GEO_RESTRICTED,
        PageKind.CHALLENGE: Code.BLOCKED_BOT_DETECTION,
        PageKind.LOGIN_WALL: Code.AUTH_MISSING_SESSION,
        PageKind.PAYWALL: Code.CONTENT_PAYWALLED,
        PageKind.CONSENT_WALL: Code.CONTENT_CONSENT_REQUIRED,
        PageKind.AGE_GATE: Code.CONTENT_AGE_RESTRICTED,
        PageKind.PARKED: Code.SITE_PARKED,
        PageKind.COMING_SOON: Code.SITE_NOT_READY,
        PageKind.SUSPENDED: Code.SITE_SUSPENDED,
        PageKind.DEFAULT_SERVER_PAGE: Code.SITE_NOT_CONFIGURED,
        PageKind.EMPTY_SHELL: Code.CONTENT_REQUIRES_JS,
        PageKind.OFFLINE: Code.NETWORK_CONNECTION_FAILED,
    }
)
"""The code of every kind; a login wall is AUTH_SESSION_EXPIRED where a session was sent along, and an empty shell is
CONTENT_EMPTY where a browser has run its scripts."""

REASONS: Mapping[PageKind, str] = MappingProxyType(
    {
        PageKind.NOT_FOUND: "The page says that it does not exist",
        PageKind.GONE: "The page says that it was removed",
        PageKind.SERVER_ERROR: "The page reports an error of its server",
        PageKind.MAINTENANCE: "The site says that it is under maintenance",
        PageKind.FORBIDDEN: "The site refuses access to this page",
        PageKind.RATE_LIMITED: "The site speaks of too many requests or visitors",
        PageKind.GEO_BLOCKED: "The site is closed to this region",
        PageKind.CHALLENGE: "The site shows a challenge to programs",
        PageKind.LOGIN_WALL: "A request to log in stands where the page should be",
        PageKind.PAYWALL: "A request to subscribe stands where the page should be",
        PageKind.CONSENT_WALL: "A request for consent stands where the page should be",
        PageKind.AGE_GATE: "A question for the visitor's age stands where the page should be",
        PageKind.PARKED: "The domain is parked or for sale",
        PageKind.COMING_SOON: "The site is announced, and not there yet",
        PageKind.SUSPENDED: "The site was suspended by its host",
        PageKind.DEFAULT_SERVER_PAGE: "A web server shows the page that it was installed with",
        PageKind.EMPTY_SHELL: "The page has a frame without its content",
        PageKind.OFFLINE: "The page says that there is no connection",
    }
)
