"""What is done when a model does not answer: ask it again, ask another, leave it alone for a while. Pure.

These are three things with three rules, and the kind of the error alone decides: never its text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from types import MappingProxyType
from typing import Final, Literal

from msgspec import Struct

from actors.router.provider import ProviderError
from protocol.models import CallErrorKind, ModelName

SHORT_WAIT_MS: Final = 2_000
"""A delay that a provider asks for is waited out on the spot up to this."""

FIRST_PAUSE_S: Final = 0.2
LONGEST_PAUSE_S: Final = 2.0
"""Between two tries of the same model, where the provider asks for no delay."""

FIRST_COOLDOWN_MS: Final = 1_000
LONGEST_COOLDOWN_MS: Final = 60_000
KEY_COOLDOWN_MS: Final = 300_000
"""How long a key is left alone that was refused or is out of credit; another key is asked at once."""

LONGEST_ASKED_MS: Final = 3_600_000
"""What a provider asks for is believed up to an hour."""


MOST_LEFT_ALONE: Final = 1_000


class ErrorReaction(Struct, frozen=True, kw_only=True):
    """What follows an error: how often the same model is asked again, what is left alone, whether another is asked."""

    retries: int = 0
    cools: Literal["nothing", "model", "key"] = "nothing"
    falls_back: bool = True


_K = CallErrorKind
REACTIONS: Mapping[CallErrorKind, ErrorReaction] = MappingProxyType(
    {
        _K.RATE_LIMIT: ErrorReaction(cools="model"),
        _K.OVERLOADED: ErrorReaction(retries=2, cools="model"),
        _K.TIMEOUT: ErrorReaction(cools="model"),
        _K.NETWORK: ErrorReaction(retries=2, cools="model"),
        _K.AUTH: ErrorReaction(cools="key"),
        _K.QUOTA: ErrorReaction(cools="key"),
        _K.UNSUPPORTED: ErrorReaction(),
        _K.CANCELLED: ErrorReaction(falls_back=False),
        _K.MALFORMED: ErrorReaction(retries=1),
        _K.SCHEMA: ErrorReaction(),
        _K.REFUSED: ErrorReaction(falls_back=False),  # nobody is looked for who is less strict
    }
)


def pause_ms(kind: CallErrorKind, tries: int, retry_after_ms: int | None) -> int | None:
    """Return how long to wait before the same model is asked once more after `tries`; 0: as backed off; None: not.

    A delay that the provider names is kept to: a short one is waited out, whatever the error; a longer one is not.
    """
    reaction = REACTIONS[kind]
    if retry_after_ms is not None and reaction.cools == "model":
        return retry_after_ms if retry_after_ms <= SHORT_WAIT_MS and tries <= max(reaction.retries, 1) else None
    return 0 if tries <= reaction.retries else None


class _Cooling(Struct, frozen=True):
    until_ms: int
    failures: int


@dataclass
class Cooldowns:
    """Who is left alone, until when: a model of a key, or the key. `key` tells keys apart, and is none itself."""

    _left_alone: dict[tuple[str, str, str], _Cooling] = field(default_factory=dict[tuple[str, str, str], _Cooling])

    def failed(self, name: ModelName, key: str, error: ProviderError, *, now_ms: int) -> None:
        """Leave it alone: for as long as the provider asks, or twice as long each time.

        A key that is good, and not for this model (403), is left alone for that model.
        """
        cools, retry_after_ms = REACTIONS[error.kind].cools, error.retry_after_ms
        if cools == "nothing":
            return
        whole_key = cools == "key" and error.status != HTTPStatus.FORBIDDEN
        place = (name.provider.value, "" if whole_key else name.model, key)
        usual_ms = FIRST_COOLDOWN_MS if cools == "model" else KEY_COOLDOWN_MS
        before = self._left_alone.get(place)
        failures = before.failures + 1 if before else 1
        backed_off_ms = max(usual_ms, min(usual_ms * 2 ** min(failures - 1, 20), LONGEST_COOLDOWN_MS))
        wait_ms = backed_off_ms if retry_after_ms is None else min(retry_after_ms, LONGEST_ASKED_MS)
        until_ms = max(now_ms + wait_ms, before.until_ms if before else 0)
        self._left_alone[place] = _Cooling(until_ms, failures)
        if len(self._left_alone) > MOST_LEFT_ALONE:  # whoever asks may name models that nobody has
            del self._left_alone[min(self._left_alone, key=lambda one: self._left_alone[one].until_ms)]

    def answered(self, name: ModelName, key: str) -> None:
        """Forget the failures of who has answered."""
        self._left_alone.pop((name.provider.value, name.model, key), None)
        self._left_alone.pop((name.provider.value, "", key), None)

    def left_ms(self, name: ModelName, key: str, *, now_ms: int) -> int:
        """Return how long it is still left alone; 0: it can be asked."""
        if not self._left_alone:
            return 0
        places = ((name.provider.value, name.model, key), (name.provider.value, "", key))
        untils = [cooling.until_ms for place in places if (cooling := self._left_alone.get(place)) is not None]
        return max(0, *(until - now_ms for until in untils)) if untils else 0

    def key_left_ms(self, provider: str, key: str, *, now_ms: int) -> int:
        """Return how long a provider is left alone whatever the model."""
        cooling = self._left_alone.get((provider, "", key))
        return 0 if cooling is None else max(0, cooling.until_ms - now_ms)
