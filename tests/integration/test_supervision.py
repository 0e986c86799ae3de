"""Life and death of a whole system: whatever is killed comes back, and whatever is stopped leaves nothing behind."""

from __future__ import annotations

import os
import signal
import socket
import sys
from collections import Counter
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import httpx2
import msgspec
import pytest
from anyio.abc import Process
from anyio.streams.buffered import BufferedByteReceiveStream

from actors.registry import ACTORS
from bus import Bus
from bus.nats.server import find_binary, read_ports
from bus.nats.transport import connect
from bus.seal import Seal, new_key
from protocol.browse import BrowseResult, StructuredError
from tests.site import Site, serve_site
from tests.support.nats import serve_open_nats
from tests.support.processes import Life, gone, named, session, until
from tests.support.scale import first
from tests.support.system import RunningWeft, environment, new_weft, running_weft, stop_process, weft
from tests.support.warm import PID_FILE

pytestmark = [
    pytest.mark.nats,
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="reads /proc"),
]

BACK_S = 240.0
"""Within which the next request succeeds, whatever was killed."""

GONE_S = 240.0
"""Within which everything is gone when nobody is left to stop it in order: 5 s to finish, then it is killed."""

TEST_S = 240.0
LOOK_S = 0.1


def sound(response: httpx2.Response) -> BrowseResult:
    """Read a good answer."""
    assert response.status_code == 200, response.text
    return msgspec.json.decode(response.content, type=BrowseResult)


async def browse(client: httpx2.AsyncClient, url: str, **options: object) -> httpx2.Response:
    """Ask for a page."""
    return await client.post("/api/browse", json={"url": url, "options": options})


async def browses(running: RunningWeft, site: Site) -> None:
    """Ask for a page on a connection of its own; it has to come soon."""
    async with running.client() as client:
        with anyio.fail_after(BACK_S):
            response = await browse(client, site.url("/article"), freshnessRequirement="realtime")
    assert sound(response).title == sound(response).title != ""


async def lives_of(running: RunningWeft) -> dict[str, tuple[str, int]]:
    """Ask `weft status` for the id and the pid of the one replica of each actor."""
    rows = await running.replicas()
    return {str(row["actor"]): (str(row["replica"]), int(str(row["pid"]))) for row in rows}


async def reborn(running: RunningWeft, actor: str, was: tuple[str, int]) -> tuple[str, int]:
    """Wait until `weft status` shows another life of the actor."""
    while True:
        now = (await lives_of(running)).get(actor, was)
        if now[0] != was[0] and now[1] != was[1]:
            return now
        await anyio.sleep(LOOK_S)


def events(running: RunningWeft, event: str) -> list[dict[str, object]]:
    """Find the log lines of one event."""
    lines = [msgspec.json.decode(line, type=dict[str, object]) for line in running.log.read_bytes().splitlines()]
    return [line for line in lines if line["event"] == event]


def everybody(running: RunningWeft) -> frozenset[Life]:
    """Find every process of the system, the launcher too."""
    found = session(running.ready.pid)
    assert {"weft:zygote", "nats-server"} <= {life.name for life in found}
    return found


async def refuses(running: RunningWeft) -> None:
    """Wait until the port refuses connections."""
    host, _, port = running.ready.rest.removeprefix("http://").rpartition(":")
    while True:
        try:
            stream = await anyio.connect_tcp(host, int(port))
        except OSError:
            return
        await stream.aclose()


# -- kill -9 -------------------------------------------------------------------------------------------------------


@pytest.mark.full
@pytest.mark.parametrize("method", first(1, ["fork", "spawn"]))
async def test_whatever_actor_is_killed_the_next_request_succeeds(tmp_path: Path, method: str) -> None:
    with anyio.fail_after(TEST_S):
        async with serve_site() as site, running_weft(tmp_path, WEFT_START_METHOD=method) as running:
            before = await lives_of(running)
            assert set(before) == set(ACTORS)
            for actor, (_, pid) in before.items():
                os.kill(pid, signal.SIGKILL)
                await browses(running, site)

                await reborn(running, actor, before[actor])
            assert [line["child"] for line in events(running, "child_died")] == list(before)
            assert await stop_process(running.process) == 0


