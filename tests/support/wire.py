"""What goes over a network link, as the kernel sees it: connections that are asked for, and datagrams (Linux)."""

from __future__ import annotations

import itertools
import socket
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv6Address
from typing import Literal, NamedTuple

_EVERY_PROTOCOL = 0x0003  # ETH_P_ALL
_BUFFER_BYTES = 32_000_000
_MAX_PACKET_BYTES = 65_600
_TCP, _UDP = 6, 17
_SYN, _ACK = 0x02, 0x10
_PATIENCE_S = 5.0
_MARK = ("127.0.0.99", 9)


class Asked(NamedTuple):
    """A connection that was asked for, or a datagram that was sent."""

    kind: Literal["tcp", "udp"]
    address: IPv4Address | IPv6Address
    port: int
    data: bytes = b""


@dataclass
class Wire:
    """Everything that was asked for over one link since it was last `taken`."""

    _tap: socket.socket
    _marked: bool
    _heard: list[Asked] = field(default_factory=list[Asked])
    _seen: threading.Condition = field(default_factory=threading.Condition)
    _numbers: itertools.count[int] = field(default_factory=itertools.count)
    _mark: bytes = b""

    def take(self) -> list[Asked]:
        """Return what was heard, and forget it; on loopback, everything that was sent before the call is in it."""
        if self._marked:
            mark = b"weft mark %d" % next(self._numbers)
            with socket.socket(type=socket.SOCK_DGRAM) as sender:
                sender.sendto(mark, _MARK)
            with self._seen:
                assert self._seen.wait_for(lambda: self._mark == mark, _PATIENCE_S), "the wire hears nothing"
        with self._seen:
            heard, self._heard = self._heard, []
        return heard

    def listen(self) -> None:
        """Hear until the socket is closed."""
        while True:
            try:
                packet, place = self._tap.recvfrom(_MAX_PACKET_BYTES)
            except TimeoutError:
                continue
            except OSError:
                return
            if place[2] != socket.PACKET_OUTGOING:
                continue  # on loopback everything is seen twice
            asked = read(packet)
            if asked is None:
                continue
            with self._seen:
                if asked.kind == "udp" and (str(asked.address), asked.port) == _MARK:
                    self._mark = asked.data
                else:
                    self._heard.append(asked)
                self._seen.notify_all()


@contextmanager
def wire(link: str) -> Generator[Wire]:
    """Listen to a link while the block lasts; needs CAP_NET_RAW."""
    with socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(_EVERY_PROTOCOL)) as tap:
        tap.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER_BYTES)
        tap.bind((link, _EVERY_PROTOCOL))
        tap.settimeout(0.1)
        heard = Wire(tap, link == "lo")
        ear = threading.Thread(target=heard.listen, daemon=True)
        ear.start()
        yield heard
    ear.join(_PATIENCE_S)


def read(packet: bytes) -> Asked | None:
    """Read an IP packet: what it asks for, if it begins something."""
    match packet[0] >> 4 if packet else 0:
        case 4:
            start, protocol = (packet[0] & 0x0F) * 4, packet[9]
            address: IPv4Address | IPv6Address = IPv4Address(packet[16:20])
        case 6:
            start, protocol = 40, packet[6]
            address = IPv6Address(packet[24:40])
        case _:
            return None
    body = packet[start:]
    if protocol == _TCP and body[13] & (_SYN | _ACK) == _SYN:
        return Asked("tcp", address, int.from_bytes(body[2:4]))
    if protocol == _UDP:
        return Asked("udp", address, int.from_bytes(body[2:4]), body[8:])
    return None
