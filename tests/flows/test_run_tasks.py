"""Runs as tasks, for a client of the newer era that takes a task for an answer: the official one knows none."""

from __future__ import annotations

from typing import Any

import anyio
import httpx2
import pytest

from tests.flows import contract_runs as contract
from tests.flows.runs import BATCH
from tests.flows.system import System
from tests.site import Site

pytestmark = pytest.mark.nats

LIMIT_S = 240.0
POLL_S = 0.15
MODERN = "2026-07-28"
TASKS = "io.modelcontextprotocol/tasks"


async def modern(http: httpx2.AsyncClient, method: str, params: dict[str, Any]) -> dict[str, Any]:
    """Ask as a client that takes tasks."""
    meta: dict[str, Any] = {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {"extensions": {TASKS: {}}},
    }
    answer = await http.post(
        "/mcp",
        json={"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}},
        headers={
            "MCP-Protocol-Version": MODERN,
            "Mcp-Method": method,
            "Mcp-Name": params.get("name") or params["taskId"],
            "Accept": "application/json",
        },
    )
    told: dict[str, Any] = answer.json()
    return told


def notes(site: Site, first: int, count: int, query: str = "") -> list[str]:
    """Return the addresses of some articles: each test has numbers of its own."""
    return [site.url(f"/note/{number}{query}") for number in range(first, first + count)]


async def test_a_run_is_a_task_for_who_takes_one(weft: System, site: Site) -> None:
    def call(urls: list[str]) -> dict[str, Any]:
        inputs = {"urls": urls, "concurrency": 1}
        return {"name": "run_task_template", "arguments": {"templateId": BATCH, "inputs": inputs}}

    async def ended(http: httpx2.AsyncClient, known: dict[str, Any]) -> dict[str, Any]:
        while True:
            told: dict[str, Any] = (await modern(http, "tasks/get", known))["result"]
            if told["status"] != "working":
                return told
            await anyio.sleep(POLL_S)

    headers = {"Authorization": f"Bearer {weft.key}"}
    with anyio.fail_after(LIMIT_S):
        async with httpx2.AsyncClient(base_url=weft.ready.rest, headers=headers, trust_env=False, timeout=90) as http:
            task = (await modern(http, "tools/call", call(notes(site, 41_700, 2))))["result"]
            done = await ended(http, {"taskId": task["taskId"]})
            other = (await modern(http, "tools/call", call(notes(site, 41_800, 40, "?ms=300"))))["result"]
            cancelled = await modern(http, "tasks/cancel", {"taskId": other["taskId"]})
            gone = await ended(http, {"taskId": other["taskId"]})

    assert (task["resultType"], task["status"], task["pollIntervalMs"]) == ("task", "working", 2_000)
    assert task["taskId"].startswith("run_")
    assert (done["status"], done["result"]["isError"]) == ("completed", False)
    assert contract.lacking(contract.SYNC, done["result"]["structuredContent"]) == []
    assert "error" not in cancelled
    assert gone["status"] == "cancelled"
