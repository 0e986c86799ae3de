"""The index answers at once with the pattern that says most of an address, and never with somebody else's."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from actors.patterns.index import MAX_DOMAINS, MAX_HINTS, PatternIndex
from actors.patterns.trust import can_bypass
from protocol.browse import ApiProvenance
from protocol.patterns.mapping import Fields, PageMapping
from protocol.patterns.pattern import MAX_PATTERNS, AnswerCheck, ApiRequest, PagePattern, PatternSource
from tests.requirements import requirement

NOW = 1_800_000_000_000
DAY = 24 * 60 * 60 * 1000
SITE = "https://shop.example"


def pattern(pattern_id: str = "p", page: str = "/p/{number}", host: str = "shop.example", **fields: Any) -> PagePattern:
    made = PagePattern(
        pattern_id=pattern_id,
        domain=host,
        page=f"https://{host}{page}" if page else "",
        requests=(ApiRequest(url=f"https://{host}/api/all?lang=de"),),
        shapes=({"type": "object"},),
        checks=(AnswerCheck(path=(0, "id"), slot="{number}"),),
        mapping=PageMapping(page=Fields(fields={}), markdown=()),
        source=PatternSource.API_EXTRACTION,
        score=0.8,
        reproduced=("a", "b"),
        verified_at=NOW,
        created_at=NOW,
    )
    return structs.replace(made, **fields)


def index_of(*patterns: PagePattern) -> PatternIndex:
    index = PatternIndex()
    for one in patterns:
        index.put(one)
    return index


def found(index: PatternIndex, url: str, profile: str = "", caller: str = "") -> str | None:
    call = index.find(url, profile, caller, NOW)
    return call.pattern_id if call is not None else None


def test_what_is_asked_in_the_place_of_a_page_is_found() -> None:
    call = index_of(pattern()).find(f"{SITE}/p/7", "", "", NOW)

    assert call is not None
    assert (call.pattern_id, call.slots, call.trust) == ("p", {"number": "7"}, "high")
    assert "0.80" in call.reason


def test_nothing_stands_in_for_other_pages() -> None:
    index = index_of(pattern())

    for url in (f"{SITE}/p/x", f"{SITE}/q/7", f"{SITE}/p/7?a=1", "https://www.shop.example/p/7", "no address", ""):
        assert found(index, url) is None
    assert found(PatternIndex(), f"{SITE}/p/7") is None


def test_the_pattern_that_says_most_of_an_address_is_meant() -> None:
    index = index_of(
        pattern("open", "/{slug}/{name}"),
        pattern("kind", "/{slug}/{number}"),
        pattern("section", "/a-b/{name}"),
        pattern("page", "/a-b/{number=7}"),
        pattern("untrusted", "/a-b/7", reproduced=()),
    )

    assert found(index, f"{SITE}/a-b/7") == "page"
    assert found(index, f"{SITE}/a-b/8") == "section"
    assert found(index, f"{SITE}/c-d/8") == "kind"
    assert found(index, f"{SITE}/c-d/x") == "open"


def test_a_later_version_takes_the_place_of_the_former() -> None:
    index = index_of(pattern(), pattern(page="/q/{number}", version=2))

    assert len(index) == 1
    assert found(index, f"{SITE}/p/7") is None
    assert found(index, f"{SITE}/q/7") == "p"
    index.drop("p")
    index.drop("p")
    assert (len(index), found(index, f"{SITE}/q/7")) == (0, None)


def test_a_pattern_that_may_never_be_used_is_not_kept() -> None:
    index = index_of(pattern())

    assert not index.put(pattern(requests=(ApiRequest(url="https://evil.test/", auth="cookie"),)))
    assert not index.put(pattern("q", domain="other.example"))
    assert len(index) == 0


def test_patterns_and_domains_are_bounded() -> None:
    index = PatternIndex()
    for number in range(MAX_PATTERNS + 5):
        index.put(pattern(f"p{number}", f"/c{number}x/{{number}}", score=0.5 + number / 10_000))

    assert len(index) == MAX_PATTERNS
    assert found(index, f"{SITE}/c4x/1") is None
    assert found(index, f"{SITE}/c5x/1") == "p5"


@pytest.mark.slow
def test_the_domains_that_nobody_asks_for_are_forgotten() -> None:
    index = PatternIndex()
    for number in range(MAX_DOMAINS):
        index.put(pattern(f"p{number}", host=f"s{number}.example"))
    assert found(index, "https://s0.example/p/1") == "p0"
    index.put(pattern("one more"))

    assert len(index) == MAX_DOMAINS
    assert found(index, "https://s0.example/p/1") == "p0"
    assert found(index, "https://s1.example/p/1") is None


@requirement("000.5.provenance")
def test_hints_tell_what_is_known_and_no_secret() -> None:
    with_login = ApiRequest(url=f"{SITE}/v1/{{id}}", auth="bearer", auth_headers=("authorization",))
    index = index_of(
        pattern("low", score=0.4, reason="seen once"),
        pattern("api", "", requests=(with_login,)),
        pattern("archived", "", archived=True),
        pattern("mine", "", profile="work", caller="key"),
        *(pattern(f"h{number}", "", requests=(ApiRequest(url=f"{SITE}/v{number}"),)) for number in range(2, 40)),
    )  # fmt: skip

    hints = index.hints(f"{SITE}/p/7", "", "", NOW)

    assert len(hints) == MAX_HINTS
    assert (hints[0].endpoint, hints[0].confidence, hints[0].can_bypass) == (f"{SITE}/api/all", "low", False)
    assert (hints[0].params, hints[0].reason) == ({"lang": "de"}, "seen once")
    assert {hint.provenance for hint in hints} == {
        ApiProvenance(source=PatternSource.API_EXTRACTION, last_verified_at=NOW)
    }
    assert (hints[1].endpoint, hints[1].auth_headers) == (f"{SITE}/v1/{{id}}", {"authorization": "[redacted]"})
    assert index.hints("https://other.example/", "", "", NOW) == ()


Who = st.sampled_from(["", "a", "b"])
Pattern = st.builds(
    pattern,
    pattern_id=st.integers(0, 9).map(str),
    page=st.sampled_from(["/p/{number}", "/p/{name}", "/p/{number=7}", "/{slug}/{number}", ""]),
    host=st.sampled_from(["shop.example", "other.example"]),
    score=st.floats(0, 1),
    reproduced=st.sampled_from([(), ("a",), ("a", "b")]),
    verified_at=st.sampled_from([0, NOW, NOW - 8 * DAY, NOW - 20 * DAY, NOW - 100 * DAY]),
    mapping=st.sampled_from([None, PageMapping(page=Fields(fields={}), markdown=())]),
    archived=st.booleans(),
    light_only=st.booleans(),
    profile=Who,
    caller=Who,
)


@given(st.lists(Pattern, max_size=8), Who, Who, st.sampled_from([f"{SITE}/p/7", "https://other.example/p/8"]))
def test_nobody_gets_what_belongs_to_another_or_is_not_trusted(
    patterns: list[PagePattern], profile: str, caller: str, url: str
) -> None:
    index = index_of(*patterns)
    known = {one.pattern_id: one for one in patterns}
    audience = (profile, caller) if profile else ("", "")

    call = index.find(url, profile, caller, NOW)
    if call is not None:
        given = known[call.pattern_id]
        assert (given.profile, given.caller) == audience
        assert can_bypass(given, NOW)
        assert given.domain in url
    allowed = [
        one for one in known.values() if (one.profile, one.caller) == ((profile, caller) if profile else ("", ""))
    ]
    assert allowed or not index.hints(url, profile, caller, NOW)