@pytest.mark.full
async def test_an_actor_that_dies_again_and_again_is_given_up_loudly_and_the_others_go_on(tmp_path: Path) -> None:
    with anyio.fail_after(TEST_S):
        async with running_weft(tmp_path, WEFT_RESTART_LIMIT="2", WEFT_RESTART_BACKOFF_MS="10") as running:
            life = (await lives_of(running))["verifier"]
            for _ in range(2):
                os.kill(life[1], signal.SIGKILL)
                life = await reborn(running, "verifier", life)
            os.kill(life[1], signal.SIGKILL)
            await until(lambda: bool(events(running, "child_given_up")))

            (line,) = events(running, "child_given_up")
            assert {"child": "verifier", "deaths": 3, "status": -9, "level": "critical"}.items() <= line.items()
            assert set(await lives_of(running)) == set(ACTORS) - {"verifier"}
            async with running.client() as client:
                assert (await client.get("/healthz")).status_code == 200
                unready = await client.get("/readyz")
            assert (unready.status_code, "no live verifier" in unready.text) == (503, True)
            assert await stop_process(running.process) == 0


async def test_nats_may_be_killed_while_a_page_is_read(tmp_path: Path) -> None:
    with anyio.fail_after(TEST_S):
        async with serve_site() as site, running_weft(tmp_path) as running, running.client() as client:
            before = named(everybody(running), "nats-server")
            answers: list[httpx2.Response] = []

            async def slow() -> None:
                url = site.url("/slow?ms=1000")
                with anyio.fail_after(BACK_S):
                    answers.append(await browse(client, url, maxLatencyMs=10_000, freshnessRequirement="realtime"))

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(slow)
                await until(lambda: site.hits["/slow"] > 0)
                os.kill(before.pid, signal.SIGKILL)
                await browses(running, site)

            (answer,) = answers
            if answer.status_code != 200:
                assert msgspec.json.decode(answer.content, type=StructuredError).retryable
            assert named(everybody(running), "nats-server") != before
            assert set(await lives_of(running)) == set(ACTORS)  # on the port that ready.json names
            await browses(running, site)
            assert await stop_process(running.process) == 0


@pytest.mark.full
@pytest.mark.parametrize("killed", first(1, ["launcher", "zygote"]))
async def test_when_the_launcher_or_the_zygote_is_killed_everything_ends(tmp_path: Path, killed: str) -> None:
    with anyio.fail_after(TEST_S):
        async with running_weft(tmp_path) as running:
            lives = everybody(running)
            victim = running.ready.pid if killed == "launcher" else named(lives, "weft:zygote").pid
            os.kill(victim, signal.SIGKILL)
            with anyio.fail_after(GONE_S):
                await gone(lives)

            assert await running.process.wait() == {"launcher": -signal.SIGKILL, "zygote": 1}[killed]
            assert "Traceback" not in running.log_text()
            assert ("start Weft again" in running.log_text()) == (killed == "zygote")


# -- stopping ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sent", first(1, [signal.SIGTERM, signal.SIGINT, signal.SIGHUP]))
@pytest.mark.parametrize("mode", [(), ("--single-process",)], ids=["processes", "one-process"])
async def test_work_in_hand_is_finished_and_nothing_is_left(
    tmp_path: Path, sent: signal.Signals, mode: tuple[str, ...]
) -> None:
    with anyio.fail_after(TEST_S):
        async with serve_site() as site, running_weft(tmp_path, mode) as running, running.client() as client:
            lives = session(running.ready.pid)
            async with anyio.create_task_group() as tasks:

                async def asked() -> None:
                    assert sound(await browse(client, site.url("/slow?ms=1500"))).title

                tasks.start_soon(asked)
                await until(lambda: site.hits["/slow"] > 0)
                running.process.send_signal(sent)
                await refuses(running)
                assert running.process.returncode is None  # the page is still being read
            status = await running.process.wait()

            assert status == 0
            await gone(lives)
            assert not session(running.ready.pid)
            assert not (running.data_dir / "run" / "ready.json").exists()


