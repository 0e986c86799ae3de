"""What the tier reads of a page, whichever way the page came to show it."""

from __future__ import annotations

import json
from urllib.parse import urlencode

import pytest

from protocol.faults import Code, FaultError
from protocol.tiers import RenderTier
from tests.integration.lightweight.pages import needs_engine
from tests.integration.lightweight.showing import showing, text_of
from tests.site.scripted import ARTICLE
from tests.support.scale import one_in

pytestmark = needs_engine


def main(inner: str, code: str = "") -> str:
    return f"<!doctype html><title>Page</title><main><h1>Page</h1>{inner}</main><script>{code}</script>"


SHOWN = {
    "text": ("<p id=p></p>", "p.textContent = WORDS"),
    "shadow": (
        "<x-a></x-a>",
        """customElements.define('x-a', class extends HTMLElement { connectedCallback() {
            this.attachShadow({mode: 'open'}).innerHTML = `<p>${WORDS}</p>`; } })""",
    ),
    "closed": (
        "<x-b></x-b>",
        """customElements.define('x-b', class extends HTMLElement { connectedCallback() {
            const root = this.attachShadow({mode: 'closed'});
            root.innerHTML = this.shadowRoot ? 'open' : `<p>${WORDS}</p>`; } })""",
    ),
    "slot": (
        "<x-c><b slot=s></b></x-c>",
        """document.querySelector('b').textContent = WORDS;
        const root = document.querySelector('x-c').attachShadow({mode: 'open'});
        root.innerHTML = '<p><slot name=s>none</slot></p>'""",
    ),
    "frame": (
        "<iframe srcdoc='<p id=q></p>'></iframe>",
        """document.querySelector('iframe').onload = (e) => {
            e.target.contentDocument.body.innerHTML = `<p>${WORDS}</p>`; }""",
    ),
    "write": (
        "",
        """document.open(); document.write(`<main><h1>Page</h1><p>${WORDS}</p></main>`); document.close()""",
    ),
    "deep": (
        "<div></div>",
        """let d = document.querySelector('div');
        for (let i = 0; i < 5200; i++) { const e = document.createElement('div'); d.append(e); d = e; }
        d.textContent = WORDS""",
    ),
    "worker": (
        "<p id=p></p>",
        """const w = new Worker(URL.createObjectURL(new Blob(['postMessage(1)'])));
        w.onmessage = () => { p.textContent = WORDS; }""",
    ),
}


@pytest.mark.parametrize(("inner", "code"), one_in(2, SHOWN.values()), ids=SHOWN)
@pytest.mark.slow
async def test_what_a_page_shows_is_read(inner: str, code: str) -> None:
    async with showing() as here:
        page = await here.page(main(inner, f"const WORDS = {json.dumps(ARTICLE)}; {code}"), include_html=True)

        html = page.document.content.html
        assert ARTICLE in str(html)
        assert (page.tier, page.status, page.evidence.cut_short) == (RenderTier.LIGHTWEIGHT, 200, "")


async def test_what_styles_take_away_is_not_read() -> None:
    async with showing() as here:
        style = here.at(".menu { display: none } @media print { p { display: none } }", "text/css")
        body = f"<link rel=stylesheet href='{style}'>" + main(
            f"<p>{ARTICLE}</p><p class=menu>Menu of the loom</p><details><summary>More</summary><p>Folded</p></details>"
        )
        page = await here.page(body, include_html=True)

        assert ARTICLE in text_of(page)
        assert "Menu of the loom" not in text_of(page)
        assert "Folded" in str(page.document.content.html)


async def test_styles_that_take_away_most_of_a_page_are_not_believed() -> None:
    async with showing() as here:
        page = await here.page(main(f"<style>.all {{ display: none }}</style><div class=all><p>{ARTICLE}</p></div>"))

        assert ARTICLE in str(page.document.content.markdown) + str(page.document.content.text)


CHANGES = (
    "window.setTimeout = window.requestAnimationFrame = () => 0",
    "window.Promise = class {}",
    "JSON.stringify = () => 'forged'",
    "Date.now = () => 0; performance.now = () => 0",
    "window.MutationObserver = class { observe() {} }",
    "Object.prototype.then = (f) => f('forged'); Object.prototype.toJSON = () => 'forged'",
    """Array.prototype[Symbol.iterator] = Array.prototype.push = Map.prototype.get = null;
    Function.prototype.call = Function.prototype.apply = () => 'forged'""",
    """Object.defineProperty(document, 'body', {get: () => null});
    Object.defineProperty(Node.prototype, 'firstChild', {get: () => null})""",
    """for (const n of Object.getOwnPropertyNames(window)) {
        if (n.startsWith('_')) { try { window[n] = () => 'x' } catch {} } }""",
)


@pytest.mark.parametrize("code", CHANGES)
async def test_a_page_that_changes_the_built_ins_is_read_all_the_same(code: str) -> None:
    async with showing() as here:
        page = await here.page(main(f"<p>{ARTICLE}</p>", code))

        assert ARTICLE in text_of(page)
        assert page.evidence.cut_short == ""


