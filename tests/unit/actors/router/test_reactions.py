"""Asking again, asking another and leaving alone: each kind of error has its own of the three."""

from __future__ import annotations

import pytest

from actors.router.provider import ProviderError
from actors.router.reactions import REACTIONS, Cooldowns, pause_ms
from protocol.models import INFRASTRUCTURE, CallErrorKind
from protocol.routing import model_name

K = CallErrorKind
GPT, MINI, GEMINI = map(model_name, ("openai/gpt-4o", "openai/gpt-4o-mini", "google/gemini-2.5-pro"))
KEY, OTHER = "a", "b"


def failure(kind: CallErrorKind, retry_after_ms: int | None = None, status: int | None = None) -> ProviderError:
    return ProviderError(kind, "", retry_after_ms=retry_after_ms, status=status)


def test_every_kind_of_error_has_its_reaction_and_only_the_infrastructure_cools() -> None:
    assert set(REACTIONS) == set(K)
    assert {kind for kind, reaction in REACTIONS.items() if reaction.cools != "nothing"} <= INFRASTRUCTURE
    assert {kind for kind, reaction in REACTIONS.items() if not reaction.falls_back} == {K.CANCELLED, K.REFUSED}


@pytest.mark.parametrize(
    ("kind", "tries", "retry_after_ms", "pause"),
    [
        (K.NETWORK, 1, None, 0),
        (K.NETWORK, 2, None, 0),
        (K.NETWORK, 3, None, None),
        (K.OVERLOADED, 1, 500, 500),
        (K.OVERLOADED, 1, 30_000, None),
        (K.RATE_LIMIT, 1, None, None),
        (K.RATE_LIMIT, 1, 2_000, 2_000),
        (K.RATE_LIMIT, 2, 2_000, None),
        (K.RATE_LIMIT, 1, 2_001, None),
        (K.TIMEOUT, 1, None, None),
        (K.MALFORMED, 1, None, 0),
        (K.MALFORMED, 2, None, None),
        (K.AUTH, 1, 10, None),
        (K.REFUSED, 1, None, None),
    ],
)
def test_the_same_model_is_asked_again(
    kind: CallErrorKind, tries: int, retry_after_ms: int | None, pause: int | None
) -> None:
    assert pause_ms(kind, tries, retry_after_ms) == pause


def test_a_model_is_left_alone_twice_as_long_each_time_and_no_other_with_it() -> None:
    cooldowns, waits = Cooldowns(), list[int]()
    for round_ in range(8):
        now_ms = round_ * 1_000_000
        cooldowns.failed(GPT, KEY, failure(K.OVERLOADED, None), now_ms=now_ms)
        waits.append(cooldowns.left_ms(GPT, KEY, now_ms=now_ms))

    assert waits == [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]
    assert cooldowns.left_ms(GPT, KEY, now_ms=7_000_000 + 60_000) == 0
    assert [cooldowns.left_ms(*other, now_ms=7_000_000) for other in ((MINI, KEY), (GPT, OTHER), (GEMINI, KEY))] == [
        0,
        0,
        0,
    ]


def test_what_a_provider_asks_for_is_kept_to_up_to_an_hour() -> None:
    cooldowns = Cooldowns()
    cooldowns.failed(GPT, KEY, failure(K.RATE_LIMIT, 90_000), now_ms=0)
    cooldowns.failed(GPT, KEY, failure(K.RATE_LIMIT, 10), now_ms=0)
    cooldowns.failed(MINI, KEY, failure(K.RATE_LIMIT, 10**9), now_ms=0)

    assert (cooldowns.left_ms(GPT, KEY, now_ms=0), cooldowns.left_ms(MINI, KEY, now_ms=0)) == (90_000, 3_600_000)


def test_a_key_that_is_refused_is_left_alone_for_all_models_and_another_key_is_not() -> None:
    cooldowns = Cooldowns()
    cooldowns.failed(GPT, KEY, failure(K.AUTH, None), now_ms=0)

    assert (cooldowns.left_ms(MINI, KEY, now_ms=0), cooldowns.key_left_ms("openai", KEY, now_ms=0)) == (300_000,) * 2
    assert (cooldowns.left_ms(MINI, OTHER, now_ms=0), cooldowns.key_left_ms("openai", OTHER, now_ms=0)) == (0, 0)


def test_a_key_that_is_not_good_for_one_model_is_used_for_the_others() -> None:
    cooldowns = Cooldowns()
    cooldowns.failed(GPT, KEY, failure(K.AUTH, status=403), now_ms=0)

    assert (cooldowns.left_ms(GPT, KEY, now_ms=0), cooldowns.left_ms(MINI, KEY, now_ms=0)) == (300_000, 0)


@pytest.mark.parametrize("kind", [K.MALFORMED, K.SCHEMA, K.REFUSED, K.UNSUPPORTED, K.CANCELLED])
def test_what_lies_with_the_request_or_the_model_leaves_nobody_alone(kind: CallErrorKind) -> None:
    cooldowns = Cooldowns()
    cooldowns.failed(GPT, KEY, failure(kind, 60_000), now_ms=0)

    assert cooldowns.left_ms(GPT, KEY, now_ms=0) == 0


def test_who_answers_is_forgiven() -> None:
    cooldowns = Cooldowns()
    for _ in range(3):
        cooldowns.failed(GPT, KEY, failure(K.NETWORK, None), now_ms=0)
    cooldowns.answered(GPT, KEY)
    forgiven = cooldowns.left_ms(GPT, KEY, now_ms=0)
    cooldowns.failed(GPT, KEY, failure(K.NETWORK, None), now_ms=0)

    assert (forgiven, cooldowns.left_ms(GPT, KEY, now_ms=0)) == (0, 1_000)
