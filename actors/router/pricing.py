"""What calls of models cost, by the prices that genai-prices ships; nothing is asked over the network."""

from __future__ import annotations

import math
from typing import Final

import msgspec
from anyio import to_thread

from actors.router.provider import ModelRequest, ProviderKind
from protocol.models import ImagePart, TextPart, TokenUsage, ToolResultPart, ToolUsePart

BYTES_PER_TOKEN: Final = 3
"""UTF-8 bytes that make a token at least: English has four letters in one, Chinese one sign of three bytes."""

IMAGE_TOKENS: Final = 1_600
"""What a picture takes at most, by Anthropic's formula for the largest that is not scaled down."""

MESSAGE_TOKENS: Final = 8
"""What the frame of a message or a tool takes."""


async def cost_usd(kind: ProviderKind, model: str, usage: TokenUsage) -> float | None:
    """Return what a call has cost in USD; None where it is not known, which is not the same as nothing.

    Every answer has read something: of one without figures the server did not say what it used.
    """
    if kind.capabilities.local:
        return 0.0
    if kind.price_id is None or not (usage.input or usage.output):
        return None
    return await to_thread.run_sync(_cost, kind.price_id, model, usage)  # the first takes a second


async def estimate(kind: ProviderKind, request: ModelRequest) -> float | None:
    """Return what a call may cost in USD at most: to be reserved before it; None where no price is known."""
    return await cost_usd(kind, request.model, TokenUsage(input=input_tokens(request), output=request.max_tokens))


def input_tokens(request: ModelRequest) -> int:
    """Estimate the tokens of a request, rather too many."""
    size, images = 0, 0
    for part in (part for message in request.messages for part in message.parts):
        match part:
            case TextPart(text=text) | ToolResultPart(text=text):
                size += len(text.encode())
            case ToolUsePart():
                size += len(msgspec.json.encode(part))
            case ImagePart():
                images += 1
    size += len(msgspec.json.encode((request.tools, request.output)))
    frames = len(request.messages) + len(request.tools)
    return math.ceil(size / BYTES_PER_TOKEN) + IMAGE_TOKENS * images + MESSAGE_TOKENS * frames


def _cost(price_id: str, model: str, usage: TokenUsage) -> float | None:
    import genai_prices  # noqa: PLC0415 - half a second

    counted = genai_prices.Usage(
        input_tokens=usage.input,
        output_tokens=usage.output,
        cache_read_tokens=usage.cache_read,
        cache_write_tokens=usage.cache_write,
    )
    try:
        return float(genai_prices.calc_price(counted, model_ref=model, provider_id=price_id).total_price)
    except (LookupError, ValueError):  # no such model, or figures that cannot be
        return None
