"""What REST tells before a page is asked for, whole: over the gateway, the navigator and the fetchers."""

from __future__ import annotations

import anyio
import httpx2
import msgspec
import pytest

from protocol.domains import DomainKnowledge, LatencySource, Preview
from protocol.faults import Code
from protocol.tiers import TIERS
from tests.flows.system import CALL_S, System, refused, silent_site
from tests.site import Site

pytestmark = pytest.mark.nats

EVENTS = {"Accept": "text/event-stream"}


def preview(weft: System, url: str, **options: object) -> Preview:
    answer = weft.http.post("/api/browse/preview", json={"url": url, "options": options})
    assert answer.status_code == 200, answer.text
    return msgspec.json.decode(answer.content, type=Preview)


def test_a_preview_asks_nothing_of_the_site(weft: System, site: Site) -> None:
    url = site.url("/article?preview")
    before = dict(site.hits)

    told = preview(weft, url)

    assert dict(site.hits) == before
    assert (told.url, [tier.tier for tier in told.tiers], told.cost.most) == (url, list(TIERS), 31)
    assert (told.cached, told.obstacles, {tier.available for tier in told.tiers}) == (False, (), {True})


def test_a_preview_knows_of_a_page_that_is_stored(weft: System, site: Site) -> None:
    url = site.url("/fresh/60?age=60&preview")
    weft.page(url)

    told, anew = preview(weft, url), preview(weft, url, freshnessRequirement="realtime")

    assert (told.cached, told.latency.source, anew.cached) == (True, LatencySource.CACHE, False)


def test_a_preview_tells_what_is_never_fetched(weft: System) -> None:
    told = preview(weft, "ftp://files.example/")

    assert [one.code for one in told.obstacles] == [Code.SECURITY_URL_BLOCKED]


def test_options_that_contradict_each_other_are_told_with_their_field(weft: System, site: Site) -> None:
    options = {"forceTier": "playwright", "maxCostTier": "intelligence"}
    answer = weft.http.post("/api/browse/preview", json={"url": site.url("/article"), "options": options})

    assert (answer.status_code, refused(answer).field) == (400, "options.forceTier")


def test_a_domain_that_nobody_visited_is_not_known(weft: System) -> None:
    answer = weft.http.get("/api/domains/nobody.example")

    told = msgspec.json.decode(answer.content, type=DomainKnowledge)
    assert (answer.status_code, told.domain, told.known, told.tiers) == (200, "nobody.example", False, ())
    assert (told.saved_logins, told.apis) == (0, ())


@pytest.mark.parametrize("domain", ["Bücher.example", "xn--bcher-kva.example"])
def test_a_domain_may_be_written_in_its_own_letters(weft: System, domain: str) -> None:
    cookie = {"name": "sid", "value": "1", "domain": "xn--bcher-kva.example", "path": "/"}
    body = {"domain": domain, "profile": "letters", "state": {"cookies": [cookie]}}
    saved = weft.http.post("/api/sessions", json=body)
    answer = weft.http.get(f"/api/domains/{domain}")
    gone = weft.http.delete(f"/api/sessions/{domain}", params={"profile": "letters"})

    known = msgspec.json.decode(answer.content, type=DomainKnowledge)
    assert (saved.status_code, gone.status_code) == (200, 200), saved.text + gone.text
    assert (answer.status_code, known.domain, known.saved_logins) == (200, "bücher.example", 1)


def test_letters_that_name_no_host_are_refused_with_their_field(weft: System) -> None:
    answer = weft.http.get("/api/domains/a℀b.example")

    assert (answer.status_code, refused(answer).field) == (400, "domain")


async def test_who_closes_the_stream_of_a_page_stops_the_work_down_to_the_site(weft: System) -> None:
    headers = {"Authorization": f"Bearer {weft.key}", **EVENTS}
    with anyio.fail_after(CALL_S):
        async with silent_site() as silence:
            async with (
                httpx2.AsyncClient(base_url=weft.ready.rest, headers=headers, trust_env=False, timeout=CALL_S) as http,
                http.stream("POST", "/api/browse", json={"url": silence.url}) as answer,
            ):
                assert answer.headers["content-type"].startswith("text/event-stream")
                await silence.asked.wait()

            await silence.left.wait()
