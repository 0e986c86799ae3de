"""What a page of one origin gets of another: no more than a browser would give it."""

from __future__ import annotations

import json
from urllib.parse import urlencode

import pytest

from tests.integration.lightweight.pages import needs_engine
from tests.integration.lightweight.showing import Showing, showing, text_of
from tests.support.scale import first, one_in

pytestmark = [needs_engine, pytest.mark.full]

SECRET = "the hidden thread"
TRY = """<main><h1>Page</h1><p id=p>waiting</p></main><script>
const show = (words) => { document.querySelector('#p').textContent = words; };
%s
</script>"""


def fetching(url: str, options: str = "{}") -> str:
    """Write a page that fetches something and shows it."""
    return TRY % (
        f"fetch({json.dumps(url)}, {options}).then(r => r.text()).then(t => show('got ' + t), e => show('refused'))"
    )


async def shown(here: Showing, body: str, **options: object) -> str:
    """Show a page, and give what it shows."""
    return text_of(await here.page(body, **options))


@pytest.mark.parametrize(
    ("headers", "read"),
    one_in(
        3,
        [
            (dict[str, str](), False),
            ({"h.Access-Control-Allow-Origin": "*"}, True),
            ({"h.Access-Control-Allow-Origin": "{origin}"}, True),
            ({"h.Access-Control-Allow-Origin": "http://stranger.example"}, False),
            ({"h.Access-Control-Allow-Origin": "null"}, False),
        ],
    ),
)
@pytest.mark.parametrize("how", ["fetch", "xhr", "sync"])
@pytest.mark.slow
async def test_a_stranger_is_read_only_if_it_allows(how: str, headers: dict[str, str], read: bool) -> None:  # noqa: FBT001 - a case
    async with showing() as here:
        origin = f"http://127.0.0.1:{here.site.port}"
        url = here.foreign(SECRET, "text/plain", **{key: value.format(origin=origin) for key, value in headers.items()})
        code = {
            "fetch": f"fetch({json.dumps(url)}).then(r => r.text()).then(t => show('got ' + t), e => show('refused'))",
            "xhr": f"const x = new XMLHttpRequest(); x.open('GET', {json.dumps(url)});"
            "x.onload = () => show('got ' + x.responseText); x.onerror = () => show('refused'); x.send()",
            "sync": f"const x = new XMLHttpRequest(); x.open('GET', {json.dumps(url)}, false);"
            "try { x.send(); show('got ' + x.responseText); } catch { show('refused'); }",
        }[how]
        text = await shown(here, TRY % code)

        assert (SECRET in text, "refused" in text) == (read, not read)


@pytest.mark.slow
async def test_its_own_origin_is_read_and_gets_the_cookies() -> None:
    async with showing() as here:
        page = await here.page(fetching("/told"), session="me")
        await here.show(here.site.url("/cookies/set?value=warp"), session="me")
        again = await here.page(fetching("/told"), session="me")

        assert '"cookie": ""' in text_of(page)
        assert '"cookie": "kept=warp"' in text_of(again)


async def test_a_stranger_gets_the_origin_and_no_cookie() -> None:
    async with showing() as here:
        await here.show(here.site.url("/cookies/set"), session="me")
        await here.show(f"http://localhost:{here.other.port}/cookies/set", session="me")
        url = f"http://localhost:{here.other.port}/told"
        await here.page(fetching(url, "{credentials: 'include'}"), session="me")

        headers = here.other.last("/told").headers
        assert "cookie" not in headers
        assert headers["origin"] == f"http://127.0.0.1:{here.site.port}"
        assert headers["referer"] == f"http://127.0.0.1:{here.site.port}/"


async def test_another_port_of_the_same_host_is_a_stranger_to_scripts() -> None:
    async with showing() as here:
        await here.show(here.site.url("/cookies/set"), session="me")
        page = await here.page(fetching(here.other.url("/asked?body=x")), session="me")
        nobody = await here.page(fetching(here.other.url("/asked?body=x")))

        assert "refused" in text_of(page)
        assert "cookie" not in here.other.last("/asked").headers
        assert "cookies_withheld" in page.evidence.escalate
        assert "cookies_withheld" not in nobody.evidence.escalate


