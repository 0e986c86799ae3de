"""Which pages bear a pattern out: only those that are made by what other pages taught, and none may be made wrong."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from msgspec import structs

from actors.learner.patterns.course import Changes, learned
from actors.patterns.answer_checks import first_unmet
from actors.patterns.mapping import UnknownCaseError, render
from actors.patterns.shapes import drift_of
from actors.patterns.trust import can_bypass, first_score, page_hash
from protocol.documents import WebObservationSummary
from protocol.page import PageFields
from protocol.patterns.pattern import ApiRequest, PagePattern, PatternSource
from protocol.patterns.sample import ApiExchange, PageSample
from protocol.patterns.use import Drift
from protocol.tiers import RenderTier

NOW = 1_800_000_000_000
NAMES = ("Merino", "Cotton", "Linen", "Hemp", "Mohair", "Jute")
WORDS = ("carded and spun", "ginned by hand", "retted in dew", "hackled twice", "shorn in May", "beaten to tow")


def url(number: int) -> str:
    return f"https://mill.example/yarns/{number}"


def sample(number: int, stock: str = "plenty", note: str = "", *, whole: bool = True, **fields: Any) -> PageSample:
    """Return a page of the mill with the answer that it was made of, which says how much there is in a word."""
    name, said = f"{NAMES[number]} yarn", f"A yarn which is {WORDS[number]}."
    lines = [f"Yarn: {name}", said, "Ask for it" if stock == "none" else "In our shop", *filter(None, [note])]
    body = {"id": 4711 + number, "title": name, "said": said, "stock": stock}
    if not whole:
        lines.remove(said)
        del body["said"]
    page = WebObservationSummary(url=url(number), title=name, markdown="\n\n".join(lines), text="\n".join(lines))
    parts = structs.replace(page.parts, fields=PageFields(**fields))
    return PageSample(
        url=url(number),
        final_url=url(number),
        tier=RenderTier.PLAYWRIGHT,
        page=structs.replace(page, parts=parts),
        exchanges=(ApiExchange(url=f"https://mill.example/api/yarns/{number}", body=body),),
    )


def after(shown: Sequence[PageSample], known: Sequence[PagePattern] = ()) -> tuple[PagePattern, ...]:
    """Return the patterns that are known after pages were shown one after another."""
    kept = {one.pattern_id: one for one in known}
    for number, one in enumerate(shown):
        changes: Changes = learned(list(kept.values()), one, tuple(reversed(shown[:number])), NOW)
        kept |= {each.pattern_id: each for each in changes.put}
        for name in changes.drop:
            kept.pop(name, None)
    return tuple(kept.values())


def test_a_page_that_a_mapping_was_made_of_bears_nothing_out() -> None:
    (pattern,) = after([sample(0), sample(1), sample(2)])
    alone = structs.replace(pattern, reproduced=(), verified_at=0)
    (again,) = learned([alone], sample(1), (), NOW).put
    (fresh,) = learned([again], sample(3), (), NOW).put

    assert page_hash(url(1)) in pattern.made_of
    assert can_bypass(pattern, NOW)
    assert (again.reproduced, again.verified_at) == ((), NOW)
    assert fresh.reproduced == (page_hash(url(3)),)


def test_one_odd_page_of_three_does_not_keep_the_others_from_being_learned() -> None:
    (pattern,) = after([sample(0), sample(1, image="https://mill.example/odd.png"), sample(2), sample(3)])

    assert page_hash(url(1)) not in pattern.made_of
    assert len(pattern.made_of) == 2
    assert pattern.reproduced


def test_what_makes_another_page_wrong_is_not_learned() -> None:
    patterns = after([sample(0, note="Since 1890"), sample(1), sample(2), sample(3)])

    assert not any(can_bypass(one, NOW) for one in patterns)


def with_notes(number: int) -> PageSample:
    """Return a page of which extraction has left out what people wrote about it, which is much of the page."""
    known = sample(number)
    notes = [f"{name} asks whether it is {WORDS[number]} in winter, too." for name in ("Ada", "Ben")]
    body = known.exchanges[0].body | {"notes": notes}
    lines = (*known.page.markdown.split("\n\n"), *notes)
    exchange = structs.replace(known.exchanges[0], body=body)
    return structs.replace(known, exchanges=(exchange,), shown_lines=lines)


def test_what_extraction_leaves_out_of_some_pages_it_may_keep_of_the_next() -> None:
    (early,) = after([with_notes(number) for number in range(3)])
    (late,) = after([with_notes(number) for number in range(5)])

    assert not can_bypass(early, NOW)
    assert can_bypass(late, NOW)


def asked(number: str) -> tuple[ApiRequest, ...]:
    return (ApiRequest(url=f"https://mill.example/{number}/yarns/{{id}}"),)


@pytest.mark.parametrize(
    ("place", "source"), [("api", PatternSource.OPENAPI_DISCOVERY), ("v2", PatternSource.API_EXTRACTION)]
)
def test_a_hint_lends_its_name_only_to_what_asks_the_same(place: str, source: PatternSource) -> None:
    hint = PagePattern(
        pattern_id="pat_hint",
        domain="mill.example",
        page="https://mill.example/yarns/{number}",
        requests=asked(place),
        source=PatternSource.OPENAPI_DISCOVERY,
        score=first_score(PatternSource.OPENAPI_DISCOVERY),
    )

    (pattern,) = after([sample(0), sample(1), sample(2)], [hint])

    assert (pattern.pattern_id, pattern.source) == ("pat_hint", source)
    assert pattern.mapping is not None


def test_a_page_of_a_kind_unseen_takes_nothing_back_from_what_was_borne_out() -> None:
    first = after([sample(0), sample(1), sample(2)])
    (pattern,) = after([sample(0), sample(1), sample(2), sample(3), sample(4, stock="none")], first)
    (late,) = after([sample(0), sample(1), sample(2, stock="none")])

    assert page_hash(url(4)) in pattern.made_of
    assert can_bypass(pattern, NOW)
    assert can_bypass(late, NOW)


def test_an_answer_that_has_changed_takes_back_what_was_borne_out() -> None:
    (pattern,) = after([sample(0), sample(1), sample(2), sample(3)])
    changed = sample(4)
    body = {name: value for name, value in changed.exchanges[0].body.items() if name != "said"}
    exchange = structs.replace(changed.exchanges[0], body=body | {"words": changed.exchanges[0].body["said"]})
    others = [sample(number) for number in range(4)]

    (after_it,) = learned([pattern], structs.replace(changed, exchanges=(exchange,)), others, NOW).put

    assert not can_bypass(after_it, NOW)
    assert after_it.reproduced == ()


def test_what_is_gone_from_the_answers_is_noticed_where_it_comes_back() -> None:
    known = after([sample(0), sample(1), sample(2), sample(3)])
    without = [sample(number, whole=False) for number in range(6)]
    for number in range(6):
        later = structs.replace(without[number], at_ms=NOW + number + 1)
        before = [structs.replace(one, at_ms=NOW + place + 1) for place, one in enumerate(without[:number])]
        known = learned(known, later, tuple(reversed(before)), NOW + number + 1).put or known
    (pattern,) = known
    (back,) = sample(4).exchanges

    assert can_bypass(pattern, NOW)
    assert first_unmet(pattern.checks, {"number": "4"}, (without[4].exchanges[0].body,)) == ""
    assert first_unmet(pattern.checks, {"number": "4"}, (back.body,)) == "0.said"


def renamed(body: dict[str, Any]) -> dict[str, Any]:
    return {("words" if name == "said" else name): value for name, value in body.items()}


def nested(body: dict[str, Any]) -> dict[str, Any]:
    return body | {"title": {"value": body["title"], "format": "plain"}}


def test_what_is_gone_for_good_is_written_no_more() -> None:
    (known,) = after([sample(0), sample(1), sample(2, stock="none"), sample(3, stock="none")])
    late = [structs.replace(sample(number, whole=False), at_ms=NOW + number) for number in (4, 5)]
    (unsure,) = learned([known], late[0], (), NOW + 10).put or (known,)
    (pattern,) = learned([unsure], late[1], late[:1], NOW + 10).put
    none_left = sample(1, stock="none", whole=False)
    (exchange,) = none_left.exchanges

    assert can_bypass(pattern, NOW + 10)
    assert pattern.mapping is not None
    page = render(pattern.mapping, [exchange.body], url(1), {"number": "1"})
    assert page.markdown == none_left.page.markdown


@pytest.mark.parametrize("change", [renamed, nested, dict], ids=["renamed", "nested", "elsewhere"])
def test_what_has_moved_is_found_and_the_kinds_of_pages_that_are_known_stay_known(
    change: Callable[[dict[str, Any]], dict[str, Any]],
) -> None:
    """Two pages show where values stand now; that there may be none in stock was learned of another page before."""
    first = [sample(0), sample(1), sample(2, stock="none"), sample(3, stock="none")]
    (known,) = after(first)
    late: list[PageSample] = []
    for number, stock in ((4, "plenty"), (5, "plenty"), (1, "none")):
        one = sample(number, stock)
        (exchange,) = one.exchanges
        address = exchange.url.replace("/api/", "/v2/") if change is dict else exchange.url
        moved = structs.replace(exchange, url=address, body=change(exchange.body))
        late.append(structs.replace(one, exchanges=(moved,), at_ms=NOW + number))
    shown = late[:2]

    (unsure,) = learned([known], shown[0], tuple(reversed(first)), NOW + 10).put or (known,)
    (pattern,) = learned([unsure], shown[1], (shown[0], *reversed(first)), NOW + 10).put
    (answer,) = (one.body for one in late[2].exchanges)

    assert can_bypass(pattern, NOW + 10)
    assert pattern.mapping is not None
    page = render(pattern.mapping, [answer], url(1), {"number": "1"})
    assert page.markdown == late[2].page.markdown
    assert drift_of(pattern.shapes[0], answer) is None
    assert first_unmet(pattern.checks, {"number": "1"}, [answer]) == ""


def listed(number: int, *, at_once: bool) -> PageSample:
    """Return a page of the mill with a list, which its API gives at once or in two answers."""
    known = sample(number)
    kinds = [f"{NAMES[(number + more) % 6]} twist, {WORDS[(number + more) % 6]}." for more in range(4)]
    lines = (*known.page.markdown.split("\n\n"), *kinds)
    page = structs.replace(known.page, markdown="\n\n".join(lines), text="\n".join(lines))
    (whole,) = known.exchanges
    if at_once:
        exchange = structs.replace(whole, body=whole.body | {"kinds": kinds})
        return structs.replace(known, page=page, exchanges=(exchange,))
    first = structs.replace(whole, body=whole.body | {"kinds": kinds[:2], "hasMore": True})
    rest = ApiExchange(url=f"{whole.url}?next=p2", body={"kinds": kinds[2:], "hasMore": False})
    return structs.replace(known, page=page, exchanges=(first, rest))


def changed_over(pattern: PagePattern, numbers: Sequence[int], now_ms: int, *, at_once: bool) -> PagePattern:
    """Return what is known of a pattern after two pages whose API gives lists in another way."""
    late = [structs.replace(listed(number, at_once=at_once), at_ms=now_ms - 1) for number in numbers]
    (unsure,) = learned([pattern], late[0], (), now_ms).put or (pattern,)
    (after_it,) = learned([unsure], late[1], late[:1], now_ms).put
    return after_it


def test_a_list_whose_rest_is_asked_for_no_more_may_have_none() -> None:
    (whole,) = after([listed(number, at_once=True) for number in range(4)])
    halves = changed_over(whole, (4, 5), NOW + 10, at_once=False)
    again = changed_over(halves, (0, 1), NOW + 20, at_once=True)
    first, _ = listed(2, at_once=False).exchanges

    assert [len(one.requests) for one in (whole, halves, again)] == [1, 2, 1]
    assert drift_of(halves.shapes[0], first.body) is None
    assert drift_of(again.shapes[0], first.body) == (Drift.PAGING, "hasMore")


def test_what_stands_on_pages_of_one_kind_alone_may_stand_on_those_of_a_kind_unseen() -> None:
    """Extraction has left a line out of the pages of one kind; whether a third has one, no page tells."""
    kinds = ("low", "low", "low", "plenty", "plenty")
    stocks = [sample(number, stock, "Few are left" if stock == "low" else "") for number, stock in enumerate(kinds)]
    (pattern,) = after(stocks)

    def made(stock: str) -> str:
        (exchange,) = sample(5, stock).exchanges
        assert pattern.mapping is not None
        return render(pattern.mapping, [exchange.body], url(5), {"number": "5"}).markdown

    assert "Few are left" in made("low")
    assert "Few are left" not in made("plenty")
    with pytest.raises(UnknownCaseError):
        made("sold")
