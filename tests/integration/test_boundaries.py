"""Who has the key of one actor reaches what that actor is for, whatever he asks the server to do in his place.

The server, the keys and the grants are real. Every participant tries every kind of deputy against every bucket, object
store, journal, queue and subject; what he must not bring about is looked for where it would be seen.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import anyio
import msgspec
import nats
import pytest
from msgspec import structs
from nats.aio.client import Client
from nats.aio.msg import Msg

from actors.runtime.natskeys import HOST, participants
from bus import Bus
from bus.nats.transport import NatsTransport
from bus.permissions import (
    CLAIMS,
    STORE_API,
    Grant,
    bucket_stream,
    covers,
    inboxes,
    journal_stream,
    micro_name,
    object_stream,
    stream_name,
)
from bus.transport import BusMessage
from protocol.pages import PageClaim, Verdict
from protocol.subject_kinds import Bucket, Journal, Objects, Subject, Work, matches
from protocol.subjects import REPLICA_DRAINED, REPLICA_GONE, RUN, TOOL, VERIFY_PAGE, table
from tests.conftest import COUNTS
from tests.support.nats import OVERSEER, NatsServer, serve_nats
from tests.support.scale import sized

pytestmark = [pytest.mark.nats, pytest.mark.slow]

TEST_S = 280.0
ROOM_BYTES = 1024 * 1024
SECRET = b"what nobody else may read"
APIS = ("$JS.API", STORE_API)
THIEF = "thief"

GRANTS = {name: allowed for name, allowed in participants(["dice"]).items() if not allowed.owns}
"""Everybody but the supervisor, who makes what all others use; `dice` brings tools."""

BUCKETS = [entry for _, entry in table() if isinstance(entry, Bucket)]
STORES = [entry for _, entry in table() if isinstance(entry, Objects)]
JOURNALS = [entry for _, entry in table() if isinstance(entry, Journal)]
SUBJECTS = [entry for _, entry in table() if isinstance(entry, Subject) and not isinstance(entry, Work)]
PLACE = "0123456789abcdef0123456789abcdef"


def written() -> dict[str, str]:
    """Name a subject of every stream, on which something is kept from the start."""
    return {
        **{bucket_stream(one.name): f"$KV.{one.name}.kept" for one in BUCKETS},
        **{object_stream(one.name): f"$O.{one.name}.C.kept" for one in STORES},
        **{journal_stream(one): f"{one.name}.run.kept" for one in JOURNALS},
        stream_name(RUN): RUN.pattern,
        CLAIMS: f"claims.verify.page.{PLACE}.0",
    }


KEPT = written()


def forged() -> list[str]:
    """Name what is worth being written by somebody else: a line of every stream, and every subject of the table."""
    kept = [subject.replace("kept", "forged") for subject in KEPT.values()]
    said = [subject.wildcard.replace("*", "forged") for subject in SUBJECTS]
    return [*kept, *said, "$SRV.PING", "_INBOX.gateway.someone", "cancel.web.browse"]


FORGED = forged()
WORST = ("$KV.keys.forged", "$KV.offers.forged", "session.delete")
"""What was brought about once."""


@dataclass
class Attempt:
    """A request that has the server send something to `target`, or that reads, changes or removes what is kept."""

    shape: str
    subject: str
    payload: bytes = b""
    reply: str = ""
    headers: dict[str, str] = field(default_factory=dict[str, str])


def body(**values: Any) -> bytes:
    """Write a request of the JetStream API."""
    return msgspec.json.encode(values)


def requests(api: str, stream: str, target: str) -> Iterator[Attempt]:
    """Ask for what is kept in a stream in every way there is, to be sent to `target`."""
    kept = KEPT[stream]
    get = f"{api}.DIRECT.GET.{stream}"
    yield Attempt("direct get", get, body(seq=1), target)
    yield Attempt("direct get of the last", get, body(last_by_subj=kept), target)
    yield Attempt("direct get by subject", f"{get}.{kept}", b"", target)
    yield Attempt("direct get by wildcard", f"{get}.{'.'.join('*' * len(kept.split('.')))}", b"", target)
    yield Attempt("batch", get, body(seq=1, batch=5, next_by_subj=">"), target)
    yield Attempt("batch of the last", get, body(multi_last=[">"], batch=5), target)
    yield Attempt("message get", f"{api}.STREAM.MSG.GET.{stream}", body(seq=1), target)
    yield Attempt("info", f"{api}.STREAM.INFO.{stream}", body(subjects_filter=">"), target)
    yield Attempt("pull", f"{api}.CONSUMER.MSG.NEXT.{stream}.{stream}", body(batch=1, expires=10**7), target)
    yield Attempt("next by acknowledgement", f"$JS.ACK.{stream}.{stream}.1.1.1.1.1", b"+NXT", target)
    asking = {"Nats-Request-Info": '{"acc":"STORE","svc":"STORE"}'}
    yield Attempt("client info", f"{api}.STREAM.MSG.GET.{stream}", body(seq=1), target, asking)


def makings(api: str, stream: str, target: str) -> Iterator[Attempt]:
    """Have the server deliver, copy or publish again what is kept in a stream."""
    push = {"deliver_subject": target, "ack_policy": "none", "deliver_policy": "all"}
    create = f"{api}.CONSUMER.CREATE.{stream}"
    yield Attempt("push", create, body(stream_name=stream, config=push), "")
    named = {**push, "name": THIEF, "filter_subject": KEPT[stream]}
    yield Attempt("push by name", f"{create}.{THIEF}.{KEPT[stream]}", body(stream_name=stream, config=named), "")
    durable = {**push, "durable_name": THIEF}
    old = f"{api}.CONSUMER.DURABLE.CREATE.{stream}.{THIEF}"
    yield Attempt("push by durable", old, body(stream_name=stream, config=durable), "")
    ordered = {**push, "flow_control": True, "idle_heartbeat": 10**9, "mem_storage": True, "num_replicas": 1}
    yield Attempt("ordered consumer", create, body(stream_name=stream, config=ordered), "")
    pulled = {"durable_name": THIEF, "ack_policy": "none"}
    yield Attempt("pull consumer", old, body(stream_name=stream, config=pulled), "")
    again = {"src": ">", "dest": f"{target}.>"}
    own = {"name": THIEF, "subjects": [f"{THIEF}.>"], "republish": again, "storage": "memory"}
    make = f"{api}.STREAM.CREATE.{THIEF}"
    yield Attempt("republish", make, body(**own), "")
    yield Attempt("mirror", make, body(name=THIEF, mirror={"name": stream}, storage="memory"), "")
    yield Attempt("source", make, body(name=THIEF, sources=[{"name": stream}], storage="memory"), "")
    update = {"name": stream, "subjects": [KEPT[stream], f"{THIEF}.>"], "republish": again}
    yield Attempt("update", f"{api}.STREAM.UPDATE.{stream}", body(**update), "")
    yield Attempt("snapshot", f"{api}.STREAM.SNAPSHOT.{stream}", body(deliver_subject=target), "")
    yield Attempt("restore", f"{api}.STREAM.RESTORE.{THIEF}", body(config=own, state={}), "")


def removals(api: str, stream: str) -> Iterator[Attempt]:
    """Take away what is kept in a stream, or who reads it."""
    yield Attempt("message delete", f"{api}.STREAM.MSG.DELETE.{stream}", body(seq=1), "")
    yield Attempt("purge", f"{api}.STREAM.PURGE.{stream}", b"", "")
    yield Attempt("rollup", KEPT[stream], b"", "", {"Nats-Rollup": "all"})
    yield Attempt("consumer delete", f"{api}.CONSUMER.DELETE.{stream}.{stream}", b"", "")
    yield Attempt("stream delete", f"{api}.STREAM.DELETE.{stream}", b"", "")


@dataclass
class Intruder:
    """Somebody with the key of one participant, and a connection to each account that it opens."""

    name: str
    grant: Grant
    connections: list[Client]
    received: list[Msg] = field(default_factory=list[Msg])

    async def hear(self, msg: Msg) -> None:
        """Note what arrives."""
        self.received.append(msg)

    @property
    def inbox(self) -> str:
        """Where answers reach him."""
        return f"_INBOX.{micro_name(self.name)}.intruder"

    @cached_property
    def answers_into(self) -> tuple[str, ...]:
        """The inboxes of those who may ask him."""
        return inboxes(self.grant, GRANTS)

    def may(self, subject: str) -> bool:
        """Return whether the participant is there for this, or may answer there."""
        answered = any(covers(inbox, subject) for inbox in self.answers_into)
        return answered or self.grant.may_publish(subject) or self.grant.may_use(subject)

    def may_read(self, stream: str) -> bool:
        """Return whether the participant reads this stream, or a part of it."""
        return any(
            stream in subject and ".DIRECT.GET." in subject for subject in self.grant.uses
        ) or self.grant.may_use(f"$JS.API.CONSUMER.MSG.NEXT.{stream}.{stream}")

    async def attempt(self, one: Attempt) -> None:
        """Send it by every connection."""
        for connection in self.connections:
            await connection.publish(one.subject, one.payload, one.reply or self.inbox, one.headers or None)

    async def settle(self) -> None:
        """Wait until the server has seen it all."""
        for connection in self.connections:
            await connection.flush(10)
            await connection.flush(10)


@dataclass
class Ground:
    """The server with everything that is kept, and what is seen of it by who may see all."""

    server: NatsServer
    overseer: NatsTransport
    seen: list[BusMessage] = field(default_factory=list[BusMessage])

    async def note(self, message: BusMessage) -> None:
        """Note what is said on the bus."""
        self.seen.append(message)

    async def states(self) -> dict[str, tuple[Any, ...]]:
        """Return what each stream holds, how it is set up and who reads it."""
        states: dict[str, tuple[Any, ...]] = {}
        for info in await self.overseer.jetstream.streams_info():
            readers = sorted(one.name for one in await self.overseer.jetstream.consumers_info(str(info.config.name)))
            kept = (info.state.messages, info.state.first_seq, info.state.last_seq)
            states[str(info.config.name)] = (*kept, info.config, readers)
        return states

    @asynccontextmanager
    async def intruder(self, name: str) -> AsyncGenerator[Intruder]:
        """Come in by the key of a participant."""

        async def complained(_: Exception) -> None:
            """Expect to be refused."""

        key = self.server.secrets[name]
        async with AsyncExitStack() as stack:
            connections: list[Client] = []
            for seed in (key.seed, key.store.seed):
                connection = await nats.connect(self.server.url, nkeys_seed_str=seed, error_cb=complained)  # pyright: ignore[reportUnknownMemberType]  # nats-py
                stack.push_async_callback(connection.close)
                connections.append(connection)
            intruder = Intruder(name, GRANTS[name], connections)
            for connection in connections:
                await connection.subscribe(f"_INBOX.{micro_name(name)}.>", cb=intruder.hear)  # pyright: ignore[reportUnknownMemberType]  # nats-py
            await intruder.settle()
            yield intruder


@asynccontextmanager
async def furnished(tmp_path: Path) -> AsyncGenerator[Ground]:
    """Keep something in everything, on a server that knows every participant of a Weft."""
    with anyio.fail_after(TEST_S):
        async with serve_nats(tmp_path, GRANTS) as server, server.connect(OVERSEER) as overseer:
            for bucket in BUCKETS:
                await overseer.keys(structs.replace(bucket, ttl_ms=None))  # what expires meanwhile nobody has removed
            for store in STORES:
                await overseer.objects(structs.replace(store, max_bytes=ROOM_BYTES))
            for journal in JOURNALS:
                await overseer.records(structs.replace(journal, max_bytes=ROOM_BYTES))
            await overseer.arrange(RUN)
            for subject in KEPT.values():
                await overseer.jetstream.publish(subject, SECRET)
            ground = Ground(server, overseer)
            await overseer.subscribe(">", ground.note)
            await overseer.flush()
            yield ground


def attempts(intruder: Intruder, place: int, stream: str) -> Iterator[Attempt]:
    """Return what to try with one stream, aimed at what must not be brought about: the worst, and others in turn."""
    barred = [target for target in FORGED if not intruder.may(target)]
    every = sized(25, 1)
    turns = [*(one for one in WORST if one in barred), *barred[place % every :: every]]
    for api in APIS:
        for target in turns:
            yield from requests(api, stream, target)
            yield from makings(api, stream, target)
        yield from requests(api, stream, "")
        for one in removals(api, stream):
            if not intruder.may(one.subject.replace(api, APIS[0])):
                yield one


async def besiege(intruder: Intruder) -> int:
    """Try everything by the key of one participant, and return how much that was."""
    direct = [Attempt("publish", target, SECRET) for target in FORGED if not intruder.may(target)]
    tried = len(direct)
    for one in direct:
        await intruder.attempt(one)
    for place, stream in enumerate(KEPT):
        for one in attempts(intruder, place, stream):
            await intruder.attempt(one)
            tried += 1
        await intruder.settle()
    return tried


async def outcome(ground: Ground, name: str) -> tuple[int, dict[str, set[str]]]:
    """Try everything by the key of one participant; return how much that was, and what came of it that must not."""
    ground.seen.clear()
    before = await ground.states()
    async with ground.intruder(name) as intruder:
        for subject in ("$JS.EVENT.ADVISORY.>", "$KV.>", "KV_keys.>", "JOURNAL_ledger.>", "claims.>", "_INBOX.>"):
            if not intruder.grant.may_hear(subject) and not intruder.grant.may_subscribe(subject):
                for connection in intruder.connections:
                    await connection.subscribe(subject, cb=intruder.hear)  # pyright: ignore[reportUnknownMemberType]  # nats-py
        tried = await besiege(intruder)
        await ground.overseer.flush()
        after = await ground.states()
        changed = {stream for stream in before.keys() | after.keys() if before.get(stream) != after.get(stream)}
        own = {stream for stream in changed if may_change(intruder, stream)}
        readable = {stream for stream in KEPT if intruder.may_read(stream)}
        read = streams_read(intruder.received)
        assert tried > 12 * len(KEPT)
        assert not any(connection.stats["reconnects"] for connection in intruder.connections)
        assert read >= {stream for stream in KEPT if intruder.grant.may_use(f"$JS.API.DIRECT.GET.{stream}")}
        return tried, {
            "said": {one.subject for one in ground.seen if one.subject in FORGED and not intruder.may(one.subject)},
            "changed": changed - own,
            "set up": {stream for stream in own if before[stream][3:] != after[stream][3:]},
            "read": read - readable,
        }


ALONE = {
    **{TOOL.at(actor=actor).pattern: {"policy"} for actor in ("runner", "fetchers-playwright", "anything")},
    REPLICA_GONE.pattern: {HOST},
    **{REPLICA_DRAINED.at(actor=actor).pattern: {actor} for actor in ("policy", "navigator", "dice")},
}
"""Who may say what nobody else may: that a tool is to run, that somebody has died, that he himself has ended."""


async def test_some_things_are_said_by_those_alone_whose_they_are(tmp_path: Path) -> None:
    with anyio.fail_after(TEST_S):
        async with serve_nats(tmp_path, GRANTS) as server, server.connect(OVERSEER) as overseer:
            ground = Ground(server, overseer)
            for subject in ALONE:
                await overseer.subscribe(subject, ground.note)
            await overseer.flush()
            for name in GRANTS:
                async with ground.intruder(name) as intruder:
                    for subject in ALONE:
                        await intruder.attempt(Attempt("publish", subject, name.encode()))
                    await intruder.settle()
            await overseer.flush()

            said = {(one.subject, one.payload.decode()) for one in ground.seen}
            assert said == {(subject, name) for subject, names in ALONE.items() for name in names}


async def test_nobody_gives_himself_leave_by_asking_himself(tmp_path: Path) -> None:
    with anyio.fail_after(TEST_S):
        async with serve_nats(tmp_path, GRANTS) as server, server.connect(OVERSEER) as overseer:
            ground = Ground(server, overseer)
            await overseer.subscribe(">", ground.note)
            await overseer.flush()
            reached: set[tuple[str, str]] = set()
            for name, allowed in GRANTS.items():
                ground.seen.clear()
                async with ground.intruder(name) as intruder:
                    barred = [target for target in FORGED if not intruder.may(target)]
                    both = [re.sub(r"[*>]", "own", one) for one in allowed.publish if allowed.may_subscribe(one)]
                    for own in both:
                        await intruder.connections[0].subscribe(own, cb=intruder.hear)  # pyright: ignore[reportUnknownMemberType]  # nats-py
                        for target in barred:
                            await intruder.connections[0].publish(own, b"{}", target)
                    await intruder.settle()
                    assert len(intruder.received) >= len(both) * len(barred)
                    for target in barred:
                        await intruder.connections[0].publish(target, SECRET)
                    await intruder.settle()
                await overseer.flush()
                reached |= {(name, one.subject) for one in ground.seen if one.payload == SECRET}

            assert reached == set()


@pytest.mark.full
async def test_one_key_opens_what_its_actor_is_for_and_nothing_else(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    async with furnished(tmp_path) as ground:
        outcomes = {name: await outcome(ground, name) for name in GRANTS}

        reached = {name: found for name, (_, found) in outcomes.items() if any(found.values())}
        tried = sum(count for count, _ in outcomes.values())
        record_property(COUNTS, f"{tried} attempts by {len(GRANTS)} keys, {len(reached)} reached something")
        assert reached == {}


def may_change(intruder: Intruder, stream: str) -> bool:
    """Return whether the participant writes into a stream."""
    return stream == CLAIMS or any(intruder.may(subject) for subject in (KEPT[stream], KEPT.get(stream, "")))


def streams_read(messages: Iterable[Msg]) -> set[str]:
    """Return the streams of what was kept among these messages, however it came: as it is, as work, or in JSON."""
    streams = set[str]()
    for message in messages:
        if SECRET in message.data:
            of_work = message.reply.removeprefix("$JS.ACK.").partition(".")[0]
            streams.add((message.headers or {}).get("Nats-Stream", of_work))
        elif b64encode(SECRET) in message.data:
            subject = msgspec.json.decode(message.data)["message"]["subject"]
            streams.add(next(stream for stream, kept in KEPT.items() if kept == subject))
    return streams


async def test_an_honest_actor_answers_into_inboxes_alone(tmp_path: Path) -> None:
    async def verify(_: PageClaim) -> Verdict:
        raise AssertionError

    async with (
        furnished(tmp_path) as ground,
        ground.server.connect("verifier") as transport,
        ground.intruder("navigator") as intruder,
    ):
        bus = Bus(transport, "verifier", "r1")
        async with bus.running():
            await bus.serve(VERIFY_PAGE, verify, at_once=4)
            await bus.open_discovery()
            await transport.flush()
            for target in FORGED:
                if matches(target, "_INBOX.>") or intruder.may(target):
                    continue
                for asked in (VERIFY_PAGE.pattern, "$SRV.STATS", "cancel.verify.page"):
                    await intruder.attempt(Attempt("reply", asked, b"{}", target))
            await intruder.settle()
            await transport.flush()
            await intruder.attempt(Attempt("reply", VERIFY_PAGE.pattern, b"{}", f"{intruder.inbox}.own"))
            with anyio.fail_after(90):
                while not any(one.subject == f"{intruder.inbox}.own" for one in intruder.received):
                    await anyio.sleep(0.005)
            await ground.overseer.flush()

            said = {one.subject for one in ground.seen if one.subject in FORGED}
            assert {subject for subject in said if not intruder.may(subject)} == set()
