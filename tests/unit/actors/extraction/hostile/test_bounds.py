"""Hostile pages are answered within the bounds, with a result or a fault, and the replica lives on."""

from __future__ import annotations

from collections.abc import Generator

import anyio
import anyio.from_thread
import pytest
from anyio.from_thread import BlockingPortal

from actors.fetchers.extractor import Extractor
from actors.fetchers.script_engine import evaluate
from protocol.faults import Category, FaultError
from tests.support.scale import one_in, sized
from tests.unit.actors.extraction.hostile.pages import PAGES
from tests.unit.actors.extraction.hostile.subject import URL, Extraction, answered, extract

SMALL = 0.002
"""A page so much smaller costs no more than others, whatever is wrong with it."""

LARGE = sized(0.02, 1.0)
"""A page that large costs more than others; the whole of it is what a fetcher must survive."""


@pytest.mark.parametrize("name", PAGES)
def test_a_small_one_is_read_as_any_page(name: str) -> None:
    assert isinstance(answered(PAGES[name](SMALL)), Extraction)


@pytest.fixture(scope="module")
def replica() -> Generator[BlockingPortal]:
    """Have one extractor for all pages, as a replica has: no page harms the next."""
    with anyio.from_thread.start_blocking_portal() as portal:
        yield portal


@pytest.fixture(scope="module")
def extractor(replica: BlockingPortal) -> Generator[Extractor]:
    with replica.wrap_async_context_manager(Extractor()) as extractor:
        yield extractor


@pytest.mark.parametrize("name", one_in(5, PAGES))
@pytest.mark.slow
def test_a_full_one_is_answered_and_the_next_page_is_read(
    replica: BlockingPortal, extractor: Extractor, name: str
) -> None:
    found, after = replica.call(read_beside_a_harmless_one, extractor, PAGES[name](LARGE))

    assert isinstance(found, Extraction) or found is Category.CONTENT
    assert isinstance(after, Extraction)


async def read_beside_a_harmless_one(extractor: Extractor, body: bytes) -> tuple[object, object]:
    with anyio.fail_after(90):
        try:
            found: object = await extractor.run(extract, body, "text/html", URL, evaluate=evaluate)
        except FaultError as error:
            found = error.fault.category
        return found, await extractor.run(extract, b"<p>weft and warp</p>", "text/html", URL)
