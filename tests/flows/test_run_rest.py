"""Runs over REST, from the list of templates to the last byte of a file."""

from __future__ import annotations

import base64
import csv
import io
from pathlib import Path
from typing import Any

import httpx2
import jsonschema
import msgspec
import pytest
from msgspec import UNSET

from actors.gateway.errors import RunFault
from protocol.runs.responses import Run, RunAccepted, RunList, TemplateList
from protocol.runs.states import RunStatus
from tests.flows.system import CALL_S, System
from tests.requirements import requirement
from tests.site import Site

pytestmark = pytest.mark.nats

BATCH = "batch_extract_pages"
FINAL = {status.value for status in RunStatus if status.final}


def begin(weft: System, urls: list[str], **more: Any) -> httpx2.Response:
    """Ask for a batch."""
    return weft.http.post("/api/runs", json={"templateId": BATCH, "inputs": {"urls": urls}, **more})


def accepted(answer: httpx2.Response) -> RunAccepted:
    """Read the answer to a run that goes on."""
    assert answer.status_code == 202, answer.text
    return msgspec.json.decode(answer.content, type=RunAccepted)


def ended(answer: httpx2.Response) -> Run:
    """Read a run that is over."""
    assert answer.status_code == 200, answer.text
    return msgspec.json.decode(answer.content, type=Run)


def events(weft: System, run_id: str, after: str = "") -> list[dict[str, str]]:
    """Follow a run to the end of its stream."""
    headers, found, fields = ({"Last-Event-ID": after} if after else {}), list[dict[str, str]](), dict[str, str]()
    with weft.http.stream("GET", f"/api/runs/{run_id}/events", headers=headers, timeout=CALL_S) as answer:
        assert (answer.status_code, answer.headers["content-type"]) == (200, "text/event-stream; charset=utf-8")
        for line in answer.iter_lines():
            if line and not line.startswith(":"):
                name, _, value = line.partition(": ")
                fields[name] = value
            elif not line and fields:
                found.append(fields)
                fields = {}
    return found


def fault_of(answer: httpx2.Response) -> RunFault:
    """Read an error."""
    assert answer.headers["content-type"] == "application/json"
    return msgspec.json.decode(answer.content, type=RunFault)


@requirement("002.3.templates")
def test_every_template_says_what_it_takes(weft: System) -> None:
    found = msgspec.json.decode(weft.http.get("/api/templates").content, type=TemplateList).templates

    assert {BATCH, "login_keep_session", "multi_tab_compare"} <= {one.template_id for one in found}
    for one in found:
        jsonschema.Draft202012Validator.check_schema(one.inputs_schema)
        jsonschema.Draft202012Validator.check_schema(one.outputs_schema)


@requirement("002.12.acceptance")
def test_a_run_that_is_waited_for_answers_with_its_result(weft: System, site: Site) -> None:
    urls = [site.url("/article"), site.url("/status/404"), site.url("/table")]

    run = ended(begin(weft, urls, options={"mode": "sync", "artifacts": ["json", "csv", "markdown"]}))

    assert (run.status, run.progress.total_steps, run.progress.done_steps) == (RunStatus.PARTIAL_SUCCESS, 3, 3)
    assert [item["success"] for item in run.result["items"]] == [True, False, True]
    assert run.artifacts
    assert [one.type for one in run.artifacts] == ["json", "csv", "markdown"]
    assert ended(weft.http.get(f"/api/runs/{run.run_id}")) == run
    templates = msgspec.json.decode(weft.http.get("/api/templates").content, type=TemplateList).templates
    jsonschema.validate(run.result, next(one for one in templates if one.template_id == BATCH).outputs_schema)


@requirement("002.12.acceptance")
def test_a_run_that_goes_on_is_followed_to_its_files(weft: System, site: Site) -> None:
    answer = begin(weft, [site.url(f"/article?{number}") for number in range(4)], options={"mode": "async"})
    begun = accepted(answer)

    *told, last, end = events(weft, begun.run_id)

    assert answer.headers["location"] == f"/api/runs/{begun.run_id}"
    assert [one["event"] for one in told] == ["queued", "started", *["step"] * 4]
    assert (last["event"], end["event"], "id" in end) == ("succeeded", "end", False)
    assert [int(one["id"]) for one in (*told, last)] == sorted(int(one["id"]) for one in (*told, last))
    assert events(weft, begun.run_id, told[1]["id"]) == [*told[2:], last, end]
    run = ended(weft.http.get(answer.headers["location"]))
    assert run.artifacts
    (file,) = run.artifacts
    whole = weft.http.get(f"/api/artifacts/{file.artifact_id}/content")
    assert (whole.json(), len(whole.content)) == (run.result, file.size)
    assert in_pieces(weft, file.artifact_id, 1_000) == whole.content


def in_pieces(weft: System, artifact_id: str, limit: int) -> bytes:
    """Read a file as a client of the contract does."""
    had = b""
    while True:
        chunk = weft.http.get(f"/api/artifacts/{artifact_id}", params={"offset": len(had), "limit": limit}).json()
        had += base64.b64decode(chunk["data"])
        if chunk["complete"]:
            return had
        assert (chunk["offset"] + chunk["bytesReturned"], chunk["bytesReturned"]) == (len(had), limit)


