"""Content that comes after a page was loaded is in what is read of it, and is not waited for much longer."""

from __future__ import annotations

import anyio
import pytest

from tests.integration.lightweight.pages import needs_engine
from tests.integration.lightweight.showing import Showing, showing, text_of
from tests.site.scripted import LATE, WAYS
from tests.support.scale import one_in

pytestmark = needs_engine

AFTER_MS = 250
"""How long after the data is there the page may be read at most, on a machine that has nothing else to do."""

TRIES = 3


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("ms", one_in(3, [700, 0, 2_000]))
async def test_what_comes_late_is_read(way: str, ms: int) -> None:
    async with showing() as here:
        empty_ms = await timed(here, "/late/timer?ms=100000")  # the engine is there, and the load takes what it takes
        took_ms = await timed(here, f"/late/{way}?ms={ms}", LATE)
        for _ in range(TRIES - 1):
            if took_ms > ms + AFTER_MS + empty_ms:
                took_ms = await timed(here, f"/late/{way}?ms={ms}", LATE)

        assert took_ms <= ms + AFTER_MS + empty_ms


async def timed(here: Showing, path: str, text: str = "Late") -> float:
    """Ask for a page that is whole, and give the milliseconds that it took."""
    began = anyio.current_time()
    page = await here.show(here.site.url(path))
    took_ms = (anyio.current_time() - began) * 1000

    assert text in text_of(page)
    assert not page.evidence.cut_short
    return took_ms
