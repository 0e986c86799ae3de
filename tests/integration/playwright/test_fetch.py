"""The tier playwright against pages that need a browser."""

from __future__ import annotations

import io
import re
from collections.abc import Generator
from typing import Any

import pytest
from PIL import Image

from actors.fetchers.extractor import Extractor
from protocol.faults import Code, FaultError, fault
from protocol.pages import Screenshot
from protocol.tiers import RenderTier
from tests.integration.playwright.browsing import Browsing, browsing, page
from tests.requirements import requirement
from tests.site.answers import text
from tests.site.rehearsed import ARRANGED
from tests.site.scripted import ARTICLE, LATE, WAYS
from tests.support.scale import first, one_in

pytestmark = [pytest.mark.browser, pytest.mark.slow]

PROSE = f"<p>{ARTICLE}</p>"


@pytest.fixture(scope="module")
def web() -> Generator[Browsing]:
    with browsing() as running:
        yield running


def code_of(web: Browsing, url: str, **options: Any) -> Code:
    with pytest.raises(FaultError) as caught:
        web.fetch(url, **options)
    return caught.value.fault.code


# -- what is fetched ---------------------------------------------------------------------------------------------------


def test_a_page_is_told_as_it_was_got(web: Browsing) -> None:
    found = web.fetch("/redirect/2")

    assert (found.tier, found.status, found.final_url, found.content_type, found.evidence.cut_short) == (
        RenderTier.PLAYWRIGHT,
        200,
        web.site.url("/article"),
        "text/html; charset=utf-8",
        "",
    )
    assert found.document.content.title == "How a loom is warped"


def test_scripts_run(web: Browsing) -> None:
    html = f"<main id=m></main><script>m.innerHTML = `<h1>Woven</h1>{PROSE}`</script>"

    assert "Thread 11 of the warp" in web.text(page(html))


@pytest.mark.parametrize("status", [404, 429, 503])
def test_a_status_is_an_answer(web: Browsing, status: int) -> None:
    found = web.fetch(f"/status/{status}")

    assert (found.status, found.retry_after_ms) == (status, None if status == 404 else 120_000)


def test_a_site_learns_who_asks(web: Browsing) -> None:
    web.fetch("/article")
    agent = web.site.last("/article").headers["user-agent"]

    assert re.fullmatch(r"Mozilla/5\.0 .*HeadlessChrome/\S+ Safari/\S+ Weft/\S+", agent), agent


def test_json_is_read_as_it_came(web: Browsing) -> None:
    found = web.fetch("/json")

    assert (found.content_type, found.evidence.markup) == ("application/json", False)
    assert "Threads" in found.document.content.markdown


def test_text_is_read_as_it_came(web: Browsing) -> None:
    assert "With *two* paragraphs." in web.text("/text")


def test_a_file_is_read_though_no_browser_shows_it(web: Browsing) -> None:
    path = page("name,length\nwarp,12\n", type="text/csv", **{"h.Content-Disposition": "attachment; filename=a.csv"})

    assert "warp" in web.text(path)


# -- what goes wrong ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "code"),
    one_in(
        2,
        [
            ("/reset", Code.NETWORK_CONNECTION_FAILED),
            ("/hangup", Code.NETWORK_CONNECTION_FAILED),
            ("/garbage", Code.NETWORK_CONNECTION_FAILED),
            ("/encoded/gzip?half=1", Code.NETWORK_CONNECTION_FAILED),
            ("/redirect/loop", Code.HTTP_TOO_MANY_REDIRECTS),
            ("/redirect/12", Code.HTTP_TOO_MANY_REDIRECTS),
            ("http://127.0.0.1:1025/", Code.NETWORK_CONNECTION_FAILED),
            ("http://nothing.invalid/", Code.NETWORK_DNS_FAILED),
            ("http://10.0.0.1/", Code.SECURITY_ADDRESS_BLOCKED),
            ("http://127.0.0.1:22/", Code.SECURITY_URL_BLOCKED),
            ("file:///etc/passwd", Code.SECURITY_URL_BLOCKED),
            ("/redirect/private?to=http://10.0.0.1/", Code.SECURITY_ADDRESS_BLOCKED),
            ("/redirect/private?to=https://10.0.0.1/", Code.SECURITY_ADDRESS_BLOCKED),
            ("/redirect/private?to=http://127.0.0.1:22/", Code.SECURITY_URL_BLOCKED),
            ("/redirect/private?to=file:///etc/passwd", Code.SECURITY_URL_BLOCKED),
        ],
    ),
)
def test_each_failure_has_its_code(web: Browsing, path: str, code: Code) -> None:
    assert code_of(web, path) is code


