"""Which pages are written down for the index of whoever read them."""

from __future__ import annotations

from typing import Any

import anyio
import msgspec

from actors.navigator.read_pages import ReadPages
from bus import Bus
from bus.memory import Broker
from bus.seal import Seal, new_key
from protocol import subjects
from protocol.browse import BrowseOptions
from protocol.documents import WebObservationSummary
from protocol.pages import Browsed, BrowsePage
from tests.unit.actors.gateway_data import browsed

URL = "https://site.example/page"
WORDS = "Looms are machines that weave threads to cloth. " * 4


def page(url: str = URL, markdown: str = WORDS) -> Browsed:
    made = browsed()
    content = WebObservationSummary(url=url, title="Looms", markdown=markdown)
    document = msgspec.structs.replace(made.page.document, content=content)
    return msgspec.structs.replace(made, page=msgspec.structs.replace(made.page, document=document, final_url=url))


def request(url: str = URL, reader: str = "key_me", **other: Any) -> BrowsePage:
    return BrowsePage(url=url, reader=reader, **other)


async def test_what_was_read_without_a_login_is_written_down_once() -> None:
    with anyio.fail_after(90):
        async with Broker() as broker, Bus(broker.connect("navigator"), "navigator", "r1").running() as bus:
            bus.seal = Seal.of(new_key())
            journal = await bus.journal(subjects.PAGES_READ)
            async with ReadPages(journal).open() as pages:
                for asked, got in (
                    (request(reader=""), page()),
                    (request(login=b"pass"), page()),
                    (request(options=BrowseOptions(session_profile="work")), page()),
                    (request(), page(f"{URL}?token=hunter2hunter2")),
                    (request(), page(markdown="Too short.")),
                    (request(), page(markdown=f"{WORDS}password=hunter2hunter2 ")),
                    (request(), page(markdown=f"{WORDS}password=hunter2hunter2 ")),
                    (request(reader="key_you"), page(markdown="x" * 90_000)),
                ):
                    pages.note(asked, got)
                while await journal.end() < 2:
                    await anyio.lowlevel.checkpoint()

            mine, yours = [line.value async for line in journal.read()]
            assert (mine.caller, mine.url, mine.title) == ("key_me", URL, "Looms")
            assert mine.markdown.startswith("Looms are")
            assert "hunter2" not in mine.markdown
            assert (yours.caller, len(yours.markdown)) == ("key_you", 24_000)
