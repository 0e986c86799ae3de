"""What a hostile page ends in, and that the page beside it and the next one are right."""

from __future__ import annotations

import anyio
import pytest

from actors.fetchers.lightweight import actor
from protocol.faults import Code, FaultError
from protocol.pages import Fetched
from tests.integration.lightweight.pages import needs_engine
from tests.integration.lightweight.showing import Showing, showing, text_of
from tests.site.scripted import ARTICLE, LATE
from tests.support.scale import one_in

pytestmark = [needs_engine, pytest.mark.slow, pytest.mark.full]

HUNG, CRASHED, WHOLE = Code.BROWSER_PAGE_HUNG, Code.PAGE_CRASHED, ""

HOSTILE: dict[str, tuple[str, set[Code | str]]] = {
    "loop": ("while (1);", {HUNG}),
    "loop in a timer": ("setTimeout(() => { while (1); }, 50)", {HUNG}),
    "loop in a frame callback": ("requestAnimationFrame(() => { while (1); })", {HUNG}),
    "microtasks": ("const f = () => Promise.resolve().then(f); f()", {HUNG}),
    "regular expression": ("/^(a+)+$/.test('a'.repeat(40) + 'b')", {HUNG}),
    "dialogs": ("while (1) { try { alert(1) } catch {} }", {HUNG, "dialog_loop"}),
    "dialogs that give up": ("while (1) alert(1)", {"dialog_loop"}),
    "loop in a worker": ("new Worker(URL.createObjectURL(new Blob(['while (1);'])))", {HUNG, CRASHED}),
    "arrays": ("const a = []; while (1) a.push(new Array(1000).fill(1))", {HUNG, CRASHED}),
    "strings": (
        "let s = 'x'; const a = []; while (1) { try { s += s; } catch { a.push(s); s = 'x' } }",
        {HUNG, CRASHED},
    ),
    "texts": (
        "const x = 'x'.repeat(1e6); while (1) document.documentElement.append(document.createTextNode(x))",
        {HUNG, CRASHED},
    ),
    "elements": ("while (1) document.body.insertAdjacentHTML('beforeend', '<p>x</p>'.repeat(1e4))", {HUNG, CRASHED}),
    "buffers": ("const a = []; while (1) { try { a.push(new Uint8Array(1e7).fill(1)) } catch {} }", {HUNG, CRASHED}),
    "requests": (
        "const go = () => fetch('/told?' + Math.random()).then(go, go); go()",
        {WHOLE, "too_many_requests", "time"},
    ),
    "many requests": (
        "for (let i = 0; i < 5000; i++) fetch('/told?' + i).catch(() => 0)",
        {"too_many_requests", HUNG},
    ),
    "reloads": (
        """const again = '<script>location.reload()</' + 'script>';
        location.href = '/asked?body=' + encodeURIComponent(again) + '&n=' + Math.random()""",
        {Code.HTTP_TOO_MANY_REDIRECTS},
    ),
    "frames": (
        """for (let i = 0; i < 500; i++) {
            const f = document.createElement('iframe'); f.src = '/told?' + i; document.body.append(f); }""",
        {WHOLE, "too_many_requests", HUNG},
    ),
    "windows": ("for (let i = 0; i < 500; i++) window.open('/told?' + i)", {WHOLE, "too_many_requests", HUNG}),
    "much text": ("document.querySelector('p').textContent += 'word '.repeat(4e6)", {"too_large"}),
    "recursion": ("const f = () => f(); f()", {WHOLE}),
    "timers": ("for (let i = 0; i < 2e5; i++) setTimeout(() => 0, 1e5)", {WHOLE}),
    "intervals": ("for (let i = 0; i < 2000; i++) setInterval(() => 0, 1)", {WHOLE}),
    "console": ("for (let i = 0; i < 5e4; i++) console.log(i)", {WHOLE}),
    "rejections": ("for (let i = 0; i < 2e4; i++) Promise.reject(i)", {WHOLE}),
    "storage": ("try { for (let i = 0; i < 1e4; i++) localStorage['k' + i] = 'x'.repeat(1e4) } catch {}", {WHOLE}),
    "cookies": ("for (let i = 0; i < 5000; i++) document.cookie = 'k' + i + '=' + 'x'.repeat(1000)", {WHOLE}),
    "mutations": (
        """const turn = () => document.body.setAttribute('a', Math.random());
        new MutationObserver(turn).observe(document.body, {attributes: true}); turn()""",
        {WHOLE, HUNG},
    ),
    "states": ("for (let i = 0; i < 2e5; i++) history.pushState(i, '', '#' + i)", {WHOLE, HUNG}),
    "drawing": (
        "const go = () => { document.body.dataset.n = Math.random(); requestAnimationFrame(go) }; go()",
        {WHOLE},
    ),
    "waiting script": (
        "document.write('<script src=\"/drip?count=1000&ms=100\"></' + 'script>')",
        {"time"},
    ),
}


async def fate(here: Showing, url: str) -> Code | str:
    """Show a page, and tell its fault, or the limit that ended it."""
    try:
        page = await here.show(url)
    except FaultError as error:
        return error.fault.code
    assert ARTICLE in text_of(page) or page.evidence.cut_short
    return page.evidence.cut_short


@pytest.mark.parametrize("name", one_in(8, HOSTILE))
async def test_a_hostile_page_ends_and_its_neighbour_does_not_care(name: str) -> None:
    code, ends = HOSTILE[name]
    async with showing(light_processes=1) as here:
        await here.show(here.site.url("/late/timer?ms=0"))
        found: dict[str, Code | str] = {}
        beside: list[Fetched] = []
        async with anyio.create_task_group() as tasks:

            async def hostile() -> None:
                found["fate"] = await fate(here, here.at(f"<main><p>{ARTICLE}</p></main><script>{code}</script>"))

            async def neighbour() -> None:
                beside.append(await here.show(here.site.url("/late/nested?ms=600")))

            tasks.start_soon(hostile)
            tasks.start_soon(neighbour)
        after = await here.show(here.site.url("/late/fetch?ms=0"))

        assert found["fate"] in ends
        assert LATE in text_of(beside[0])
        assert LATE in text_of(after)


SPARSE = {
    "dialogs": "while (true) alert('again')",
    "loop": "while (true);",
    "dialogs by a timer": "setInterval(() => confirm('again'), 1)",
    "flood": "while (true) document.body.append(document.createElement('p'))",
}


@pytest.mark.parametrize("name", one_in(2, SPARSE))
async def test_a_page_that_never_ends_has_hung_and_wants_no_browser_for_its_scripts(name: str) -> None:
    async with showing(light_processes=1) as here:
        ends = await fate(here, here.at(f"<h1>A page</h1><script>{SPARSE[name]}</script>"))

        assert ends in {HUNG, CRASHED}


async def test_a_page_that_hangs_beyond_its_time_has_hung(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(actor, "remaining_ms", lambda: 2_200)
    async with showing(light_processes=1) as here:
        await here.show(here.site.url("/late/timer?ms=0"))
        ends = await fate(here, here.at("<h1>A page</h1><script>while (true);</script>"))

        assert ends is HUNG


async def test_html_that_is_nested_too_deep_ends_in_a_fault() -> None:
    async with showing(light_processes=1) as here:
        deep = f"{here.site.url('/deep')}"
        assert await fate(here, deep) in {CRASHED, HUNG}
        assert LATE in text_of(await here.show(here.site.url("/late/fetch?ms=0")))
