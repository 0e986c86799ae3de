"""What gateways share of those who come in: the keys that were given out, and what each caller has used."""

from __future__ import annotations

from msgspec import Struct, field


class KeyRecord(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One key of KEYS, by its id: everything but the key itself, of which `digest` is the SHA-256.

    Times in ms since the epoch; `expires` 0 is never. A revoked key stays for a while as what it was, so that a gateway
    which was cut off from the bus still learns of it.
    """

    id: str
    name: str
    digest: bytes = field(default=b"")
    scopes: tuple[str, ...] = ()
    created: int = 0
    expires: int = 0
    revoked: int = 0

    def __repr__(self) -> str:
        """Show which key it is, not its digest."""
        return f"KeyRecord(id={self.id!r}, name={self.name!r}, scopes={self.scopes!r})"


class UsageRecord(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one caller has used on one day (UTC) at one replica of the gateway; `pages` are counted by tier."""

    requests: int = 0
    errors: int = 0
    pages: dict[str, int] = {}
    cost_units: int = 0
