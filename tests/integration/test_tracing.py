"""What is seen of a whole system: the trace of one page, actor by actor, and the log; no secret in either."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import anyio
import msgspec
import pytest

from tests.site import serve_site
from tests.support.otlp import Receiver, Seen, receiving
from tests.support.processes import until
from tests.support.scale import first
from tests.support.system import RunningWeft, running_weft, stop_process

pytestmark = [pytest.mark.nats, pytest.mark.slow]

TEST_S = 240.0
TRACE = "0af7651916cd43dd8448eb211c80319c"
OTHER_TRACE = "1bf7651916cd43dd8448eb211c80319d"
CALLER = "b7ad6b7169203331"
TRACEPARENT = f"00-{TRACE}-{CALLER}-01"
TOKEN = "hunter2-in-the-query"
SPANS_OF_A_BROWSE = 11

QUICK_S = 90.0
"""What a browse may take whatever becomes of its spans; it takes hundredths of that."""

STOP_S = 90.0
"""What the end of all actors may take while their last spans find no receiver."""


class Place(NamedTuple):
    """A span by its place in the tree."""

    service: str
    name: str
    kind: str
    parent: str


def places(spans: list[Seen]) -> set[Place]:
    """Return spans by the names of their parents."""
    names = {span.id: f"{span.service}: {span.name}" for span in spans} | {CALLER: "the caller"}
    return {Place(span.service, span.name, span.kind, names[span.parent]) for span in spans}


def facts(spans: list[Seen], name: str) -> Mapping[str, str]:
    """Find the attributes of the one span of that name."""
    (found,) = [span for span in spans if span.name == name]
    return found.attributes


async def traced(running: RunningWeft, url: str, receiver: Receiver) -> list[Seen]:
    """Browse as part of a trace, and give its spans when the system has stopped."""
    async with running.client() as client:
        await client.post("/api/browse", json={"url": url}, headers={"traceparent": TRACEPARENT})
    assert await stop_process(running.process) == 0
    return receiver.of(TRACE)


TREE = {
    Place("gateway", "POST /api/browse", "server", "the caller"),
    Place("gateway", "send web.browse", "producer", "gateway: POST /api/browse"),
    Place("navigator", "process web.browse", "consumer", "gateway: send web.browse"),
    Place("navigator", "send web.fetch.intelligence", "producer", "navigator: process web.browse"),
    Place(
        "fetchers.intelligence", "process web.fetch.intelligence", "consumer", "navigator: send web.fetch.intelligence"
    ),
    Place("fetchers.intelligence", "GET", "client", "fetchers.intelligence: process web.fetch.intelligence"),
    Place("navigator", "send verify.page", "producer", "navigator: process web.browse"),
    Place("verifier", "process verify.page", "consumer", "navigator: send verify.page"),
    Place("navigator", "send events.web.browsed", "producer", "navigator: process web.browse"),
    Place("sessions", "process events.web.browsed", "consumer", "navigator: send events.web.browsed"),
    Place("learner", "process events.web.browsed", "consumer", "navigator: send events.web.browsed"),
}


@pytest.mark.parametrize("mode", first(1, [((),), (("--single-process",),)]), ids=["processes", "one-process"])
async def test_a_page_is_one_trace_from_the_edge_to_the_fetch(tmp_path: Path, mode: tuple[str, ...]) -> None:
    with anyio.fail_after(TEST_S), receiving() as receiver:
        async with (
            serve_site() as site,
            running_weft(tmp_path, mode, OTEL_EXPORTER_OTLP_ENDPOINT=receiver.endpoint) as running,
        ):
            replicas = await running.replicas()
            instances = {str(row["actor"]): row["replica"] for row in replicas}
            spans = await traced(running, site.url(f"/article?token={TOKEN}"), receiver)

            assert len(spans) == SPANS_OF_A_BROWSE
            assert places(spans) == TREE
            assert {span.service: span.instance for span in spans}.items() <= instances.items()
            assert {span.host for span in spans} == {row["host"] for row in replicas}
            assert not any(span.failed for span in spans)
            assert not {"traceparent", "tracestate", "baggage"} & site.last("/article").headers.keys()


async def test_spans_tell_facts_and_no_secrets_and_where_a_browse_failed(tmp_path: Path) -> None:
    with anyio.fail_after(TEST_S), receiving() as receiver:
        async with (
            serve_site() as site,
            running_weft(tmp_path, OTEL_EXPORTER_OTLP_ENDPOINT=receiver.endpoint) as running,
        ):
            key = running.key
            async with running.client() as client:
                hangs_up = {"url": site.url("/hangup"), "options": {"maxCostTier": "intelligence"}}
                await client.post(
                    "/api/browse", json=hangs_up, headers={"traceparent": f"00-{OTHER_TRACE}-{CALLER}-01"}
                )
            spans = await traced(running, site.url(f"/article?token={TOKEN}"), receiver)

            assert facts(spans, "POST /api/browse") == {
                "http.request.method": "POST",
                "http.route": "/api/browse",
                "url.path": "/api/browse",
                "url.scheme": "http",
                "http.response.status_code": "200",
            }
            nats = {"messaging.system": "nats", "messaging.destination.name": "web.browse"}
            assert facts(spans, "send web.browse") == nats | {"messaging.operation.type": "send"}
            told = facts(spans, "process web.browse")
            assert told.items() >= (nats | {"messaging.operation.type": "process"}).items()
            assert "messaging.message.conversation_id" in told
            assert facts(spans, "GET") == {
                "http.request.method": "GET",
                "url.full": site.url("/article?token=[redacted]"),
                "server.address": "127.0.0.1",
                "http.response.status_code": "200",
            }
            sent = b"".join(receiver.bodies)
            assert not [word for word in (TOKEN, key, "Bearer", "warp", "<html") if word.encode() in sent]
            marked = {span.name: span.attributes["error.type"] for span in receiver.of(OTHER_TRACE) if span.failed}
            assert marked.keys() >= {"GET", "process web.fetch.intelligence", "process web.browse", "send web.browse"}
            assert {marked["GET"], marked["process web.browse"]} == {"NETWORK_CONNECTION_FAILED"}
            assert "POST /api/browse" in marked


@pytest.mark.full
@pytest.mark.parametrize("receiver_is", first(1, ["slow", "down"]))
async def test_a_bad_receiver_holds_up_neither_a_browse_nor_the_end(tmp_path: Path, receiver_is: str) -> None:
    with anyio.fail_after(TEST_S), receiving(hangs=True) as receiver:
        endpoint = receiver.endpoint if receiver_is == "slow" else "http://127.0.0.1:9"
        async with serve_site() as site, running_weft(tmp_path, OTEL_EXPORTER_OTLP_ENDPOINT=endpoint) as running:
            async with running.client() as client:
                for _ in range(3):
                    with anyio.fail_after(QUICK_S):
                        answer = await client.post("/api/browse", json={"url": site.url("/article")})
                    assert answer.status_code == 200
            with anyio.fail_after(STOP_S):
                assert await stop_process(running.process) == 0

            assert receiver.spans == []
            assert not [line for line in lines(running) if line["event"] == "child_killed_at_stop"]


@pytest.mark.full
def test_without_an_endpoint_the_sdk_is_not_imported(tmp_path: Path) -> None:
    script = """
