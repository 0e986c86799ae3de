"""Keys of a running Weft, from the command line to the edge: two gateways, a restart, and not a trace of a key."""

from __future__ import annotations

import re
import secrets
import subprocess
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2
import msgspec
import pytest

from bus.nats.server import find_binary, read_ports
from protocol.access import KeyInfo, KeyLimits, Scope
from tests.flows.system import POLL_S, System, weft_up
from tests.support.system import START_S

pytestmark = pytest.mark.nats

ALONE = ("--actors", "gateway")
OPERATE = ("--scope", "operate", "--scope", "browse")

EVERYWHERE_S = 90.0
"""How soon a key is known, or forgotten, by every gateway."""


@contextmanager
def nats(folder: Path) -> Generator[str]:
    """Run a server without users, as two hosts share one; gives its address."""
    folder.mkdir()
    binary = find_binary()
    assert binary is not None
    command = [str(binary), "-a", "127.0.0.1", "-p", "-1", "-js", "-sd", str(folder), "--ports_file_dir", str(folder)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until = time.monotonic() + START_S
        while (url := read_ports(folder, process.pid)) is None:
            assert time.monotonic() < until
            time.sleep(POLL_S)
        yield url
    finally:
        process.terminate()
        process.wait()


@dataclass(frozen=True)
class Hosts:
    """Two gateways on two hosts, as it were, and how to run one of them anew."""

    one: System
    two: System
    folder: Path
    settings: dict[str, str]

    def logs(self) -> str:
        return self.one.log.read_text() + self.two.log.read_text()


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Generator[Hosts]:
    folder = tmp_path_factory.mktemp("access")
    with nats(folder / "nats") as url:
        settings = {
            "WEFT_NATS_URL": url,
            "WEFT_VAULT_KEY": secrets.token_urlsafe(32),
            "WEFT_LOG_LEVEL": "debug",
        }
        with weft_up(folder / "one", *ALONE, **settings) as one, weft_up(folder / "two", *ALONE, **settings) as two:
            yield Hosts(one, two, folder, settings)


def status(system: System, key: str, path: str = "/metrics") -> int:
    headers = {"Authorization": f"Bearer {key}"}
    return httpx2.get(f"{system.ready.rest}{path}", headers=headers, trust_env=False, timeout=90).status_code


def until(system: System, key: str, wanted: int) -> None:
    """Wait for a status, as long as it may take to be known everywhere."""
    begun = time.monotonic()
    while status(system, key) != wanted:
        assert time.monotonic() - begun < EVERYWHERE_S
        time.sleep(POLL_S)


def keys(hosts: Hosts, *arguments: str) -> str:
    done = hosts.one.run("keys", *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.slow
def test_a_key_opens_and_closes_every_gateway(hosts: Hosts) -> None:
    key = keys(hosts, "add", "both", *OPERATE)
    for system in (hosts.one, hosts.two):
        until(system, key, 200)
    keys(hosts, "revoke", "both")
    for system in (hosts.one, hosts.two):
        until(system, key, 401)


@pytest.mark.slow
def test_a_key_outlives_the_gateway_that_made_it(hosts: Hosts) -> None:
    good, gone = keys(hosts, "add", "good", *OPERATE), keys(hosts, "add", "gone", *OPERATE)
    keys(hosts, "revoke", "gone")

    with weft_up(hosts.folder / "three", *ALONE, **hosts.settings) as three:
        assert [status(three, good), status(three, gone)] == [200, 401]


@pytest.mark.slow
def test_a_key_is_good_for_its_scopes_and_its_time(hosts: Hosts) -> None:
    key = keys(hosts, "add", "short", "--scope", "browse", "--expires", "1d")
    listed = msgspec.json.decode(keys(hosts, "list", "--json"), type=list[KeyInfo])

    (info,) = (one for one in listed if one.name == "short")
    assert (info.scopes, (info.expires or 0) - info.created) == ((Scope.BROWSE,), 86_400_000)
    assert [status(hosts.one, key), status(hosts.one, key, "/api/sessions")] == [403, 403]


@pytest.mark.slow
def test_no_key_is_ever_written_down(hosts: Hosts) -> None:
    """Neither of those that were let in nor of those that were not, at the lowest level of the log."""
    made = keys(hosts, "add", "shown-once", *OPERATE)
    wrong = "weft_" + "z" * 12 + "_" + "Z" * 49
    assert [status(hosts.two, wrong), status(hosts.one, made)] == [401, 200]
    keys(hosts, "revoke", "shown-once")
    hosts.one.http.post("/api/keys", content=f'{{"name": "{made}", "nope": 1}}')
    kept = b"".join(file.read_bytes() for file in (hosts.folder / "nats").rglob("*") if file.is_file())

    secret = made.split("_")[2]
    assert secret not in hosts.logs()
    assert "Z" * 49 not in hosts.logs()
    assert secret.encode() not in kept
    assert secret not in keys(hosts, "list", "--json")
    assert len(kept) > 1_000


@pytest.mark.slow
def test_limits_hold_over_the_wire(hosts: Hosts) -> None:
    settings = {"WEFT_RATE_PER_MINUTE": "60", "WEFT_RATE_BURST": "2"}
    with weft_up(hosts.folder / "limited", *ALONE, **hosts.settings, **settings) as limited:
        answers = [limited.http.get("/metrics") for _ in range(8)]

    assert [answer.status_code for answer in answers[:2]] == [200, 200]
    assert 429 in {answer.status_code for answer in answers[2:]}
    assert {answer.headers["ratelimit-policy"] for answer in answers} == {'"burst";q=2;w=2'}


@pytest.mark.slow
def test_a_key_has_limits_of_its_own_and_is_counted(hosts: Hosts) -> None:
    limits = ("--limit", "at-once=5", "--limit", "per-minute=3", "--limit", "weight=2")
    key = keys(hosts, "add", "bounded", *OPERATE, *limits)
    listed = msgspec.json.decode(keys(hosts, "list", "--json"), type=list[KeyInfo])

    statuses = [status(hosts.one, key) for _ in range(8)]
    (info,) = (one for one in listed if one.name == "bounded")
    assert info.limits == KeyLimits(at_once=5, per_minute=3, weight=2)
    assert (statuses[0], statuses.count(429) >= 4) == (200, True)
    figures = hosts.one.http.get("/metrics").text
    counted = re.findall(rf'(weft_key_\w+_total){{.*?key="key-{info.id}".*?}} (\d+)', figures)
    assert {name: int(float(number)) > 0 for name, number in counted} == {
        "weft_key_calls_total": True,
        "weft_key_refused_total": True,
        "weft_key_model_calls_total": False,
        "weft_key_input_tokens_total": False,
        "weft_key_output_tokens_total": False,
        "weft_key_model_cost_usd_total": False,
    }


@pytest.mark.slow
def test_usage_outlives_the_gateway(hosts: Hosts) -> None:
    """It is written at the stop, and read by whoever comes after."""
    with weft_up(hosts.folder / "four", *ALONE, **hosts.settings) as four:
        key = keys(hosts, "add", "counted", *OPERATE)
        until(four, key, 200)
        before = usage(hosts.one, key)
        statuses = [status(four, key) for _ in range(5)]

    assert statuses == [200] * 5
    assert usage(hosts.one, key) - before >= 5


def usage(system: System, key: str) -> int:
    headers = {"Authorization": f"Bearer {key}"}
    answer = httpx2.get(f"{system.ready.rest}/v1/usage", headers=headers, trust_env=False, timeout=90)
    assert answer.status_code == 200, answer.text
    return int(answer.json()["data"]["requests"])
