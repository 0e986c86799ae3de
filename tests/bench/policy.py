"""A decision of the gate beside a bare hop that carries the same, and an allowed call beside its tool alone."""

from __future__ import annotations

import itertools
import statistics
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from itertools import repeat
from random import Random

import anyio

from actors.actor import handlers
from actors.policy.actor import Policy
from actors.settings import Settings
from bus import Bus, telemetry
from bus.context import new_id
from bus.nats.transport import connect
from bus.seal import Seal, new_key
from protocol import subjects
from protocol.access import Scope
from protocol.documents import WebObservationSummary, untrusted
from protocol.packets import ToolCall
from protocol.policy import (
    Decision,
    FieldFacts,
    Reason,
    RunTool,
    ToolContext,
    ToolRequest,
    ToolResult,
    ToolStatus,
    Verb,
)
from protocol.subject_kinds import Call
from protocol.tools.browser import PLAYWRIGHT
from protocol.tools.tool import Surface
from tests.bench.servers import bus_at, nats_server, process
from tests.bench.table import Row

BARE = Call("bench.policy", ToolRequest, Decision)
"""The same packet there and back, and nothing in between."""

CALLS, LARGE_CALLS, FEW_CALLS, ROUNDS = 400, 40, 5, 3
BOUND_MS = 1.0
DOCUMENTS, DOCUMENT_CHARS = 64, 6_000
CALL_BOUND = 12.0
"""An allowed call is read, written down, run, and its result and end written down: five more exchanges at least."""

LARGE_KNOWN_MS = 10.0
LARGE_BOUND_MS = 1_000.0
"""What was read is looked through once: 9 ms for each document that is new to the gate."""

SESSION = "sess_0123456789abcdefghijkl"
_RANDOM = Random(8)
_SYLLABLES = ("ta", "de", "har", "bo", "ur", "tur", "ne", "twi", "fer", "ry", "lea", "ves", "ho", "no", "ti", "ce")


def proposal(name: str, documents: int = 0, **arguments: object) -> ToolRequest:
    """Return a proposal of a model that has read some documents, which nobody has looked through before."""
    context = ToolContext(
        user_words=("When does the ferry leave?",),
        documents=tuple(untrusted(f"doc:{number}", _page()) for number in range(documents)),
        session=SESSION,
        tab=1,
    )
    return ToolRequest(
        id=f"call_{new_id()}",
        call=ToolCall(name=name, arguments=dict(arguments)),
        surface=Surface.LLMCP,
        caller="bench",
        proposed=True,
        scopes=tuple(Scope),
        conversation="bench",
        context=context,
    )


def _page() -> WebObservationSummary:
    """Return a page of words that nobody has read before."""
    words = ("".join(_RANDOM.choices(_SYLLABLES, k=_RANDOM.randint(1, 4))) for _ in range(DOCUMENT_CHARS // 3))
    text = " ".join(words)[:DOCUMENT_CHARS]
    return WebObservationSummary(url="https://tides.example/", title="Tides", markdown=text)


async def measure() -> list[Row]:
    """Return the rows of this benchmark."""
    async with nats_server() as server:
        async with connect(server.url, "supervisor") as transport:
            await Bus(transport, "supervisor", "s1").prepare(subjects.TOOL_CALLS)
        with process("tests.bench.policy", server.url):
            async with bus_at(server.url, "caller") as bus:
                search = repeat(proposal("search", query="ferry timetable"))
                click = repeat(proposal("browser.click", handleId="laika-1"))
                new = (proposal("search", DOCUMENTS, query="ferry timetable") for _ in itertools.count())
                known = repeat(proposal("search", DOCUMENTS, query="ferry timetable"))
                return [
                    await _beside(bus, "a search, nothing read", search, CALLS, BOUND_MS),
                    await _beside(bus, "a click, its element asked for", click, CALLS, BOUND_MS),
                    await _beside(bus, f"a search, {DOCUMENTS} documents, all known", known, CALLS, LARGE_KNOWN_MS),
                    await _beside(bus, f"a search, {DOCUMENTS} documents, all new", new, FEW_CALLS, LARGE_BOUND_MS),
                    await _call(bus),
                ]


async def _beside(bus: Bus, what: str, requests: Iterator[ToolRequest], calls: int, bound_ms: float) -> Row:
    async def ours() -> None:
        await bus.call(subjects.POLICY_DECIDE, next(requests))

    async def bare() -> None:
        await bus.call(BARE, next(requests))

    decided, hop = await _best(ours, bare, calls)
    return Row(
        f"decision: {what}, p50 beyond a hop", f"{decided:.2f} ms", f"{hop:.2f} ms", decided - hop, bound_ms, "<=", "ms"
    )


async def _call(bus: Bus) -> Row:
    async def ours() -> None:
        await bus.call(subjects.POLICY_CALL, proposal("app.calculate", expression="1+1"))

    async def bare() -> None:
        run = RunTool(id=f"call_{new_id()}", name="app.calculate", arguments={"expression": "1+1"}, caller="bench")
        await bus.call(subjects.TOOL.at(actor="runner"), run)

    called, tool = await _best(ours, bare, LARGE_CALLS)
    return Row(
        "allowed call, journal and all, p50", f"{called:.2f} ms", f"{tool:.2f} ms", called / tool, CALL_BOUND, "<="
    )


async def _best(ours: Callable[[], Awaitable[None]], peer: Callable[[], Awaitable[None]], calls: int) -> list[float]:
    """Return the best median of several interleaved rounds of each, in ms."""
    medians: tuple[list[float], list[float]] = ([], [])
    for _ in range(ROUNDS):
        for found, call in zip(medians, (ours, peer), strict=True):
            times: list[float] = []
            for _ in range(calls):
                begun = time.perf_counter()
                await call()
                times.append(time.perf_counter() - begun)
            found.append(statistics.median(times) * 1_000)
    return [min(one) for one in medians]


async def gate(url: str) -> None:
    """Be the gate, a tool, a browser, and the bare hop until killed."""
    element = FieldFacts(
        page_url="https://tides.example/", tag="button", label="Buy a ticket", near="Tickets for the ferry", digest="d"
    )

    async def bare(request: ToolRequest) -> Decision:
        del request
        return Decision(decision=Verb.ALLOW, reason_code=Reason.SEARCH_ALLOWED)

    async def tool(request: RunTool) -> ToolResult:
        return ToolResult(tool_call_id=request.id, status=ToolStatus.OK, payload={"result": "2"})

    async def field(request: object) -> FieldFacts:
        del request
        return element

    async with bus_at(url, "policy") as bus:
        bus.seal = Seal.of(new_key())
        actor = Policy(bus=bus, settings=Settings())
        async with actor.open():
            await bus.serve(BARE, bare, at_once=64)
            await bus.serve(subjects.TOOL.at(actor="runner"), tool, at_once=64)
            await bus.serve(subjects.TOOL.at(actor=PLAYWRIGHT), tool, at_once=64)
            await bus.serve(subjects.BROWSER_FIELD, field, at_once=64)
            for handler in handlers(Policy):
                await bus.serve(handler.subject, getattr(actor, handler.method), at_once=handler.at_once)
            await bus.transport.flush()
            print("ready", flush=True)
            await anyio.sleep_forever()


if __name__ == "__main__":
    telemetry.configure("error", "json")
    anyio.run(gate, sys.argv[1])
