"""Whoever waits for work hears how far it is, in order, and nothing of anybody else's."""

from __future__ import annotations

import anyio
import msgspec
import pytest
from anyio.lowlevel import checkpoint

from actors.gateway.asking import Desk, browse
from actors.gateway.watching import Watchers, in_parts, report, watch, watching
from protocol.faults import Code, FaultError, fault
from protocol.pages import BrowsePage
from protocol.progress import Progress, Watch
from tests.unit.actors.gateway_data import FakeBus, browsed
from tests.unit.actors.page_data import URL


def desk(bus: FakeBus | None = None) -> Desk:
    return Desk(bus or FakeBus(), 1_500, "1.2.3", Watchers("here"))


async def test_what_is_told_to_the_replica_reaches_who_waits_for_it() -> None:
    at, heard = desk(), list[Progress]()

    async def hear(progress: Progress) -> None:
        await checkpoint()
        heard.append(progress)

    with anyio.fail_after(25):
        async with watching(at, hear) as mine:
            told = [Progress(token=mine.token, done=done, message="On it.") for done in range(3)]
            for progress in told:
                at.watchers.hear(progress)
            at.watchers.hear(Progress(token="somebody-else", done=9, message="Not mine."))
    at.watchers.hear(told[0])

    assert (mine.replica, heard) == ("here", told)


async def test_a_browse_takes_the_watch_along_and_its_parts_do_not() -> None:
    bus = FakeBus(browsed())
    at = desk(bus)

    with anyio.fail_after(25):
        async with watching(at, _ignore) as mine:
            await browse(bus, BrowsePage(url=URL), at.grace_ms)
            with in_parts():
                await browse(bus, BrowsePage(url=URL), at.grace_ms)
        await browse(bus, BrowsePage(url=URL), at.grace_ms)

    assert [page.watch for _, page, *_ in bus.calls] == [mine, None, None]


async def test_the_gateway_tells_of_its_own_work() -> None:
    heard = list[tuple[int, str, int | None]]()

    async def hear(progress: Progress) -> None:
        await checkpoint()
        heard.append((progress.done, progress.message, progress.total))

    with anyio.fail_after(25):
        report(0, "Nobody hears this.")
        async with watching(desk(), hear):
            report(1, "One page is done.", 2)
            with in_parts():
                report(1, "A part says nothing.")
            report(2, "Two pages are done.", 2)

    assert heard == [(1, "One page is done.", 2), (2, "Two pages are done.", 2)]
    assert watch() is None


async def test_what_goes_wrong_is_raised_as_it_is_and_nobody_waits_any_more() -> None:
    at, failure = desk(), FaultError(fault(Code.CONTENT_EMPTY))

    async def fail() -> None:
        async with watching(at, _ignore) as mine:
            tokens.append(mine.token)
            raise failure

    tokens = list[str]()
    with anyio.fail_after(25), pytest.raises(FaultError) as caught:
        await fail()
    at.watchers.hear(Progress(token=tokens[0], done=1, message="Too late."))

    assert caught.value is failure
    assert watch() is None


async def test_who_does_not_listen_holds_nobody_up() -> None:
    at, deaf = desk(), anyio.Event()

    async def hear(_progress: Progress) -> None:
        deaf.set()
        await anyio.sleep_forever()

    with anyio.fail_after(25):
        async with watching(at, hear) as mine:
            for done in range(1_000):
                at.watchers.hear(Progress(token=mine.token, done=done, message="On it."))
            await deaf.wait()


@pytest.mark.parametrize("name", ["", "a.b", "*", ">", "a b", "a" * 65])
def test_a_watch_names_no_subject_but_its_own(name: str) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"replica": name, "token": "t"}, Watch)


async def _ignore(_progress: Progress) -> None:
    await checkpoint()
