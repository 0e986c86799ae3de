"""Who asks, and the figures of the system as JSON; and the files of the console, which need no key."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec import structs

from actors.gateway.rest import console
from actors.gateway.shown_settings import shown_settings
from bus.stats import EndpointStats, Replica
from tests.unit.actors.gateway.rest.calling import client, error_of
from tests.unit.actors.gateway_data import KEY, FakeBus, settings

FETCH = EndpointStats(
    subject="web.fetch.intelligence",
    calls=4,
    errors=3,
    in_flight=1,
    queued=2,
    duration_sum_s=2.0,
    buckets=(),
    last_error="NETWORK_TIMEOUT",
)
FETCHER = Replica(
    actor="fetchers.intelligence",
    replica="r1",
    host="one",
    pid=7,
    version="1",
    started=1_000,
    in_flight=1,
    queued=2,
    served=4,
    errors=3,
    slow=1,
    p50_ms=2.5,
    p99_ms=40.0,
    endpoints=(FETCH, structs.replace(FETCH, subject="http", errors=9, last_error="502")),
)


async def test_the_figures_tell_what_is_missing_and_what_fails_first() -> None:
    bus = FakeBus()
    bus.live = (FETCHER,)
    async with client(bus) as http:
        system = (await http.get("/api/system")).json()

    (replica,) = system["replicas"]
    assert (system["status"], system["missing"]) == ("not_ready", ["navigator", "verifier"])
    assert (replica["p99Ms"], replica["slow"], replica["uptimeMs"] > 0) == (40.0, 1, True)
    assert replica["subjects"][0]["meanMs"] == 500.0
    assert [one["code"] for one in system["failing"]] == ["502", "NETWORK_TIMEOUT"]
    assert "action" not in system["failing"][0]
    assert system["failing"][1]["meaning"] == "The site did not answer within the time allowed."
    assert system["failing"][1]["action"].startswith("Ask again, and allow more time")


async def test_a_key_is_told_of_itself() -> None:
    async with client(FakeBus()) as http:
        me = (await http.get("/api/me")).json()
        del http.headers["authorization"]
        nobody = await http.get("/api/me")

    assert (me["name"], me["caller"], me["version"], "operate" in me["scopes"]) == ("owner", "owner", "1.2.3", True)
    assert (nobody.status_code, error_of(nobody).code) == (401, "AUTH_INVALID_CREDENTIALS")


async def test_settings_are_told_with_their_source_and_without_secrets() -> None:
    origins = {"host": "--host", "api_key": "WEFT_API_KEY", "drain_ms": "/etc/weft.toml"}
    chosen = settings(host="127.0.0.1", drain_ms=7, nats_url="nats://u:hush@a:1")

    told = {one.name: one for one in shown_settings(chosen, origins)}

    assert (told["drain_ms"].value, told["drain_ms"].source, told["drain_ms"].origin) == ("7", "file", "/etc/weft.toml")
    assert (told["api_key"].value, told["api_key"].source, told["api_key"].secret) == ("***", "environment", True)
    assert (told["host"].source, told["port"].source, told["vault_key"].value) == ("flag", "default", "***")
    assert told["nats_url"].value == "nats://***@a:1"
    async with client(FakeBus()) as http:
        answer = await http.get("/api/settings")
    assert [one["name"] for one in answer.json()["settings"]] == list(told)
    assert KEY not in answer.text


async def test_the_files_of_the_console_are_open_and_kept_by_the_browser(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in (*console.FILES.values(), console.INDEX):
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"of {path}")
    monkeypatch.setattr(console, "FOLDER", tmp_path)
    async with client(FakeBus()) as http:
        del http.headers["authorization"]
        first = await http.get("/console/main.js")
        again = await http.get("/console/main.js", headers={"if-none-match": first.headers["etag"]})
        (tmp_path / "main.js").write_text("another")
        changed = await http.get("/console/main.js", headers={"if-none-match": first.headers["etag"]})
        plain = await http.get("/console/main.js", headers={"accept-encoding": "identity"})
        front = await http.get("/", headers={"accept": "text/html"})
        others = [await http.get(f"/console/{name}") for name in ("package.json", "index.html", "../http.py")]
        homes = [await http.get(path) for path in ("/console", "/console/")]
        posted = await http.post("/console/main.js")
        (tmp_path / console.PACKAGED["htm.js"]).unlink()
        missing = await http.get("/console/htm.js")

    assert (first.text, first.headers["content-encoding"]) == ("of main.js", "gzip")
    assert first.headers["content-type"] == "text/javascript; charset=utf-8"
    assert (again.status_code, again.text, changed.status_code, changed.text) == (304, "", 200, "another")
    assert (plain.text, plain.headers["etag"] == changed.headers["etag"]) == ("another", False)
    assert front.text == "of index.html"
    for answer in (first, front):
        policy = answer.headers["content-security-policy"]
        assert policy.startswith("default-src 'self'; ")
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
    assert [answer.status_code for answer in others] == [401] * 3
    assert [(answer.status_code, answer.headers["location"]) for answer in homes] == [(307, "/")] * 2
    assert (posted.status_code, missing.status_code) == (405, 404)
