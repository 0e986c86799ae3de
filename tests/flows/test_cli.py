"""The command line: what a person or a script gets of each verb, and how each one ends."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import jsonschema
import msgspec
import pytest

from actors import registry
from bus.nats.server import find_binary, read_ports
from bus.seal import new_key
from protocol.browse import BrowseResult, StructuredError
from protocol.faults import Code
from protocol.schemas import message_types
from tests.flows.system import CALL_S, POLL_S, Json, System, run, weft_up
from tests.requirements import requirement
from tests.site import Site
from tests.support.system import START_S, STOP_S, environment
from tests.support.system import weft as command

pytestmark = pytest.mark.nats

NOT_RUNNING = 3
WRONG_USAGE = 2
ACTORS = sorted(registry.ACTORS)


# browse


@pytest.mark.slow
def test_browse_prints_the_page_as_markdown(weft: System, site: Site) -> None:
    done = weft.run("browse", site.url("/article"))

    markdown = weft.page(site.url("/article")).content.markdown
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{markdown}\n", "")


@pytest.mark.slow
def test_browse_in_a_pipe_has_no_colours(weft: System, site: Site) -> None:
    done = weft.run("browse", site.url("/article"), "--trace")

    assert (done.returncode, "\x1b" in done.stdout) == (0, False)
    rows = [line.split()[:3] for line in done.stdout.splitlines()]
    assert [row for row in rows if row[:2] in (["tier", "intelligence"], ["content", "main"])] == [
        ["tier", "intelligence", "yes"],
        ["content", "main", "yes"],
    ]


@requirement("000.6.on-request")
@pytest.mark.slow
def test_browse_json_is_what_rest_answers(weft: System, site: Site) -> None:
    done = weft.run("browse", site.url("/article"), "--json", "--trace")

    result = msgspec.json.decode(done.stdout, type=BrowseResult)
    rest = weft.page(site.url("/article"), includeDecisionTrace=True)
    assert (result.content, result.field_confidence) == (rest.content, rest.field_confidence)
    assert result.decision_trace
    assert rest.decision_trace
    assert result.decision_trace.selectors == rest.decision_trace.selectors


@requirement("000.3.recovery")
@pytest.mark.slow
def test_browse_tells_a_person_what_went_wrong(weft: System, site: Site) -> None:
    url = site.url("/status/429?after=7")
    done = weft.run("browse", url)

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.splitlines() == [
        "error: The site allows fewer requests (429) [RATE_LIMIT_EXCEEDED]",
        "  1. Wait 7 seconds, then send the request again.",
        f"     weft browse '{url}' --attempt wait_and_retry",
        "  2. Ask this domain less often.",
        "  3. Tell the user; trying again will not help.",
    ]


@pytest.mark.slow
def test_browse_tells_a_program_what_went_wrong(weft: System, site: Site) -> None:
    done = weft.run("browse", site.url("/challenge"), "--json")

    assert (done.returncode, done.stderr) == (1, "")
    told = msgspec.json.decode(done.stdout)
    commands = [action.pop("command", None) for action in told["recommendedActions"]]
    assert told == weft.browse(site.url("/challenge")).json()
    assert [bool(one) for one in commands] == ["request" in action for action in told["recommendedActions"]]


@requirement("000.7.max-latency")
@pytest.mark.slow
def test_browse_takes_the_options_of_the_contract(weft: System, site: Site) -> None:
    slow = weft.run("browse", site.url("/slow?ms=60000"), "--max-latency-ms", "300", "--fresh", "realtime", "--json")
    shell = weft.run("browse", site.url("/spa"), "--max-tier", "intelligence", "--json")

    codes = [msgspec.json.decode(done.stdout, type=StructuredError).code for done in (slow, shell)]
    assert codes == [Code.NETWORK_TIMEOUT, Code.CONTENT_REQUIRES_JS]
    assert (slow.returncode, shell.returncode) == (1, 1)


@pytest.mark.parametrize(("path", "status"), [("/article", 0), ("/status/404", 1)])
@pytest.mark.slow
def test_browse_brings_its_own_weft_where_none_runs(tmp_path: Path, site: Site, path: str, status: int) -> None:
    folder = tmp_path / "none"

    done = run(folder, "browse", site.url(path), "--json")

    assert (done.returncode, done.stderr, folder.exists()) == (status, "", False)
    assert msgspec.json.decode(done.stdout, type=Json)["schemaVersion"] == "1.0"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("browse", "http://127.0.0.1/", "--max-tier", "cloud"), "--max-tier"),
        (("browse", "http://127.0.0.1/", "--max-latency-ms", "0"), "--max-latency-ms"),
        (("browse", __file__), "`weft extract` reads files"),
        (("up", "--actors", "navigater"), "Did you mean navigator?"),
        (("up", "--actors", "navigator=0"), "navigator=0"),
        (("schema", "edge.eror"), "Did you mean edge.error?"),
        (("brows",), "brows"),
    ],
)
@pytest.mark.slow
def test_wrong_usage_is_told_apart(tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    done = run(tmp_path, *arguments)

    assert (done.returncode, done.stdout) == (WRONG_USAGE, "")
    assert said in done.stderr


# status, tap, doctor, schema


@pytest.mark.slow
def test_status_lists_every_replica(weft: System) -> None:
    rows = weft.replicas()

    fields = ("actor", "replica", "host", "pid", "started", "inFlight", "served", "errors", "p50Ms", "p99Ms")
    assert [row["actor"] for row in rows] == ACTORS
    kinds = [str, str, str, int, int, int, int, int, float, float]
    assert [[type(row[field]) for field in fields] for row in rows] == [kinds] * len(rows)
    assert len({(row["replica"], row["pid"]) for row in rows}) == len(ACTORS)


@pytest.mark.slow
def test_status_for_a_person_is_a_table(weft: System) -> None:
    lines = weft.run("status").stdout.splitlines()

    assert lines[0].split()[:5] == ["ACTOR", "REPLICA", "HOST", "PID", "VERSION"]
    assert [line.split()[0] for line in lines[1:]] == ACTORS


@pytest.mark.parametrize("verb", ["status", "tap"])
@pytest.mark.parametrize("as_json", [False, True])
@pytest.mark.slow
def test_what_needs_a_weft_says_how_to_start_one(tmp_path: Path, verb: str, *, as_json: bool) -> None:
    done = run(tmp_path, verb, *(["--json"] if as_json else []))

    assert done.returncode == NOT_RUNNING
    assert "weft up" in (done.stdout if as_json else done.stderr)


@pytest.mark.slow
def test_tap_shows_the_packets_of_a_browse_without_their_secrets(weft: System, site: Site) -> None:
    address = site.url("/cookies/echo?page=3&token=hunter2")

    packets = _tapped(weft, address, "web.>", 4)

    fields = {"time", "subject", "headers", "size", "packet"}
    assert [set(packet) for packet in packets] == [fields] * 4
    assert {str(packet["subject"]) for packet in packets} == {"web.browse", "web.fetch.intelligence"}
    shown = msgspec.json.encode(packets).decode()
    assert ("page=3&token=***" in shown, "hunter2" in shown) == (True, False)


@pytest.mark.slow
def test_doctor_finds_nothing_missing(weft: System) -> None:
    done = weft.run("doctor", "--json")

    told = msgspec.json.decode(done.stdout, type=Json)
    checks = msgspec.convert(told["checks"], list[dict[str, str]])
    settings = msgspec.convert(told["settings"], list[dict[str, str]])
    assert (done.returncode, told["ok"], weft.key in done.stdout) == (0, True, False)
    assert {check["name"] for check in checks} >= {"python", "nats", "chromium", "port", "disk", "config", "running"}
    assert [check for check in checks if check["state"] == "missing"] == []
    assert next(row for row in settings if row["name"] == "allow_private") == {
        "name": "allow_private",
        "value": "127.0.0.0/8",
        "origin": "WEFT_ALLOW_PRIVATE",
        "env": "WEFT_ALLOW_PRIVATE",
    }


@pytest.mark.slow
def test_doctor_names_the_cure(tmp_path: Path) -> None:
    done = run(tmp_path, "doctor", "--json", WEFT_PORT="99999")

    checks = msgspec.convert(msgspec.json.decode(done.stdout, type=Json)["checks"], list[dict[str, str]])
    (missing,) = (check for check in checks if check["state"] == "missing")
    assert (done.returncode, missing["name"]) == (1, "config")
    assert "from 0 to 65535" in missing["cure"]


@pytest.mark.full
@requirement("000.5.browse-result")
@pytest.mark.slow
def test_schema_describes_what_is_answered(weft: System, site: Site) -> None:
    known = msgspec.json.decode(weft.run("schema").stdout, type=dict[str, Json])

    assert known.keys() == message_types().keys()  # each of which test_schemas.py looks at
    page = weft.browse(site.url("/csv"), includeDecisionTrace=True, includeNetwork=True, includeHtml=True)
    jsonschema.validate(page.json(), known["edge.browse.result"])
    jsonschema.validate(weft.browse(site.url("/challenge")).json(), known["edge.error"])


# up


@pytest.mark.slow
def test_a_second_weft_is_kept_out_of_a_data_folder(weft: System) -> None:
    done = weft.run("up")

    assert (done.returncode, done.stdout) == (1, "")
    assert f"a Weft already runs in {weft.data_dir}" in done.stderr
    assert "--data-dir" in done.stderr
    assert weft.http.get("/readyz").status_code == 200


@pytest.mark.full
@pytest.mark.slow
def test_two_systems_run_side_by_side(weft: System, site: Site, tmp_path: Path) -> None:
    with weft_up(tmp_path, WEFT_FETCH_CA_FILE=site.ca_file) as other:
        secure = f"https://127.0.0.1:{site.tls_port}/article"
        titles = [one.page(site.url("/article")).title for one in (weft, other)]
        trusting = [one.browse(secure).status_code for one in (weft, other)]
        strange = httpx2.post(
            f"{other.ready.rest}/api/browse", headers=weft.http.headers, json={}, trust_env=False, timeout=90
        )
        pids = [{row["pid"] for row in one.replicas()} for one in (weft, other)]

    assert (titles, trusting) == (["How a loom is warped"] * 2, [502, 200])
    assert (weft.key == other.key, strange.status_code) == (False, 401)
    assert (len(pids[0]), len(pids[1]), pids[0] & pids[1]) == (len(ACTORS), len(ACTORS), set[object]())


@pytest.mark.slow
def test_actors_of_one_system_live_where_they_are_put(site: Site, tmp_path: Path) -> None:
    with _nats(tmp_path / "nats") as url:
        shared = {"WEFT_NATS_URL": url, "WEFT_VAULT_KEY": new_key()}
        inside = weft_up(tmp_path / "inside", "--actors", "navigator=2,verifier", **shared)
        edge = weft_up(tmp_path / "edge", "--actors", "gateway,fetchers.intelligence", **shared)
        with inside as one, edge as other:
            title = other.page(site.url("/article")).title
            rows = one.replicas()

    assert (one.ready.rest, one.ready.mcp, title) == ("", "", "How a loom is warped")
    assert [row["actor"] for row in rows] == ["fetchers.intelligence", "gateway", "navigator", "navigator", "verifier"]


@pytest.mark.full
@pytest.mark.parametrize(
    "sharing", [("--single-process",), ("--actors", "gateway,navigator,verifier,fetchers.intelligence=2")]
)
@pytest.mark.slow
def test_a_system_takes_the_shape_it_is_told(site: Site, tmp_path: Path, sharing: tuple[str, ...]) -> None:
    with weft_up(tmp_path, *sharing) as system:
        title = system.page(site.url("/article")).title
        rows = system.replicas()

    single = sharing == ("--single-process",)
    assert title == "How a loom is warped"
    assert (len(rows), len({row["pid"] for row in rows})) == ((len(ACTORS), 1) if single else (5, 5))


def _tapped(weft: System, url: str, subject: str, count: int) -> list[Json]:
    """Overhear `count` packets; it is not told when tapping has begun, so pages are asked for until it has ended."""
    overheard = command("tap", subject, "--json", "--count", str(count))
    until = time.monotonic() + CALL_S
    with subprocess.Popen(overheard, env=environment(weft.data_dir), stdout=subprocess.PIPE, text=True) as process:
        try:
            while process.poll() is None:
                assert time.monotonic() < until, "nothing was overheard"
                weft.page(url)
                time.sleep(POLL_S)
        finally:
            process.terminate()
        out, _ = process.communicate()
    assert process.returncode == 0
    return [msgspec.json.decode(line, type=Json) for line in out.splitlines()]


@contextmanager
def _nats(folder: Path) -> Generator[str]:
    """Run a nats-server of nobody's."""
    binary = find_binary()
    assert binary is not None
    folder.mkdir()
    arguments = ("-a", "127.0.0.1", "-p", "-1", "--ports_file_dir", str(folder), "-js", "-sd", str(folder))
    with subprocess.Popen([binary, *arguments, "-l", str(folder / "log")]) as process:
        try:
            until = time.monotonic() + START_S
            while (url := read_ports(folder, process.pid)) is None:
                assert time.monotonic() < until, "nats-server is not ready"
                time.sleep(POLL_S)
            yield url
        finally:
            process.terminate()
            process.wait(STOP_S)
