"""What those are told who are not let in, or not now."""

from __future__ import annotations

import math

from actors.gateway.access.caller import CHALLENGE
from actors.gateway.access.limits import Room
from actors.gateway.http.answers import RefusedError
from protocol.faults import Action, Code, fault

_SOON_MS = 1_000.0
"""When one of many requests at once may have ended."""

_WAY_IN = Action(
    action="send_api_key",
    description="Send the API key as `Authorization: Bearer KEY`; `weft up` says where it is kept.",
)
_SLOWER = Action(action="reduce_frequency", description="Send requests less often, or fewer at once.", priority=2)


def unknown(challenge: str = CHALLENGE, *, shown: bool) -> RefusedError:
    """Refuse who shows no key, or one that is not good: why it is not, nobody is told (RFC 6750 §3.1)."""
    told = fault(Code.AUTH_INVALID_CREDENTIALS, "This Weft wants its API key.", actions=(_WAY_IN,))
    error = ', error="invalid_token"' if shown else ""
    return RefusedError(told, 401, {"WWW-Authenticate": f"{challenge}{error}"})


def too_often(room: Room, message: str = "Too many requests.") -> RefusedError:
    """Refuse who comes too often, until there is room again."""
    headers = {name.decode("ascii"): value.decode("ascii") for name, value in room.headers}
    return _later(message, room.wait_ms, headers)


def too_many(what: str, most: int) -> RefusedError:
    """Refuse who has too many of something at once."""
    return _later(f"More than {most} {what} at once.", _SOON_MS, {})


def _later(message: str, wait_ms: float, headers: dict[str, str]) -> RefusedError:
    seconds = max(math.ceil(wait_ms / 1_000), 1)
    wait = Action(
        action="wait_and_retry",
        description=f"Wait {seconds} s, then send the request again.",
        suggested_delay_ms=seconds * 1_000,
    )
    return RefusedError(fault(Code.RATE_LIMIT_EXCEEDED, message, actions=(wait, _SLOWER)), 429, headers)


def issuer_away() -> RefusedError:
    """Refuse a token that nobody can judge now: the keys of its issuer are not to be had."""
    told = fault(Code.INTERNAL_UNAVAILABLE, "The authorization server does not answer, so no token can be checked.")
    return RefusedError(told, 503)
