"""Asks the process of `warm.py` for a fork, lends it everything that a command has, and ends as it does.

Run as a script, without the site's packages: it has to start fast, so it imports next to nothing.
"""

from __future__ import annotations

import marshal
import os
import signal
import socket
import sys

FDS = 3
"""Input, output, errors."""

HEAD_BYTES = 10
"""The size of what follows, in digits."""


def main(place: str, arguments: list[str]) -> None:
    """Ask for a `weft` with these arguments."""
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(place)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, lambda sent, _frame: server.sendall(bytes((sent,))))
        body = marshal.dumps((arguments, dict(os.environ), os.getcwd()))  # noqa: PTH109 - pathlib is slow to import
        socket.send_fds(server, [f"{len(body):{HEAD_BYTES}}".encode()], range(FDS))
        server.sendall(body)
        status = int(server.recv(HEAD_BYTES) or -signal.SIGKILL)
    if status < 0:
        signal.signal(-status, signal.SIG_DFL) if -status != signal.SIGKILL else None
        os.kill(os.getpid(), -status)
    os._exit(status)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