@pytest.mark.parametrize(
    ("options", "allowed"),
    first(
        1,
        [
            ("{method: 'PUT', body: 'x'}", {"h.Access-Control-Allow-Methods": "PUT"}),
            ("{method: 'DELETE'}", {"h.Access-Control-Allow-Methods": "DELETE"}),
            ("{headers: {'X-Loom': '1'}}", {"h.Access-Control-Allow-Headers": "x-loom"}),
            (
                "{method: 'POST', body: '{}', headers: {'Content-Type': 'application/json'}}",
                {"h.Access-Control-Allow-Headers": "content-type"},
            ),
        ],
    ),
)
@pytest.mark.slow
async def test_what_is_not_simple_is_asked_for_first(options: str, allowed: dict[str, str]) -> None:
    async with showing() as here:
        refused = await shown(
            here, fetching(here.foreign("yes", "text/plain", **{"h.Access-Control-Allow-Origin": "*"}), options)
        )
        before = [ask.method for ask in here.other.asked]
        granting = {"h.Access-Control-Allow-Origin": "*", **allowed}
        granted = await shown(here, fetching(here.foreign("yes", "text/plain", **granting), options))

        assert "refused" in refused
        assert before == ["OPTIONS"]
        assert "got yes" in granted
        assert [ask.method for ask in here.other.asked][1] == "OPTIONS"
        assert len(here.other.asked) == 3


async def test_the_body_of_a_post_arrives_as_it_was() -> None:
    async with showing() as here:
        text = await shown(here, fetching("/told", "{method: 'POST', body: new Uint8Array([0, 255, 10])}"))

        assert '"method": "POST"' in text
        assert here.site.last("/told").headers["content-length"] == "3"


async def test_a_redirect_to_a_stranger_is_judged_at_each_hop() -> None:
    async with showing() as here:
        secret = here.foreign(SECRET, "text/plain")
        open_one = here.foreign(SECRET, "text/plain", **{"h.Access-Control-Allow-Origin": "*"})
        shut = await shown(here, fetching(f"/redirect/private?{urlencode({'to': secret})}"))
        wide = await shown(here, fetching(f"/redirect/private?{urlencode({'to': open_one})}"))

        assert "refused" in shut
        assert SECRET in wide


async def test_a_stranger_that_sends_on_must_allow_that() -> None:
    async with showing() as here:
        home = here.site.url(f"/asked?{urlencode({'body': SECRET, 'h.Access-Control-Allow-Origin': '*'})}")
        back = f"http://localhost:{here.other.port}/redirect/private?{urlencode({'to': home})}"

        assert "refused" in await shown(here, fetching(back))


async def test_a_page_cannot_take_the_place_of_another() -> None:
    """PushState to a foreign origin would show that site's cookies, and make its requests look like that site's own."""
    async with showing() as here:
        target = f"http://localhost:{here.other.port}"
        url = here.foreign(SECRET, "text/plain")
        code = (
            f"try {{ history.pushState({{}}, '', '{target}/'); show('moved'); }}"
            "catch (e) { show('held ' + e.name); }"
            f"fetch({json.dumps(url)}).then(r => r.text()).then(t => show('got ' + t), () => 0)"
        )
        page = await here.page(TRY % code)

        assert "held SecurityError" in text_of(page)
        assert SECRET not in text_of(page)
        assert page.final_url.startswith(here.site.url("/asked"))


async def test_a_page_may_take_another_address_of_its_own() -> None:
    async with showing() as here:
        page = await here.page(
            TRY % "history.pushState({}, '', '/notes?thread=3'); show('moved to ' + location.pathname)"
        )

        assert "moved to /notes" in text_of(page)
        assert page.final_url == here.site.url("/notes?thread=3")


async def test_a_copy_of_pushstate_from_a_frame_is_held_as_well() -> None:
    async with showing() as here:
        target = f"http://localhost:{here.other.port}/"
        code = (
            "const frame = document.createElement('iframe'); document.body.append(frame);"
            "const copy = frame.contentWindow.History.prototype.pushState;"
            f"try {{ copy.call(history, {{}}, '', '{target}'); show('moved'); }} catch (e) {{ show('held'); }}"
        )
        page = await here.page(TRY % code)

        assert "held" in text_of(page)
        assert page.final_url.startswith(here.site.url("/asked"))


async def test_a_foreign_frame_asks_as_itself() -> None:
    """A frame of another site reads its own, not the page's, and carries none of the page's cookies."""
    async with showing() as here:
        await here.show(here.site.url("/cookies/set"), session="me")
        own = here.site.url("/told")
        inner = f"<p>frame</p><script>fetch('/told'); fetch({json.dumps(own)}, {{credentials: 'include'}})</script>"
        frame = here.foreign(inner)
        await here.page(TRY % "show('page')" + f"<iframe src='{frame.replace(chr(39), '%27')}'></iframe>", session="me")

        assert "cookie" not in here.site.last("/told").headers
        assert here.site.last("/told").headers["origin"] == f"http://localhost:{here.other.port}"
        assert "origin" not in here.other.last("/told").headers