@pytest.mark.full
@pytest.mark.parametrize("mode", first(1, [((),), (("--single-process",),)]), ids=["processes", "one-process"])
async def test_a_second_signal_ends_everything_at_once(tmp_path: Path, mode: tuple[str, ...]) -> None:
    with anyio.fail_after(TEST_S):
        async with serve_site() as site, running_weft(tmp_path, mode) as running, running.client() as client:
            lives = session(running.ready.pid)

            async def asked() -> None:
                with pytest.raises(httpx2.TransportError):
                    await browse(client, site.url("/slow?ms=20000"))

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(asked)
                await until(lambda: site.hits["/slow"] > 0)
                running.process.terminate()
                await until(lambda: bool(events(running, "system_stopping")))
                running.process.terminate()
                with anyio.fail_after(GONE_S):
                    await running.process.wait()
                    await gone(lives)

            assert running.process.returncode == 128 + signal.SIGTERM


async def test_a_signal_during_the_start_stops_it(tmp_path: Path) -> None:
    nothing = {"WEFT_FETCH_CA_FILE": str(tmp_path / "none.pem")}  # so that the fetcher dies, and is waited for
    patience = {"WEFT_RESTART_BACKOFF_MS": "60000", "WEFT_RESTART_BACKOFF_MAX_MS": "60000"}
    with anyio.fail_after(TEST_S):
        async with starting(tmp_path, **nothing, **patience) as process:
            assert process.stderr is not None
            log = BufferedByteReceiveStream(process.stderr)
            while b"child_died" not in await log.receive_until(b"\n", 1 << 20):
                pass
            process.terminate()
            with anyio.fail_after(GONE_S):
                while b"system_stopped" not in await log.receive_until(b"\n", 1 << 20):
                    pass

            assert await process.wait() == 0
            assert not session(leader(tmp_path, process))


@pytest.mark.full
async def test_a_closed_stdout_and_stderr_disturb_nobody(tmp_path: Path) -> None:
    ready_file = tmp_path / "ready.json"
    with anyio.fail_after(TEST_S):
        read, write = os.pipe()
        os.close(read)
        async with serve_site() as site:
            process = await anyio.open_process(
                new_weft("up", "--ready-file", str(ready_file)),
                stdin=None,
                stdout=write,
                stderr=write,
                env=environment(tmp_path / "data"),
                start_new_session=True,
            )
            os.close(write)
            await until(ready_file.exists)
            done = await anyio.run_process(
                weft("browse", site.url("/article"), "--json"), env=environment(tmp_path / "data")
            )

            assert msgspec.json.decode(done.stdout, type=BrowseResult).title
            assert await stop_process(process) == 0
            assert not session(process.pid)


@pytest.mark.parametrize("key", ["", "key-of-the-settings"])
async def test_what_a_start_writes_to_a_log_can_be_pasted_and_holds_no_key(tmp_path: Path, key: str) -> None:
    alone = ("--single-process", "--actors", "gateway")
    with anyio.fail_after(TEST_S):
        async with running_weft(tmp_path / "a b", alone, WEFT_API_KEY=key) as running:
            await until(lambda: "Ctrl-C" in running.out.read_text())
            lines = [line.strip() for line in running.out.read_text().splitlines()]
            key_file = running.data_dir / "api-key"
            export = f"export WEFT_API_KEY='{key}'" if key else next(one for one in lines if "export WEFT_" in one)
            paste = next(one for one in lines if one.startswith("claude mcp add"))
            script = f"claude() {{ printf '%s' \"${{@: -1}}\"; }}; {export.removeprefix('shell').strip()}; {paste}"
            given = await anyio.run_process(["bash", "-c", script])

    used = key or key_file.read_text().strip()
    assert given.stdout.decode() == f"Authorization: Bearer {used}"
    assert used not in "\n".join(lines)
    assert f"API key  {'set by WEFT_API_KEY' if key else f'kept in {key_file}'}" in lines


