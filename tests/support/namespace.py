"""A network namespace of its own, whose owner may do anything with it, and which nothing leaves (Linux)."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

OUTWARD = "weft-out"
"""The link that seems to lead to the internet; its other end hears everything and answers nothing."""

_UNSHARE = ("unshare", "--net", "--mount", "--kill-child=SIGTERM")
_AS_ANYBODY = ("--map-current-user", "--keep-caps")
"""How who is not root gets the rights that it takes, in a user namespace of his own."""

_TIMEOUT_S = 10.0
_MS_BIND = 4_096


@cache
def refusal() -> str:
    """Say why there can be no namespace here, or nothing."""
    if shutil.which("unshare") is None or shutil.which("ip") is None:
        return "unshare (util-linux) and ip (iproute2) are not installed"
    tried = subprocess.run(
        within("ip", "link", "set", "lo", "up"), capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
    )
    return "" if tried.returncode == 0 else f"the kernel gives no network namespace: {tried.stderr.strip()}"


def within(*command: str) -> list[str]:
    """Return the command line that runs a command in a namespace, whose loopback is not up yet."""
    return [*_UNSHARE, *(() if os.geteuid() == 0 else _AS_ANYBODY), *command]


def loopback() -> None:
    """Bring up loopback, the only way that there is; call it in the namespace."""
    _ip("link", "set", "lo", "up")


def every_address_is_here() -> None:
    """Make every address of the internet one of this machine, so that whatever is asked can be heard and answered."""
    loopback()
    _ip("route", "add", "local", "0.0.0.0/0", "dev", "lo")
    _ip("-6", "route", "add", "local", "::/0", "dev", "lo")


def a_route_to_nowhere() -> None:
    """Bring up a link with an address and a default route, on which nobody answers."""
    loopback()
    _ip("link", "add", OUTWARD, "type", "veth", "peer", "name", "weft-far")
    for link in (OUTWARD, "weft-far"):
        _ip("link", "set", link, "addrgenmode", "none", "up")
    _ip("addr", "add", "198.51.100.2/24", "dev", OUTWARD)
    _ip("-6", "addr", "add", "2001:db8::2/64", "dev", OUTWARD, "nodad")
    # Nobody tells where the gateway is: its neighbour is made up, so that packets do leave.
    _ip("neigh", "add", "198.51.100.1", "lladdr", "02:00:00:00:00:01", "dev", OUTWARD)
    _ip("-6", "neigh", "add", "2001:db8::1", "lladdr", "02:00:00:00:00:01", "dev", OUTWARD)
    _ip("route", "add", "default", "via", "198.51.100.1")
    _ip("-6", "route", "add", "default", "via", "2001:db8::1")


def mount_file(content: str, place: str) -> None:
    """Show a text at the place of a file of the system, to the programs of this namespace alone."""
    with tempfile.NamedTemporaryFile("w", encoding="ascii") as file:
        file.write(content)
        file.flush()
        Path(file.name).chmod(0o644)
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.mount(file.name.encode(), place.encode(), None, _MS_BIND, None) != 0:
            raise OSError(ctypes.get_errno(), f"cannot mount over {place}")


def _ip(*arguments: str) -> None:
    subprocess.run(("ip", *arguments), check=True, timeout=_TIMEOUT_S)  # noqa: S607 - wherever the system has it
