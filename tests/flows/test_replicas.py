"""Two gateways behind a balancer that gives each of them every other request are one to their clients."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.session import ClientRequestContext
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult, ElicitRequestParams, ElicitResult

from bus.seal import new_key
from tests.conformance.fixture import fixture
from tests.conftest import COUNTS
from tests.site import serve_site
from tests.support.balancer import PROGRAM, Balancer, balancer, free_port
from tests.support.nats import serve_open_nats
from tests.support.scale import sized
from tests.support.system import running_weft

pytestmark = [
    pytest.mark.skipif(PROGRAM is None, reason="nginx is not installed: apt-get install nginx-light"),
    pytest.mark.nats,
    pytest.mark.slow,
    pytest.mark.timeout(900),
]

KEY = "weft_" + "k" * 40
INSIDE = "gateway,navigator,verifier,sessions,fetchers.intelligence"
AT_ONCE = 8
LIMIT_S = 240.0
CALL_S = 240.0
PARTS = sized(3, 1)
"""With `--full` they are a thousand calls and some; otherwise a third of them."""

LEAST_CALLS, LEAST_SHARE = 1_000 // PARTS, 0.4

Era = Literal["legacy", "auto"]
Job = Callable[[], Awaitable[None]]


@dataclass
class Calls:
    """What is asked of the replicas, and what became of it: `done` by its kind, and what went wrong."""

    base: str
    page: str
    http: httpx2.AsyncClient
    done: Counter[str] = field(default_factory=Counter[str])
    failures: list[str] = field(default_factory=list[str])

    def jobs(self) -> list[Job]:
        """Return all calls, in turn."""
        kinds: list[tuple[int, Job]] = [
            (150, self.browse),
            (50, self.stream),
            (30, self.batch),
            (40, self.preview),
            (60, self.sessions),
            (80, self.health),
            (30, lambda: self.session("auto")),
            (30, lambda: self.session("legacy")),
        ]
        rounds = [[job] * -(-count // PARTS) for count, job in kinds]
        return [job for turn in range(max(map(len, rounds))) for jobs in rounds for job in jobs[turn : turn + 1]]

    async def browse(self) -> None:
        """Read a page over REST."""
        told = await self._post("browse", "/api/browse", {"url": self.page})
        self._expect("browse", told.get("title") == "How a loom is warped", told)

    async def batch(self) -> None:
        """Read two pages over REST."""
        told = await self._post("batch", "/api/browse/batch", {"urls": [self.page, f"{self.page}?2"]})
        self._expect("batch", len(told.get("items", told.get("results", ()))) == 2, told)

    async def preview(self) -> None:
        """Look ahead."""
        self._expect("preview", bool(await self._post("preview", "/api/browse/preview", {"url": self.page})), "")

    async def sessions(self) -> None:
        """List the saved logins."""
        answer = await self.http.get(f"{self.base}/api/sessions")
        self._expect("sessions", answer.is_success, answer.text)

    async def health(self) -> None:
        """Look whether all is well."""
        answer = await self.http.get(f"{self.base}/readyz")
        self._expect("health", answer.is_success, answer.text)

    async def stream(self) -> None:
        """Read a page, and hear how far it is."""
        headers = {"Accept": "text/event-stream"}
        answer = await self.http.post(f"{self.base}/api/browse", json={"url": self.page}, headers=headers)
        self._expect("stream", answer.is_success and "event: result" in answer.text, answer.text)

    async def session(self, era: Era) -> None:
        """Do what a client of MCP does from its beginning to its end: eleven calls, of which one asks its user."""
        async with self._client(era) as client:
            self._expect(f"{era} begin", client.server_info is not None, "")
            tools = {tool.name for tool in (await client.list_tools()).tools}
            self._expect(f"{era} tools/list", {"browse", "test_elicitation"} <= tools, tools)
            for _ in range(3):
                self._text(f"{era} tools/call", await client.call_tool("browse", {"url": self.page}), "warped")
            listed = await client.list_resources()
            self._expect(f"{era} resources/list", bool(listed.resources), listed)
            read = await client.read_resource("test://static-text")
            self._expect(f"{era} resources/read", bool(read.contents), read)
            self._expect(f"{era} templates", bool((await client.list_resource_templates()).resource_templates), "")
            self._expect(f"{era} prompts", bool((await client.list_prompts()).prompts), "")
            asked = await client.call_tool("test_elicitation", {"message": "Who are you?"})
            self._text(f"{era} elicitation", asked, "ada")

    @asynccontextmanager
    async def _client(self, era: Era) -> AsyncGenerator[Client]:
        async with Client(
            streamable_http_client(f"{self.base}/mcp", http_client=self.http), mode=era, elicitation_callback=_reply
        ) as client:
            yield client

    async def _post(self, kind: str, path: str, body: dict[str, object]) -> dict[str, Any]:
        answer = await self.http.post(f"{self.base}{path}", json=body)
        self._expect(f"{kind} answered", answer.is_success, answer.text)
        found: dict[str, Any] = answer.json()
        return found

    def _text(self, kind: str, result: CallToolResult, part: str) -> None:
        self._expect(kind, not result.is_error and part in str(result.content), result)

    def _expect(self, kind: str, right: bool, told: object) -> None:  # noqa: FBT001 - reads as an assertion
        self.done[kind] += 1
        if not right:
            self.failures.append(f"{kind}: {str(told)[:300]}")

    async def run(self) -> None:
        """Make all calls, some at once."""
        left = iter(self.jobs())

        async def work() -> None:
            for job in left:
                try:
                    await job()
                except Exception as error:  # noqa: BLE001 - whatever breaks is a call that failed
                    self.failures.append(repr(error)[:300])

        async with anyio.create_task_group() as tasks:
            for _ in range(AT_ONCE):
                tasks.start_soon(work)


async def _reply(context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
    del context, params
    return ElicitResult(action="accept", content={"username": "ada", "email": "ada@site.example"})


@asynccontextmanager
async def replicas(folder: Path) -> AsyncGenerator[Balancer]:
    """Run one system that has all it needs, another gateway, and the balancer before both."""
    port = free_port()
    settings = {
        "WEFT_API_KEY": KEY,
        "WEFT_VAULT_KEY": new_key(),
        "WEFT_ALLOWED_HOSTS": f"127.0.0.1:{port}",
        "WEFT_RATE_PER_MINUTE": "0",
    }
    async with (
        serve_open_nats(folder / "nats") as nats,
        fixture(nats),
        running_weft(folder / "one", ("--nats", nats, "--actors", INSIDE), stop=True, **settings) as one,
        running_weft(folder / "two", ("--nats", nats, "--actors", "gateway"), stop=True, **settings) as two,
        balancer(folder / "nginx", port, (one.ready.rest, two.ready.rest)) as found,
    ):
        yield found


@pytest.mark.full
async def test_calls_fail_nowhere(tmp_path: Path, record_property: Callable[[str, object], None]) -> None:
    headers = {"Authorization": f"Bearer {KEY}"}
    with anyio.fail_after(LIMIT_S):
        async with (
            serve_site() as site,
            replicas(tmp_path) as front,
            httpx2.AsyncClient(headers=headers, trust_env=False, timeout=CALL_S) as http,
        ):
            calls = Calls(front.url, site.url("/article"), http)
            await calls.run()
            served = front.served()

    total = sum(served.values())
    record_property(COUNTS, f"{total} requests, {len(calls.failures)} failures; {dict(served)}")
    assert calls.failures[:5] == []
    assert total >= LEAST_CALLS
    assert len(served) == 2
    assert min(served.values()) >= LEAST_SHARE * total
