"""Who asks, and what they may do."""

from __future__ import annotations

from dataclasses import dataclass, field
from http import HTTPStatus

from actors.gateway.http import HttpStatusError
from protocol.access import Scope as Scope  # noqa: PLC0414 - it is the gate's word, and stands with what it is kept in
from protocol.faults import Code, fault

CHALLENGE = 'Bearer realm="weft"'
"""How a client is asked for a key (RFC 6750 §3)."""


EVERY_SCOPE = frozenset(Scope)


@dataclass(frozen=True)
class Caller:
    """Who asks. `name` tells apart what belongs to whom, and is no secret; `local` is the trust level of 002 §9.

    `challenge` is how this caller is asked for more than it may.
    """

    name: str
    scopes: frozenset[Scope] = EVERY_SCOPE
    local: bool = False
    challenge: str = field(default=CHALLENGE, compare=False)

    def require(self, scope: Scope) -> None:
        """Let the caller go on who has a scope.

        Raises:
            HttpStatusError: AUTH_INSUFFICIENT_SCOPE, with the scope named (RFC 6750 §3.1).
        """
        if scope in self.scopes:
            return
        error = fault(Code.AUTH_INSUFFICIENT_SCOPE, f"This needs a key with the scope {scope}.")
        challenge = f'{self.challenge}, error="insufficient_scope", scope="{scope}"'
        raise HttpStatusError(error, HTTPStatus.FORBIDDEN, {"WWW-Authenticate": challenge})


NOBODY = Caller("nobody", frozenset())
"""Who shows no key; only what is open to all is done for them."""

OWNER = Caller("owner")
"""Who has the key that was made with the installation."""

STDIO = Caller("owner", local=True)
"""Who started us themselves, on their own machine, and speaks over pipes."""
