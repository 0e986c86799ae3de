"""What only NATS has: keys, permissions of the server, restarts, and a connection that is closed for good."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from subprocess import run

import anyio
import anyio.lowlevel
import pytest
import trustme
from anyio.abc import SocketAttribute, SocketStream
from nats.errors import Error, SlowConsumerError, StaleConnectionError
from nats.js.api import KeyValueConfig
from structlog.testing import capture_logs

from bus import Bus, TransportError
from bus.errors import UnconnectedError
from bus.nats import keys
from bus.nats.server import adopt_streams, configuration, find_binary
from bus.nats.transport import SERVER_COMPLAINED, connect
from bus.permissions import EVERYTHING, grant, onlooker
from bus.transport import BusMessage
from protocol.subjects import BROWSE, FETCH, VERIFY_PAGE
from tests.contract.world import ASK, GRANTS, PLACES, Answer, Ask, serve, until
from tests.support.nats import OVERSEER, NatsServer, serve_nats, serve_open_nats

pytestmark = pytest.mark.nats

TEST_S = 240.0
BACK_S = 90.0
"""A generous bound; the benchmark holds the half second."""


def note(messages: list[BusMessage]) -> Callable[[BusMessage], Awaitable[None]]:
    """Note every message."""

    async def keep(message: BusMessage) -> None:
        messages.append(message)

    return keep


async def echo(ask: Ask) -> Answer:
    """Answer with what was asked."""
    return Answer(text=ask.text)


async def restart(server: NatsServer) -> None:
    """Kill the server and start it again."""
    await server.kill()
    await server.start()


async def test_a_handler_outlives_restarts_of_the_server(tmp_path: Path) -> None:
    with anyio.fail_after(TEST_S):
        async with (
            serve_nats(tmp_path, GRANTS) as server,
            server.connect("answerer") as below,
            server.connect("asker") as above,
        ):
            callee, caller = Bus(below, "answerer", "r1"), Bus(above, "asker", "r1")
            async with callee.running(), caller.running():
                await serve(callee, ASK, echo, at_once=4)
                for _ in range(3):
                    await restart(server)
                    back_at = time.perf_counter()
                    with anyio.fail_after(BACK_S):
                        answer = await caller.call(ASK, Ask(text="again"))
                    print(f"answered {(time.perf_counter() - back_at) * 1000:.0f} ms after the server was back")  # noqa: T201 - a figure

                    assert answer == Answer(text="again")


@pytest.mark.slow
async def test_large_packets_travel_after_a_restart(tmp_path: Path) -> None:
    with anyio.fail_after(TEST_S):
        async with (
            serve_nats(tmp_path, GRANTS) as server,
            server.connect("answerer") as below,
            server.connect("asker") as above,
        ):
            callee, caller = Bus(below, "answerer", "r1"), Bus(above, "asker", "r1")
            async with callee.running(), caller.running():
                await serve(callee, ASK, echo, at_once=4)
                text = "x" * 3_000_000
                assert await caller.call(ASK, Ask(text=text)) == Answer(text=text)
                await server.kill()
                await until(lambda: not above.connected and not below.connected)
                await server.start()
                await until(lambda: above.connected and below.connected)

                assert await caller.call(ASK, Ask(text=text)) == Answer(text=text)


async def test_a_watch_and_a_value_survive_kill_9(tmp_path: Path) -> None:
    with anyio.fail_after(TEST_S):
        async with serve_nats(tmp_path, GRANTS) as server, server.connect(OVERSEER) as transport:
            bus = Bus(transport, OVERSEER, "r1")
            async with bus.running():
                table = await bus.table(PLACES)
                await table.put("a", Ask(text="before"))
                async with table.watch() as changes:
                    assert (await anext(changes)).value == Ask(text="before")
                    await restart(server)
                    back_at = time.perf_counter()
                    with anyio.fail_after(BACK_S):
                        await table.put("a", Ask(text="after"))
                        change = await anext(changes)
                    print(f"watched {(time.perf_counter() - back_at) * 1000:.0f} ms after the server was back")  # noqa: T201 - a figure

                assert change.value == Ask(text="after")


async def test_what_is_forbidden_is_told(tmp_path: Path) -> None:
    with anyio.fail_after(TEST_S):
        async with serve_nats(tmp_path, GRANTS) as server, server.connect("answerer") as transport:
            heard: list[BusMessage] = []
            with capture_logs() as logs:
                await transport.publish("tool.x", b"")
                await transport.subscribe("tool.>", note(heard))
                await transport.flush()

            complaints = [str(line["reason"]) for line in logs if line["event"] == SERVER_COMPLAINED]
            assert any("publish" in reason.lower() and "tool.x" in reason for reason in complaints)
            assert any("subscription" in reason.lower() and "tool.>" in reason for reason in complaints)
            assert transport.connected


def certified(folder: Path) -> tuple[tuple[str, ...], str]:
    """Make the arguments of a server that speaks TLS, and the file of the authority that its certificate is from."""
    authority = trustme.CA()
    certificate = authority.issue_cert("127.0.0.1")
    ca_file, key, chain = (str(folder / f"{name}.pem") for name in ("ca", "key", "chain"))
    authority.cert_pem.write_to_path(ca_file)
    certificate.private_key_pem.write_to_path(key)
    certificate.cert_chain_pems[0].write_to_path(chain)
    return ("--tls", "--tlscert", chain, "--tlskey", key), ca_file


async def test_a_server_is_spoken_to_by_tls_alone_where_its_address_says_so(
    tmp_path: Path,
) -> None:
    tls, ca_file = certified(tmp_path)
    other = str(tmp_path / "other.pem")
    trustme.CA().cert_pem.write_to_path(other)
    with anyio.fail_after(TEST_S):
        async with serve_open_nats(tmp_path / "tls", *tls) as url, serve_open_nats(tmp_path / "clear") as clear:
            heard: list[BusMessage] = []
            address, unsafe = (f"tls://{one.rpartition('/')[2]}" for one in (url, clear))
            async with connect(address, "asker", ca_file=ca_file) as transport:
                await transport.subscribe("here", note(heard))
                await transport.publish("here", b"x")
                await until(lambda: bool(heard))

            for where, trusted, reason in (
                (address, "", "certificate is not accepted .*WEFT_NATS_CA_FILE"),
                (address, other, "certificate is not accepted .*WEFT_NATS_CA_FILE"),
                (address.replace("127.0.0.1", "localhost"), ca_file, "not valid for 'localhost'[.)]+$"),
                (address, other + "x", "holds no certificate"),
                (unsafe, ca_file, "asks for no TLS"),
                ("tls://127.0.0.1:1", ca_file, "no nats-server listens there"),
            ):
                with pytest.raises(UnconnectedError, match=reason):
                    async with connect(where, "asker", ca_file=trusted, connect_timeout_s=2):
                        pass


async def test_of_a_server_that_fell_silent_no_goodbye_is_awaited(tmp_path: Path) -> None:
    """The one of TLS is answered within 30 s or never, and until then nobody heard that the connection is lost."""
    tls, ca_file = certified(tmp_path)
    last: list[bytes] = []
    silent, lost, closed = anyio.Event(), anyio.Event(), anyio.Event()

    async def relay(client: SocketStream) -> None:
        async with client, await anyio.connect_tcp("127.0.0.1", port) as server, anyio.create_task_group() as both:
            both.start_soon(pass_on, server, client)
            with suppress(anyio.BrokenResourceError):
                async for data in client:
                    if silent.is_set():
                        last.append(data)
                    else:
                        await server.send(data)
            closed.set()
            both.cancel_scope.cancel()

    async def pass_on(server: SocketStream, client: SocketStream) -> None:
        async for data in server:
            if not silent.is_set():
                await client.send(data)

    async def note_lost() -> None:
        lost.set()

    async def nothing() -> None:
        return None

    with anyio.fail_after(TEST_S):
        async with (
            serve_open_nats(tmp_path / "tls", *tls) as url,
            await anyio.create_tcp_listener(local_host="127.0.0.1") as listener,
            anyio.create_task_group() as tasks,
        ):
            port = int(url.rpartition(":")[2])
            tasks.start_soon(listener.serve, relay)
            address = f"tls://127.0.0.1:{listener.extra_attributes[SocketAttribute.local_port]()}"
            async with connect(address, "asker", ca_file=ca_file) as transport:
                transport.watch_connection(lost=note_lost, back=nothing)
                silent.set()
                await transport.client._process_op_err(StaleConnectionError())  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  # 15 s of missed pings come to this
                await lost.wait()
                await closed.wait()

                assert last == []
            tasks.cancel_scope.cancel()


async def test_who_is_not_known_to_the_server_is_told_so(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    tls, ca_file = certified(tmp_path)
    users = tmp_path / "users.conf"
    users.write_text(f"authorization {{ users: [ {{ nkey: {keys.new().public} }} ] }}\n")
    with anyio.fail_after(TEST_S):
        async with serve_open_nats(tmp_path / "tls", *tls, "-c", str(users)) as url:
            address = f"tls://{url.rpartition('/')[2]}"
            with pytest.raises(UnconnectedError, match="knows no such key"):
                async with connect(address, "asker", keys.new(), ca_file=ca_file, connect_timeout_s=2):
                    pass
    assert not [one for one in caplog.records if one.name == "asyncio"]


async def test_a_fetcher_has_no_business_with_tools(tmp_path: Path) -> None:
    """The declared subjects of a fetcher as the launcher grants them."""
    grants = {"fetcher.intelligence": grant("fetcher.intelligence", [FETCH.at(tier="intelligence")], [])}
    with anyio.fail_after(TEST_S):
        async with serve_nats(tmp_path, grants) as server, server.connect(OVERSEER) as overseer:
            heard: list[BusMessage] = []
            await overseer.subscribe(">", note(heard))
            async with server.connect("fetcher.intelligence") as fetcher:
                for subject in ("tool.x", "web.browse", "web.fetch.browser", "verify.page", "$JS.API.STREAM.LIST", "a"):
                    await fetcher.publish(subject, b"forbidden")
                await fetcher.publish("events.actor.ready", b"declared")
                await fetcher.flush()
            await until(lambda: any(message.payload == b"declared" for message in heard))

            assert [message.subject for message in heard if message.payload == b"forbidden"] == []


async def test_an_onlooker_sees_all_and_answers_nothing(tmp_path: Path) -> None:
    with anyio.fail_after(TEST_S):
        async with (
            serve_nats(tmp_path, {"onlooker": onlooker(), **GRANTS}) as server,
            server.connect("onlooker") as transport,
            server.connect("asker") as asker,
        ):
            seen: list[BusMessage] = []
            heard: list[BusMessage] = []

            async def forge(message: BusMessage) -> None:
                seen.append(message)
                if message.reply:
                    await transport.publish(message.reply, b"forged")

            await transport.subscribe("test.>", forge)
            await transport.flush()
            inbox = f"{asker.inbox}.mine"
            await asker.subscribe(inbox, note(heard))
            await asker.publish(ASK.pattern, b"", reply=inbox)
            await until(lambda: bool(seen))
            await transport.flush()
            await asker.flush()

            assert heard == []


async def test_a_wrong_key_is_refused(tmp_path: Path) -> None:
    with anyio.fail_after(TEST_S):
        async with serve_nats(tmp_path, GRANTS) as server:
            for key in (keys.new(), None):
                with pytest.raises(TransportError, match="no connection to NATS"):
                    async with connect(server.url, "asker", key, connect_timeout_s=0.5):
                        pass


async def test_nobody_at_the_url_is_told_without_the_password() -> None:
    with anyio.fail_after(TEST_S):
        with pytest.raises(TransportError) as caught:
            async with connect("nats://weft:hunter2@127.0.0.1:9", "asker", connect_timeout_s=0.3):
                pass

        assert str(caught.value).startswith("no connection to NATS at nats://127.0.0.1:9")


@pytest.mark.parametrize("prompt", [False, True])
async def test_complaints_never_make_the_connection_deaf(tmp_path: Path, prompt: bool) -> None:  # noqa: FBT001 - a parameter of the test
    with anyio.fail_after(TEST_S):
        async with serve_nats(tmp_path, GRANTS) as server, server.connect(OVERSEER) as transport:
            heard: list[BusMessage] = []

            async def listen(message: BusMessage) -> None:
                heard.append(message)
                raise ValueError

            subscription = await transport.subscribe("anything", listen, prompt=prompt)
            complain = transport.client._error_cb  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  # what it calls
            for error in (
                Error(),
                OSError("broken"),
                SlowConsumerError(subject="a", reply="", sid=1, sub=subscription.inner),
            ):
                await complain(error)
            for _ in range(2):
                await transport.publish("anything", b"")
            await until(lambda: len(heard) == 2)

            assert transport.slow == 1
            assert transport.connected


async def test_a_wait_that_is_given_up_does_not_make_the_connection_deaf(tmp_path: Path) -> None:
    """The answer to its PING comes when nobody waits for it any more."""
    with anyio.fail_after(TEST_S):
        async with serve_nats(tmp_path, GRANTS) as server, server.connect(OVERSEER) as transport:
            heard: list[BusMessage] = []
            await transport.subscribe("loom.heard", note(heard))
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(transport.flush)
                await anyio.lowlevel.checkpoint()
                tasks.cancel_scope.cancel()

            await transport.publish("loom.heard", b"still here")
            with anyio.fail_after(BACK_S):
                await until(lambda: bool(heard))


async def test_a_connection_that_is_closed_for_good_says_so(tmp_path: Path) -> None:
    with anyio.fail_after(TEST_S):
        async with serve_nats(tmp_path, GRANTS) as server, server.connect("asker") as transport:
            await transport.client._send_command(b"GARBAGE\r\n")  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  # no public way to break the protocol
            await transport.client._flush_pending()  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  # as above
            await transport.closed.wait()

            with pytest.raises(TransportError):
                await transport.publish(ASK.pattern, b"")
            assert not transport.connected


async def test_leaving_a_dead_server_leaves_nothing_behind(tmp_path: Path) -> None:
    with anyio.fail_after(TEST_S):
        before = asyncio.all_tasks()
        async with (
            serve_nats(tmp_path, GRANTS) as server,
            server.connect("asker") as transport,
            server.connect("answerer"),
        ):
            await server.kill()
            await until(lambda: not transport.connected)
            await anyio.sleep(0.1)
        await until(lambda: asyncio.all_tasks() <= before)


async def test_what_a_server_without_accounts_has_kept_is_still_there_and_can_be_watched(tmp_path: Path) -> None:
    with anyio.fail_after(TEST_S):
        async with (
            serve_open_nats(tmp_path / "jetstream") as url,
            connect(url, OVERSEER) as before,
        ):
            former = await before.jetstream.create_key_value(KeyValueConfig(bucket=PLACES.name))  # pyright: ignore[reportUnknownMemberType]  # nats-py
            await former.put("home", b'{"text": "kept"}')
        adopt_streams(tmp_path)

        async with (
            serve_nats(tmp_path, GRANTS) as server,
            server.connect(OVERSEER) as overseer,
            server.connect("asker") as transport,
        ):
            await overseer.keys(PLACES)
            bus = Bus(transport, "asker", "r1")
            places = await bus.table(PLACES)
            seen = list[str]()
            async with places.watch() as changes:
                async for change in changes:
                    seen.append(change.key)
                    if change.key == "away":
                        break
                    await places.put("away", Ask(text="new"))

            kept = await places.get("home")
            assert (kept and kept.value, seen, sorted(await places.names())) == (
                Ask(text="kept"),
                ["home", "away"],
                ["away", "home"],
            )


async def test_the_configuration_is_what_the_server_reads(tmp_path: Path) -> None:
    navigator = grant("navigator", [BROWSE], [FETCH, VERIFY_PAGE])
    grants = {"navigator": navigator, "onlooker": onlooker(), "all": EVERYTHING}
    users = {actor: (keys.new(), allowed) for actor, allowed in grants.items()}
    text = configuration(port=-1, folder=tmp_path, users=users, max_store_bytes=1_000_000, sync_ms=1_000)
    path = tmp_path / "nats.conf"
    await anyio.Path(path).write_text(text)

    result = await anyio.to_thread.run_sync(
        lambda: run([str(find_binary()), "-t", "-c", str(path)], capture_output=True, check=False, timeout=10)
    )

    assert result.returncode == 0, result.stderr
