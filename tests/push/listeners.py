"""pusher-js in a process of its own, which hears one channel."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from queue import Queue
from threading import Thread
from typing import Any, Final

from tests.push import HERE, clients

WAIT_S: Final = 90.0
Json = dict[str, Any]


@dataclass
class NodeListener:
    """What pusher-js tells, event by event."""

    process: subprocess.Popen[str]
    _events: Queue[Json] = field(default_factory=Queue[Json])

    def next_of(self, *names: str) -> Json:
        """Return the next event of one of these names."""
        while (event := self._events.get(timeout=WAIT_S))["name"] not in names:
            pass
        return event

    def pause(self) -> None:
        """Have it read and answer nothing."""
        os.kill(self.process.pid, signal.SIGSTOP)

    def go_on(self) -> None:
        """Have it read again."""
        os.kill(self.process.pid, signal.SIGCONT)

    def read(self) -> None:
        """Take its lines until it ends."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._events.put(json.loads(line))


@contextmanager
def node_listener(given: Mapping[str, Any]) -> Generator[NodeListener]:
    """Run it while the block lasts."""
    clients()
    command, pipe = ["node", "listener.mjs", json.dumps(given)], subprocess.PIPE
    with subprocess.Popen(command, cwd=HERE, stdin=pipe, stdout=pipe, text=True) as process:
        listener = NodeListener(process)
        reader = Thread(target=listener.read)
        reader.start()
        try:
            yield listener
        finally:
            process.kill()
            process.wait(WAIT_S)
            reader.join(WAIT_S)
