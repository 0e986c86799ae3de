"""Whoever can speak JSON over NATS can bring tools: an actor without a line of Weft is listed and asked."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import anyio
import httpx2
import pytest
from nats.aio.client import Client
from nats.aio.msg import Msg

from tests.conformance.serving import gateway
from tests.support.system import RunningWeft

pytestmark = [pytest.mark.nats, pytest.mark.slow]

TEST_S = 240.0
LOOK_S = 0.02

OFFER: dict[str, Any] = {
    "tools": [
        {
            "name": "dice",
            "description": "Rolls dice.",
            "inputSchema": {"type": "object", "properties": {"sides": {"type": "integer"}}, "required": ["sides"]},
        }
    ]
}


@asynccontextmanager
async def stranger(nats_url: str) -> AsyncGenerator[None]:
    """Offer a tool as a program in any language would."""
    connection: Any = Client()
    await connection.connect(nats_url)
    try:
        table = await connection.jetstream().key_value("offers")

        async def answer(message: Msg) -> None:
            asked = json.loads(message.data)
            sides = asked["input"]["task"]["args"]["do"]["arguments"]["sides"]
            came = {"type": "tool_result", "content": [{"type": "text", "text": f"One of {sides}: 4"}]}
            told = {
                "type": "response",
                "protocol": asked["protocol"],
                "id": str(uuid4()),
                "created_at": datetime.now(UTC).isoformat(),
                "conversation": asked["conversation"],
                "sender": {"role": "tool"},
                "in_reply_to": {"request_id": asked["id"]},
                "result": {"came": came},
            }
            await message.respond(json.dumps(told).encode())

        await connection.subscribe("offers.gambler", queue="gambler", cb=answer)
        await table.put("gambler", json.dumps(OFFER).encode())
        yield
    finally:
        await connection.close()


async def asked(weft: RunningWeft, client: httpx2.AsyncClient, method: str, **params: Any) -> dict[str, Any]:
    request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    answer = await client.post(weft.ready.mcp, json=request, headers={"Accept": "application/json"})
    told: dict[str, Any] = answer.json()["result"]
    return told


async def test_an_actor_in_any_language_brings_a_tool(tmp_path: Path) -> None:
    with anyio.fail_after(TEST_S):
        async with gateway(tmp_path) as (weft, _, url), stranger(url), weft.client() as client:
            while "dice" not in [one["name"] for one in (await asked(weft, client, "tools/list"))["tools"]]:
                await anyio.sleep(LOOK_S)
            rolled = await asked(weft, client, "tools/call", name="dice", arguments={"sides": 6})

    assert rolled == {"content": [{"type": "text", "text": "One of 6: 4"}], "isError": False}
