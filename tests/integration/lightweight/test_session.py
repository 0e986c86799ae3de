"""A login lives on from page to page: cookies and storage go in, and come back as scripts have left them."""

from __future__ import annotations

import json

import pytest

from tests.integration.lightweight.pages import needs_engine
from tests.integration.lightweight.showing import showing, text_of

pytestmark = needs_engine

SHOW = (
    "<main><h1>Page</h1><p id=p>waiting</p></main><script>const show = (w) => {{ p.textContent = w; }}; {code}</script>"
)


def page(code: str) -> str:
    return SHOW.format(code=code)


TELL = "fetch('/told').then(r => r.json()).then(d => show('sent ' + d.cookie + ' seen ' + document.cookie))"


async def test_what_scripts_hide_from_each_other_stays_hidden() -> None:
    async with showing() as here:
        await here.show(here.site.url("/cookies/set?value=warp"), session="me")
        text = text_of(await here.page(page(TELL), session="me"))

        assert text.endswith("sent kept=warp seen")


@pytest.mark.slow
async def test_a_cookie_of_a_script_is_sent_at_once_and_kept() -> None:
    async with showing() as here:
        first = await here.page(page("document.cookie = 'loom=wide; path=/';" + TELL), session="me")
        again = await here.page(page(TELL), session="me")
        stranger = await here.page(page(TELL), session="you")
        nobody = await here.page(page(TELL))

        assert text_of(first).endswith("sent loom=wide seen loom=wide")
        assert text_of(again).endswith("sent loom=wide seen loom=wide")
        assert "loom" not in text_of(stranger) + text_of(nobody)


async def test_a_cookie_that_a_script_deletes_is_gone() -> None:
    async with showing() as here:
        await here.page(page("document.cookie = 'loom=wide; path=/'"), session="me")
        gone = "document.cookie = 'loom=; path=/; expires=Thu, 01 Jan 1970 00:00:00 GMT';"
        await here.page(page(gone), session="me")
        again = await here.page(page(TELL), session="me")

        assert text_of(again).endswith("sent seen")


async def test_a_script_cannot_change_what_is_hidden_from_it() -> None:
    async with showing() as here:
        await here.show(here.site.url("/cookies/set?value=warp"), session="me")
        await here.page(page("document.cookie = 'kept=stolen; path=/'"), session="me")
        again = await here.page(page(TELL), session="me")

        assert "sent kept=warp" in text_of(again)


async def test_a_cookie_of_an_answer_is_seen_by_the_script_that_asked() -> None:
    async with showing() as here:
        setting = here.at("set", "text/plain", **{"h.Set-Cookie": "weft=fine; Path=/"})
        code = f"fetch({json.dumps(setting)}).then(() => {TELL})"
        text = text_of(await here.page(page(code), session="me"))

        assert text.endswith("sent weft=fine seen weft=fine")


@pytest.mark.slow
async def test_storage_goes_in_and_comes_out() -> None:
    async with showing() as here:
        code = "show('was ' + localStorage.loom + ' and ' + sessionStorage.weft);"
        changing = code + "localStorage.loom = 'wide'; sessionStorage.weft = 'fine';"
        first = await here.page(page(changing), session="me")
        again = await here.page(page(code + "localStorage.clear()"), session="me")
        last = await here.page(page(code), session="me")
        other = await here.show(here.foreign(page(code)), session="me")

        assert text_of(first).endswith("was undefined and undefined")
        assert text_of(again).endswith("was wide and fine")
        assert text_of(last).endswith("was undefined and fine")
        assert text_of(other).endswith("was undefined and undefined")


async def test_a_frame_of_another_origin_does_not_get_the_storage() -> None:
    async with showing() as here:
        await here.page(page("localStorage.loom = 'wide'"), session="me")
        inner = "<script>fetch('/told?' + JSON.stringify({...localStorage}))</script>"
        frame = here.other.url("/asked") + here.at(inner).partition("/asked")[2]
        await here.page(page("") + f'<iframe src="{frame}"></iframe>', session="me")

        assert here.other.last("/told").query == {}