def test_a_certificate_that_nobody_trusts(web: Browsing) -> None:
    assert code_of(web, web.site.https_url("/article")) is Code.NETWORK_TLS_FAILED


def test_robots_are_obeyed_where_that_is_asked(web: Browsing) -> None:
    ARRANGED["/robots.txt"] = [lambda _: text("User-agent: *\nDisallow: /article\n", "text/plain")]
    try:
        assert code_of(web, "/article", obey_robots=True) is Code.BLOCKED_BY_ROBOTS
        assert web.fetch("/article").status == 200
    finally:
        del ARRANGED["/robots.txt"]


# -- when it is settled ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", one_in(3, WAYS))
@pytest.mark.parametrize("ms", one_in(3, [700, 0, 2000]))
def test_what_comes_late_is_waited_for(web: Browsing, way: str, ms: int) -> None:
    assert LATE in web.text(f"/late/{way}?ms={ms}")


def test_a_page_that_never_rests_is_taken_as_it_is(web: Browsing) -> None:
    html = f"{PROSE}<p id=n></p><script>setInterval(() => n.textContent = Date.now(), 20)</script>"
    found = web.fetch(page(html))

    assert (found.evidence.cut_short, "Thread 11" in found.document.content.markdown) == ("settle", True)


def test_a_request_without_an_answer_does_not_hold_the_page(web: Browsing) -> None:
    found = web.fetch(page(f"{PROSE}<script>fetch('/slow?ms=20000')</script>"))

    assert (found.evidence.cut_short, "Thread 11" in found.document.content.markdown) == ("settle", True)


def test_an_answer_that_nobody_reads_does_not_hold_the_page(web: Browsing) -> None:
    found = web.fetch(page(f"{PROSE}<script>fetch('/told'); fetch('/drip?ms=200')</script>"), include_network=True)

    assert (found.evidence.cut_short, len(found.network)) == ("", 3)


def test_a_script_that_never_ends_is_stopped(web: Browsing) -> None:
    found = web.fetch(page(f"{PROSE}<script>setTimeout(() => {{ for (;;); }}, 50)</script>"))

    assert (found.evidence.cut_short, "Thread 11" in found.document.content.markdown) == ("hung", True)


def test_a_selector_is_waited_for(web: Browsing) -> None:
    late = "document.body.insertAdjacentHTML('beforeend', '<b id=x>At last.</b>')"
    html = f"{PROSE}<script>setTimeout(() => {late}, 1500)</script>"
    found = web.fetch(page(html), wait_for_selector="#x")

    assert (found.evidence.cut_short, "At last." in found.evidence.visible) == ("", True)


def test_a_selector_that_never_comes_leaves_time_to_read_the_page(web: Browsing) -> None:
    try:
        outcome = web.fetch(page(PROSE), limit_s=3, wait_for_selector="#never").evidence.cut_short
    except FaultError as error:  # a machine that took longer to read it says what was missing
        outcome = error.fault.field or error.fault.code

    assert outcome in ("wait_for_selector", "options.waitForSelector")


def test_an_empty_page_without_the_awaited_element_names_the_option(web: Browsing) -> None:
    with pytest.raises(FaultError) as caught:
        web.fetch(page(""), limit_s=3, wait_for_selector="#never")

    assert (caught.value.fault.code, caught.value.fault.field) == (Code.ELEMENT_NOT_FOUND, "options.waitForSelector")
    assert [one.action for one in caught.value.fault.actions] == ["do_not_wait_for_selector", "fix_request"]


# -- what is read ------------------------------------------------------------------------------------------------------


