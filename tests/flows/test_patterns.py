"""A page whose API is known needs no page: learned from visits, asked instead, and never believed when it changes."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from urllib.parse import unquote

import pytest
from msgspec import UNSET
from rapidfuzz.distance import Indel

from protocol.browse import BrowseResult, DecisionTrace
from protocol.tiers import RenderTier
from tests.flows.system import System, refused, weft_up
from tests.requirements import requirement
from tests.site import Site, site_in_thread
from tests.site.answers import Answer, Ask, Reply, text

pytestmark = [pytest.mark.nats, pytest.mark.browser, pytest.mark.slow]

LEARN_S = 240.0
POLL_S = 0.1
ALIKE = 0.98

THREADS = ("Merino", "Cotton", "Linen", "Hemp", "Silk", "Alpaca", "Mohair", "Ramie", "Jute", "Cashmere")
SENTENCE = "It lies beside the warp, takes the dye of {name} evenly, and holds {number} turns to the inch of cloth."


TOKEN = "members-token-4711"
_JSON = (("Content-Type", "application/json"), ("Cache-Control", "no-store"))


@dataclass
class Mill:
    """A shop of yarn whose pages are an empty frame: its script asks an API for what they say.

    `named` is the field that the API has the name of a yarn in; the script knows it, too.
    """

    named: str = "title"
    documents: int = 0
    posted: int = 0
    asked: list[str] = field(default_factory=list[str])

    def __call__(self, ask: Ask) -> Answer:
        if ask.method == "POST":
            self.posted += 1
            return _json({"seen": self.posted})
        if ask.path.startswith("/api/"):
            return self._api(ask)
        if ask.path.endswith(".js"):
            body = _SCRIPTS[ask.path].replace("NAMED", self.named)
            return Reply(200, body.encode(), (("Content-Type", "text/javascript"), ("Cache-Control", "no-store")))
        self.documents += 1
        script = {"": "list", "orders": "order"}.get(ask.path.split("/")[1], "detail")
        frame = f"<!doctype html><title>The mill</title><div id=root></div><script src=/{script}.js></script>"
        return text(frame, headers=(("Set-Cookie", "member=17; Path=/"),) if script == "order" else ())

    def _api(self, ask: Ask) -> Answer:
        self.asked.append(ask.path)
        number = unquote(ask.path.rpartition("/")[2])
        if number == "yarns":
            return _json({"yarns": [self.yarn(each) for each in range(len(THREADS))]})
        token, cookie = ask.headers.get("authorization", ""), ask.headers.get("cookie", "")
        if ask.path.startswith("/api/orders/") and (token != f"Bearer {TOKEN}" or "member=" not in cookie):
            return Reply(401, b"{}", _JSON)
        known = number.isdecimal() and int(number) < len(THREADS)
        return _json(self.yarn(int(number))) if known else Reply(404, b'{"error": "not found"}', _JSON)

    def was_asked(self, path: str) -> bool:
        """Return whether the API was asked for something."""
        return path in self.asked

    def yarn(self, number: int) -> dict[str, object]:
        """Return what the API says of a yarn."""
        name = f"{THREADS[number]} yarn no. {number + 40}"
        about = [SENTENCE.format(name=name, number=place * 3 + number + 7) for place in range(6)]
        facts = {"weight": 50 + number, "length": 120 + 7 * number}
        return {"id": number, self.named: name, "about": about, "price": 4.5 + number, "facts": facts}


def _json(value: object) -> Reply:
    return Reply(200, json.dumps(value).encode(), _JSON)


_LIST = """
fetch('/api/yarns').then(r => r.json()).then(({yarns}) => {
  document.title = 'All yarns';
  document.getElementById('root').innerHTML = '<main><h1>All yarns</h1>' + yarns.map(y =>
    `<article><h2><a href="/yarns/${y.id}">${y.NAMED}</a></h2><p>${y.about[0]}</p></article>`).join('') + '</main>';
});
"""
_DETAIL = """
const id = location.pathname.split('/').pop();
fetch('/api/views', {method: 'POST', body: JSON.stringify({id}), headers: {'content-type': 'application/json'}});
fetch('/api/yarns/' + id).then(r => r.ok ? r.json() : null).then(y => {
  const root = document.getElementById('root');
  if (!y) { root.innerHTML = '<main><h1>Not found</h1><p>There is no such yarn.</p></main>'; return; }
  document.title = y.NAMED;
  root.innerHTML = `<main><article><h1>${y.NAMED}</h1>${y.about.map(p => `<p>${p}</p>`).join('')}
    <h2>Facts</h2><table><thead><tr><th>Fact</th><th>Value</th></tr></thead><tbody>
    <tr><td>Weight</td><td>${y.facts.weight} g</td></tr><tr><td>Length</td><td>${y.facts.length} m</td></tr>
    </tbody></table></article></main>`;
});
"""


_ORDER = """
localStorage.setItem('auth', JSON.stringify({token: 'TOKEN'}));
const headers = {authorization: 'Bearer ' + JSON.parse(localStorage.getItem('auth')).token};
fetch('/api/orders/' + location.pathname.split('/').pop(), {headers}).then(r => r.json()).then(y => {
  document.title = 'Order of ' + y.NAMED;
  document.getElementById('root').innerHTML =
    `<main><article><h1>Order of ${y.NAMED}</h1>${y.about.map(p => `<p>${p}</p>`).join('')}</article></main>`;
});
""".replace("TOKEN", TOKEN)
_SCRIPTS = {"/list.js": _LIST, "/detail.js": _DETAIL, "/order.js": _ORDER}


@pytest.fixture(scope="module")
def system(tmp_path_factory: pytest.TempPathFactory) -> Generator[System]:
    """Run a Weft of our own: what it learns is what these tests are about."""
    with weft_up(tmp_path_factory.mktemp("patterns")) as system:
        yield system


@pytest.fixture
def mill() -> Mill:
    return Mill()


@pytest.fixture
def site(mill: Mill) -> Generator[Site]:
    with site_in_thread(answers=mill) as site:
        yield site


def by_pattern(result: BrowseResult) -> bool:
    return result.learning_insights is not UNSET and result.learning_insights.patterns_applied == 1


def trace(result: BrowseResult) -> DecisionTrace:
    assert result.decision_trace is not UNSET
    return result.decision_trace


def learn(weft: System, site: Site, numbers: range, path: str = "/yarns/", **options: object) -> None:
    """Visit pages until the last of them is made by what the others taught."""
    for number in numbers:
        weft.page(site.url(f"{path}{number}"), forceTier="playwright", **options)
    last = site.url(f"{path}{numbers[-1]}")
    wait_until(lambda: by_pattern(weft.page(last, **options)), weft)


def assert_as_rendered(weft: System, url: str) -> None:
    """Check that a page comes by a pattern, and is what a browser shows."""
    made, rendered = weft.page(url), weft.page(url, forceTier="playwright")
    assert by_pattern(made)
    assert (made.title, made.tables) == (rendered.title, rendered.tables)
    assert Indel.normalized_similarity(made.content.text, rendered.content.text) >= ALIKE


@requirement("000.4.usage")
def test_a_page_that_nobody_has_visited_comes_from_the_api_alone(system: System, site: Site, mill: Mill) -> None:
    learn(system, site, range(3))
    documents, posted, asked = mill.documents, mill.posted, len(mill.asked)

    foreseen = system.http.post("/api/browse/preview", json={"url": site.url("/yarns/7")}).json()["tiers"][0]
    found = system.page(site.url("/yarns/7"), includeDecisionTrace=True)
    assert (mill.documents, mill.posted, mill.asked[asked:]) == (documents, posted, ["/api/yarns/7"])

    (tier,) = trace(found).tiers
    assert (tier.tier, tier.success, tier.pattern is not UNSET) == (RenderTier.INTELLIGENCE, True, True)
    assert (foreseen["tier"], foreseen["latency"]["source"]) == (RenderTier.INTELLIGENCE, "history")
    assert found.learning_insights is not UNSET
    assert (foreseen["pattern"],) == found.learning_insights.skills_used
    assert_as_rendered(system, site.url("/yarns/7"))


@pytest.mark.full
def test_an_api_that_changes_its_fields_is_not_believed(system: System, site: Site, mill: Mill) -> None:
    learn(system, site, range(3))
    mill.named = "name"

    found = system.page(site.url("/yarns/8"), includeDecisionTrace=True)
    again = system.page(site.url("/yarns/9"), includeDecisionTrace=True)

    first, *rest = trace(found).tiers
    assert (first.success, first.pattern is not UNSET, rest[-1].success) == (False, True, True)
    assert "Jute yarn no. 48" in found.content.text
    assert "Cashmere yarn no. 49" in again.content.text

    learn(system, site, range(3))
    assert_as_rendered(system, site.url("/yarns/5"))


def test_what_a_login_has_taught_is_used_with_that_login_alone(system: System, site: Site, mill: Mill) -> None:
    system.keep_login("work")
    learn(system, site, range(3), "/orders/", sessionProfile="work")
    documents, asked = mill.documents, len(mill.asked)

    found = system.page(site.url("/orders/7"), sessionProfile="work")
    assert (by_pattern(found), mill.documents, mill.asked[asked:]) == (True, documents, ["/api/orders/7"])
    assert found.title == "Order of Ramie yarn no. 47"
    assert site.last("/api/orders/7").headers["authorization"] == f"Bearer {TOKEN}"

    assert not by_pattern(system.page(site.url("/orders/8")))
    assert mill.documents > documents


@pytest.mark.full
@pytest.mark.parametrize("actor", ["learner", "navigator"])
def test_whoever_is_killed_while_patterns_are_learned_leaves_nothing_wrong(
    system: System, site: Site, mill: Mill, actor: str
) -> None:
    """Killed in the middle of two visits, and once more where a page was given that teaches something."""
    with ThreadPoolExecutor() as visitors:
        for number in range(2):
            pid = replica(system, actor)
            visit = visitors.submit(system.browse, site.url(f"/yarns/{number}"), forceTier="playwright")
            wait_until(partial(mill.was_asked, f"/api/yarns/{number}"), system)
            os.kill(pid, signal.SIGKILL)
            assert visit.result().status_code == 200 or refused(visit.result()).retryable
    pid = replica(system, actor)
    system.page(site.url("/yarns/2"), forceTier="playwright")
    os.kill(pid, signal.SIGKILL)
    replica(system, actor)
    learn(system, site, range(3, 6))

    assert_as_rendered(system, site.url("/yarns/6"))
    trusted = [str(one["page"]) for one in patterns_of(system) if one["canBypass"]]
    assert [one.partition("{")[0] for one in trusted if one.startswith(site.url("/"))] == [site.url("/yarns/")]


def patterns_of(system: System) -> list[dict[str, object]]:
    """Return what is kept of this machine's sites."""
    found: list[dict[str, object]] = system.http.get("/api/patterns").json()["patterns"]
    return found


def replica(system: System, actor: str) -> int:
    """Return the process of an actor, once it lives."""
    found = list[int]()

    def is_there() -> bool:
        found[:] = [int(str(one["pid"])) for one in system.replicas() if one["actor"] == actor]
        return bool(found)

    wait_until(is_there, system)
    return found[0]


def wait_until(is_so: Callable[[], bool], system: System) -> None:
    """Wait, and fail with the log when it takes too long."""
    until = time.monotonic() + LEARN_S
    while not is_so():
        assert time.monotonic() < until, system.log.read_text()[-4000:]
        time.sleep(POLL_S)
