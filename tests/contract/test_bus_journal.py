"""Journals: lines written once and read in order, in memory and over NATS alike."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial

import anyio
import pytest

from bus import Bus, TransportError
from bus.errors import ForbiddenError, JournalFullError, LineTooLargeError
from bus.stats import JournalPlace
from bus.stores import BATCH, JournalLog
from protocol.faults import Code
from tests.contract.world import ARCHIVE, DIARY, SLATE, STRIP, Ask, MakeWorld, taking_part, until


async def texts(journal: JournalLog[Ask], topics: str = ">", after: int = 0) -> list[str]:
    """Return what the lines say that are there now."""
    return [line.value.text async for line in journal.read(topics, after)]


async def test_what_one_writes_another_reads(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "asker") as bus, taking_part(world, "answerer") as other:
        written_at = time.time_ns() // 1_000_000
        sequence = await (await bus.journal(DIARY)).append("run.a.state", Ask(text="begun"))
        journal = await other.journal(DIARY)

        line = await journal.last("run.a.state")

        assert line is not None
        assert (line.sequence, line.topic, line.value) == (sequence, "run.a.state", Ask(text="begun"))
        assert abs(line.at_ms - written_at) < 60_000
        assert await journal.at(sequence) == line


async def test_what_was_never_written_is_not_there(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "asker") as bus:
        journal = await bus.journal(DIARY)

        assert await journal.last("run.a.state") is None
        assert [await journal.at(sequence) for sequence in (0, 1, 99)] == [None] * 3
        assert await journal.end() == 0
        assert await texts(journal) == []


async def test_the_lines_of_all_topics_have_one_order(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "asker") as bus:
        journal = await bus.journal(DIARY)
        count = 2 * BATCH + 7
        sequences = [await journal.append(f"run.{n % 3}.state", Ask(number=n)) for n in range(count)]

        lines = [line async for line in journal.read()]

        assert [line.value.number for line in lines] == list(range(count))
        assert [line.sequence for line in lines] == sequences == sorted(set(sequences))
        assert await journal.end() == sequences[-1]
        assert await texts(journal, after=sequences[-2]) == [""]


@pytest.mark.parametrize(
    ("topics", "expected"),
    [
        ("run.a.>", ["a0", "a1", "a2"]),
        ("run.a.step.*", ["a1", "a2"]),
        ("run.*.state", ["a0", "b0"]),
        ("run.a.step.1", ["a1"]),
        ("run.c.>", []),
    ],
)
async def test_topics_are_picked_by_wildcards(make_world: MakeWorld, topics: str, expected: list[str]) -> None:
    async with make_world() as world, taking_part(world, "asker") as bus:
        journal = await bus.journal(DIARY)
        for topic, text in (
            ("run.a.state", "a0"),
            ("run.a.step.1", "a1"),
            ("run.b.state", "b0"),
            ("run.b.step.1", "b1"),
            ("run.a.step.2", "a2"),
        ):
            await journal.append(topic, Ask(text=text))

        assert await texts(journal, topics) == expected


async def test_a_line_follows_the_one_that_its_writer_knew(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "asker") as bus:
        journal = await bus.journal(DIARY)
        first = await journal.append("run.a.state", Ask(text="one"), last=0)
        await journal.append("run.b.state", Ask(text="elsewhere"), last=0)
        second = await journal.append("run.a.state", Ask(text="two"), last=first)

        for last in (0, first, second + 1):
            with pytest.raises(ValueError, match="no longer the last"):
                await journal.append("run.a.state", Ask(text="late"), last=last)

        assert await texts(journal, "run.a.>") == ["one", "two"]


async def test_of_two_who_write_at_once_one_wins(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "asker") as one, taking_part(world, "answerer") as other:
        journals = [await bus.journal(DIARY) for bus in (one, other)]
        won: list[tuple[int, int]] = []
        lost: list[tuple[int, int]] = []

        async def write(who: int, number: int) -> None:
            try:
                await journals[who].append(f"run.{number}", Ask(number=who), last=0)
            except ValueError:
                lost.append((number, who))
            else:
                won.append((number, who))

        async with anyio.create_task_group() as tasks:
            for number in range(50):
                for who in (0, 1):
                    tasks.start_soon(write, who, number)

        assert sorted(number for number, _ in won) == sorted(number for number, _ in lost) == list(range(50))
        written = [(int(line.topic.removeprefix("run.")), line.value.number) async for line in journals[0].read()]
        assert sorted(written) == sorted(won)


@pytest.mark.parametrize("topic", ["", ".", "a.", ".a", "a..b", "a b", "run.*", ">", "a.\u00e4", "a\n"])
async def test_what_is_no_topic_is_refused(make_world: MakeWorld, topic: str) -> None:
    async with make_world() as world, taking_part(world, "asker") as bus:
        journal = await bus.journal(DIARY)

        with pytest.raises(ValueError, match="is no topic"):
            await journal.append(topic, Ask())


async def test_a_line_that_is_too_large_is_refused_and_the_next_is_not(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "asker") as bus:
        journal = await bus.journal(DIARY)
        largest = bus.transport.max_payload - 1_000

        with pytest.raises(LineTooLargeError) as refusal:
            await journal.append("run.a", Ask(text="x" * bus.transport.max_payload), last=0)

        assert refusal.value.fault.code is Code.VALIDATION_INVALID_REQUEST
        assert str(bus.transport.max_payload) not in (await texts(journal))
        await journal.append("run.a", Ask(text="x" * largest), last=0)
        assert [len(text) for text in await texts(journal)] == [largest]


async def test_many_large_lines_are_read_whole(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "asker") as bus:
        journal = await bus.journal(DIARY)
        for number in range(10):
            await journal.append("run.a", Ask(text=str(number) * 700_000))

        assert [(text[0], len(text)) for text in await texts(journal)] == [(str(n), 700_000) for n in range(10)]


async def test_whoever_follows_sees_what_there_was_and_what_comes(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "asker") as bus, taking_part(world, "answerer") as other:
        mine, journal = await bus.journal(DIARY), await other.journal(DIARY)
        first = await mine.append("run.a", Ask(number=0))
        for number in range(1, 100):
            await mine.append("run.a", Ask(number=number))
        seen: list[int] = []
        came: list[float] = []
        delays: list[float] = []

        async def follow() -> None:
            async with journal.follow(first, "diary reader") as lines:
                async for line in lines:
                    seen.append(line.value.number)
                    came.append(time.perf_counter())

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(follow)
            await until(lambda: len(seen) == 99)
            for number in range(100, 130):
                await mine.append("run.b", Ask(number=number))
                written_at = time.perf_counter()
                await until(lambda number=number: seen[-1] == number)  # type: ignore[misc]  # mypy: the default of a lambda
                delays.append(came[-1] - written_at)
            place = JournalPlace(journal=DIARY.name, reader="diary reader", sequence=await mine.end())
            await until(lambda: other.figures().places == (place,))
            tasks.cancel_scope.cancel()
        print(f"followed after {sorted(delays)[15] * 1000:.1f} ms, {max(delays) * 1000:.1f} ms at most")  # noqa: T201 - a figure

        assert seen == list(range(1, 130))


async def test_who_follows_goes_on_when_the_connection_is_back(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "asker") as bus, taking_part(world, "answerer") as other:
        mine, journal = await bus.journal(DIARY), await other.journal(DIARY)
        await mine.append("run.a", Ask(text="before"))
        seen: list[str] = []

        async def follow() -> None:
            async with journal.follow() as lines:
                async for line in lines:
                    seen.append(line.value.text)  # noqa: PERF401 - each is to be seen as it comes

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(follow)
            await until(lambda: len(seen) == 1)
            await world.breaks()
            await until(lambda: not bus.transport.connected and not other.transport.connected)
            await world.mends()
            await until(lambda: bus.transport.connected)
            await mine.append("run.a", Ask(text="after"))
            await until(lambda: len(seen) == 2)
            tasks.cancel_scope.cancel()

        assert seen == ["before", "after"]


@dataclass
class Writer:
    """Writes numbered lines of one topic, each until it is confirmed."""

    journal: JournalLog[Ask]
    topic: str
    confirmed: int = 0
    last: int = 0

    async def write(self, count: int) -> None:
        """Write the numbers from 1 on."""
        while self.confirmed < count:
            try:
                self.last = await self.journal.append(self.topic, Ask(number=self.confirmed + 1), last=self.last)
                self.confirmed += 1
            except TransportError:
                await self._look()

    async def _look(self) -> None:
        """Find out what became of a line: what failed may have been written or not."""
        try:
            line = await self.journal.last(self.topic)
        except TransportError:
            await anyio.sleep(0.02)
            return
        if line is not None:
            self.last, self.confirmed = line.sequence, line.value.number


@pytest.mark.slow
async def test_no_line_is_written_twice_or_lost_when_the_server_dies(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "asker") as bus:
        journal = await bus.journal(DIARY)
        writers = [Writer(journal, f"run.{number}") for number in range(8)]

        async with anyio.create_task_group() as tasks:
            for writer in writers:
                tasks.start_soon(writer.write, 100)
            for limit in (100, 400):
                await until(partial(wrote_more_than, writers, limit))
                await world.breaks()
                await until(lambda: not bus.transport.connected)
                await world.mends()
                await until(lambda: bus.transport.connected)

        for writer in writers:
            numbers = [line.value.number async for line in journal.read(writer.topic)]
            assert numbers == list(range(1, 101))


def wrote_more_than(writers: list[Writer], limit: int) -> bool:
    """Return whether so many lines are confirmed."""
    return sum(writer.confirmed for writer in writers) > limit


async def test_what_is_too_old_is_gone(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "asker") as bus:
        journal = await bus.journal(SLATE)
        first = await journal.append("run.a", Ask(text="old"))

        while await journal.last("run.a") is not None:  # nats-server looks for what is too old from time to time
            await anyio.sleep(0.05)

        assert (await journal.at(first), await texts(journal), await journal.end()) == (None, [], first)
        assert await journal.append("run.a", Ask(text="new"), last=0) == first + 1


async def test_the_oldest_lines_make_room_for_the_newest(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "asker") as bus:
        journal = await bus.journal(STRIP)
        for number in range(20):
            await journal.append("run.a", Ask(text="x" * 8_000, number=number))

        kept = [line.value.number async for line in journal.read()]

        assert 4 <= len(kept) <= 8
        assert kept == list(range(20 - len(kept), 20))


@pytest.mark.slow
async def test_a_journal_that_was_not_declared_stays_closed(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "stranger") as stranger:
        with pytest.raises((ForbiddenError, TransportError)):
            await stranger.journal(DIARY)


async def test_a_line_that_is_not_understood_is_passed_over(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "asker") as bus:
        journal = await bus.journal(DIARY)
        await journal.append("run.a", Ask(text="one"))
        await (await bus.transport.records(DIARY)).append("run.a", b'{"number": "none"}')

        assert await journal.last("run.a") is None
        await journal.append("run.a", Ask(text="two"))
        assert await texts(journal) == ["one", "two"]


@pytest.mark.full
@pytest.mark.slow
async def test_while_the_connection_is_broken_a_journal_does_not_hang_for_long(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "asker") as bus:
        journal = await bus.journal(DIARY)
        await world.breaks()
        await until(lambda: not bus.transport.connected)

        with anyio.fail_after(90), pytest.raises(TransportError):
            await _append(bus, journal)


async def _append(bus: Bus, journal: JournalLog[Ask]) -> None:
    assert not bus.transport.connected
    await journal.append("run.a", Ask())


async def test_what_is_forgotten_is_gone_but_for_the_line_that_says_so(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "asker") as bus:
        journal = await bus.journal(ARCHIVE)
        first = await journal.append("source.a", Ask(text="words"))
        await journal.append("source.b", Ask(text="others"))
        last = await journal.append("source.a", Ask(text="more words"), last=first)
        with pytest.raises(ValueError, match="no longer the last"):
            await journal.append("source.a", Ask(text="too late"), last=first, forget=True)

        gone = await journal.append("source.a", Ask(text="gone"), last=last, forget=True)

        assert await texts(journal) == ["others", "gone"]
        assert sorted(await journal.topics("source.*")) == ["source.a", "source.b"]
        assert await journal.topics("other.>") == []
        assert await journal.at(first) is None
        assert await journal.append("source.a", Ask(text="new"), last=gone) > gone


async def filled(journal: JournalLog[Ask]) -> None:
    """Write until there is no room."""
    for number in range(100):
        await journal.append(f"source.{number % 2}", Ask(text="x" * 4_000))


async def test_what_is_kept_for_good_is_refused_when_there_is_no_room_until_something_is_forgotten(
    make_world: MakeWorld,
) -> None:
    async with make_world() as world, taking_part(world, "asker") as bus:
        journal = await bus.journal(ARCHIVE)
        await journal.append("source.small", Ask(text="kept"))
        with pytest.raises(JournalFullError) as full:
            await filled(journal)

        await journal.append("source.0", Ask(text="gone"), forget=True)
        await journal.append("source.2", Ask(text="x" * 4_000))

        assert full.value.fault.code is Code.CONFIG_STORAGE_FULL
        assert {"kept", "gone"} <= set(await texts(journal))