@requirement("002.5.artifacts")
def test_a_download_is_a_file_that_no_browser_shows(weft: System, site: Site) -> None:
    run = ended(begin(weft, [site.url("/article")], options={"mode": "sync", "artifacts": ["csv"]}))

    assert run.artifacts
    (file,) = [one for one in run.artifacts if one.type == "csv"]
    answer = weft.http.get(f"/api/artifacts/{file.artifact_id}/content")

    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert answer.headers["content-disposition"] == f'attachment; filename="{file.artifact_id}.csv"'
    assert answer.headers["x-content-type-options"] == "nosniff"
    (row,) = csv.DictReader(io.StringIO(answer.text, newline=""))
    assert (row["url"], row["title"]) == (site.url("/article"), "How a loom is warped")


def test_the_same_key_gives_the_same_run(weft: System, site: Site, tmp_path: Path) -> None:
    key = tmp_path.name + "-key"
    asked: dict[str, Any] = {"options": {"mode": "async"}, "idempotencyKey": key}

    first = accepted(begin(weft, [site.url("/article")], **asked))
    again = accepted(begin(weft, [site.url("/article")], **asked))
    waiting = {"options": {"mode": "sync"}, "idempotencyKey": f"{key}-sync"}
    begun, waited = (ended(begin(weft, [site.url("/article")], **waiting)) for _ in range(2))
    other = begin(weft, [site.url("/table")], **asked)

    assert (again.run_id, again.deduplicated, again.schema_version) == (first.run_id, True, "1.0")
    assert (begun.deduplicated, waited.deduplicated, waited.schema_version) == (UNSET, True, "1.0")
    assert waited.run_id == begun.run_id
    assert (other.status_code, fault_of(other).details.field) == (400, "idempotencyKey")


@requirement("002.4.runs")
@pytest.mark.slow
def test_a_run_is_stopped_and_gone_on_with(weft: System, site: Site) -> None:
    urls = [site.url(f"/slow?ms=400&number={number}") for number in range(12)]
    inputs = {"urls": urls, "concurrency": 1}
    body = {"templateId": BATCH, "inputs": inputs, "options": {"mode": "async"}}
    begun = accepted(weft.http.post("/api/runs", json=body))

    told = weft.http.post(f"/api/runs/{begun.run_id}/cancel").json()
    *_, last, _end = events(weft, begun.run_id)
    again = weft.http.post(f"/api/runs/{begun.run_id}/cancel").json()
    resumed = accepted(weft.http.post(f"/api/runs/{begun.run_id}/resume"))
    *_, final, _end = events(weft, resumed.run_id)

    assert (told["cancelRequested"], last["event"]) == (True, "canceled")
    assert again == {"cancelRequested": False, "currentStatus": "canceled", "schemaVersion": "1.0"}
    assert (resumed.resumed_from, final["event"]) == (begun.run_id, "succeeded")
    assert ended(weft.http.get(f"/api/runs/{resumed.run_id}")).progress.done_steps == 12
    assert ended(weft.http.get(f"/api/runs/{begun.run_id}")).error_code == "RUN_CANCELED"


@requirement("002.4.runs")
def test_runs_are_listed_newest_first(weft: System, site: Site) -> None:
    ids = [ended(begin(weft, [site.url("/article")], options={"mode": "sync"})).run_id for _ in range(2)]

    listed = weft.http.get("/api/runs", params={"status": "succeeded", "templateId": BATCH, "limit": 2})
    second = weft.http.get("/api/runs", params={"status": "succeeded", "templateId": BATCH, "limit": 1, "offset": 1})

    runs = msgspec.json.decode(listed.content, type=RunList)
    assert ([run.run_id for run in runs.runs], runs.total >= 2) == (ids[::-1], True)
    assert [run["runId"] for run in second.json()["runs"]] == [ids[0]]


@requirement("002.9.trust-level")
def test_what_is_for_this_machine_alone_is_not_done_over_http(weft: System) -> None:
    answer = weft.http.post("/api/runs", json={"templateId": "login_keep_session", "inputs": {}})

    error = fault_of(answer)
    assert (answer.status_code, error.error_code) == (403, "TRUST_LEVEL_NOT_ALLOWED")
    assert error.details.template_id == "login_keep_session"


def test_runs_and_files_belong_to_the_key_that_made_them(weft: System, site: Site) -> None:
    run = ended(begin(weft, [site.url("/article")], options={"mode": "sync"}))
    made = weft.http.post("/api/keys", json={"name": f"other-{run.run_id[-8:]}", "scopes": ["runs"]}).json()
    headers = {"Authorization": f"Bearer {made['key']}"}
    assert run.artifacts

    paths = [f"/api/runs/{run.run_id}", f"/api/runs/{run.run_id}/events"]
    paths += [f"/api/artifacts/{one.artifact_id}{end}" for one in run.artifacts for end in ("", "/content")]
    found = [weft.http.get(path, headers=headers) for path in paths]
    stopped = weft.http.post(f"/api/runs/{run.run_id}/cancel", headers=headers)

    assert {one.status_code for one in (*found, stopped)} == {404}
    listed = weft.http.get("/api/runs", headers=headers).json()
    assert listed == {"runs": [], "total": 0, "offset": 0, "schemaVersion": "1.0"}
