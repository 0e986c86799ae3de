"""How many connections may be open: in all, and from one address; those of WebSockets count like others."""

from __future__ import annotations

from asyncio import BaseTransport
from collections import Counter
from dataclasses import dataclass, field
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import TypeAlias

from actors.gateway.access.limits import address_of
from actors.gateway.access.refusals import too_many
from actors.gateway.http.answers import RefusedError
from actors.settings import Settings
from protocol.faults import Code, fault

Networks: TypeAlias = tuple[IPv4Network | IPv6Network, ...]


@dataclass
class Connections:
    """Those that are open, with the addresses that they are from; 0 is no limit, `proxies` have none of their own."""

    most: int = 0
    most_of_address: int = 0
    proxies: Networks = ()
    _open: dict[BaseTransport, str] = field(default_factory=dict[BaseTransport, str], init=False, repr=False)
    _counts: Counter[str] = field(default_factory=Counter[str], init=False, repr=False)

    def opened(self, transport: BaseTransport, client: tuple[str, int] | None) -> RefusedError | None:
        """Count one more, or say why there is no room for it."""
        if self.most and len(self._open) >= self.most:
            told = fault(Code.INTERNAL_BUSY, f"This gateway has {self.most} connections open, as many as it may have.")
            return RefusedError(told, 503)
        address = address_of(client)
        if self.most_of_address and self._counts[address] >= self.most_of_address and self._is_counted(client):
            return too_many("connections of one address", self.most_of_address)
        self._open[transport] = address
        self._counts[address] += 1
        return None

    def closed(self, transport: BaseTransport) -> None:
        """Count one less; of those that were refused, none was counted."""
        address = self._open.pop(transport, None)
        if address is None:
            return
        self._counts[address] -= 1
        if not self._counts[address]:
            del self._counts[address]

    def _is_counted(self, client: tuple[str, int] | None) -> bool:
        if client is None:
            return False
        try:
            found = ip_address(client[0].partition("%")[0])
        except ValueError:
            return False
        found = getattr(found, "ipv4_mapped", None) or found
        return not any(found in network for network in self.proxies)


def connections(settings: Settings) -> Connections:
    """Bound them as the settings say."""
    proxies = tuple(ip_network(one) for one in settings.trusted_proxies)
    return Connections(settings.connections_at_once, settings.connections_per_address, proxies)
