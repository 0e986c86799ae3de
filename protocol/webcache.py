"""What replicas share of the answers of sites, to give them again (RFC 9111)."""

from __future__ import annotations

from msgspec import Struct


class KeptAnswer(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One stored response: `vary` holds what the fields that its Vary names had in the request, None for none.

    `received_at` is in seconds since the epoch, `initial_age` in seconds (RFC 9111 §4.2.3). `body` is as it came over
    the wire, its content coding included; None where it is too large to share: who has it knows it by `id`.
    """

    id: str
    status: int
    headers: tuple[tuple[str, str], ...]
    received_at: float
    initial_age: float = 0.0
    vary: tuple[tuple[str, str | None], ...] = ()
    body: bytes | None = None

    def header(self, name: str) -> str | None:
        """Return every value of a field, joined; its name in lower case."""
        values = [value for field, value in self.headers if field == name]
        return ", ".join(values) if values else None


class KeptAnswers(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one place of the shared cache holds: the variants of one key, the newest last."""

    key: str
    variants: tuple[KeptAnswer, ...] = ()