async def test_redirects_of_documents_and_scripts_are_followed_here() -> None:
    async with showing() as here:
        target = here.at(main(f"<p>{ARTICLE}</p>"))
        moved = f"/redirect/private?{urlencode({'to': target})}"
        page = await here.page(main("", f"location.href = {json.dumps(moved)}"), include_network=True)

        assert ARTICLE in text_of(page)
        assert page.final_url.startswith(here.site.url("/asked?"))
        assert [exchange.status for exchange in page.network][:3] == [200, 302, 200]


async def test_a_script_that_is_sent_on_runs() -> None:
    async with showing() as here:
        target = here.at("p.textContent = 'ran'", "text/javascript")
        page = await here.page(
            main(f"<p id=p></p><script src='/redirect/private?{urlencode({'to': target})}'></script>")
        )

        assert "ran" in text_of(page)


async def test_a_json_module_is_read() -> None:
    async with showing() as here:
        module = here.at(json.dumps({"words": ARTICLE}), "application/json")
        loading = f"import({json.dumps(module)}, {{with: {{type: 'json'}}}})"
        code = f"{loading}.then(m => {{ p.textContent = m.default.words; }})"

        assert ARTICLE in text_of(await here.page(main("<p id=p></p>", code)))


@pytest.mark.full
@pytest.mark.slow
async def test_a_page_that_goes_where_nothing_is_stays() -> None:
    async with showing() as here:
        page = await here.page(main(f"<p>{ARTICLE}</p>", "location.href = '/hangup'"))

        assert ARTICLE in text_of(page)
        assert "Navigation failed" not in text_of(page)


async def test_what_a_page_asks_for_becomes_apis_and_records() -> None:
    async with showing() as here:
        url = here.at('{"items": [1], "token": "abc"}', "application/json") + "&page=2&api_key=secret"
        code = f"fetch({json.dumps(url)}, {{headers: {{Authorization: 'Bearer abc'}}}}).then(r => r.json())"
        page = await here.page(main(f"<p>{ARTICLE}</p>", code), include_network=True)

        api = page.apis[0]
        assert (api.endpoint, api.method, api.confidence, api.can_bypass) == (
            here.site.url("/asked"),
            "GET",
            "medium",
            False,
        )
        assert (api.auth_type, api.auth_headers, api.response_type) == (
            "bearer",
            {"authorization": "[redacted]"},
            "application/json",
        )
        assert "secret" not in str(page.apis) + page.network[-1].url
        assert page.network[-1].response_body == {"items": [1], "token": "abc"}
        assert page.network[-1].request_headers["authorization"] == "[redacted]"


async def test_the_console_and_dialogs_are_told() -> None:
    async with showing() as here:
        code = "console.log('one', {two: 2}); console.warn('three'); alert('four'); show.none()"
        page = await here.page(main(f"<p>{ARTICLE}</p>", code), include_console=True)
        quiet = await here.page(main(f"<p>{ARTICLE}</p>", code))

        assert [(line.level, line.text) for line in page.console][:2] == [
            ("log", 'one {"two":2}'),
            ("warning", "three"),
        ]
        assert page.console[2].level == "error"
        assert [(dialog.kind, dialog.message) for dialog in page.dialogs] == [("alert", "four")]
        assert quiet.console == ()


@pytest.mark.full
@pytest.mark.slow
async def test_an_element_is_waited_for() -> None:
    async with showing() as here:
        words = "Now the loom is ready for a thread of the warp that lies beside the last one."
        done = f"document.querySelector('main').id = 'ready'; p.textContent = '{words}'"
        code = f"setTimeout(() => {{ {done} }}, 1500)"
        page = await here.page(main(f"<p>{ARTICLE}</p><p id=p></p>", code), wait_for_selector="main#ready")
        never = await here.page(main(f"<p>{ARTICLE}</p>", "0"), wait_for_selector="#never")

        assert words in text_of(page)
        assert "selector_missing" in never.evidence.escalate


async def test_more_is_loaded_by_scrolling_and_pressing() -> None:
    async with showing() as here:
        code = (
            "let n = 0; const add = (w) => { const e = document.createElement('p'); e.textContent = w + ' ' + (++n);"
            "document.querySelector('main').append(e); };"
            "const press = () => { if (n < 3) fetch('/told').then(() => add('pressed')); };"
            "document.querySelector('button').onclick = press;"
        )
        body = main(f"<p>{ARTICLE}</p><button>Load more</button>", code)
        page = await here.page(body, scroll_to_load=True)
        plain = await here.page(body)

        assert "pressed 3" in text_of(page)
        assert "pressed" not in text_of(plain)


@pytest.mark.parametrize("path", ["/article", "/json", "/text", "/csv", "/feed", "/table"])
async def test_what_needs_no_engine_gets_none(path: str) -> None:
    async with showing() as here:
        page = await here.show(here.site.url(path))

        assert page.status == 200
        assert page.tier is RenderTier.LIGHTWEIGHT


async def test_an_error_of_the_site_is_the_answer() -> None:
    async with showing() as here:
        page = await here.show(here.site.url("/status/503"))
        with pytest.raises(FaultError) as caught:
            await here.show(here.site.url("/hangup"))

        assert (page.status, page.retry_after_ms) == (503, 120_000)
        assert caught.value.fault.code is Code.NETWORK_CONNECTION_FAILED