# -- starting ------------------------------------------------------------------------------------------------------


@asynccontextmanager
async def starting(folder: Path, *arguments: str, **settings: str) -> AsyncGenerator[Process]:
    """Start a `weft up` that is not expected to get ready; `leader` knows its session."""
    env = environment(folder / "data", **settings, **{PID_FILE: str(folder / "pid")})
    async with await anyio.open_process(weft("up", *arguments), env=env, start_new_session=True) as process:
        try:
            yield process
        finally:
            if process.returncode is None:
                process.kill()


def leader(folder: Path, process: Process) -> int:
    """Return the pid of what was started."""
    file = folder / "pid"
    return int(file.read_text()) if file.exists() else process.pid


async def refusal(folder: Path, *arguments: str, **settings: str) -> str:
    """Run a `weft up` that cannot start, and give what it says; it has to leave nothing behind."""
    async with starting(folder, *arguments, **settings) as process:
        assert process.stderr is not None
        with anyio.fail_after(TEST_S):
            said = b"".join([chunk async for chunk in process.stderr]).decode()
            status = await process.wait()
        assert (status, session(leader(folder, process))) == (1, frozenset())
    assert "Traceback" not in said
    return next(line for line in said.splitlines() if line.startswith("error: "))


@pytest.fixture
def taken() -> Generator[int]:
    """Return a port that another program has."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield int(listener.getsockname()[1])


async def test_a_port_that_is_taken_is_told(tmp_path: Path, taken: int) -> None:
    said = await refusal(tmp_path, WEFT_PORT=str(taken))

    assert f"port: 127.0.0.1:{taken} cannot be opened (Address already in use)" in said


@pytest.mark.parametrize("host", ["203.0.113.9", "nowhere.invalid"])
async def test_a_host_that_is_not_here_is_told(tmp_path: Path, host: str) -> None:
    said = await refusal(tmp_path, WEFT_HOST=host)

    assert said.startswith(f"error: host: '{host}' is no address of this machine (")
    assert "Set WEFT_HOST to 127.0.0.1 for this machine alone" in said


async def test_a_nats_port_that_is_taken_is_told(tmp_path: Path, taken: int) -> None:
    said = await refusal(tmp_path, WEFT_NATS_PORT=str(taken))

    assert f"nats_port: 127.0.0.1:{taken} cannot be opened (Address already in use)" in said


@pytest.mark.full
async def test_a_nats_that_cannot_be_reached_is_told_without_its_password(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    said = await refusal(tmp_path, WEFT_NATS_URL=f"nats://weft:hunter2@127.0.0.1:{port}")

    assert f"nats_url: no connection to NATS at nats://127.0.0.1:{port}" in said
    assert "hunter2" not in said


async def test_a_host_with_another_vault_key_than_the_others_is_refused(tmp_path: Path) -> None:
    """It would answer for what they have sealed, and refuse it."""
    async with serve_open_nats(tmp_path / "nats") as url, connect(url, "keeper") as transport:
        bus = Bus(transport, "keeper", "k1")
        bus.vault = Seal.of(new_key()).fingerprint
        async with bus.running():
            await bus.open_discovery()
            await transport.flush()
            said = await refusal(tmp_path, "--actors", "verifier", WEFT_NATS_URL=url)

    assert said.startswith("error: vault_key: keeper on the host")
    assert "Set WEFT_VAULT_KEY here to theirs" in said


async def test_a_vault_key_that_was_lost_is_told_before_anything_is_sealed_with_another(tmp_path: Path) -> None:
    for _ in range(2):
        async with running_weft(tmp_path, ["--actors", "verifier"]):
            pass
    (tmp_path / "data" / "vault-key").unlink()
    said = await refusal(tmp_path, "--actors", "verifier")

    assert said.startswith("error: vault_key: what is kept here was sealed with another one")


async def test_a_data_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("no folder")
    said = await refusal(tmp_path)

    assert f"data_dir: {tmp_path}/data cannot be written" in said


async def test_a_nats_server_that_dies_at_once_is_told(tmp_path: Path) -> None:
    store = tmp_path / "data" / "nats" / "jetstream"
    store.parent.mkdir(parents=True)
    store.write_text("no folder")
    said = await refusal(tmp_path, WEFT_RESTART_LIMIT="1")

    assert f"nats-server died 2 times, so Weft cannot run: {tmp_path}/data/nats/nats-server.log says why" in said


async def test_a_data_folder_belongs_to_one_system(tmp_path: Path) -> None:
    with anyio.fail_after(TEST_S):
        async with serve_site() as site, running_weft(tmp_path, ["--single-process"]) as running:
            said = await refusal(tmp_path)

            assert f"a Weft already runs in {running.data_dir}" in said
            await browses(running, site)


# -- ways to run ---------------------------------------------------------------------------------------------------


@asynccontextmanager
async def open_nats(folder: Path) -> AsyncGenerator[str]:
    """Run somebody else's nats-server, which asks nobody who they are; gives its URL."""
    folder.mkdir()
    argv = [
        str(find_binary()),
        "-a",
        "127.0.0.1",
        "-p",
        "-1",
        "--ports_file_dir",
        str(folder),
        "-js",
        "-sd",
        str(folder),
    ]
    async with await anyio.open_process(argv, stdout=None, stderr=None) as process:
        try:
            while (url := read_ports(folder, process.pid)) is None:
                await anyio.sleep(0.01)
            yield url
        finally:
            process.terminate()


