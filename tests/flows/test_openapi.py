"""The OpenAPI document is valid, and Weft does what it says: schemathesis asks everything that the document allows."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from pathlib import Path

import anyio
import msgspec
import pytest
from msgspec import Struct
from openapi_spec_validator import OpenAPIV31SpecValidator

from actors.gateway.rest.endpoints import ENDPOINTS
from protocol.runs.responses import Run
from tests.conftest import COUNTS
from tests.flows.mcp_clients import connected
from tests.flows.system import CALL_S, POLL_S, System, only, weft_up
from tests.site import Site
from tests.support.scale import sized

pytestmark = [pytest.mark.nats, pytest.mark.slow]

EXAMPLES = sized(3, 100)
"""Requests that are made up for each operation, beside those that try its limits."""

LIMITS_ONE_IN = sized(16, 1)
"""How many of the limits that are alike are tried (openapi_hooks.py)."""

RecordProperty = Callable[[str, object], None]

RUN_S = 900.0 + 3.0 * EXAMPLES

UNLIMITED = {f"WEFT_{kind}_PER_MINUTE": "0" for kind in ("RATE", "RATE_ANONYMOUS", "RATE_FAILED", "INTERACT", "CHAT")}

NO_MODEL = {"OLLAMA_HOST": "http://127.0.0.1:9", "WEFT_MODEL_HOSTS": "127.0.0.1:9"}
"""A provider that there is, at an address where nobody answers: then answers are quotes."""

SELF = "/openapi.json"
"""The document itself, which schemathesis reads and does not try."""


ENDLESS = ("followApprovals", "followCollection", "tapBus")
"""Streams that last until the client leaves, which it never does."""

NEVER = {
    *("GET /api/deliveries/{id}", "DELETE /api/deliveries/{id}", "POST /api/deliveries/{id}/resend"),
    "GET /api/recordings/{id}",
}
"""What nothing is there for: no program is told anything here, and nothing is recorded."""


class Cases(Struct, frozen=True):
    """How many requests were made, and how many unlike failures they showed."""

    generated: int
    unique_failures: int
    errored: int


CHAINS = """[phases.stateful.inference]
algorithms = ["location-headers"]
"""
"""Of two operations that take an `id` schemathesis gives one what the other made; a Location says what it leads to."""


class Operations(Struct, frozen=True):
    """How many operations there are, and how many were asked for."""

    total: int
    tested: int
    errored: int


class Report(Struct, frozen=True):
    """What schemathesis found."""

    complete: bool
    exit_code: int
    operations: Operations
    test_cases: Cases
    valid_rates: dict[str, dict[str, dict[str, int]]]


@pytest.fixture(scope="module")
def patient(tmp_path_factory: pytest.TempPathFactory) -> Generator[System]:
    """Run a Weft that lets a client ask as often as it likes."""
    folder = tmp_path_factory.mktemp("weft")
    with weft_up(folder, WEFT_TIER_LEARNING="false", **NO_MODEL, **UNLIMITED) as system:
        yield system


def test_the_document_is_valid(patient: System) -> None:
    document = patient.http.get(SELF).json()

    errors = [error.message for error in OpenAPIV31SpecValidator(document).iter_errors()]

    assert errors == []
    assert all("description" in schema for schema in document["components"]["schemas"].values())


@pytest.mark.full
@pytest.mark.timeout(RUN_S + 60)
def test_whatever_the_document_allows_is_answered_as_it_says(
    patient: System, site: Site, tmp_path: Path, record_property: RecordProperty
) -> None:
    report, told = schemathesis(patient, site, tmp_path)

    record_property(COUNTS, f"{report.test_cases.generated} requests, {report.operations.tested} operations")
    assert (report.exit_code, report.test_cases.unique_failures, report.test_cases.errored) == (0, 0, 0), told
    assert (report.complete, report.operations.errored) == (True, 0)
    assert report.operations.tested == sum(one.path != SELF and one.name not in ENDLESS for one in ENDPOINTS)
    assert report.test_cases.generated > EXAMPLES * sum(endpoint.body is not None for endpoint in ENDPOINTS)
    never = {
        name for name, phases in report.valid_rates.items() if not sum(phase["accepted"] for phase in phases.values())
    }
    assert never == NEVER


def ended_run(weft: System, site: Site) -> Run:
    """Have a run that has ended, of which something is left to be resumed."""
    inputs = {"urls": [site.url("/article"), site.url("/status/404")]}
    answer = weft.http.post("/api/runs", json={"templateId": "batch_extract_pages", "inputs": inputs})
    return msgspec.json.decode(answer.content, type=Run)


def conversation(weft: System, site: Site) -> str:
    """Have a conversation of one answer."""
    answer = weft.http.post("/api/summarize", json={"url": site.url("/article"), "localOnly": True})
    return str(answer.json()["conversation"]["id"])


def kept(weft: System, site: Site) -> dict[str, str]:
    """Have two sources, a shared text, and a call that waits: of MCP, where what deletes is asked about."""
    made, unwanted = (
        weft.http.post("/api/collections", json={"title": title}).json()["result"]["payload"]["collectionId"]
        for title in ("Looms", "Reeds")
    )
    items = [{"type": "url", "url": site.url("/article")}, {"type": "note", "text": "A note."}]
    added = weft.http.post(f"/api/collections/{made}/sources", json={"sources": items}).json()
    page, note = (one["sourceId"] for one in added["result"]["payload"]["sources"])
    text = weft.http.post("/api/tools/artifact.save", json={"title": "Looms", "markdown": "A *loom* weaves."}).json()
    shared = {"artifactId": text["result"]["payload"]["artifactId"], "format": "markdown"}
    capture = weft.http.post("/api/tools/artifact.share", json=shared).json()["result"]["payload"]["uri"]

    async def ask() -> str:
        async with connected(weft, query="?toolsets=collections") as client:
            result = await client.call_tool("collection_delete", {"collectionId": unwanted})
        assert result.structured_content is not None
        return str(result.structured_content["context"]["approvalId"])

    return {
        "WEFT_TEST_SOURCE": page,
        "WEFT_TEST_FORGOTTEN_SOURCE": note,
        "WEFT_TEST_CAPTURE": capture.rpartition("/")[2],
        "WEFT_TEST_APPROVAL": anyio.run(ask),
    }


def patterns(weft: System, site: Site) -> dict[str, str]:
    """Have two patterns, of which one is to be forgotten."""
    filed = [{"url": site.url("/json"), "page": site.url(path)} for path in ("/threads", "/forgotten")]
    file = {"format": "weft-patterns", "version": 1, "patterns": filed}
    known = weft.http.post("/api/patterns/import", json=file).json()["imported"]
    return dict(zip(("WEFT_TEST_PATTERN", "WEFT_TEST_FORGOTTEN_PATTERN"), known, strict=True))


def visited(weft: System, site: Site) -> str:
    """Have read a page in the browser, which leaves its picture."""
    body = {"url": site.url("/article"), "options": {"forceTier": "playwright"}}
    weft.http.post("/api/browse", json=body, timeout=CALL_S).raise_for_status()
    while not (visits := weft.http.get("/api/visits", params={"tier": "playwright"}).json()["visits"]):
        time.sleep(POLL_S)
    return str(visits[0]["id"])


def waiting(weft: System) -> dict[str, str]:
    """Have a task on a client's page that waits for its user."""
    twins = [{"i": one, "r": "btn", "n": "Buy"} for one in ("1", "2")]
    body = {"query": 'Click "Buy"', "url": "https://shop.example/", "interactiveTree": twins}
    data = weft.http.post("/api/agent/interact", json=body).json()["data"]
    assert data["status"] == "needs_user_input"
    return {"WEFT_TEST_CHAT": data["sessionId"], "WEFT_TEST_TASK": data["taskId"]}