def test_shadow_roots_and_slots_are_read_as_shown(web: Browsing) -> None:
    html = """<x-card><b slot=title>A title</b><p>The body.</p><i slot=none>Nowhere.</i></x-card><script>
    customElements.define('x-card', class extends HTMLElement { constructor() { super();
    this.attachShadow({mode: 'open'}).innerHTML = '<style>p{display:none}.off{display:none}</style>'
    + '<h1><slot name=title></slot></h1><div><slot></slot></div><i class=off>Unseen.</i><em>From the shadow.</em>' } })
    </script>"""
    found = web.fetch(page(html + PROSE)).evidence.visible

    assert [word in found for word in ("A title", "The body.", "From the shadow.", "Nowhere.", "Unseen.")] == [
        True,
        True,
        True,
        False,
        False,
    ]
    assert found.index("A title") < found.index("The body.") < found.index("From the shadow.") < found.index("Thread 0")


def test_frames_are_read_wherever_they_come_from(web: Browsing) -> None:
    own, other = page("<p>From a frame of the site.</p>"), page("<p>From a frame of another.</p>")
    foreign = f"http://localhost:{web.site.port}{other}"
    nested = page(f"<p>Outside.</p><iframe width=300 height=99 src='{foreign}'></iframe>")
    html = f"{PROSE}<iframe src='{own}'></iframe><iframe width=400 height=400 src='{nested}'></iframe>"
    found = web.text(page(html))

    assert [words in found for words in ("From a frame of the site.", "Outside.", "From a frame of another.")] == [
        True,
        True,
        True,
    ]


@pytest.mark.full
def test_deep_nesting_does_not_stop_the_reader(web: Browsing) -> None:
    deeper = "e = e.appendChild(document.createElement('div'))"
    html = f"{PROSE}<script>let e = document.body; for (let i = 0; i < 1500; i++) {deeper}; e.append('End.')</script>"

    assert "Thread 11" in web.text(page(html))


# -- what is recorded --------------------------------------------------------------------------------------------------


def test_what_a_page_asks_for_is_recorded_and_named(web: Browsing) -> None:
    html = f"{PROSE}<script>fetch('/json?token=hush&page=2', {{headers: {{Authorization: 'Bearer hush'}}}})</script>"
    found = web.fetch(page(html), include_network=True)

    (api,) = [one for one in found.apis if one.endpoint.endswith("/json")]
    (call,) = [one for one in found.network if "/json" in one.url]
    assert (api.method, api.confidence, api.can_bypass, api.auth_type) == ("GET", "high", True, "bearer")
    assert (call.status, call.response_body) == (200, {"title": "Threads", "items": [1, 2, {"token": "abc"}]})
    assert (call.request_headers["authorization"], "hush" in call.url) == ("[redacted]", False)


@requirement("000.5.network-request")
def test_what_a_script_that_is_not_there_was_answered_is_recorded(web: Browsing) -> None:
    found = web.fetch(page(f'{PROSE}<script src="/status/404"></script>'), include_network=True)

    assert [one.status for one in found.network if one.url.endswith("/status/404")] == [404]


def test_the_history_gets_a_picture_and_the_requests_in_short(web: Browsing) -> None:
    html = f"{PROSE}<script>fetch('/json?token=hush&page=2', {{headers: {{Authorization: 'Bearer hush'}}}})</script>"
    found = web.fetch(page(html), for_history=True)

    assert Image.open(io.BytesIO(web.shelf.kept[found.screenshot])).format == "JPEG"
    assert [(one.method, one.status) for one in found.requests] == [("GET", 200)] * 2
    assert "hush" not in repr(found.requests)
    assert (found.network, found.captures) == ((), ())


