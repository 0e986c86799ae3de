"""A recorded flow beside the first run of it: `act` on the same page, whose model takes `BENCH_MODEL_MS` for an answer.

The model of this benchmark knows what is to be done: it takes its time, and is never wrong, so that this is a first run
at its best.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import httpx2
import msgspec

from protocol.acting.tree import SemanticNode
from tests.bench.table import Row
from tests.site import site_in_thread
from tests.site.recordable import Recordable
from tests.support.behaving_model import ModelQuestion, ModelReply, behaving
from tests.support.system import RunningWeft, running_weft

MODEL_MS: Final = int(os.environ.get("BENCH_MODEL_MS", "2000"))
"""What a model takes for one answer; no model of a provider is asked."""

ROUNDS: Final = 3
CALL_S: Final = 180.0
ACTORS: Final = "gateway,runner,keeper,policy,navigator,planner,router,verifier,fetchers.playwright"
GOAL: Final = "See to what Ann Bell has written to us about"
UNASKED: Final = '[surfaces.llmcp]\nmode = "preapproved"\nask = []\n'
"""Nobody waits for approvals: they are not what is measured."""

STEPS: Final = (
    ("setValue", "Search", "heddle"),
    ("click", "Find", ""),
    ("setValue", "Full name", "Ann Bell"),
    ("selectDropdown", "Way of delivery", "Express"),
    ("click", "Place order", ""),
)
"""Action, name of the control, and what goes into it."""

HITS: Final = ["q=heddle", "find", "name=Ann Bell", "way=Express", "order"]
"""What the page tells of it."""


async def measure() -> list[Row]:
    """Act once while it is recorded, do the same again by the flow, and compare what both take."""
    shop, clerk = Recordable(), _Clerk()
    with TemporaryDirectory(prefix="weft-bench-") as folder, site_in_thread(shop) as site:
        Path(folder, "policy.toml").write_text(UNASKED)
        async with (
            behaving(clerk.behave) as server,
            running_weft(
                Path(folder),
                ["--actors", ACTORS],
                WEFT_LOG_LEVEL="error",
                WEFT_POLICY_FILE=str(Path(folder, "policy.toml")),
                OPENAI_COMPATIBLE_API_KEY="sk-planted",
                OPENAI_COMPATIBLE_BASE_URL=server.base_url,
                WEFT_MODEL_HOSTS=server.host,
            ) as weft,
        ):
            bench = _Bench(weft, shop, clerk, site.url("/flows/shop"))
            return await bench.run()


# -- the model -------------------------------------------------------------------------------------------------------


@dataclass
class _Clerk:
    """A model that knows the order: one step after the other, and the end after the last."""

    answers: int = 0
    done: int = 0

    def behave(self, question: ModelQuestion) -> ModelReply:
        """Answer what a model is asked, in the time that one takes."""
        time.sleep(MODEL_MS / 1000)
        self.answers += 1
        if question.schema == "page_plan":
            return ModelReply(data={"steps": [{"description": GOAL, "reasoning": ""}], "question": ""})
        over = self.done == len(STEPS)
        if question.schema == "step_verdict":
            return ModelReply(
                data={"action_succeeded": True, "task_completed": over, "confidence": 0.95, "evidence": "It says so."}
            )
        if over:
            return ModelReply(data=_written("finish"))
        self.done += 1
        return ModelReply(data=_action(STEPS[self.done - 1], question.words))


def _action(step: tuple[str, str, str], words: str) -> dict[str, Any]:
    action, name, text = step
    nodes = [msgspec.json.decode(line, type=SemanticNode) for line in words.splitlines() if line.startswith('{"')]
    return _written(action, next(one.id for one in nodes if one.name == name and one.role != "text"), text)


def _written(action: str, element: str = "", text: str = "") -> dict[str, Any]:
    return {
        "thought": action, "action": action, "element": element, "to": "", "text": text, "name": "", "confidence": 0.9
    }  # fmt: skip


# -- the runs ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Bench:
    """A Weft, the shop at `url`, and the model that knows what to do there."""

    weft: RunningWeft
    shop: Recordable
    clerk: _Clerk
    url: str

    async def run(self) -> list[Row]:
        """Return the rows."""
        async with self.weft.client(CALL_S) as client:
            first_s, flow = await self._recorded(client)
            again = [await self._timed(lambda: self._replayed(client, flow)) for _ in range(ROUNDS)]
        again_s, own_s = statistics.median(again), first_s - self.clerk.answers * MODEL_MS / 1000
        what = f"a recorded flow of {len(STEPS)} steps, times faster than its first run"
        calls = f"act, {self.clerk.answers} model calls of {MODEL_MS} ms: {first_s:.1f} s"
        return [
            Row(what, f"{again_s:.1f} s", calls, first_s / again_s, 5, ">="),
            Row("the same, models taking no time", f"{again_s:.1f} s", f"act: {own_s:.1f} s", own_s / again_s, 1, ">="),
        ]

    async def _recorded(self, client: httpx2.AsyncClient) -> tuple[float, str]:
        """Have `act` do it by a model while it is recorded; returns the seconds that took, and the flow."""
        begun = await _post(client, "/api/flows/recordings", {"url": self.url})
        task = {"goal": GOAL, "session": begun["sessionId"], "screenshot": False}
        took_s = await self._timed(lambda: _post(client, "/api/act", task))
        flow = await _post(client, "/api/flows", {"name": "shop"})
        return took_s, str(flow["flowId"])

    async def _replayed(self, client: httpx2.AsyncClient, flow: str) -> Any:
        run = await _post(client, f"/api/flows/{flow}/replay", {})
        assert run["status"] == "succeeded", run

    async def _timed(self, work: Callable[[], Awaitable[Any]]) -> float:
        self.shop.hits.clear()
        began = time.perf_counter()
        result = await work()
        took_s = time.perf_counter() - began
        assert self.shop.hits == HITS, (self.shop.hits, result)
        return took_s


async def _post(client: httpx2.AsyncClient, path: str, body: dict[str, Any]) -> dict[str, Any]:
    answer = await client.post(path, json=body)
    result: dict[str, Any] = answer.raise_for_status().json()
    return result
