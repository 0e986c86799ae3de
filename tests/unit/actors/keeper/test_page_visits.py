"""The pages that callers have read: noted where they were read, found by each caller alone, and gone in time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest

from actors.navigator.visits import PageVisits
from bus.clock import now_ms
from protocol import subjects
from protocol.browse import BrowseOptions
from protocol.documents import WebObservationSummary
from protocol.faults import Code, FaultError, fault
from protocol.pages import Browsed, BrowsePage
from protocol.search import SearchPassages
from protocol.visits import AskVisit, ListVisits, VisitList
from tests.unit.actors.gateway_data import browsed
from tests.unit.actors.keeper.ledger_data import ME, YOU, World, world

URL = "https://site.example/page"
DAY_MS = 86_400_000


def page(markdown: str, url: str = URL) -> Browsed:
    made = browsed()
    content = WebObservationSummary(url=url, title="Wolpertinger", markdown=markdown)
    document = msgspec.structs.replace(made.page.document, content=content)
    return msgspec.structs.replace(made, page=msgspec.structs.replace(made.page, document=document, final_url=url))


def asked(url: str = URL, reader: str = ME, **other: Any) -> BrowsePage:
    return BrowsePage(url=url, reader=reader, **other)


async def listed(here: World, caller: str = ME, **other: Any) -> VisitList:
    return await here.asking.bus.call(subjects.VISIT_LIST, ListVisits(caller=caller, **other))


async def test_what_was_read_without_a_login_is_found_by_its_reader_alone(tmp_path: Path) -> None:
    async with world(tmp_path) as here, here.keeper():
        here.clock.now = now_ms()
        journal = await here.asking.bus.journal(subjects.PAGE_VISITS)
        async with PageVisits(journal).open() as visits:
            for request, outcome in (
                (asked(), page("First. password=hunter2hunter2")),
                (asked("https://site.example/page?utm_source=a"), page("Second.")),
                (asked("https://else.example/"), fault(Code.HTTP_NOT_FOUND, "There is no such page.", http_status=404)),
                (asked(reader=""), page("Nobody's.")),
                (asked(login=b"pass"), page("Of a login.")),
                (asked(options=BrowseOptions(session_profile="work")), page("Of a login.")),
                (asked(f"{URL}?token=hunter2hunter2"), page("With a key.")),
                (asked(reader=YOU), page("Yours.")),
            ):
                visits.note(request, outcome, 12)
            while await journal.end() < 4:
                await anyio.lowlevel.checkpoint()

        mine = (await listed(here)).visits
        newest, other = mine[1:]
        assert [(one.code, one.title) for one in mine] == [
            (Code.HTTP_NOT_FOUND, ""),
            (None, "Wolpertinger"),
            (None, "Wolpertinger"),
        ]
        first = await listed(here, limit=2)
        assert [one.id for one in (await listed(here, cursor=first.next_cursor)).visits] == [other.id]
        assert (await listed(here, host="else.example")).visits == mine[:1]
        assert (await listed(here, outcome="failed")).visits == mine[:1]
        assert (await listed(here, page=newest.id)).visits == (newest, other)
        visit = await here.asking.bus.call(subjects.VISIT_GET, AskVisit(caller=ME, id=other.id))
        assert visit.markdown.startswith("First. ")
        assert "hunter2" not in visit.markdown
        with pytest.raises(FaultError, match="no such visit"):
            await here.asking.bus.call(subjects.VISIT_GET, AskVisit(caller=YOU, id=other.id))
        written = b"".join(path.read_bytes().lower() for path in here.files())
        assert [word for word in (b"wolpertinger", b"site.example", b"second.") if word in written] == []

        here.clock.now = now_ms() + 3 * DAY_MS
        assert (await listed(here)).visits == ()


@pytest.mark.parametrize("settings", [(3, True), (3, False), (0, True)])
async def test_history_and_index_are_made_of_the_same_visits_as_far_as_each_is_wanted(
    tmp_path: Path, settings: tuple[int, bool]
) -> None:
    days, indexed = settings
    words = "A wolpertinger eats hay, and sleeps where nobody has ever looked for one in the woods of Bavaria. "
    async with world(tmp_path) as here, here.keeper(keep_pages_days=days, index_pages=indexed):
        here.clock.now = now_ms()
        journal = await here.asking.bus.journal(subjects.PAGE_VISITS)
        async with PageVisits(journal, in_history=days > 0).open() as visits:
            assert visits.for_history(asked()) is (days > 0)
            for request, outcome in (
                (asked(), fault(Code.HTTP_NOT_FOUND, "There is no such page.", http_status=404)),
                (asked(), page("Wolpertinger.")),
                (asked(), page(f"{words} password=hunter2hunter2 {'x' * 90_000}")),
            ):
                visits.note(request, outcome, 12)
            while await journal.end() < 2 + (days > 0):
                await anyio.lowlevel.checkpoint()

        lines = [line.value async for line in journal.read()]
        searched = SearchPassages(caller=ME, query="wolpertinger")
        passages = (await here.asking.bus.call(subjects.PASSAGES, searched)).passages
        assert [len(one.markdown) // 1_000 for one in lines][-2:] == [0, 23]
        assert [one.url for one in passages][:1] == [URL] * indexed
        assert not [one for one in passages if "hunter2" in one.text]
        assert len((await listed(here)).visits) == (3 if days else 0)
