"""What calls cost, by the prices that are shipped."""

from __future__ import annotations

import pytest

from actors.router.pricing import cost_usd, estimate, input_tokens
from actors.router.provider import ModelRequest
from actors.router.providers.table import PROVIDERS
from protocol.models import ImagePart, ModelMessage, Provider, TextPart, TokenUsage

USAGE = TokenUsage(input=1_000_000, output=100_000, cache_read=500_000)


@pytest.mark.parametrize(
    ("provider", "model", "cost"),
    [
        (Provider.OPENAI, "gpt-4o-mini", 0.075 + 0.0375 + 0.06),
        (Provider.OPENROUTER, "anthropic/claude-haiku-4.5", 0.5 + 0.05 + 0.5),
        (Provider.ANTHROPIC, "claude-haiku-4-5-20251001", 0.5 + 0.05 + 0.5),
        (Provider.GOOGLE, "gemini-2.5-pro", 1.25 + 0.125 + 1.5),  # beyond 200,000 tokens
        (Provider.BEDROCK, "us.anthropic.claude-haiku-4-5-20251001-v1:0", 1.1 * (0.5 + 0.05 + 0.5)),
        (Provider.AZURE, "gpt-4o", 1.25 + 0.625 + 1.0),
        (Provider.OLLAMA, "llama3.2", 0.0),
        (Provider.LMSTUDIO, "whatever", 0.0),
        (Provider.OPENAI, "no-such-model", None),
        (Provider.OPENAI_COMPATIBLE, "gpt-4o-mini", None),
    ],
)
async def test_a_cost_counts_the_cache_and_is_none_where_no_price_is_known(
    provider: Provider, model: str, cost: float | None
) -> None:
    assert await cost_usd(PROVIDERS[provider], model, USAGE) == (cost if cost is None else pytest.approx(cost))


async def test_what_an_answer_without_figures_has_cost_is_not_known() -> None:
    assert await cost_usd(PROVIDERS[Provider.OPENAI], "gpt-4o-mini", TokenUsage()) is None


async def test_an_estimate_is_rather_too_high() -> None:
    parts = (TextPart(text="Ein Satz. " * 300), TextPart(text="一" * 300), ImagePart(media_type="image/png", data=b"x"))
    request = ModelRequest(model="gpt-4o-mini", messages=(ModelMessage(role="user", parts=parts),), max_tokens=1_000)

    tokens = input_tokens(request)

    assert 600 + 300 + 1_600 <= tokens <= 2 * (600 + 300 + 1_600)
    assert await estimate(PROVIDERS[Provider.OPENAI], request) == pytest.approx((tokens * 0.15 + 1_000 * 0.6) / 1e6)
