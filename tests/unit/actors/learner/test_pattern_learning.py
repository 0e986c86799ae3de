"""A learner on a bus in memory: what it makes of pages that were accepted, and when it has one rendered again."""

from __future__ import annotations

import zlib
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import anyio
import pytest
from msgspec.structs import replace

from actors.actor import grant_of
from actors.learner.actor import Learner
from actors.patterns.trust import can_bypass, page_hash
from bus import Bus
from bus.clock import now_ms
from bus.memory import Broker
from bus.seal import Seal
from bus.stores import KeyTable
from protocol import subjects
from protocol.codec import encode
from protocol.documents import WebObservationSummary
from protocol.faults import Code, FaultError, fault
from protocol.pages import Browsed, BrowsePage, PageBrowsed
from protocol.patterns.pattern import PagePattern
from protocol.patterns.sample import SAMPLES, ApiExchange, PageSample, SealedSample
from protocol.patterns.use import Drift, PatternUsed
from protocol.tiers import RenderTier
from tests.unit.actors.learner.learner_data import KEY, asking, learning
from tests.unit.actors.patterns.test_index import pattern

NAMES = ("Merino", "Cotton", "Linen", "Hemp")
WORDS = ("carded and spun twice", "ginned by hand", "retted in dew", "beaten to tow and hackled")
HOUR_MS = 3_600_000


def url(number: int) -> str:
    return f"https://mill.example/yarns?number={number}"


def sample(number: int, field: str = "title") -> PageSample:
    """Return a page of the mill, as a browser has shown it."""
    name, said = f"{NAMES[number]} yarn", f"A yarn of {NAMES[number].lower()} which is {WORDS[number]}."
    markdown = f"# {name}\n\n{said}\n\nPrice: {number + 3} per skein"
    text = f"{name}\n{said}\nPrice: {number + 3} per skein"
    body = {"id": number, field: name, "said": said, "price": number + 3}
    return PageSample(
        url=url(number),
        final_url=url(number),
        tier=RenderTier.PLAYWRIGHT,
        page=WebObservationSummary(
            url=url(number), title=name, markdown=markdown, text=text, captured_at=datetime.fromtimestamp(0, UTC)
        ),
        exchanges=(ApiExchange(url=f"https://mill.example/api/yarns/{number}", body=body),),
        sample_id=f"{field}{number}",
        at_ms=now_ms(),
    )


@dataclass
class Mill:
    """Who shows pages to a learner, and sees what it keeps and asks for."""

    bus: Bus
    patterns: KeyTable[PagePattern]
    rendered: list[BrowsePage]

    async def show(self, shown: PageSample, *, accepted: bool = True) -> None:
        seal = Seal.of(KEY).seal(zlib.compress(encode(shown)), SAMPLES)
        await self.bus.tell(subjects.PAGE_SAMPLED, SealedSample(sealed=seal))
        name = shown.sample_id if accepted else ""
        address = shown.url.partition("?")[0]  # as a navigator tells it: who asked for what is nobody's business
        await self.bus.tell(subjects.PAGE_BROWSED, PageBrowsed(url=address, duration_ms=1, sample=name))

    async def kept(self) -> list[PagePattern]:
        entries = [await self.patterns.get(key) for key in await self.patterns.names()]
        return [entry.value for entry in entries if entry is not None and entry.value is not None]

    async def until(self, pages: int, *, version_after: int = 0) -> PagePattern:
        """Wait until the one pattern is there, and has reproduced so many pages at least, or none."""
        while True:
            found = [one for one in await self.kept() if one.mapping is not None and one.version > version_after]
            if len(found) == 1 and (len(found[0].reproduced) >= pages if pages else not found[0].reproduced):
                return found[0]
            await anyio.sleep(0.01)

    async def render(self, page: BrowsePage) -> Browsed:
        self.rendered.append(page)
        raise FaultError(fault(Code.NETWORK_TIMEOUT))


