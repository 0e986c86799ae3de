"""What of one replica of the gateway others on the bus speak to by its name."""

from __future__ import annotations

from actors.gateway.watching import Watchers


class Here:
    """A replica of the gateway, as the others know it: who waits in it for what."""

    def __init__(self, replica: str) -> None:
        """Begin with nobody who waits."""
        self.replica = replica
        self.watchers = Watchers(replica)
