"""Whoever follows the first action of each error blindly gets what can be got, and comes to an end with the rest."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, cast

import anyio
import pytest
from mcp import Client

from protocol.actions import Action
from tests.conftest import COUNTS
from tests.flows.mcp_clients import connected
from tests.flows.system import CALL_S, System
from tests.requirements import requirement
from tests.site import Site
from tests.site.healing import (
    AILMENTS,
    COURSES,
    NEVER,
    WORDS,
    Ailment,
    Course,
    broken,
    challenge,
    consent,
    crashing,
    dripping,
    empty,
    home,
    hung,
    in_browser,
    later,
    logged_in,
    shell,
    silent,
    slow,
    stand_in,
    status,
    wall,
)
from tests.support.scale import is_full

pytestmark = [pytest.mark.nats, pytest.mark.browser, pytest.mark.slow]

MOST_CALLS = 3
"""What a page that can be had may take."""

MOST_ASKED = 4
SHARE = 0.9
AT_ONCE = 3
EVERY = 3
"""One case in so many is always tried."""

PROFILE = "healer"
HALF = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5000\r\n\r\nhalf"


@dataclass(frozen=True)
class Case:
    """A page that fails at first: how it is asked for, and whether it can be had at all."""

    name: str
    ailment: Ailment | None = None
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    body: Mapping[str, Any] | None = None
    url: str = ""
    curable: bool = True


@dataclass
class Walk:
    """What came of following the advice: the calls without what they say of the attempt, and how it ended."""

    case: Case
    calls: list[str] = field(default_factory=list[str])
    codes: list[str] = field(default_factory=list[str])
    got: bool = False
    looped: bool = False
    ended: bool = False

    @property
    def line(self) -> str:
        return f"{self.case.name}: {' > '.join(self.codes)}{' > page' if self.got else ''} ({len(self.calls)} calls)"


def _healing() -> list[Case]:
    """List what heals after a call, after two, and after some seconds."""
    found: list[Case] = []
    for number in (500, 502, 503, 504, 520, 521, 522, 529):
        found += [
            Case(f"{number}-once", Ailment(status(number))),
            Case(f"{number}-twice", Ailment(status(number), calls=2)),
            Case(f"{number}-seconds", Ailment(status(number), seconds=4.0)),
        ]
    breaks: Mapping[str, Callable[..., Any]] = {
        "reset": broken(HALF, reset=True),
        "cut": broken(HALF),
        "hangup": broken(),
        "garbage": broken(b"SSH-2.0-OpenSSH_9.6\r\n"),
    }
    for name, ill in breaks.items():
        found += [Case(f"{name}-once", Ailment(ill)), Case(f"{name}-twice", Ailment(ill, calls=2))]
    for number in (429, 503):
        seconds = (("Retry-After", "7"),)
        found += [
            Case(f"{number}-after-seconds", Ailment(status(number, seconds), seconds=7.0)),
            Case(f"{number}-after-date", Ailment(later(number, 9), seconds=7.0)),
        ]
    found += [
        Case(f"{number}-after-seconds", Ailment(status(number, (("Retry-After", "7"),)), seconds=7.0))
        for number in (403, 500, 502, 504)
    ]
    found += [
        Case("429-minute", Ailment(status(429), seconds=60.0)),
        Case("429-minutes", Ailment(status(429), seconds=170.0)),
        Case("empty-once", Ailment(empty)),
        Case("home-once", Ailment(home)),
    ]
    return found


def _asked_wrongly() -> list[Case]:
    """List what can be had by asking otherwise: with another tier, more time, a login, or as the contract says."""
    plain, light = {"maxCostTier": "intelligence"}, {"forceTier": "lightweight"}
    good = Ailment(slow(0), calls=NEVER)
    found = [
        Case("shell-plain", Ailment(shell(), calls=NEVER), plain),
        Case("shell-forced", Ailment(shell(), calls=NEVER), {"forceTier": "intelligence"}),
        Case("gl-light", Ailment(shell(gl=True), calls=NEVER), light),
        Case("gl-light-cost", Ailment(shell(gl=True), calls=NEVER), {"maxCostTier": "lightweight"}),
        Case("challenge-plain", Ailment(challenge, cure=in_browser), plain),
        Case("challenge-light", Ailment(challenge, cure=in_browser), light),
        Case("403-plain", Ailment(status(403), cure=in_browser), plain),
        Case("slow", Ailment(slow(1_500), calls=NEVER), {"maxLatencyMs": 400}),
        Case("one-millisecond", good, {"maxLatencyMs": 1}),
        Case("wall", Ailment(wall, cure=logged_in)),
        Case("unknown-profile", Ailment(wall, cure=logged_in), {"sessionProfile": "nobody"}),
        Case("unknown-profile-public", good, {"sessionProfile": "nobody"}),
        Case("expired", Ailment(wall), {"sessionProfile": PROFILE}),
        Case("no-scheme", url="127.0.0.1:{port}/article"),
        Case("hung", Ailment(hung(WORDS[:200]), calls=NEVER), {"forceTier": "playwright", "maxLatencyMs": 12_000}),
        Case("crashing", Ailment(crashing, calls=NEVER), {"forceTier": "playwright"}),
        Case("consent", Ailment(consent, calls=NEVER)),
        Case("paywall", Ailment(stand_in("paywall.en"), cure=logged_in)),
        Case("age", Ailment(stand_in("age_gate.en"), cure=logged_in)),
        Case("silent", Ailment(silent), {"maxLatencyMs": 400}),
    ]
    wrong: Mapping[str, Mapping[str, Any]] = {
        "cost-and-force": {"maxCostTier": "intelligence", "forceTier": "lightweight"},
        "cost-and-scroll": {"maxCostTier": "intelligence", "scrollToLoad": True},
        "force-and-selector": {"forceTier": "intelligence", "waitForSelector": "h1"},
        "enum": {"forceTier": "playwrite"},
        "enum-of-none": {"freshnessRequirement": "yesterday"},
        "unknown": {"timeout": 5},
        "misspelt": {"max_pages": 2},
        "too-many": {"maxPages": 500},
        "negative": {"maxLatencyMs": -1},
        "text-for-number": {"maxChars": "2000"},
        "null": {"maxPages": None},
        "part": {"include": ["table"]},
    }
    found += [Case(f"wrong-{name}", good, options) for name, options in wrong.items()]
    found += [
        Case("wrong-place", good, body={"forceTier": "intelligence"}),
        Case("wrong-options", good, body={"options": "quick"}),
    ]
    return found


def _incurable() -> list[Case]:
    """List what cannot be had: it is to end, soon."""
    numbers = (400, 402, 403, 404, 405, 406, 407, 410, 418, 422, 451, 999, 500, 503, 429)
    found = [Case(f"{number}-ever", Ailment(status(number), calls=NEVER), curable=False) for number in numbers]
    found += [
        Case("challenge-ever", Ailment(challenge, calls=NEVER), curable=False),
        Case("empty-ever", Ailment(empty, calls=NEVER), curable=False),
        Case("home-ever", Ailment(home, calls=NEVER), curable=False),
        Case("hangup-ever", Ailment(broken(), calls=NEVER), curable=False),
        Case("wall-ever", Ailment(wall, calls=NEVER), curable=False),
        Case("expired-ever", Ailment(wall, calls=NEVER), {"sessionProfile": PROFILE}, curable=False),
        Case("no-such-host", url="http://name.invalid/", curable=False),
        Case("private", url="http://10.0.0.1/", curable=False),
        Case("tls", url="https://127.0.0.1:{tls_port}/article", curable=False),
        Case("redirects", url="http://127.0.0.1:{port}/redirect/loop", curable=False),
        Case("type", url="http://127.0.0.1:{port}/pdf", curable=False),
        Case("huge", url="http://127.0.0.1:{port}/huge", curable=False),
        Case("wrong-url", body={"url": 7}, curable=False),
    ]
    walls = ("paywall.en", "age_gate.en", "consent_wall.nl", "parked.en", "coming_soon.tr", "suspended.en")
    found += [
        Case(f"{name}-ever", Ailment(stand_in(name), calls=NEVER), curable=False)
        for name in (*walls, "default_server_page.en", "geo_blocked.it", "maintenance.es", "login_wall.sv")
    ]
    if is_full():  # up to a minute each
        some = {"drip-ever": dripping, "silent-ever": silent, "hung-ever": hung("")}
        found += [
            Case(name, Ailment(ill, calls=NEVER), {"maxLatencyMs": 300}, curable=False) for name, ill in some.items()
        ]
    return found


CASES = (*_healing(), *_asked_wrongly(), *_incurable())

Ask = Callable[[Action], tuple[bool, Mapping[str, Any]]]
"""Makes the call of an action: whether it succeeded, and the answer."""


def follow(case: Case, first: Action, ask: Ask) -> Walk:
    """Make the first call, then what the first action of each error says, as long as that is a call of its own."""
    walk, course, waits = Walk(case), COURSES.setdefault(case.name, Course()), [0.0]
    action, then = first, list[Mapping[str, Any]]()
    while len(walk.calls) <= 2 * MOST_ASKED:
        course.calls += 1
        course.now_s += (action.suggested_delay_ms or 0) / 1_000
        done, answer = ask(action)
        walk.calls.append(_call_of(action))
        waited = (action.suggested_delay_ms or 0) > max(waits)
        renewed = "refresh_session" in walk.calls[-2:-1][0] if len(walk.calls) > 1 else False
        walk.looped |= walk.calls[-1] in walk.calls[:-1] and not waited and not renewed
        waits.append(action.suggested_delay_ms or 0)
        if done and action.tool_to_use == "browse":
            walk.got = True
            return walk
        if not done:
            walk.codes.append(str(answer["code"]))
            then = list(answer["recommendedActions"])
            walk.ended = not answer["retryable"]
        if walk.ended or not then:
            assert any(one["action"] in ("report_to_user", "fix_request") for one in then), (walk.line, then)
            return walk
        chosen = then.pop(0)
        action = Action(
            action=chosen["action"],
            description="",
            suggested_delay_ms=chosen.get("suggestedDelayMs"),
            tool_to_use=chosen["toolToUse"],
            parameters=chosen["parameters"],
            request=chosen.get("request"),
            command=chosen.get("command"),
        )
    return walk


def _call_of(action: Action) -> str:
    """Write a call without what it says of the attempt."""
    bare: dict[str, Any] = json.loads(json.dumps(action.parameters))
    options = bare.get("options")
    for holder in (bare, cast("dict[str, Any]", options) if isinstance(options, dict) else {}):
        holder.pop("attempt", None)
    return f"{action.tool_to_use} {json.dumps(bare, sort_keys=True)}"


def _first(case: Case, site: Site) -> Action:
    url = case.url.format(port=site.port, tls_port=site.tls_port) or site.url(f"/healing/{case.name}/page")
    parameters = {"url": url, "options": dict(case.options), **(case.body or {})}
    return Action(
        action="begin", description="", tool_to_use="browse", parameters=parameters, request="POST /api/browse"
    )


@pytest.fixture(scope="module", autouse=True)
def _ailing(weft: System, site: Site) -> None:
    """Have every page ill, and one login saved, whatever other tests have left."""
    weft.forget_logins()
    AILMENTS.update({case.name: case.ailment for case in CASES if case.ailment is not None})
    cookie = {"name": "healer", "value": "1", "domain": "127.0.0.1", "path": "/"}
    body = {"domain": site.url("/"), "profile": PROFILE, "state": {"cookies": [cookie]}}
    assert weft.http.post("/api/sessions", json=body).status_code == 200


def _over_rest(weft: System) -> Ask:
    def ask(action: Action) -> tuple[bool, Mapping[str, Any]]:
        assert action.request is not None
        method, _, path = action.request.partition(" ")
        answer = weft.http.request(method, path, json=action.parameters, timeout=CALL_S)
        return answer.is_success, answer.json()

    return ask


@pytest.mark.full
@requirement("000.3.recovery")
@requirement("000.3.actions")
def test_whoever_follows_blindly_gets_what_can_be_got(
    weft: System, site: Site, record_property: Callable[[str, object], None]
) -> None:
    cases = CASES if is_full() else CASES[::EVERY]
    COURSES.clear()
    ask = _over_rest(weft)

    def walked(case: Case) -> Walk:
        return follow(case, _first(case, site), ask)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        walks = list(pool.map(walked, cases))

    curable = [walk for walk in walks if walk.case.curable]
    soon = [walk for walk in curable if walk.got and len(walk.calls) <= MOST_CALLS]
    asked = [max(Counter(call.partition(" ")[0] for call in walk.calls).values()) for walk in walks]
    loops = [walk.line for walk in walks if walk.looped]
    missed = [walk.line for walk in curable if walk not in soon]
    endless = [walk.line for walk in walks if not walk.got and not walk.ended]
    figures = (
        f"{len(soon)} of {len(curable)} recover within {MOST_CALLS} calls, {len(walks)} faults, {len(loops)} loops"
    )
    record_property(
        COUNTS, f"{figures}; asked at most {max(asked)} times{'; missed ' if missed else ''}{', '.join(missed)}"
    )
    assert (loops, endless, [walk.line for walk in walks if walk.got and not walk.case.curable]) == ([], [], [])
    assert len(soon) >= SHARE * len(curable), missed
    assert max(asked) <= MOST_ASKED


SAMPLE = ("503-twice", "shell-plain", "wall", "wrong-enum", "404-ever", "challenge-plain")


def _sample(surface: str) -> list[Case]:
    """Take some cases, with pages of their own."""
    cases = [case for case in CASES if case.name in SAMPLE]
    mine = [Case(f"{surface}-{one.name}", one.ailment, one.options, one.body, one.url, one.curable) for one in cases]
    AILMENTS.update({case.name: case.ailment for case in mine if case.ailment is not None})
    return mine


async def test_the_advice_holds_over_mcp(weft: System, site: Site) -> None:
    walks: list[Walk] = []
    async with connected(weft) as client:
        for case in _sample("mcp"):
            first = _first(case, site)
            arguments = {"url": (first.parameters or {})["url"], **case.options}
            begin = Action(action="begin", description="", tool_to_use="browse", parameters=arguments)
            walks.append(await anyio.to_thread.run_sync(follow, case, begin, _over_mcp(client)))

    assert {walk.case.name: walk.got for walk in walks} == {walk.case.name: walk.case.curable for walk in walks}
    assert [walk.line for walk in walks if walk.looped] == []


def _over_mcp(client: Client) -> Ask:
    def ask(action: Action) -> tuple[bool, Mapping[str, Any]]:
        result = anyio.from_thread.run(client.call_tool, str(action.tool_to_use), action.parameters)
        return not result.is_error, result.structured_content or {}

    return ask


@pytest.mark.full
def test_the_advice_holds_on_the_command_line(weft: System, site: Site) -> None:
    walks: list[Walk] = []
    for case in _sample("cli"):
        if case.name.startswith("cli-wrong"):
            continue  # the command line has no such words
        url = str((_first(case, site).parameters or {})["url"])
        words = ["weft", "browse", url, "--json"]
        words += ["--max-tier", str(case.options["maxCostTier"])] if "maxCostTier" in case.options else []
        begin = Action(action="begin", description="", tool_to_use="browse", parameters={}, command=shlex.join(words))
        walks.append(follow(case, begin, _over_cli(weft)))

    assert {walk.case.name: walk.got for walk in walks} == {walk.case.name: walk.case.curable for walk in walks}


def _over_cli(weft: System) -> Ask:
    def ask(action: Action) -> tuple[bool, Mapping[str, Any]]:
        assert action.command is not None
        done = weft.run(*shlex.split(action.command)[1:])
        return done.returncode == 0, json.loads(done.stdout)

    return ask
