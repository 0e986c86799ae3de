"""Which addresses are on the public internet: nothing else is connected to unless the operator has said so."""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

# Own lists: `ipaddress.is_global` of Python 3.11 calls fec0::1, 5f00::1, ff02::1 and 64:ff9b::7f00:1 global.
_PRIVATE_V4: tuple[IPv4Network, ...] = tuple(
    IPv4Network(network)
    for network in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.88.99.0/24",
        "192.168.0.0/16",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",
        "240.0.0.0/4",
        "168.63.129.16/32",  # the metadata service of a cloud, on a public address
    )
)
_GLOBAL_V6 = IPv6Network("2000::/3")
_PRIVATE_V6: tuple[IPv6Network, ...] = tuple(
    IPv6Network(network) for network in ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")
)
_NAMES_OF_PRIVATE_NETWORKS = ("localhost", "internal", "local", "home.arpa", "localdomain", "lan", "intranet")


def allowed(ip: Address, extra_networks: Iterable[Network] = ()) -> bool:
    """Return whether an address is on the public internet, or inside a network that the operator allowed."""
    if any(ip.version == network.version and ip in network for network in extra_networks):
        return True
    if isinstance(ip, IPv4Address):
        return not any(ip in network for network in _PRIVATE_V4)
    return ip in _GLOBAL_V6 and not any(ip in network for network in _PRIVATE_V6)


def names_private_network(host: str) -> bool:
    """Return whether a name belongs to a private network by its ending, without looking it up."""
    return any(host == ending or host.endswith(f".{ending}") for ending in _NAMES_OF_PRIVATE_NETWORKS)
