"""What the failure of a tier means for the ladder: a table of every code."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto
from types import MappingProxyType

from protocol.faults import Category, Code


class Reaction(Enum):
    """What the failure of a tier means for the ladder."""

    END = auto()
    """The page itself is so, in every tier: fail with it."""
    SETTLE = auto()
    """Asking this site again does harm or no good: give the best that there is."""
    CLIMB = auto()
    """A better tier may do better."""


REACTIONS: Mapping[Code, Reaction] = MappingProxyType(
    {
        Code.NETWORK_TIMEOUT: Reaction.CLIMB,
        Code.NETWORK_CONNECTION_FAILED: Reaction.CLIMB,
        Code.NETWORK_DNS_FAILED: Reaction.END,
        Code.NETWORK_TLS_FAILED: Reaction.CLIMB,
        Code.HTTP_NOT_FOUND: Reaction.END,
        Code.HTTP_FORBIDDEN: Reaction.CLIMB,
        Code.HTTP_SERVICE_UNAVAILABLE: Reaction.SETTLE,
        Code.HTTP_BAD_GATEWAY: Reaction.SETTLE,
        Code.HTTP_CLIENT_ERROR: Reaction.CLIMB,
        Code.HTTP_SERVER_ERROR: Reaction.SETTLE,
        Code.HTTP_TOO_MANY_REDIRECTS: Reaction.CLIMB,
        Code.AUTH_SESSION_EXPIRED: Reaction.END,
        Code.AUTH_INVALID_CREDENTIALS: Reaction.END,
        Code.AUTH_INSUFFICIENT_SCOPE: Reaction.END,
        Code.AUTH_MISSING_SESSION: Reaction.END,
        Code.RATE_LIMIT_EXCEEDED: Reaction.SETTLE,
        Code.CONTENT_REQUIRES_JS: Reaction.CLIMB,
        Code.CONTENT_EMPTY: Reaction.CLIMB,
        Code.CONTENT_TOO_SHORT: Reaction.CLIMB,
        Code.CONTENT_TOO_LARGE: Reaction.END,
        Code.CONTENT_UNSUPPORTED_TYPE: Reaction.END,
        Code.VALIDATION_INVALID_REQUEST: Reaction.END,
        Code.VALIDATION_INVALID_PACKET: Reaction.END,
        Code.SECURITY_URL_BLOCKED: Reaction.END,
        Code.SECURITY_ADDRESS_BLOCKED: Reaction.END,
        Code.SECURITY_ORIGIN_REFUSED: Reaction.END,
        Code.BROWSER_UNAVAILABLE: Reaction.CLIMB,
        Code.PAGE_CRASHED: Reaction.CLIMB,
        Code.BROWSER_PAGE_HUNG: Reaction.CLIMB,
        Code.ELEMENT_NOT_FOUND: Reaction.CLIMB,
        Code.EXECUTION_ERROR: Reaction.END,
        Code.SESSION_NOT_FOUND: Reaction.END,
        Code.CONFIG_TIER_NOT_DEPLOYED: Reaction.END,
        Code.CONFIG_INVALID: Reaction.END,
        Code.SITE_STRUCTURE_CHANGED: Reaction.END,
        Code.BLOCKED_BOT_DETECTION: Reaction.CLIMB,
        Code.BLOCKED_RATE_LIMITED: Reaction.SETTLE,
        Code.BLOCKED_GEO_RESTRICTED: Reaction.SETTLE,
        Code.BLOCKED_BY_ROBOTS: Reaction.END,
        Code.TEMPLATE_NOT_FOUND: Reaction.END,
        Code.TEMPLATE_VERSION_UNSUPPORTED: Reaction.END,
        Code.TRUST_LEVEL_NOT_ALLOWED: Reaction.END,
        Code.RUN_NOT_FOUND: Reaction.END,
        Code.RUN_TIMEOUT: Reaction.END,
        Code.RUN_CANCELED: Reaction.END,
        Code.STEP_EXECUTION_FAILED: Reaction.END,
        Code.TPL_LOGIN_FIELD_NOT_FOUND: Reaction.END,
        Code.ARTIFACT_NOT_FOUND: Reaction.END,
        Code.ARTIFACT_EXPIRED: Reaction.END,
        Code.INTERNAL_ERROR: Reaction.CLIMB,
        Code.INTERNAL_UNAVAILABLE: Reaction.CLIMB,
        Code.INTERNAL_BUSY: Reaction.CLIMB,
        Code.INTERNAL_DISCONNECTED: Reaction.CLIMB,
        Code.INTERNAL_DEADLINE: Reaction.CLIMB,
        Code.INTERNAL_CANCELLED: Reaction.SETTLE,
    }
)

INFORMATIVE: tuple[frozenset[Category], ...] = (
    frozenset({Category.RATE_LIMIT}),
    frozenset({Category.BLOCKED}),
    frozenset({Category.HTTP}),
    frozenset({Category.CONTENT, Category.NETWORK}),
)
"""The categories that tell a client most, first; of equals the failure of the best tier does."""
