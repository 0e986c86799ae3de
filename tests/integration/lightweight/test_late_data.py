"""Content that comes after a page was loaded is in what is read of it, and the page counts as whole."""

from __future__ import annotations

import pytest

from tests.integration.lightweight.pages import needs_engine
from tests.integration.lightweight.showing import showing, text_of
from tests.site.scripted import LATE, WAYS
from tests.support.scale import one_in

pytestmark = needs_engine


@pytest.mark.parametrize("way", one_in(3, WAYS))
@pytest.mark.parametrize("ms", one_in(3, [700, 0, 2_000]))
@pytest.mark.slow
async def test_what_comes_late_is_read(way: str, ms: int) -> None:
    async with showing() as here:
        page = await here.show(here.site.url(f"/late/{way}?ms={ms}"))

        assert LATE in text_of(page)
        assert not page.evidence.cut_short
