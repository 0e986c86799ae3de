"""Runs over REST: what is asked of the actors, what is answered in which status, and errors in the form of 002 §7.2."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

import httpx2
import msgspec
import pytest

from actors.gateway.access.caller import Scope
from actors.gateway.errors import RUNTIME_CODES, RunFault
from bus.seal import Seal
from protocol.faults import Code, FaultError, fault
from protocol.runs.requests import AskRun, CreateRun, ListRuns, ReadArtifact, RunOptions, Templates, inputs_of
from protocol.runs.responses import (
    ArtifactChunk,
    CancelAnswer,
    Run,
    RunAccepted,
    RunList,
    RunMetrics,
    RunProgress,
    RunSummary,
    RuntimeLimits,
)
from protocol.runs.states import ArtifactType, Mode, RunStatus
from tests.requirements import requirement
from tests.unit.actors.gateway.rest.calling import JSON, Replying, client
from tests.unit.actors.gateway_data import VAULT_KEY

RUN_ID = "run_" + "a" * 22
ARTIFACT_ID = "art_" + "b" * 22
ASKED = {"templateId": "batch_extract_pages", "inputs": {"urls": ["https://example.com/"], "password": "hunter2"}}
ACCEPTED = RunAccepted(
    run_id=RUN_ID, status=RunStatus.QUEUED, created_at=1_000, mode=Mode.ASYNC, template_id="batch_extract_pages"
)
RUN = Run(
    run_id=RUN_ID,
    template_id="batch_extract_pages",
    status=RunStatus.SUCCEEDED,
    progress=RunProgress(total_steps=1, done_steps=1),
    metrics=RunMetrics(elapsed_ms=5),
    result={"items": []},
)
PROFILE = Templates(templates=(), limits=RuntimeLimits(), artifact_ttl_ms=86_400_000)
PATHS = (
    ("GET", "/api/templates"),
    ("POST", "/api/runs"),
    ("GET", "/api/runs"),
    ("GET", f"/api/runs/{RUN_ID}"),
    ("POST", f"/api/runs/{RUN_ID}/cancel"),
    ("POST", f"/api/runs/{RUN_ID}/resume"),
    ("GET", f"/api/runs/{RUN_ID}/events"),
    ("GET", f"/api/artifacts/{ARTIFACT_ID}"),
    ("GET", f"/api/artifacts/{ARTIFACT_ID}/content"),
    ("GET", "/api/runtime-profile"),
)


class Runs(Replying):
    """Answers each call in its own way, and raises what is an error."""

    def orders(self, pattern: str) -> list[Any]:
        """Return what was asked of one subject."""
        return [args for call, args, *_ in self.calls if call.pattern == pattern]


def runs(**replies: Any) -> Runs:
    """Return a bus by the names of its subjects, `run_get` for `run.get`."""
    return Runs({name.replace("_", "."): reply for name, reply in replies.items()})


def told(answer: httpx2.Response) -> RunFault:
    """Read an error of these endpoints."""
    return msgspec.json.decode(answer.content, type=RunFault)


async def get(bus: Replying, path: str, **more: Any) -> httpx2.Response:
    async with client(bus) as http:
        return await http.get(path, **more)


async def post(bus: Replying, path: str, body: Any = None) -> httpx2.Response:
    async with client(bus) as http:
        return await http.post(path) if body is None else await http.post(path, json=body)


# -- beginning ------------------------------------------------------------------------------------------------------


@requirement("002.4.runs")
async def test_a_run_that_goes_on_is_a_202_with_where_to_look() -> None:
    bus = runs(run_create=ACCEPTED)
    options = {"mode": "async", "timeoutMs": 5, "artifacts": ["csv"]}

    answer = await post(bus, "/api/runs", {**ASKED, "options": options, "templateVersion": "1.0.0"})

    assert (answer.status_code, answer.headers["location"]) == (202, f"/api/runs/{RUN_ID}")
    assert answer.json() == {
        "runId": RUN_ID,
        "status": "queued",
        "createdAt": 1_000,
        "mode": "async",
        "templateId": "batch_extract_pages",
        "pollIntervalMs": 2_000,
        "schemaVersion": "1.0",
    }
    (order,) = bus.orders("run.create")
    assert isinstance(order, CreateRun)
    assert (order.caller, order.local, order.template_version) == ("owner", False, "1.0.0")
    assert order.options == RunOptions(mode=Mode.ASYNC, timeout_ms=5, artifacts=(ArtifactType.CSV,))


async def test_inputs_travel_sealed() -> None:
    bus = runs(run_create=ACCEPTED)

    await post(bus, "/api/runs", ASKED)

    (order,) = bus.orders("run.create")
    opened = Seal.of(VAULT_KEY).unseal(order.inputs, inputs_of(order.run_id))
    assert (b"hunter2" in order.inputs, msgspec.json.decode(opened)) == (False, ASKED["inputs"])


async def test_a_session_that_can_be_none_is_one_that_is_not_there() -> None:
    bus = runs()

    answer = await post(bus, "/api/runs", {**ASKED, "sessionId": "sess_xxx"})

    error = told(answer)
    assert (answer.status_code, error.error_code, error.details.field) == (404, "SESSION_NOT_FOUND", "sessionId")
    assert bus.calls == []


@requirement("002.7.errors")
@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"inputs": {}}, "templateId"),
        ({"templateId": "batch_extract_pages"}, "inputs"),
        ({**ASKED, "inputs": []}, "inputs"),
        ({**ASKED, "options": {"mode": "now"}}, "options.mode"),
        ({**ASKED, "options": {"timeoutMs": 0}}, "options.timeoutMs"),
        ({**ASKED, "options": {"artifacts": []}}, "options.artifacts"),
        ({**ASKED, "sessionId": 7}, "sessionId"),
        ({**ASKED, "idempotencyKey": ""}, "idempotencyKey"),
        ({**ASKED, "template": "x"}, "template"),
    ],
)
async def test_a_request_that_breaks_the_contract_is_told_in_the_form_of_the_runs(body: Any, field: str) -> None:
    bus = runs()

    answer = await post(bus, "/api/runs", body)

    error = told(answer)
    assert (answer.status_code, error.error_code, error.details.field) == (400, "INVALID_PARAMETER", field)
    assert (bool(error.recover_hint), bus.calls) == (True, [])


STATUSES: Mapping[Code, int] = {
    Code.TEMPLATE_NOT_FOUND: 404,
    Code.TEMPLATE_VERSION_UNSUPPORTED: 404,
    Code.TRUST_LEVEL_NOT_ALLOWED: 403,
    Code.RUN_NOT_FOUND: 404,
    Code.RUN_TIMEOUT: 504,
    Code.RUN_CANCELED: 409,
    Code.STEP_EXECUTION_FAILED: 502,
    Code.STEP_VERIFICATION_FAILED: 502,
    Code.TPL_LOGIN_FIELD_NOT_FOUND: 400,
    Code.ARTIFACT_NOT_FOUND: 404,
    Code.ARTIFACT_EXPIRED: 410,
}


@requirement("002.7.errors")
@pytest.mark.parametrize("code", sorted(RUNTIME_CODES))
async def test_every_error_of_the_runtime_has_a_status_and_the_form_of_the_contract(code: Code) -> None:
    answer = await post(runs(run_create=FaultError(fault(code, "No."))), "/api/runs", ASKED)

    body = answer.json()
    assert answer.status_code == STATUSES[code]
    assert (body["error"], body["errorCode"], body["code"]) == ("No.", code, code)
    assert body["recoverHint"]
    assert body["details"] == {"templateId": "batch_extract_pages"}


# -- looking --------------------------------------------------------------------------------------------------------


async def test_a_run_is_told_as_the_keeper_tells_it() -> None:
    bus = runs(run_get=RUN)

    answer = await get(bus, f"/api/runs/{RUN_ID}")

    assert (answer.status_code, msgspec.json.decode(answer.content, type=Run)) == (200, RUN)
    assert bus.orders("run.get") == [AskRun(run_id=RUN_ID, caller="owner")]


@pytest.mark.parametrize("run_id", ["x", "run_short", "run_" + "ä" * 22, "%0A", "run_" + "a" * 100, "a" * 200])
async def test_an_id_that_cannot_be_one_is_a_run_that_there_is_not(run_id: str) -> None:
    bus = runs()

    answer = await get(bus, f"/api/runs/{run_id}")

    assert (answer.status_code, told(answer).error_code, bus.calls) == (404, "RUN_NOT_FOUND", [])


async def test_an_id_without_end_is_refused() -> None:
    answer = await get(runs(), f"/api/runs/{'a' * 201}")

    assert (answer.status_code, told(answer).details.field) == (400, "runId")


@requirement("002.4.runs")
async def test_a_list_takes_its_filters_from_the_query() -> None:
    row = RunSummary(
        run_id=RUN_ID,
        template_id="batch_extract_pages",
        status=RunStatus.RUNNING,
        created_at=1,
        updated_at=2,
        progress=RunProgress(total_steps=3, done_steps=1),
    )
    bus = runs(run_list=RunList(runs=(row,), total=7))

    answer = await get(bus, "/api/runs?status=running&templateId=batch_extract_pages&limit=1&offset=2")

    assert (answer.status_code, answer.json()["total"], answer.json()["runs"][0]["runId"]) == (200, 7, RUN_ID)
    asked = ListRuns(caller="owner", status=RunStatus.RUNNING, template_id="batch_extract_pages", limit=1, offset=2)
    assert bus.orders("run.list") == [asked]


@pytest.mark.parametrize(
    ("query", "field"),
    [("status=done", "status"), ("limit=0", "limit"), ("limit=1001", "limit"), ("offset=-1", "offset"), ("a=1", "a")],
)
async def test_a_list_is_asked_for_strictly(query: str, field: str) -> None:
    answer = await get(runs(), f"/api/runs?{query}")

    assert (answer.status_code, told(answer).details.field) == (400, field)


@requirement("002.2.runtime")
async def test_the_profile_tells_what_bounds_all_runs() -> None:
    answer = await get(runs(run_templates=PROFILE), "/api/runtime-profile")

    assert answer.json() == {
        "runtimeVersion": "1.2.3",
        "limits": {"maxConcurrentRuns": 5, "maxRunTimeoutMs": 900_000, "maxArtifactInlineBytes": 262_144},
        "trustLevel": "remote",
        "artifactTtlMs": 86_400_000,
        "pollIntervalMs": 2_000,
        "schemaVersion": "1.0",
    }


# -- stopping and going on ------------------------------------------------------------------------------------------


@requirement("002.4.runs")
async def test_a_cancel_tells_whether_it_was_taken() -> None:
    bus = runs(run_cancel=CancelAnswer(cancel_requested=True, current_status=RunStatus.RUNNING))

    answer = await post(bus, f"/api/runs/{RUN_ID}/cancel")

    taken = {"cancelRequested": True, "currentStatus": "running", "schemaVersion": "1.0"}
    assert (answer.status_code, answer.json()) == (200, taken)
    assert bus.orders("run.cancel") == [AskRun(run_id=RUN_ID, caller="owner")]


@pytest.mark.parametrize(("body", "inputs"), [(None, {}), ({}, {}), ({"inputs": {"a": 1}}, {"a": 1})])
async def test_a_run_is_gone_on_with_by_a_body_or_none(body: Any, inputs: dict[str, int]) -> None:
    bus = runs(run_create=ACCEPTED)

    answer = await post(bus, f"/api/runs/{RUN_ID}/resume", body)

    (order,) = bus.orders("run.create")
    given = msgspec.json.decode(Seal.of(VAULT_KEY).unseal(order.inputs, inputs_of(order.run_id)))
    assert (answer.status_code, answer.headers["location"]) == (202, f"/api/runs/{RUN_ID}")
    assert (order.resume, given) == (RUN_ID, inputs)


async def test_a_body_that_comes_is_read_strictly_where_it_may_be_left_out() -> None:
    async with client(runs()) as http:
        path = f"/api/runs/{RUN_ID}/resume"
        unknown = await http.post(path, json={"steps": []})
        other = await http.post(path, content=b"a=1", headers={"Content-Type": "application/x-www-form-urlencoded"})
        empty = await http.post(path, content=b"{", headers=JSON)

    assert [one.status_code for one in (unknown, other, empty)] == [400, 415, 400]
    assert [told(one).details.field for one in (unknown,)] == ["steps"]


# -- files ----------------------------------------------------------------------------------------------------------


class Shelf(Runs):
    """Has one file, and hands it out in pieces of `most` bytes; what is asked for from `gone` on is there no more."""

    def __init__(self, whole: bytes, most: int, gone: int | None = None) -> None:
        super().__init__({})
        self.whole, self.most, self.gone = whole, most, gone

    async def call(self, call: Any, args: Any, *, timeout_ms: int | None = None, wait_ms: int = 0) -> Any:
        assert isinstance(args, ReadArtifact)
        self.calls.append((call, args, timeout_ms, wait_ms))
        if self.gone is not None and args.offset >= self.gone:
            raise FaultError(fault(Code.ARTIFACT_EXPIRED))
        data = self.whole[args.offset : args.offset + min(args.limit, self.most)]
        end = args.offset + len(data)
        return ArtifactChunk(
            artifact_id=args.artifact_id,
            mime_type="text/csv",
            size=len(self.whole),
            data=data,
            complete=end >= len(self.whole),
            offset=args.offset,
            bytes_returned=len(data),
        )


@requirement("002.5.artifacts")
async def test_a_piece_of_a_file_is_base64() -> None:
    answer = await get(Shelf(b"url,title\n", 4), f"/api/artifacts/{ARTIFACT_ID}?offset=4&limit=3")

    assert (answer.status_code, answer.json()) == (
        200,
        {
            "artifactId": ARTIFACT_ID,
            "mimeType": "text/csv",
            "size": 10,
            "data": base64.b64encode(b"tit").decode(),
            "complete": False,
            "offset": 4,
            "bytesReturned": 3,
            "schemaVersion": "1.0",
        },
    )


@requirement("002.5.artifacts")
@pytest.mark.parametrize("code", [Code.ARTIFACT_NOT_FOUND, Code.ARTIFACT_EXPIRED])
@pytest.mark.parametrize("suffix", ["", "/content"])
async def test_a_file_that_is_no_more_differs_from_one_that_never_was(code: Code, suffix: str) -> None:
    answer = await get(runs(artifact_read=FaultError(fault(code))), f"/api/artifacts/{ARTIFACT_ID}{suffix}")

    assert (answer.status_code, told(answer).error_code) == (STATUSES[code], code)
    assert told(answer).details.artifact_id == ARTIFACT_ID


@pytest.mark.parametrize("whole", [b"", b"a", b"abc", b"0123456789"])
async def test_a_download_is_the_file_byte_by_byte(whole: bytes) -> None:
    answer = await get(Shelf(whole, 3), f"/api/artifacts/{ARTIFACT_ID}/content")

    assert (answer.status_code, answer.content) == (200, whole)
    assert answer.headers["content-length"] == str(len(whole))
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert answer.headers["content-disposition"] == f'attachment; filename="{ARTIFACT_ID}.csv"'
    assert answer.headers["x-content-type-options"] == "nosniff"


async def test_the_head_of_a_download_reads_no_more_than_its_size() -> None:
    bus = Shelf(b"0123456789", 3)
    async with client(bus) as http:
        answer = await http.head(f"/api/artifacts/{ARTIFACT_ID}/content")

    assert (answer.status_code, answer.content, answer.headers["content-length"]) == (200, b"", "10")
    assert len(bus.calls) == 1


async def test_who_may_not_run_may_do_none_of_it() -> None:
    bus = runs()
    async with client(bus) as http:
        made = (await http.post("/api/keys", json={"name": "reader", "scopes": [Scope.BROWSE]})).json()
        http.headers["Authorization"] = f"Bearer {made['key']}"
        answers = [await http.request(method, path) for method, path in PATHS]

    assert {(answer.status_code, told(answer).code) for answer in answers} == {(403, Code.AUTH_INSUFFICIENT_SCOPE)}
    assert bus.calls == []
