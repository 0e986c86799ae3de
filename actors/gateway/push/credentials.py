"""The credentials of push: those of the settings, or others that every gateway of one Weft works out for itself."""

from __future__ import annotations

from typing import Final

from actors.gateway.push.signatures import PushApp
from actors.settings import Settings
from bus.seal import Seal
from protocol.faults import Code, FaultError, fault
from protocol.push import PUSH_APP

_ID_DIGITS: Final = 9
_KEY_CHARS: Final = 20


def push_app(settings: Settings, seal: Seal | None) -> PushApp | None:
    """Return the app that clients connect to; None where there is no push.

    Derived credentials follow from the root of the installation, by a key that gateways alone have.
    """
    if not settings.push:
        return None
    if settings.push_secret:
        return PushApp(settings.push_app_id, settings.push_key, settings.push_secret)
    if seal is None or not seal.holds(PUSH_APP):
        return None
    named = int.from_bytes(seal.digest(b"id", PUSH_APP)[:8]) % 10**_ID_DIGITS
    key = seal.digest(b"key", PUSH_APP).hex()[:_KEY_CHARS]
    return PushApp(str(named + 1), key, seal.digest(b"secret", PUSH_APP).hex())


def check_push(settings: Settings) -> None:
    """Hold the settings of push to being complete.

    Raises:
        FaultError: CONFIG_INVALID.
    """
    given = {"push_app_id": settings.push_app_id, "push_key": settings.push_key, "push_secret": settings.push_secret}
    lacking = [name for name, value in given.items() if not value]
    if lacking and (len(lacking) < len(given) or settings.push_url):
        needed = "push_url needs all of them" if settings.push_url else "all of them are set, or none"
        message = f"{lacking[0]}: push_app_id, push_key and push_secret go together: {needed}"
        raise FaultError(fault(Code.CONFIG_INVALID, message, field=lacking[0]))
