"""Whoever waits for work hears how far it is, in order, and nothing of anybody else's."""

from __future__ import annotations

import anyio
import msgspec
import pytest
from anyio.lowlevel import checkpoint

from actors.gateway.app_context import AppContext
from actors.gateway.pages import browse
from actors.gateway.request import RequestContext, Watchers, watching
from protocol.faults import Code, FaultError, fault
from protocol.pages import BrowsePage
from protocol.replicas import Progress, Watch
from tests.unit.actors.gateway_data import FakeBus, browsed
from tests.unit.actors.page_data import URL


def app(bus: FakeBus | None = None) -> AppContext:
    return AppContext(bus=bus or FakeBus(), grace_ms=1_500, version="1.2.3", watchers=Watchers("here"))


async def test_what_is_told_to_the_replica_reaches_who_waits_for_it() -> None:
    at, heard = app(), list[Progress]()

    async def hear(progress: Progress) -> None:
        await checkpoint()
        heard.append(progress)

    with anyio.fail_after(90):
        async with watching(at.watchers, hear) as watcher:
            told = [Progress(token=watcher.watch.token, done=done, message="On it.") for done in range(3)]
            for progress in told:
                at.watchers.deliver(progress)
            at.watchers.deliver(Progress(token="somebody-else", done=9, message="Not mine."))
    at.watchers.deliver(told[0])

    assert (watcher.watch.replica, heard) == ("here", told)


async def test_a_browse_takes_the_watch_along_and_its_parts_do_not() -> None:
    bus = FakeBus(browsed())
    at = app(bus)

    with anyio.fail_after(90):
        async with watching(at.watchers, _ignore) as watcher:
            watched = RequestContext().watched_by(watcher)
            await browse(at, watched, BrowsePage(url=URL))
            await browse(at, watched.watched_by(None), BrowsePage(url=URL))
        await browse(at, RequestContext(), BrowsePage(url=URL))

    assert [page.watch for _, page, *_ in bus.calls] == [watcher.watch, None, None]


async def test_the_gateway_tells_of_its_own_work() -> None:
    heard = list[tuple[int, str, int | None]]()

    async def hear(progress: Progress) -> None:
        await checkpoint()
        heard.append((progress.done, progress.message, progress.total))

    with anyio.fail_after(90):
        request = RequestContext()
        request.report(0, "Nobody hears this.")
        async with watching(app().watchers, hear) as watcher:
            watched = request.watched_by(watcher)
            watched.report(1, "One page is done.", 2)
            watched.watched_by(None).report(1, "A part says nothing.")
            watched.report(2, "Two pages are done.", 2)

    assert heard == [(1, "One page is done.", 2), (2, "Two pages are done.", 2)]
    assert request.watch is None


async def test_what_goes_wrong_is_raised_as_it_is_and_nobody_waits_any_more() -> None:
    at, failure = app(), FaultError(fault(Code.CONTENT_EMPTY))

    async def fail() -> None:
        async with watching(at.watchers, _ignore) as watcher:
            tokens.append(watcher.watch.token)
            raise failure

    tokens = list[str]()
    with anyio.fail_after(90), pytest.raises(FaultError) as caught:
        await fail()
    at.watchers.deliver(Progress(token=tokens[0], done=1, message="Too late."))

    assert caught.value is failure


async def test_who_does_not_listen_holds_nobody_up() -> None:
    at, deaf = app(), anyio.Event()

    async def hear(_progress: Progress) -> None:
        deaf.set()
        await anyio.sleep_forever()

    with anyio.fail_after(90):
        async with watching(at.watchers, hear) as watcher:
            for done in range(1_000):
                at.watchers.deliver(Progress(token=watcher.watch.token, done=done, message="On it."))
            await deaf.wait()


@pytest.mark.parametrize("name", ["", "a.b", "*", ">", "a b", "a" * 65])
def test_a_watch_names_no_subject_but_its_own(name: str) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"replica": name, "token": "t"}, Watch)


async def _ignore(_progress: Progress) -> None:
    await checkpoint()