@asynccontextmanager
async def mill(folder: Path) -> AsyncGenerator[Mill]:
    with anyio.fail_after(90):
        async with Broker() as broker, asking(broker.connect("asker")) as asker:
            here = Mill(asker.bus, await asker.bus.table(subjects.PATTERNS), [])
            await asker.bus.serve(subjects.BROWSE, here.render, at_once=4)
            async with learning(broker.connect("learner", grant_of(Learner)), folder, learning_interval_ms=86_400_000):
                yield here


async def test_pages_that_were_accepted_teach_what_makes_others(tmp_path: Path) -> None:
    async with mill(tmp_path) as place:
        await place.show(sample(3), accepted=False)
        for number in range(3):
            await place.show(sample(number))
        pattern = await place.until(3)

        assert (pattern.domain, pattern.source, pattern.profile) == ("mill.example", "api_extraction", "")
        assert [request.url.partition("{")[0] for request in pattern.requests] == ["https://mill.example/api/yarns/"]
        assert can_bypass(pattern, now_ms())
        assert page_hash(url(3)) not in pattern.reproduced
        assert b"Merino" not in encode(pattern)


def used_by(pattern: PagePattern) -> PatternUsed:
    return PatternUsed(
        pattern_id=pattern.pattern_id, domain=pattern.domain, url=url(3), at_ms=now_ms(), version=pattern.version
    )


@pytest.mark.slow
async def test_an_api_that_changed_must_reproduce_pages_anew(tmp_path: Path) -> None:
    async with mill(tmp_path) as place:
        for number in range(3):
            await place.show(sample(number))
        pattern = await place.until(3)
        used = used_by(pattern)
        await place.bus.tell(subjects.PATTERN_USED, replace(used, transient=True))
        await place.bus.tell(subjects.PATTERN_USED, replace(used, drift=Drift.MISSING))

        broken = await place.until(0, version_after=pattern.version)
        await place.show(sample(0, "name"))
        after_one = await place.until(0, version_after=broken.version)
        await place.show(sample(1, "name"))
        learned_anew = await place.until(2, version_after=after_one.version)
        await place.bus.tell(subjects.PATTERN_USED, replace(used, drift=Drift.MISSING))  # of what it was
        await place.show(sample(2, "name"))
        repaired = await place.until(3, version_after=learned_anew.version)

        assert (broken.failures, can_bypass(broken, now_ms()), broken.score < pattern.score) == (1, False, True)
        assert (repaired.pattern_id, can_bypass(repaired, now_ms())) == (pattern.pattern_id, True)


async def test_a_pattern_in_use_is_held_to_a_rendered_page(tmp_path: Path) -> None:
    async with mill(tmp_path) as place:
        for number in range(3):
            await place.show(sample(number))
        pattern = await place.until(3)
        old = replace(pattern, verified_at=now_ms() - 7 * HOUR_MS)
        revision = await place.patterns.revision(pattern.pattern_id)
        await place.patterns.put(pattern.pattern_id, old, revision=revision)
        used = used_by(pattern)
        while not place.rendered:
            await place.bus.tell(subjects.PATTERN_USED, used)
            await anyio.sleep(0.01)

        (page,) = place.rendered
        assert (page.url, page.rendered, page.obey_robots, page.caller) == (url(3), True, True, "")


async def test_what_was_archived_long_ago_is_deleted_when_a_learner_looks(tmp_path: Path) -> None:
    async with Broker() as broker, asking(broker.connect("asker")) as asker:
        patterns = await asker.bus.table(subjects.PATTERNS)
        await patterns.put("old", pattern("old", verified_at=1), revision=0)
        await patterns.put("new", pattern("new", verified_at=now_ms()), revision=0)
        with anyio.fail_after(90):
            async with learning(broker.connect("learner", grant_of(Learner)), tmp_path):
                while await patterns.get("old") is not None:
                    await anyio.sleep(0.01)

        assert list(await patterns.names()) == ["new"]
