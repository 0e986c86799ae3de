"""What callers get to know of patterns: each his own alone, files that are trusted by nobody, calls that only read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import msgspec
import pytest
from msgspec import UNSET, structs

from actors.learner.patterns import answers
from actors.learner.patterns.answers import Import
from actors.learner.patterns.discovery import AGAIN_MS, DAY_MS, MAX_HINTS_KEPT, SiteAsks, new_hints
from actors.patterns.trust import can_bypass
from protocol.faults import Code, FaultError
from protocol.patterns.api_calls import ApiAnswers, AskApi
from protocol.patterns.listing import AskPattern, FiledPattern, ListPatterns, PatternFile
from protocol.patterns.mapping import Fields, PageMapping
from protocol.patterns.pattern import ApiRequest, PagePattern, PatternSource
from protocol.subjects import API_ASK

NOW = 1_800_000_000_000
SITE = "https://shop.example"
MAPPING = PageMapping(page=Fields(fields={}), markdown=())


def pattern(number: int = 1, **more: Any) -> PagePattern:
    fixed: dict[str, Any] = {
        "pattern_id": f"pat_{number}",
        "domain": "shop.example",
        "page": f"{SITE}/hats/{{slug}}",
        "requests": (ApiRequest(url=f"{SITE}/api/hats/{{slug}}?lang={{lang}}"),),
        "source": PatternSource.API_EXTRACTION,
        "score": 0.9,
        "created_at": NOW,
    }
    return PagePattern(**{**fixed, **more})


PRIVATE = pattern(9, profile="work", caller="key-1")


def asker(name: str, *, with_logins: bool) -> AskPattern:
    return AskPattern(caller=name, with_logins=with_logins, pattern_id="pat_9")


@pytest.mark.parametrize(
    ("who", "sees"),
    [
        (asker("key-1", with_logins=True), True),
        (asker("key-1", with_logins=False), False),
        (asker("key-2", with_logins=True), False),
    ],
)
def test_what_a_login_taught_is_for_its_owner_alone(who: AskPattern, *, sees: bool) -> None:
    assert answers.is_visible(PRIVATE, who) is sees
    if not sees:
        with pytest.raises(FaultError) as refused:
            answers.visible(PRIVATE, who)
        assert refused.value.fault.code is Code.VALIDATION_UNKNOWN_PATTERN


def test_which_single_page_somebody_has_visited_is_the_operators_alone() -> None:
    hints = [pattern(page=f"{SITE}/hats/{{number=7}}"), pattern(page=f"{SITE}/plan"), pattern(page="")]
    bob, operator = (
        AskPattern(caller="bob", pattern_id="pat_1"),
        AskPattern(caller="ann", pattern_id="pat_1", with_single_pages=True),
    )

    assert [answers.is_visible(hint, bob) for hint in hints] == [False, False, True]
    assert [answers.is_visible(hint, operator) for hint in hints] == [True, True, True]


def test_lists_go_on_where_they_ended() -> None:
    domains = ("shop.example", "shop.example.au")  # "." stands before "/"
    kept = [PRIVATE, *(pattern(number, domain=domains[number % 2]) for number in range(5))]
    ids: list[str] = []
    cursor: Any = ""

    while cursor is not UNSET:
        listed = answers.listed(kept, ListPatterns(caller="key-2", cursor=cursor, limit=2), NOW)
        ids += [one.pattern_id for one in listed.patterns]
        cursor = listed.next_cursor

    assert ids == ["pat_0", "pat_2", "pat_4", "pat_1", "pat_3"]


@pytest.mark.parametrize(
    "cursor", ["shop.example", "shop.example/", "shop.example/pat_1\n", "zz", "other.example/pat_1"]
)
def test_a_cursor_of_no_answer_or_of_another_list_is_refused(cursor: str) -> None:
    with pytest.raises(FaultError) as refused:
        answers.listed([pattern()], ListPatterns(caller="key-2", domain="shop.example", cursor=cursor), NOW)

    assert (refused.value.fault.code, refused.value.fault.field) == (Code.VALIDATION_INVALID_REQUEST, "cursor")


def test_a_pattern_is_told_as_it_is_trusted_now() -> None:
    week_old = pattern(mapping=MAPPING, shapes=({},), reproduced=("1", "2"), verified_at=NOW - 8 * 86_400_000)

    told = answers.info(week_old, NOW)

    assert (told.trust, told.can_bypass, told.confidence_score) == ("medium", True, 0.85)
    assert [decay.reason.value for decay in told.decays] == ["time_decay"]
    assert told.parameters == ("slug", "lang")


def test_files_hold_nothing_of_logins_and_come_in_as_hints() -> None:
    asked = (ApiRequest(url=f"{SITE}/api/hats/{{slug}}"),)
    proven = pattern(requests=asked, mapping=MAPPING, reproduced=("1", "2"), verified_at=NOW)
    file = answers.exported([PRIVATE, proven])
    arrived = Import(())

    arrived.take(msgspec.json.decode(msgspec.json.encode(file), type=PatternFile), NOW)

    assert len(file.patterns) == 1
    (hint,) = arrived.new.values()
    assert (hint.page, hint.requests) == (proven.page, proven.requests)
    assert (hint.source, hint.mapping, hint.reproduced, hint.verified_at) == (PatternSource.MANUAL, None, (), 0)
    assert not can_bypass(hint, NOW)


def test_what_was_learned_here_is_known_to_a_file_of_it() -> None:
    asked = (ApiRequest(url=f"{SITE}/api/hats/{{slug}}"),)
    proven = pattern(requests=asked, mapping=MAPPING, reproduced=("1", "2"), verified_at=NOW)
    arrived = Import((proven, PRIVATE))

    arrived.take(answers.exported([proven]), NOW)

    assert (arrived.new, arrived.again) == ({}, 1)


@pytest.mark.parametrize(
    "filed",
    [
        FiledPattern(url="https://elsewhere.example/{slug}", page=f"{SITE}/hats/{{slug}}"),
        FiledPattern(url=f"{SITE}/api/{{0:data.id}}"),
        FiledPattern(url=f"{SITE}/api/delete-account"),
        FiledPattern(url=f"{SITE}/api?token=abcdefghijklmnopqrstuvwxyz"),
        FiledPattern(url="http://shop.example/api", page=f"{SITE}/hats"),
        FiledPattern(url=f"{SITE}/api/{{"),
    ],
)
def test_what_may_not_be_asked_is_not_imported(filed: FiledPattern) -> None:
    arrived = Import(())

    arrived.take(PatternFile(format="weft-patterns", version=1, patterns=(filed,)), NOW)

    assert (arrived.new, len(arrived.refused)) == ({}, 1)


def test_feedback_shifts_by_five_percent_at_most() -> None:
    better, up = answers.judged(pattern(score=0.5), steps=1, now_ms=NOW)
    worse, down = answers.judged(pattern(score=0.5), steps=-1, now_ms=NOW)

    assert (better.score, up, worse.score, down) == (0.55, 0.05, 0.45, -0.05)


def test_a_call_fills_what_is_given_and_leaves_out_what_need_not_be() -> None:
    requests, slots = answers.prepared(pattern(), {"slug": "red-hat"})

    assert [one.url for one in requests] == [f"{SITE}/api/hats/{{slug}}"]
    assert slots == {"slug": "red-hat"}


@pytest.mark.parametrize(
    "parameters", [{}, {"slug": "red-hat", "admin": "1"}, {"slug": "red\nhat"}, {"slug": "a-../../x"}, {"slug": ".."}]
)
def test_a_call_with_other_parameters_is_refused(parameters: dict[str, str]) -> None:
    with pytest.raises(FaultError) as refused:
        answers.prepared(pattern(), parameters)

    assert refused.value.fault.field == "parameters"


def test_hints_leave_room_and_stand_back_for_what_makes_pages() -> None:
    made = pattern(mapping=MAPPING)
    many = [pattern(number, page="", requests=(ApiRequest(url=f"{SITE}/api/{number}"),)) for number in range(200)]
    beside = pattern(300, requests=(ApiRequest(url=f"{SITE}/hats.json"),))

    assert len(new_hints(many, [])) == MAX_HINTS_KEPT
    assert new_hints([beside, structs.replace(made, pattern_id="pat_301", mapping=None)], [made]) == ()


@dataclass
class Web:
    """Answers every address with itself, and notes what was asked."""

    requests: list[AskApi] = field(default_factory=list[AskApi])

    async def call(self, call: Any, args: Any, **_: Any) -> Any:
        assert call is API_ASK
        self.requests.append(args)
        return ApiAnswers(answers=(args.site,), urls=(args.site,))


async def test_a_site_is_asked_a_few_times_a_day_and_each_address_once_a_week() -> None:
    web, now = Web(), [NOW]
    asks = SiteAsks(web, lambda: now[0], a_day=2)

    async def answers_of(*paths: str) -> list[Any]:
        return [await asks.ask("shop.example", f"{SITE}{path}") for path in paths]

    assert await answers_of("/a", "/a", "/b", "/c") == [f"{SITE}/a", None, f"{SITE}/b", None]
    now[0] += DAY_MS
    assert await answers_of("/a", "/c") == [None, f"{SITE}/c"]
    now[0] += AGAIN_MS
    assert await answers_of("/a") == [f"{SITE}/a"]
    assert {(one.obey_robots, one.session, one.requests[0].method) for one in web.requests} == {(True, None, "GET")}