import sys
import actors.runtime.launch, actors.runtime.replica, bus.telemetry, bus.tracing
actors.registry.kinds()
assert bus.telemetry.start_tracing("gateway", "r1") is bus.tracing.OFF
print([name for name in sys.modules if name.startswith(("opentelemetry.sdk", "opentelemetry.exporter"))])
"""
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, env={}, capture_output=True, text=True, check=True
    )

    assert done.stdout.strip() == "[]"


# -- the log -------------------------------------------------------------------------------------------------------


def lines(running: RunningWeft) -> list[dict[str, object]]:
    """Read the log; every line of it has to be JSON."""
    return [msgspec.json.decode(line, type=dict[str, object]) for line in running.log.read_bytes().splitlines()]


async def test_the_log_is_json_with_conversation_and_trace_and_without_secrets(tmp_path: Path) -> None:
    with anyio.fail_after(TEST_S), receiving() as receiver:
        endpoint = receiver.endpoint
        async with (
            serve_site() as site,
            running_weft(tmp_path, WEFT_LOG_LEVEL="debug", OTEL_EXPORTER_OTLP_ENDPOINT=endpoint) as running,
        ):
            key = running.key
            async with running.client() as client:
                asked = {"url": site.url(f"/article?token={TOKEN}")}
                answer = await client.post("/api/browse", json=asked, headers={"traceparent": TRACEPARENT})
                failed = await client.post("/api/browse", json={"url": f"http://10.0.0.1/?token={TOKEN}"})
                refused = await client.get("/metrics", headers={"Authorization": "Bearer wrong"})
            await until(lambda: len([line for line in lines(running) if line["event"] == "failed"]) > 1)
            assert await stop_process(running.process) == 0

            assert (answer.status_code, failed.status_code, refused.status_code) == (200, 403, 401)
            said = lines(running)
            assert all({"event", "level", "timestamp"} <= line.keys() for line in said)
            answered = [line for line in said if line.get("conversation") == answer.headers["x-conversation-id"]]
            assert {str(line["subject"]) for line in answered if line["event"] == "answered"} == {
                "web.browse",
                "web.fetch.intelligence",
                "verify.page",
            }
            assert {line["trace"] for line in answered} == {TRACE}
            handled = [line for line in said if line["event"] in ("answered", "failed")]
            assert all({"conversation", "trace", "actor", "replica"} <= line.keys() for line in handled)
            assert not [word for word in (TOKEN, key, "Bearer", "Authorization") if word in running.log_text()]
            assert key not in running.out.read_text()  # a pipe is told where it is kept


async def test_a_later_start_does_not_tell_the_key_to_a_pipe(tmp_path: Path) -> None:
    with anyio.fail_after(TEST_S):
        async with running_weft(tmp_path, ["--single-process"]) as running:
            key = running.key
        running.out.unlink()
        async with running_weft(tmp_path, ["--single-process"]) as running:
            assert await stop_process(running.process) == 0

            assert running.key == key
            assert key not in running.out.read_text()
            assert f"$(cat {running.ready.key_file})" in running.out.read_text()