def test_a_page_that_cannot_be_read_fails_as_ever_while_its_picture_is_taken(
    web: Browsing, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(*_: object, **__: object) -> None:
        raise FaultError(fault(Code.CONTENT_TOO_LARGE))

    monkeypatch.setattr(Extractor, "run", refuse)
    with pytest.raises(FaultError) as caught:
        web.fetch(page(PROSE), for_history=True)

    assert caught.value.fault.code is Code.CONTENT_TOO_LARGE


def test_the_cookie_that_lets_a_call_in_is_named_and_not_shown(web: Browsing) -> None:
    html = f"{PROSE}<script>document.cookie = 'sid=hush'; fetch('/told')</script>"
    found = web.fetch(page(html), include_network=True)

    (api,) = [one for one in found.apis if one.endpoint.endswith("/told")]
    (call,) = [one for one in found.network if "/told" in one.url]
    assert (api.auth_type, call.request_headers["cookie"]) == ("cookie", "[redacted]")


def test_the_console_and_dialogs_are_recorded(web: Browsing) -> None:
    html = f"{PROSE}<script>console.warn('thin ice'); alert('look here'); confirm('sure?')</script>"
    found = web.fetch(page(html), include_console=True)

    assert [(line.level, line.text) for line in found.console] == [("warning", "thin ice")]
    assert [(one.kind, one.message) for one in found.dialogs] == [("alert", "look here"), ("confirm", "sure?")]


def test_a_download_is_kept(web: Browsing) -> None:
    file = page("a,b", type="text/csv", **{"h.Content-Disposition": "attachment; filename=list.csv"})
    html = f"{PROSE}<a id=a download href='{file}'>list</a><script>a.click()</script>"
    found = web.fetch(page(html))

    (taken,) = found.captures
    assert (taken.kind, taken.file_name, taken.media_type, web.shelf.kept[taken.name]) == (
        "download",
        "list.csv",
        "text/csv",
        b"a,b",
    )


@pytest.mark.parametrize("form", ["png", "jpeg", "webp"])
def test_pictures_are_taken_in_each_form(web: Browsing, form: str) -> None:
    found = web.fetch("/article", screenshot=Screenshot(form=form))  # type: ignore[arg-type]  # the three forms

    (taken,) = found.captures
    picture = Image.open(io.BytesIO(web.shelf.kept[taken.name]))
    assert (taken.kind, taken.media_type, picture.format, picture.size) == (
        "screenshot",
        f"image/{form}",
        form.upper(),
        (1280, 800),
    )


def test_a_whole_page_or_one_element_is_pictured(web: Browsing) -> None:
    tall = page("<div style='height:3000px'>x</div><p id=p style='width:200px;height:100px;margin:0'>y</p>")
    shots = [Screenshot(full_page=True), Screenshot(selector="#p")]
    pictures = [
        Image.open(io.BytesIO(web.shelf.kept[web.fetch(tall, screenshot=shot).captures[0].name])) for shot in shots
    ]

    assert (pictures[0].size[1] > 3000, pictures[1].size) == (True, (200, 100))


def test_an_element_that_is_not_there_is_not_pictured(web: Browsing) -> None:
    found = web.fetch("/article", screenshot=Screenshot(selector="#nowhere"))

    assert (found.captures, found.evidence.cut_short) == ((), "screenshot_selector")


def test_a_page_is_printed(web: Browsing) -> None:
    (taken,) = web.fetch("/article", pdf=True).captures

    assert (taken.kind, taken.media_type, web.shelf.kept[taken.name][:5]) == ("pdf", "application/pdf", b"%PDF-")


# -- what is left out --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("looked_at", "asked"), [(False, 0), (True, 1)])
def test_pictures_are_fetched_only_where_somebody_looks(web: Browsing, asked: int, *, looked_at: bool) -> None:
    before = web.site.hits["/picture"]
    web.fetch(page(f"{PROSE}<img src='/picture'>"), screenshot=Screenshot() if looked_at else None)

    assert web.site.hits["/picture"] - before == asked


def test_trackers_are_not_asked(web: Browsing) -> None:
    kept, left_out = "http://scripts.invalid/a.js", "http://www.google-analytics.com/a.js"
    web.fetch(page(f"{PROSE}<script src='{kept}'></script><script src='{left_out}'></script>"))

    door = web.browser.proxy
    assert (door.refusal(kept) is None, door.refusal(left_out) is None) == (False, True)


# -- sessions ----------------------------------------------------------------------------------------------------------


def test_a_login_lives_on_from_fetch_to_fetch(web: Browsing) -> None:
    set_all = "<script>document.cookie='c=1; max-age=999'; localStorage.l='2'; sessionStorage.s='3'</script>"
    tell = (
        "<p id=p></p><script>p.textContent = `${document.cookie} ${localStorage.l} ${sessionStorage.s}`</script>"
        + PROSE
    )
    web.fetch(page(set_all + PROSE), session="anna")

    assert "c=1 2 3" in web.text(page(tell), session="anna")
    assert "undefined undefined" in web.text(page(tell), session="bert")
    assert "undefined undefined" in web.text(page(tell))


# -- what lies over a page, and what comes by scrolling ----------------------------------------------------------------

BANNER = """<div id=cookie-banner style="position:fixed;inset:auto 0 0 0;z-index:99;background:#fff;padding:40px">
We use cookies and share personal data with our partners. <a href="/policy">Privacy policy</a>
<button onclick="said('agreed')">Accept all</button>BUTTONS</div>
<script>const said = (word) => { document.body.dataset.said = word; document.getElementById('cookie-banner').remove();
document.body.insertAdjacentHTML('beforeend', `<p>The visitor ${word}.</p>`) }</script>"""


@pytest.mark.parametrize(
    ("buttons", "said"),
    first(
        1,
        [
            ("<button onclick=\"said('refused')\">Reject all</button>", "The visitor refused."),
            ("<button onclick=\"said('refused')\">Nur notwendige Cookies</button>", "The visitor refused."),
            ("<button onclick=\"said('refused')\">Отклонить все</button>", "The visitor refused."),
            ("<button onclick=\"said('refused')\">すべて拒否する</button>", "The visitor refused."),
            ("<button onclick=\"said('agreed')\">全部接受</button><button>關閉</button>", ""),
            ("<button onclick=\"said('closed')\" aria-label=Close>×</button>", "The visitor closed."),
            ("", ""),
        ],
    ),
)
def test_consent_is_refused_and_never_given(web: Browsing, buttons: str, said: str) -> None:
    html = PROSE + BANNER.replace("BUTTONS", buttons)
    left, put_away = web.text(page(html)), web.text(page(html), dismiss_overlays=True)

    assert "The visitor" not in left
    assert (said in put_away, "agreed" in put_away, "Thread 11" in put_away) == (True, False, True)


@pytest.mark.full
def test_a_list_that_grows_is_read_to_its_end(web: Browsing) -> None:
    html = """<main><h1>Rows</h1><ul id=u></ul></main><script>let n = 0; const add = () => { for (let i = 0; i < 20 &&
    n < 100; i++) u.insertAdjacentHTML('beforeend', `<li style="height:60px">Row number ${n++} of the list.</li>`) };
    add(); addEventListener('scroll', () => { if (innerHeight + scrollY > document.body.scrollHeight - 200)
    setTimeout(add, 120) })</script>"""
    short, long = web.text(page(html)), web.text(page(html), scroll_to_load=True)

    assert ("Row number 99 of" in short, "Row number 99 of" in long) == (False, True)


@pytest.mark.full
def test_a_list_that_recycles_its_rows_is_read_whole(web: Browsing) -> None:
    html = """<style>body { margin: 0 } .row { position: absolute; left: 0; right: 0; height: 50px }</style>
    <h1>Threads</h1><div id=box style="height:400px;overflow-y:auto;position:relative">
    <div id=list style="height:10000px;position:relative"></div></div><script>
    const draw = () => { const from = Math.floor(box.scrollTop / 50); list.replaceChildren(...Array.from({length: 12},
    (_, i) => from + i).filter(i => i < 200).map(i => Object.assign(document.createElement('p'), {className: 'row',
    style: `top:${i * 50}px`, textContent: `Row number ${i} of the list.`}))) }; draw();
    box.addEventListener('scroll', () => requestAnimationFrame(draw))</script>"""

    text = web.text(page(html), scroll_to_load=True)

    assert [text.count(f"Row number {number} of") for number in range(200)] == [1] * 200


def test_a_button_for_more_is_pressed(web: Browsing) -> None:
    html = """<main><h1>Threads</h1><ul id=u></ul><button onclick=add()>Load more</button></main><script>let n = 0;
    const add = () => { for (let i = 0; i < 10 && n < 50; i++) u.insertAdjacentHTML('beforeend',
    `<li>Row number ${n++} of the list.</li>`); if (n >= 50) document.querySelector('button').remove() };
    add()</script>"""

    assert "Row number 49 of" in web.text(page(html), scroll_to_load=True)


@pytest.mark.full
def test_a_feed_without_end_is_ended(web: Browsing) -> None:
    html = """<main id=m></main><script>let n = 0; const add = () => { for (let i = 0; i < 30; i++)
    m.insertAdjacentHTML('beforeend', `<p style="height:60px">Row number ${n++} of the list.</p>`) }; add();
    addEventListener('scroll', add)</script>"""
    found = web.fetch(page(html), scroll_to_load=True)

    assert found.evidence.cut_short == "scroll"
