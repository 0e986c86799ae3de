"""The right to one saved login, as it travels from whoever asks for a page to whoever fetches it.

A fetcher holds no key of logins: it hands the pass that came with its request to the actor that keeps them.
"""

from __future__ import annotations

from typing import Final

import msgspec

from actors.sites import site_of
from bus.seal import Seal, UnsealError
from protocol.codec import encode
from protocol.faults import Code, FaultError, fault
from protocol.sessions import PASS, LoginPass

PAGE_MS: Final = 3_600_000
"""How long the pass of a page is good: longer than any browse or run step."""

BROWSER_MS: Final = 7 * 86_400_000
"""How long that of a browser session is good, which is restored with it from replica to replica."""

_read = msgspec.json.Decoder(LoginPass).decode


def login_pass(seal: Seal | None, caller: str, profile: str, address: str, until: int) -> bytes:
    """Return a pass for the login of a profile at the site of an address, good until `until` (ms since the epoch).

    Raises:
        FaultError: VALIDATION_INVALID_REQUEST for what is no address; CONFIG_INVALID where there is no key for it.
    """
    if seal is None or not seal.holds(PASS):
        raise FaultError(fault(Code.CONFIG_INVALID, "This process has no key to open a saved login with."))
    passed = LoginPass(caller=caller, profile=profile, site=site_of(address, "url"), until=until)
    return seal.seal(encode(passed), PASS)


def read_pass(seal: Seal | None, sealed: bytes, now: int) -> LoginPass:
    """Read a pass.

    Raises:
        FaultError: AUTH_MISSING_SESSION where it is none of this Weft, or no longer good.
    """
    try:
        passed = _read(seal.unseal(sealed, PASS)) if seal is not None else None
    except (UnsealError, msgspec.MsgspecError):
        passed = None
    if passed is None or passed.until < now:
        raise FaultError(fault(Code.AUTH_MISSING_SESSION, "The right to this saved login is no longer good."))
    return passed
