"""A browse begins where experience says, hurries where it mostly fails, and follows pages where it is asked to."""

from __future__ import annotations

import anyio
import pytest

from actors.navigator.choice import Early
from actors.navigator.memory import StartAdvice
from bus import TransportError
from protocol.browse import BrowseOptions
from protocol.documents import PageParts, WebObservationSummary, untrusted
from protocol.faults import Code, FaultError, fault
from protocol.page import PageFields
from protocol.pages import Fetched
from protocol.replicas import Absence, Watch
from tests.unit.actors.fake_fetchers import (
    CHEAP,
    MIDDLE,
    NEEDS_JS,
    FakeBus,
    Known,
    browse,
    bus,
    fault_of,
)
from tests.unit.actors.page_data import URL, fetched, verdict

# -- what experience changes


async def test_experience_says_where_to_begin_and_the_trace_tells_why() -> None:
    fake = bus(intelligence=fetched(), lightweight=fetched(MIDDLE))
    known = Known(StartAdvice(MIDDLE, "mostly needs scripts"))

    browsed = await browse(fake, known=known)

    assert fake.asked == ["web.fetch.lightweight", "verify.page"]
    assert [(one.tier, one.success, one.failure_reason or None) for one in browsed.trace.tiers] == [
        (CHEAP, False, "Passed over: mostly needs scripts"),
        (MIDDLE, True, None),
    ]
    assert [attempt.tier for attempt in known.taught] == [CHEAP, MIDDLE]


async def test_an_absent_tier_says_why_in_the_trace() -> None:
    fake = bus([NEEDS_JS], intelligence=fetched())
    fake.replies["actor.absent.fetchers-playwright"] = [Absence(reason="No Chromium", cure="Install it.")]

    failure = await fault_of(fake)

    assert "playwright: No Chromium. Install it" in failure.message


async def test_the_next_tier_started_early_overtakes_a_slow_one() -> None:
    fake = bus(intelligence=anyio.sleep_forever, lightweight=fetched(MIDDLE))

    browsed = await browse(fake, known=Known(early=Early(MIDDLE, 10)))

    assert browsed.page.tier is MIDDLE
    assert [one.failure_reason or None for one in browsed.trace.tiers] == [
        "Stopped: the next tier, started early, had the page first",
        None,
    ]


async def test_a_tier_that_is_quick_enough_spares_the_next_one() -> None:
    fake = bus(intelligence=fetched(), lightweight=fetched(MIDDLE))

    browsed = await browse(fake, known=Known(early=Early(MIDDLE, 4_000)))

    assert (browsed.page.tier, fake.asked) == (CHEAP, ["web.fetch.intelligence", "verify.page"])


async def test_a_tier_of_no_use_does_not_keep_the_next_one_waiting() -> None:
    fake = bus([NEEDS_JS, verdict()], intelligence=fetched(), lightweight=fetched(MIDDLE))

    browsed = await browse(fake, known=Known(early=Early(MIDDLE, 4_000)))

    assert [(one.tier, one.success) for one in browsed.trace.tiers] == [(CHEAP, False), (MIDDLE, True)]


async def test_a_page_that_does_not_exist_stops_the_next_tier() -> None:
    gone = verdict(Code.HTTP_NOT_FOUND, reason="The page does not exist (404)")
    fake = bus([gone], intelligence=fetched(), lightweight=anyio.sleep_forever)

    with pytest.raises(FaultError) as caught:
        await browse(fake, known=Known(early=Early(MIDDLE, 0)))

    assert caught.value.fault.code is Code.HTTP_NOT_FOUND


# -- the pages that follow


def page(number: int, following: int | None) -> Fetched:
    fields = PageFields(next=f"https://example.com/p/{following}" if following else "")
    summary = WebObservationSummary(
        url=URL, title="List", markdown=f"Part {number}", text=f"Part {number}", parts=PageParts(fields=fields)
    )
    return fetched(final_url=f"https://example.com/p/{number}", document=untrusted(f"p{number}", summary))


async def test_pages_that_follow_are_put_together() -> None:
    fake = bus(intelligence=[page(1, 2), page(2, 3), page(3, None)])

    browsed = await browse(fake, BrowseOptions(follow_pagination=True))

    content = browsed.page.document.content
    assert (browsed.pages, content.markdown, content.text) == (3, "Part 1\n\nPart 2\n\nPart 3", content.markdown)
    assert content.parts.fields.next == ""
    assert [args.url for subject, args in fake.calls if subject == "web.fetch.intelligence"] == [
        URL,
        "https://example.com/p/2",
        "https://example.com/p/3",
    ]


async def test_no_more_pages_are_added_than_were_asked_for() -> None:
    fake = bus(intelligence=[page(1, 2), page(2, 3), page(3, None)])

    browsed = await browse(fake, BrowseOptions(follow_pagination=True, max_pages=2))

    assert (browsed.pages, browsed.page.document.content.parts.fields.next) == (2, "https://example.com/p/3")


async def test_a_page_that_fails_leaves_those_before_it() -> None:
    fake = bus(intelligence=[page(1, 2), fault(Code.NETWORK_TIMEOUT)])

    assert (await browse(fake, BrowseOptions(follow_pagination=True))).pages == 1


async def test_pages_in_a_circle_end() -> None:
    fake = bus(intelligence=[page(1, 2), page(2, 1)])

    assert (await browse(fake, BrowseOptions(follow_pagination=True))).pages == 2


# -- progress ------------------------------------------------------------------------------------------------------


MINE = Watch(replica="here", token="mine")


async def said(fake: FakeBus, options: BrowseOptions) -> list[tuple[str, int, str]]:
    await browse(fake, options, watch=MINE)

    assert {progress.token for _, progress in fake.progress} == {"mine"}
    return [(subject, progress.done, progress.message) for subject, progress in fake.progress]


async def test_who_watches_hears_of_each_tier_as_it_begins() -> None:
    fake = bus([NEEDS_JS, verdict()], intelligence=fetched(), lightweight=fetched(MIDDLE))

    assert await said(fake, BrowseOptions()) == [
        ("events.progress.here", 0, "Reading the page as the site sends it."),
        ("events.progress.here", 1, "Running the scripts of the page without a browser."),
    ]


async def test_who_watches_hears_of_each_further_page() -> None:
    fake = bus(intelligence=[page(1, 2), page(2, 3), page(3, None)])

    assert await said(fake, BrowseOptions(follow_pagination=True, max_pages=3)) == [
        ("events.progress.here", 0, "Reading the page as the site sends it."),
        ("events.progress.here", 1, "Reading page 2 of at most 3."),
        ("events.progress.here", 2, "Reading page 3 of at most 3."),
    ]


async def test_progress_that_cannot_be_told_ends_no_browse() -> None:
    fake = bus(intelligence=fetched())
    fake.deaf = TransportError("gone")

    browsed = await browse(fake, watch=MINE)

    assert browsed.page.tier is CHEAP


async def test_nothing_is_told_of_a_browse_that_nobody_watches() -> None:
    fake = bus(intelligence=fetched())

    await browse(fake)

    assert fake.progress == []
