"""Who may come in, as gateways share it: what keys are good for, which were given out, and what each caller used."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Final

from msgspec import Meta, Struct, field

from protocol.browse import SCHEMA_VERSION

OWNER_NAME: Final = "owner"
"""The caller who has the key that was made with the installation."""

TOKEN_PREFIX: Final = "oauth-"  # noqa: S105 - no secret
"""What the names of callers with a token begin with."""


class Scope(StrEnum):
    """What a key may be good for; each tool and each endpoint asks for one."""

    BROWSE = "browse"
    """Read pages."""

    SESSIONS = "sessions"
    """Save, use, renew and forget logins."""

    BROWSER = "browser"
    """Drive a browser step by step."""

    RUNS = "runs"
    """Run templates, and read what came of it."""

    COLLECTIONS = "collections"
    """Keep collections, sources and texts, search in them, and hand texts out."""

    INTEGRATIONS = "integrations"
    """Have other programs do what the operator has allowed."""

    OFFERS = "offers"
    """Use what other actors bring: tools, resources and prompts."""

    MODELS = "models"
    """Have models asked for summaries, answers and data, which may cost; without it they come from the pages alone."""

    ROUTES = "routes"
    """Say which models are asked, and try providers."""

    OPERATE = "operate"
    """Look at the figures of the system, and speak packets with it."""

    PAIR = "pair"
    """Be exchanged, once, for a key of a browser extension: of the scope `browser`, and `models` beside `models`."""


UNASKED: Final = frozenset({Scope.INTEGRATIONS, Scope.MODELS, Scope.ROUTES, Scope.OPERATE, Scope.PAIR})
"""What a key is good for only where its maker says so: what sends out, what costs, and what concerns everybody."""


MAX_WEIGHT = 100


class KeyLimits(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, forbid_unknown_fields=True):
    """What one key may have; what is left out is as the settings say for all.

    `weight` is its share of what is shared, beside the 1 of others.
    """

    at_once: Annotated[int, Meta(ge=1, le=100_000, description="Requests in hand at once at most.")] | None = None
    per_minute: Annotated[int, Meta(ge=1, le=1_000_000, description="Requests a minute at most.")] | None = None
    weight: Annotated[int, Meta(ge=1, le=MAX_WEIGHT, description="Share, beside the 1 of others.")] = 1


class KeyRecord(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One key of KEYS, by its id: everything but the key itself, of which `digest` is the SHA-256.

    Times in ms since the epoch; `expires` 0 is never. A revoked key stays for a while as what it was, so that a gateway
    which was cut off from the bus still learns of it.
    """

    id: str
    name: str
    digest: bytes = field(default=b"")
    scopes: tuple[str, ...] = ()
    created: int = 0
    expires: int = 0
    revoked: int = 0
    limits: KeyLimits = KeyLimits()

    def __repr__(self) -> str:
        """Show which key it is, not its digest."""
        return f"KeyRecord(id={self.id!r}, name={self.name!r}, scopes={self.scopes!r})"


class KeyEnd(Struct, frozen=True, kw_only=True):
    """A row of KEY_ENDS: when a key ends or has ended (ms since the epoch), for those who keep what belongs to it."""

    at: int


def key_caller(key_id: str) -> str:
    """Name the caller that a key stands for; what belongs to it belongs to this key alone, whatever its name."""
    return f"key-{key_id}"


def caller_key(caller: str) -> str:
    """Return the id of the key that a caller has; "" for who has none that was given out."""
    return caller.removeprefix("key-") if is_key_caller(caller) else ""


def is_callers_name(name: str) -> bool:
    """Return whether a name is that of a caller itself: of the owner, of who has a token or of a key by its id."""
    return name == OWNER_NAME or name.startswith(TOKEN_PREFIX) or is_key_caller(name)


def is_key_caller(caller: str) -> bool:
    """Return whether a caller has a key that was given out, which may end."""
    return caller.startswith("key-")


class UsageRecord(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one caller has used on one day (UTC) at one replica of the gateway; `pages` are counted by tier.

    `model_cost_usd` sums the calls of models whose price is known.
    """

    requests: int = 0
    errors: int = 0
    pages: dict[str, int] = {}
    cost_units: int = 0
    model_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    model_cost_usd: float = 0.0


class KeyInfo(Struct, frozen=True, kw_only=True, rename="camel"):
    """A key as it is listed, without the key; times in ms since the epoch, `expires` None for never."""

    id: str
    name: str
    scopes: tuple[Scope, ...]
    created: int
    expires: int | None = None
    expired: bool = False
    limits: KeyLimits = KeyLimits()


class RevokedKey(KeyInfo, frozen=True, kw_only=True, rename="camel"):
    """A key that was taken back, as it stood."""

    schema_version: str = SCHEMA_VERSION


class NewKey(KeyInfo, frozen=True, kw_only=True, rename="camel"):
    """A key that was made: `key` is shown this once."""

    key: str
    schema_version: str = SCHEMA_VERSION

    def __repr__(self) -> str:
        """Show which key it is, not the key."""
        return f"NewKey(id={self.id!r}, name={self.name!r}, scopes={self.scopes!r})"


class KeysAnswer(Struct, frozen=True, kw_only=True, rename="camel"):
    """The keys that were given out and not taken back, the oldest first."""

    keys: tuple[KeyInfo, ...]
    schema_version: str = SCHEMA_VERSION