async def test_the_cookies_of_other_sites_never_reach_a_page() -> None:
    async with showing() as here:
        await here.show(f"http://localhost:{here.other.port}/cookies/set?value=theirs", session="me")
        frame = here.foreign("<script>document.title = document.cookie; fetch('/told')</script>")
        page = await here.page(
            TRY % "show('mine: ' + document.cookie)" + f"<iframe src='{frame.replace(chr(39), '%27')}'></iframe>",
            session="me",
        )

        assert "theirs" not in text_of(page)
        assert "cookie" not in here.other.last("/told").headers


@pytest.mark.parametrize("allowed", [True, False])
async def test_json_of_a_stranger_is_no_module_unless_it_allows(allowed: bool) -> None:  # noqa: FBT001 - a case
    async with showing() as here:
        headers = {"h.Access-Control-Allow-Origin": "*"} if allowed else {}
        url = here.foreign(json.dumps({"words": SECRET}), "application/json", **headers)
        loading = f"import({json.dumps(url)}, {{with: {{type: 'json'}}}})"
        code = f"{loading}.then(m => show(m.default.words), () => show('refused'))"
        text = await shown(here, TRY % code)

        assert (SECRET in text, "refused" in text) == (allowed, not allowed)


async def test_headers_of_a_stranger_are_hidden_unless_exposed() -> None:
    async with showing() as here:
        headers = {
            "h.Access-Control-Allow-Origin": "*",
            "h.X-One": "1",
            "h.X-Two": "2",
            "h.Access-Control-Expose-Headers": "X-Two",
        }
        url = here.foreign("x", "text/plain", **headers)
        telling = "show('one ' + r.headers.get('x-one') + ' two ' + r.headers.get('x-two'))"
        code = f"fetch({json.dumps(url)}).then(r => {telling})"

        assert "one null two 2" in await shown(here, TRY % code)


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "http://10.0.0.1/",
        "http://169.254.169.254/latest",
        "ftp://127.0.0.1/",
        "http://127.0.0.1:22/",
    ],
)
async def test_nothing_private_is_reached_from_inside(url: str) -> None:
    async with showing() as here:
        assert "refused" in await shown(here, fetching(url))


ACTING = """<script>document.cookie = 'mine=1'; fetch('/told'); fetch('//localhost:PORT/told?' + document.cookie);
parent.fetch('/told?parent'); localStorage.mine = 1</script>"""

FRAMES = {
    "src": "<iframe sandbox='{allowed}' src={source}></iframe>",
    "srcdoc": "<iframe title='a' sandbox='{allowed}' srcdoc={html}></iframe>",
    "attribute": """<script>const f = document.createElement('iframe'); f.setAttribute('sandbox', '{allowed}');
        f.setAttribute('srcdoc', {html}); document.body.append(f)</script>""",
    "property": """<script>const f = document.createElement('iframe'); f.sandbox = '{allowed}';
        f.srcdoc = {html}; document.body.append(f)</script>""",
    "html": """<script>document.body.insertAdjacentHTML('beforeend',
        `<iframe sandbox='{allowed}' srcdoc="` + {html}.replaceAll('"', '&quot;') + '"></iframe>')</script>""",
    "blob": """<script>const f = document.createElement('iframe'); f.sandbox = '{allowed}';
        f.src = URL.createObjectURL(new Blob([{html}], {{type: 'text/html'}})); document.body.append(f)</script>""",
    "written": """<script>const f = document.createElement('iframe'); f.sandbox = '{allowed}'; document.body.append(f);
        f.contentDocument.write({html})</script>""",
}


@pytest.mark.parametrize("allowed", one_in(4, ["", "allow-scripts", "allow-same-origin"]))
@pytest.mark.parametrize("how", FRAMES)
@pytest.mark.slow
async def test_a_frame_that_a_page_confines_cannot_act_for_a_login(how: str, allowed: str) -> None:
    async with showing() as here:
        await here.show(here.site.url("/cookies/set"), session="me")
        inner = ACTING.replace("PORT", str(here.other.port)).replace('"', "'")
        html = json.dumps(inner).replace("</", "<\\/") if "<script>" in FRAMES[how] else json.dumps(inner)
        frame = FRAMES[how].format(allowed=allowed, html=html, source=here.at(inner))
        page = await here.page(TRY % "show('page')" + frame, session="me")
        again = await here.page(TRY % "show('kept ' + document.cookie + localStorage.mine)", session="me")

        assert (here.site.hits["/told"], here.other.hits["/told"]) == (0, 0)
        assert {"sandboxed_frame", "cut_short"}.intersection(page.evidence.escalate)
        assert "page" in text_of(page)
        assert text_of(again).endswith("kept undefined")


async def test_without_a_login_a_frame_that_is_confined_may_run() -> None:
    async with showing() as here:
        page = await here.page(TRY % "show('page')" + '<iframe sandbox srcdoc="<p>frame</p>"></iframe>')

        assert page.evidence.cut_short == ""
        assert "frame" in text_of(page)