def acting(weft: System, site: Site) -> str:
    """Have a task on a page of ours that waits for its user."""
    body = {"goal": 'Click "Nothing that is there"', "url": site.url("/article"), "localOnly": True}
    answer = weft.http.post("/api/act", json=body, timeout=60).json()
    assert answer["status"] == "needs_user_input"
    return str(answer["taskId"])


def schemathesis(weft: System, site: Site, folder: Path) -> tuple[Report, str]:
    """Run schemathesis against a Weft, and give what it found with the end of what it wrote."""
    found, run = folder / "report.json", ended_run(weft, site)
    artifact = only(run.artifacts)
    for profile in ("to-forget", "to-renew"):  # openapi_hooks.py
        cookie = {"name": "sid", "value": "1", "domain": "127.0.0.1", "path": "/"}
        body = {
            "domain": "127.0.0.1",
            "profile": profile,
            "address": site.url("/article"),
            "state": {"cookies": [cookie]},
        }
        weft.http.post("/api/sessions", json=body).raise_for_status()
    (folder / "schemathesis.toml").write_text(CHAINS)
    done = subprocess.run(
        [
            *(str(Path(sys.executable).with_name("schemathesis")), "run", f"{weft.ready.rest}{SELF}"),
            # One worker: two threads that set the recursion limit make the parser of Python 3.11 fail.
            *("--checks", "all", "--max-examples", str(EXAMPLES), "--seed", "1", "--workers", "1"),
            *(word for name in ENDLESS for word in ("--exclude-operation-id", name)),
            *("--continue-on-failure", "--no-color", "--generation-database", "none"),
            *("--header", f"Authorization: Bearer {weft.key}", "--report", "json", "--report-json-path", str(found)),
        ],
        cwd=folder,
        env={
            **os.environ,
            "PYTHONPATH": str(Path(__file__).parents[2]),
            "SCHEMATHESIS_HOOKS": "tests.flows.openapi_hooks",
            "LIMITS_ONE_IN": str(LIMITS_ONE_IN),
            "WEFT_TEST_PAGE": site.url("/article"),
            "WEFT_TEST_RUN": run.run_id,
            "WEFT_TEST_CONVERSATION": conversation(weft, site),
            "WEFT_TEST_ARTIFACT": artifact.artifact_id,
            "WEFT_TEST_VISIT": visited(weft, site),
            **kept(weft, site),
            **patterns(weft, site),
            **waiting(weft),
            "WEFT_TEST_ACT": acting(weft, site),
        },
        capture_output=True,
        text=True,
        timeout=RUN_S,
        check=False,
    )
    assert found.exists(), f"{done.stdout[-4_000:]}\n{done.stderr[-4_000:]}"
    return msgspec.json.decode(found.read_bytes(), type=Report), done.stdout[-20_000:]