@pytest.mark.full
async def test_two_launchers_on_one_nats_are_one_system(tmp_path: Path) -> None:
    front = ("--actors", "gateway=2,navigator,verifier")
    back = ("--actors", "fetchers.intelligence=2")
    key = new_key()
    with anyio.fail_after(TEST_S):
        async with (
            serve_site() as site,
            open_nats(tmp_path / "nats") as url,
            running_weft(tmp_path / "front", ["--nats", url, *front], WEFT_VAULT_KEY=key) as running,
            running_weft(tmp_path / "back", ["--nats", url, *back], WEFT_VAULT_KEY=key) as fetchers,
        ):
            await browses(running, site)

            assert fetchers.ready.rest == ""
            assert Counter(row["actor"] for row in await running.replicas()) == {
                "gateway": 2,
                "navigator": 1,
                "verifier": 1,
                "fetchers.intelligence": 2,
            }
            assert await stop_process(fetchers.process) == 0
            assert await stop_process(running.process) == 0


async def test_two_gateways_share_the_port(tmp_path: Path) -> None:
    with anyio.fail_after(TEST_S):
        async with running_weft(
            tmp_path, ["--actors", "gateway=2,navigator,verifier,fetchers.intelligence"]
        ) as running:
            gateways = {int(str(row["pid"])) for row in await running.replicas() if row["actor"] == "gateway"}
            assert len(gateways) == 2
            for pid in gateways:  # whichever is left answers
                os.kill(pid, signal.SIGKILL)
                async with running.client() as client:
                    assert (await client.get("/healthz")).status_code == 200
            assert await stop_process(running.process) == 0


async def test_one_process_is_a_whole_system(tmp_path: Path) -> None:
    with anyio.fail_after(TEST_S):
        async with serve_site() as site, running_weft(tmp_path, ["--single-process"]) as running:
            await browses(running, site)

            assert {pid for _, pid in (await lives_of(running)).values()} == {running.ready.pid}
            assert {life.name for life in session(running.ready.pid)} == {"python", "nats-server"}
            assert await stop_process(running.process) == 0
