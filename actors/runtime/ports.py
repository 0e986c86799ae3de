"""The ports that a system listens on."""

from __future__ import annotations

import socket

from actors.settings import env_name
from protocol.faults import Code, FaultError, fault


def listen(setting: str, host: str, port: int) -> socket.socket:
    """Open the port that a setting names.

    The gateway's is opened by the launcher, so that clients can queue there while a gateway is restarted.

    Raises:
        FaultError: CONFIG_INVALID, when it is taken.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family, backlog=1024)
    except OSError as error:
        reason = str(error.strerror).partition(" (while")[0]  # create_server adds the address
        message = f"{setting}: {host}:{port} cannot be opened ({reason}); choose another with {env_name(setting)}"
        raise FaultError(fault(Code.CONFIG_INVALID, message, field=setting)) from None
    # All processes that accept here share the flag, and each `dup` writes it anew: one that blocks serves nobody.
    listener.setblocking(False)  # noqa: FBT003 - the standard library takes it so
    return listener
