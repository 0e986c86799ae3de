"""The calls of clients that are being answered here, which their clients may cancel at any replica of the gateway.

A client of the older era cancels by the id that it gave its request, and ids are counted anew by every client. So only
a client that shows its label can cancel, and only what came from its own caller under that label.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field

import anyio

from protocol.replicas import CallCancelled


@dataclass(frozen=True)
class Underway:
    """What one replica works on; what is `lasting` has no end of its own."""

    _lasting: set[anyio.CancelScope] = field(default_factory=set[anyio.CancelScope])
    _calls: dict[CallCancelled, set[anyio.CancelScope]] = field(
        default_factory=dict[CallCancelled, set[anyio.CancelScope]]
    )

    @contextmanager
    def held(self, caller: str, client: str, request: str) -> Generator[anyio.CancelScope]:
        """Do the work in the block unless it is cancelled by its client; without a label it cannot be."""
        with anyio.CancelScope() as scope:
            if not client:
                yield scope
                return
            name = CallCancelled(caller=caller, client=client, request=request)
            scopes = self._calls.setdefault(name, set())
            scopes.add(scope)
            try:
                yield scope
            finally:
                scopes.discard(scope)
                if not scopes:
                    self._calls.pop(name, None)

    @contextmanager
    def lasting(self) -> Generator[None]:
        """Do what is in the block until it is ended."""
        with anyio.CancelScope() as scope:
            self._lasting.add(scope)
            try:
                yield
            finally:
                self._lasting.discard(scope)

    def end_lasting(self) -> None:
        """End whatever would go on for ever, so that nobody waits for it."""
        for scope in tuple(self._lasting):
            scope.cancel()

    def cancel(self, call: CallCancelled) -> None:
        """Stop what is done for this call, if it is done here."""
        for scope in self._calls.get(call, ()):
            scope.cancel()
