"""Hostile pages are answered within the bounds, with a result or a fault, and the replica lives on."""

from __future__ import annotations

import anyio
import pytest

from actors.fetchers.extractor import Extractor
from actors.fetchers.script_engine import evaluate
from protocol.faults import Category, FaultError
from tests.support.scale import sized
from tests.unit.actors.extraction.hostile.pages import PAGES
from tests.unit.actors.extraction.hostile.subject import URL, Extraction, answered, extract

SMALL = 0.002
"""A page so much smaller costs no more than others, whatever is wrong with it."""

LARGE = sized(0.02, 1.0)
"""A page that large costs more than others; the whole of it is what a fetcher must survive."""


@pytest.mark.parametrize("name", PAGES)
def test_a_small_one_is_read_as_any_page(name: str) -> None:
    assert isinstance(answered(PAGES[name](SMALL)), Extraction)


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.slow
async def test_a_full_one_is_answered_and_the_next_page_is_read(name: str) -> None:
    body = PAGES[name](LARGE)
    with anyio.fail_after(30):
        async with Extractor() as extractor:
            try:
                found: object = await extractor.run(extract, body, "text/html", URL, evaluate=evaluate)
            except FaultError as error:
                found = error.fault.category
            after = await extractor.run(extract, b"<p>weft and warp</p>", "text/html", URL)

    assert isinstance(found, Extraction) or found is Category.CONTENT
    assert isinstance(after, Extraction)
