"""The client of OpenAI's dialect against a server that is not ours, with a model that is one."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from actors.router.pool import ProviderPool
from actors.router.provider import ModelRequest, ProviderError
from actors.router.providers.table import PROVIDERS
from actors.router.structured_output import LearnedCapabilities, ModelPort, answer
from protocol.models import CallErrorKind, ModelMessage, ModelName, OutputSchema, Provider, TextPart
from tests.support.real_model import RealModel, real_model, relayed

pytestmark = pytest.mark.slow

NAME = ModelName(provider=Provider.LMSTUDIO, model="smollm2")
SCHEMA = {
    "type": "object",
    "properties": {"city": {"enum": ["Paris", "Lyon"]}, "sure": {"type": "boolean"}},
    "required": ["city", "sure"],
    "additionalProperties": False,
}


def request(max_tokens: int, output: OutputSchema | None = None) -> ModelRequest:
    """Ask for what takes long."""
    message = ModelMessage(role="user", parts=(TextPart(text="Count from 1 to 900: 1, 2, 3, 4,"),))
    return ModelRequest(model=NAME.model, messages=(message,), max_tokens=max_tokens, temperature=0.0, output=output)


@asynccontextmanager
async def port_to(host: str) -> AsyncGenerator[ModelPort]:
    """Yield the model at a HOST:PORT, by way of the pool of providers."""
    pool = ProviderPool({"LMSTUDIO_BASE_URL": f"http://{host}/v1"}, {host})
    await pool.load()
    try:
        yield ModelPort(
            client=pool.client(Provider.LMSTUDIO),
            name=NAME,
            capabilities=PROVIDERS[Provider.LMSTUDIO].capabilities,
            learned=LearnedCapabilities(),
        )
    finally:
        await pool.aclose()


@pytest.mark.full
async def test_a_real_server_is_understood() -> None:
    """One server for all of it: to start it takes longest."""
    async with real_model() as model:
        with anyio.fail_after(120):
            await _streams(model)
            await _keeps_to_a_schema(model)
            await _is_caught_where_the_schema_is_ignored(model)
            await _breaks_off(model)
            await _stops_when_nobody_waits(model)
            await _is_killed(model)


async def _streams(model: RealModel) -> None:
    written: list[str] = []

    async def write(text: str) -> None:
        written.append(text)

    async with port_to(model.host) as port:
        result = await answer(port, request(16), write)

    completion = result.completion
    assert ("".join(written), completion.finish) == (completion.text, "length")
    assert len(written) > 8
    assert completion.usage.output == 16
    assert completion.usage.input > 10


async def _keeps_to_a_schema(model: RealModel) -> None:
    async with port_to(model.host) as port:
        result = await answer(port, request(64, OutputSchema(name="found", schema=SCHEMA)))

    assert result.means == "native"
    assert result.data in [{"city": city, "sure": sure} for city in ("Paris", "Lyon") for sure in (True, False)]


async def _is_caught_where_the_schema_is_ignored(model: RealModel) -> None:
    """Without its grammar this server ignores forced tools, too, and the model answers whatever it likes."""
    asked: list[tuple[bool, bool]] = []

    def without_schema(body: dict[str, Any]) -> None:
        asked.append((body.pop("response_format", None) is not None, "tools" in body))

    async with relayed(model, without_schema) as host, port_to(host) as port:
        with pytest.raises(ProviderError) as caught:
            await answer(port, request(24, OutputSchema(name="found", schema=SCHEMA)))

    assert caught.value.kind is CallErrorKind.SCHEMA
    assert caught.value.usage.output == 4 * 24
    assert asked == [(True, False), (False, True), (False, False), (False, False)]


async def _breaks_off(model: RealModel) -> None:
    async with relayed(model, lambda body: None, most_bytes=1_500) as host, port_to(host) as port:
        with pytest.raises(ProviderError) as caught:
            await answer(port, request(64))

    assert caught.value.kind is CallErrorKind.NETWORK


async def _stops_when_nobody_waits(model: RealModel) -> None:
    begun = anyio.Event()

    async def write(text: str) -> None:
        begun.set()

    async with port_to(model.host) as port:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(answer, port, request(1_900), write)
            await begun.wait()
            tasks.cancel_scope.cancel()
        with anyio.fail_after(90):
            await model.until_idle()


async def _is_killed(model: RealModel) -> None:
    async def write(text: str) -> None:
        if model.process.returncode is None:
            model.process.kill()

    async with port_to(model.host) as port:
        with pytest.raises(ProviderError) as caught:
            await answer(port, request(1_900), write)
        assert caught.value.kind is CallErrorKind.NETWORK
        with pytest.raises(ProviderError) as caught:
            await answer(port, request(16))
        assert caught.value.kind is CallErrorKind.NETWORK
