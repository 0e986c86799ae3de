"""The verifier tells whole pages from everything that sites serve instead of them."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.verdicts.certain import certain_verdict
from actors.verdicts.kinds import CODES, REASONS
from actors.verifier.model import Assessment
from actors.verifier.rules import judge
from protocol.browse import ValidationDetails
from protocol.faults import KINDS, Code
from protocol.page import PageKind
from protocol.pages import ErrorPage, PageClaim, PageEvidence, PageTraits, Verdict
from protocol.tiers import RenderTier
from tests.requirements import requirement
from tests.unit.actors.page_data import claim


def code_of(content_length: int = 2_000, **fields: Any) -> Code | None:
    return judge(claim(content_length, **fields)).code


def test_an_ordinary_page_is_accepted_without_a_word() -> None:
    judgement = judge(claim(2_000, semantic=("main",), scripts=12))

    details = ValidationDetails(
        content_length=2_000, has_semantic_markers=True, has_incomplete_markers=False, meets_min_length=True
    )
    assert judgement == Verdict(details=details)


@requirement("000.6.min-content")
def test_a_short_page_with_scripts_is_too_short() -> None:
    judgement = judge(claim(45, scripts=3))

    details = ValidationDetails(
        content_length=45, has_semantic_markers=False, has_incomplete_markers=False, meets_min_length=False
    )
    reasons = ("Content too short (45 chars, min 500)",)
    assert judgement == Verdict(details=details, code=Code.CONTENT_TOO_SHORT, usable=False, reasons=reasons)


@pytest.mark.parametrize(
    ("length", "evidence", "code", "usable"),
    [
        (0, {}, Code.CONTENT_EMPTY, False),
        (0, {"scripts": 1}, Code.CONTENT_REQUIRES_JS, False),
        (0, {"incomplete": ("empty #root",)}, Code.CONTENT_REQUIRES_JS, False),
        (0, {"markup": False}, Code.CONTENT_EMPTY, False),
        (1, {"markup": False}, None, True),
        (499, {}, None, True),
        (499, {"incomplete": ("loading",)}, Code.CONTENT_REQUIRES_JS, False),
        (499, {"scripts": 1}, Code.CONTENT_TOO_SHORT, True),
        (100, {"scripts": 1}, Code.CONTENT_TOO_SHORT, True),
        (99, {"scripts": 1}, Code.CONTENT_TOO_SHORT, False),
        (499, {"scripts": 1, "semantic": ("main",)}, Code.CONTENT_TOO_SHORT, True),
        (500, {"scripts": 1}, None, True),
        (500, {"incomplete": ("loading",)}, Code.CONTENT_REQUIRES_JS, True),
        (500, {"incomplete": ("loading",), "semantic": ("main",)}, None, True),
        (999, {"incomplete": ("loading",)}, Code.CONTENT_REQUIRES_JS, True),
        (1_000, {"incomplete": ("loading",)}, None, True),
        (5_000, {"incomplete": ("loading_main",), "semantic": ("main",)}, Code.CONTENT_REQUIRES_JS, False),
        (400, {"incomplete": ("empty_main",), "scripts": 1}, Code.CONTENT_REQUIRES_JS, False),
    ],
)
def test_how_much_of_the_page_is_there(
    *, length: int, evidence: dict[str, Any], code: Code | None, usable: bool
) -> None:
    judgement = judge(claim(length, **evidence))

    assert (judgement.code, judgement.usable) == (code, usable)


def test_what_asks_before_the_main_part_is_filled_is_no_loading_page() -> None:
    asks = Assessment(0.01, PageKind.CONSENT_WALL)
    loading = claim(100, incomplete=("empty_main",), scripts=1, traits=PageTraits(html_chars=900))

    assert judge(loading, lambda _: asks).code is Code.CONTENT_CONSENT_REQUIRED
    assert (
        judge(loading, lambda _: msgspec.structs.replace(asks, kind=PageKind.NOT_FOUND)).code
        is Code.CONTENT_REQUIRES_JS
    )


@pytest.mark.parametrize(
    ("length", "evidence", "code"),
    [
        (0, {"scripts": 5, "incomplete": ("loading",)}, Code.CONTENT_EMPTY),
        (40, {"scripts": 5}, None),
        (40, {"scripts": 5, "incomplete": ("loading",)}, None),
        (700, {"incomplete": ("loading",)}, None),
        (40, {"challenge": ("cf-chl",)}, Code.BLOCKED_BOT_DETECTION),
        (40, {"challenge": ("turnstile",)}, None),
        (4_000, {"incomplete": ("loading_main",)}, Code.CONTENT_EMPTY),
    ],
)
def test_a_browser_has_run_the_scripts(length: int, evidence: dict[str, Any], code: Code | None) -> None:
    assert code_of(length, tier=RenderTier.PLAYWRIGHT, **evidence) == code


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (200, None),
        (204, None),
        (400, Code.HTTP_CLIENT_ERROR),
        (401, Code.AUTH_MISSING_SESSION),
        (403, Code.HTTP_FORBIDDEN),
        (404, Code.HTTP_NOT_FOUND),
        (407, Code.HTTP_PROXY_REFUSED),
        (999, Code.BLOCKED_BOT_DETECTION),
        (304, Code.HTTP_SERVER_ERROR),
        (410, Code.HTTP_NOT_FOUND),
        (418, Code.HTTP_CLIENT_ERROR),
        (429, Code.RATE_LIMIT_EXCEEDED),
        (451, Code.BLOCKED_GEO_RESTRICTED),
        (500, Code.HTTP_SERVER_ERROR),
        (502, Code.HTTP_BAD_GATEWAY),
        (503, Code.HTTP_SERVICE_UNAVAILABLE),
        (504, Code.HTTP_BAD_GATEWAY),
        (520, Code.HTTP_SERVER_ERROR),
    ],
)
def test_what_a_status_means(status: int, code: Code | None) -> None:
    judgement = judge(claim(2_000, status=status))

    assert (judgement.code, judgement.usable) == (code, code is None)


@pytest.mark.parametrize(
    ("status", "length", "code"),
    [
        (200, 120, Code.BLOCKED_BOT_DETECTION),
        (403, 5_000, Code.BLOCKED_BOT_DETECTION),
        (429, 5_000, Code.BLOCKED_BOT_DETECTION),
        (503, 5_000, Code.BLOCKED_BOT_DETECTION),
        (404, 5_000, Code.HTTP_NOT_FOUND),
        (200, 5_000, None),
    ],
)
def test_marks_of_a_challenge_count_on_refusals_and_short_pages(status: int, length: int, code: Code | None) -> None:
    assert code_of(length, status=status, challenge=("cf-chl",)) == code


@pytest.mark.parametrize(
    ("status", "words", "code"),
    [
        (429, "Too Many Requests", Code.RATE_LIMIT_EXCEEDED),
        (429, "Our systems have detected unusual traffic", Code.BLOCKED_RATE_LIMITED),
        (403, "Too many requests from your network", Code.BLOCKED_RATE_LIMITED),
        (503, "We noticed **unusual\n traffic**", Code.BLOCKED_RATE_LIMITED),
        (200, "How we handle unusual traffic and too many requests", None),
        (403, "This content is not available in your country.", Code.BLOCKED_GEO_RESTRICTED),
        (403, "This video isn\N{RIGHT SINGLE QUOTATION MARK}t available in your region", Code.BLOCKED_GEO_RESTRICTED),
        (200, "This film is not available in your country.", None),
    ],
)
def test_words_of_a_refusal(status: int, words: str, code: Code | None) -> None:
    assert code_of(status=status, markdown=words) == code


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"status": 403, "content_length": 3_000}, Code.AUTH_MISSING_SESSION),
        ({"final_url": "https://example.com/login?next=%2F"}, Code.AUTH_MISSING_SESSION),
        ({"final_url": "https://example.com/sign-in.html", "session": True}, Code.AUTH_SESSION_EXPIRED),
        ({"content_length": 3_000}, None),
        ({"url": "https://example.com/login", "final_url": "https://example.com/login/"}, None),
    ],
)
def test_a_login_form_in_place_of_the_page(fields: dict[str, Any], code: Code | None) -> None:
    assert code_of(**fields, login_form=True) == code


@pytest.mark.parametrize(
    ("fields", "vendor"),
    [
        ({"content_length": 120, "vendors": ("kasada",)}, "kasada"),
        ({"content_length": 5_000, "status": 429, "vendors": ("kasada",)}, "kasada"),
        ({"content_length": 5_000, "status": 403, "challenge": ("cloudflare",)}, "cloudflare"),
    ],
)
def test_a_challenge_names_its_vendor(fields: dict[str, Any], vendor: str) -> None:
    judgement = judge(claim(**fields))

    assert (judgement.code, judgement.kind) == (Code.BLOCKED_BOT_DETECTION, PageKind.CHALLENGE)
    assert judgement.vendor == vendor
    assert vendor in judgement.reasons[0]


@pytest.mark.parametrize(
    ("asked", "got", "changed"),
    [
        ("https://example.com/news/2020/loom", "https://example.com/", True),
        ("https://example.com/news/2020/loom", "https://www.example.com", True),
        ("https://blog.example.com/2020/loom", "https://example.com/", True),
        ("https://example.com/loom.html", "https://example.com/", True),
        ("https://example.com/de/loom/12", "https://example.com/de/", True),
        ("https://example.com/de/loom/12", "https://example.com/pt-BR", True),
        ("https://example.com/a/b", "https://example.com/index.html", True),
        ("https://example.com/a/b#part", "https://example.com/#part", True),
        ("https://example.com/loom", "https://example.com/", False),
        ("https://example.com/index.html", "https://example.com/", False),
        ("https://example.com/en/index.html", "https://example.com/en/", False),
        ("https://example.com/en/home", "https://example.com/en", False),
        ("https://example.com/a/b", "https://example.com/?p=12", False),
        ("https://example.com/a/b", "https://example.com/#/a/b", False),
        ("https://example.com/a/b", "https://elsewhere.org/", False),
        ("https://example.com/a/b", "https://notexample.com/", False),
        ("https://example.com/a/b", "https://example.com/news", False),
        ("https://example.com/a/b", "https://example.com/a/b", False),
        ("http://[broken/a/b", "https://example.com/", False),
    ],
)
def test_a_deep_link_that_led_to_the_home_page(*, asked: str, got: str, changed: bool) -> None:
    assert code_of(url=asked, final_url=got) == (Code.SITE_STRUCTURE_CHANGED if changed else None)


def test_a_login_in_spite_of_a_session_means_that_it_has_expired() -> None:
    assert code_of(status=401, session=True) == Code.AUTH_SESSION_EXPIRED


@pytest.mark.parametrize(
    ("tier", "length", "code", "usable"),
    [
        (RenderTier.LIGHTWEIGHT, 2_000, Code.CONTENT_REQUIRES_JS, True),
        (RenderTier.LIGHTWEIGHT, 100, Code.CONTENT_REQUIRES_JS, False),
        (RenderTier.PLAYWRIGHT, 2_000, None, True),
    ],
)
def test_what_a_browser_would_show_otherwise_goes_on_to_one(
    *, tier: RenderTier, length: int, code: Code | None, usable: bool
) -> None:
    judgement = judge(claim(length, tier=tier, escalate=("thin", "webgl")))

    assert (judgement.code, judgement.usable) == (code, usable)
    assert code is None or "signals: thin, webgl" in judgement.reasons[0]


@pytest.mark.parametrize(
    ("tier", "length", "code", "usable"),
    [
        (RenderTier.LIGHTWEIGHT, 2_000, Code.CONTENT_TOO_SHORT, True),
        (RenderTier.LIGHTWEIGHT, 50, Code.CONTENT_TOO_SHORT, False),
        (RenderTier.PLAYWRIGHT, 2_000, None, True),
        (RenderTier.PLAYWRIGHT, 50, Code.CONTENT_TOO_SHORT, False),
    ],
)
def test_a_page_that_was_cut_short_is_whole_for_nobody_but_a_browser(
    *, tier: RenderTier, length: int, code: Code | None, usable: bool
) -> None:
    judgement = judge(claim(length, tier=tier, cut_short="never settled"))

    assert (judgement.code, judgement.usable) == (code, usable)
    assert judgement.reasons == ("The page was cut short (never settled)",)


def test_a_short_page_that_has_settled_is_a_page() -> None:
    assert code_of(300, tier=RenderTier.LIGHTWEIGHT, scripts=3) is None


@pytest.mark.parametrize("kind", PageKind)
def test_every_kind_has_its_code_and_its_words(kind: PageKind) -> None:
    assert CODES[kind] in KINDS
    assert REASONS[kind]


@pytest.mark.parametrize(
    ("beyond", "code"),
    [
        ({}, None),
        ({"absent_alike": 0.2}, None),
        ({"absent_alike": 0.97}, Code.HTTP_NOT_FOUND),
        ({"absent_alike": 0.97, "url": "https://example.com/"}, None),
    ],
)
def test_what_a_host_answers_to_an_absent_page_counts(beyond: dict[str, Any], code: Code | None) -> None:
    traits = PageTraits(title="Looms", html_chars=9_000, chars=2_000)
    judgement = judge(claim(2_000, traits=traits, **beyond), lambda _: Assessment(0.8, PageKind.NOT_FOUND))

    assert judgement.code == code
    assert judgement.doubtful == (not beyond)


names = st.lists(st.text(max_size=8), max_size=2).map(tuple)
seen = st.builds(
    PageEvidence,
    content_length=st.integers(0, 3_000),
    markup=st.booleans(),
    semantic=names,
    incomplete=names,
    challenge=names,
    login_form=st.booleans(),
    scripts=st.integers(0, 3),
    escalate=names,
    cut_short=st.sampled_from(["", "hard end"]),
)
claims = st.builds(
    claim,
    evidence=seen,
    status=st.integers(100, 599),
    tier=st.sampled_from(RenderTier),
    url=st.text(min_size=1, max_size=40),
    final_url=st.text(max_size=40),
    title=st.text(max_size=60),
    markdown=st.text(max_size=200),
)


@given(asked=claims)
def test_every_claim_gets_a_verdict(asked: PageClaim) -> None:
    judgement = judge(asked)

    refused = asked.status >= 400
    assert judgement.details.content_length == asked.evidence.content_length
    assert judgement.usable if judgement.code is None else judgement.reasons
    assert not (refused and judgement.usable)
    assert judgement.code is not None or asked.evidence.content_length > 0


@pytest.mark.parametrize(
    ("free", "visible", "walls"),
    [
        (False, "Subscribe to continue reading. Already a subscriber?", (PageKind.PAYWALL,)),
        (False, "Words about looms.", ()),
        (None, "Subscribe to continue reading. Already a subscriber?", ()),
    ],
)
def test_a_page_that_is_declared_to_be_fenced_in_part_says_so(
    *, free: bool | None, visible: str, walls: tuple[PageKind, ...]
) -> None:
    traits = PageTraits(title="Looms", html_chars=9_000, chars=2_000, free=free)
    judgement = judge(claim(2_000, traits=traits, visible=visible), lambda _: Assessment(0.95, PageKind.PAYWALL))

    assert (judgement.code, judgement.walls) == (None, walls)
    assert (judgement.probability < 0.7) == bool(walls)


@pytest.mark.parametrize(
    ("length", "end", "walls"),
    [
        (900, "Subscribe to continue reading. Already a subscriber? Log in.", (PageKind.PAYWALL,)),
        (900, "Subscribe to our letter.", ()),
        (9_000, "Subscribe to continue reading. Already a subscriber? Log in.", ()),
        (180, "Go on for [5 € a month](https://example.com/abo).", (PageKind.PAYWALL,)),
        (180, "A month of looms costs 5 €. [All looms](https://example.com/looms)", ()),
        (180, "Looms cost [5 € a month](https://example.com/looms).", ()),
    ],
)
def test_a_teaser_is_known_by_its_end(length: int, end: str, walls: tuple[PageKind, ...]) -> None:
    traits = PageTraits(title="Looms", html_chars=9_000, chars=2_000)
    asked = claim(length, traits=traits, markdown=f"{'Words about looms. ' * 40}\n\n{end}")

    judgement = judge(asked, lambda _: Assessment(0.95, PageKind.PAYWALL))

    assert (judgement.code, judgement.walls) == (None, walls)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ('{"error": "not found"}', Code.HTTP_NOT_FOUND),
        ('{"status": 404, "message": "No such thing", "path": "/x"}', Code.HTTP_NOT_FOUND),
        ('{"error": {"code": 429, "message": "Slow down"}}', Code.BLOCKED_RATE_LIMITED),
        ('{"errors": ["Internal server error"], "data": null}', Code.HTTP_SERVER_ERROR),
        ('{"error": null, "result": [1, 2]}', None),
        ('{"status": "ok", "message": "not found in the list of errors"}', None),
        ('{"title": "Looms", "code": 404}', None),
        ('[{"error": "not found"}]', None),
        ("404 page not found", Code.HTTP_NOT_FOUND),
        ("Access denied", Code.HTTP_FORBIDDEN),
        ("offline", None),
        ("User-agent: *\nDisallow: /private", None),
        ("An access that was denied is told here with all that came before it, and what has been done since.", None),
    ],
)
def test_what_came_without_markup_may_be_an_error_too(body: str, code: Code | None) -> None:
    assert code_of(len(body), markup=False, visible=body) == code


@pytest.mark.parametrize(
    ("kind", "asked", "other"),
    [
        (PageKind.LOGIN_WALL, "/login", "/looms"),
        (PageKind.LOGIN_WALL, "/pl/logowanie/", "/signature-looms"),
        (PageKind.PAYWALL, "/abonnement", "/premium/the-looms"),
        (PageKind.NOT_FOUND, "/help/what-404-means", "/item/404"),
        (PageKind.RATE_LIMITED, "/docs/rate-limits", "/docs/looms"),
        (PageKind.MAINTENANCE, "/incidents/9xk2m7", "/statutes/of-looms"),
        (PageKind.CHALLENGE, "/foro/how-to-read-a-captcha/1882", "/captcha"),
        (PageKind.NOT_FOUND, "/why-you-see-404", "/404.html"),
    ],
)
def test_what_looks_like_a_stand_in_is_a_page_where_it_was_asked_for(kind: PageKind, asked: str, other: str) -> None:
    traits = PageTraits(title="Looms", html_chars=9_000, chars=300)
    assessed = Assessment(0.1, kind, tuple(0.95 if one is kind else 0.001 for one in PageKind))

    judged = [
        judge(claim(300, traits=traits, url=url, final_url=url, visible="Log in"), lambda _: assessed)
        for url in (f"https://example.com{asked}", f"https://example.com{other}")
    ]

    assert [one.code is None for one in judged] == [True, False]
    assert judged[0].doubtful == (kind is PageKind.NOT_FOUND)  # a host knows what it answers to what is absent
    assert judged[0].probability > 0.85


@pytest.mark.parametrize(
    ("length", "traits", "code"),
    [
        (298, {}, None),
        (298, {"app": True}, Code.CONTENT_TOO_SHORT),
        (5, {}, Code.CONTENT_TOO_SHORT),
    ],
)
def test_what_a_script_may_fill_is_not_whole_before_it_has_run(
    *, length: int, traits: dict[str, Any], code: Code | None
) -> None:
    whole = PageTraits(title="Looms", h1="Looms", paragraphs=3, html_chars=900, chars=length, **traits)

    judgement = judge(claim(length, traits=whole, scripts=1), lambda _: Assessment(0.95, PageKind.SERVER_ERROR))

    assert judgement.code == code


def test_a_word_before_its_scripts_have_run_is_no_error_of_the_server() -> None:
    traits = PageTraits(html_chars=900, chars=5)
    judgement = judge(
        claim(5, traits=traits, visible="Looms", scripts=1), lambda _: Assessment(0.1, PageKind.SERVER_ERROR)
    )

    assert judgement.code == Code.CONTENT_TOO_SHORT


@pytest.mark.parametrize(
    ("title", "kind", "code"),
    [
        ("403 - Hosting", PageKind.SERVER_ERROR, Code.HTTP_FORBIDDEN),
        ("401: no entry", PageKind.SERVER_ERROR, Code.AUTH_MISSING_SESSION),
        ("401: no entry", PageKind.FORBIDDEN, Code.HTTP_FORBIDDEN),
        ("500, once 404", PageKind.NOT_FOUND, Code.HTTP_NOT_FOUND),
        ("403 - Hosting", PageKind.PAYWALL, Code.CONTENT_PAYWALLED),
        ("Peugeot 4040", PageKind.SERVER_ERROR, Code.HTTP_SERVER_ERROR),
    ],
)
def test_the_status_that_a_page_states_says_what_it_is(title: str, kind: PageKind, code: Code) -> None:
    traits = PageTraits(title=title, html_chars=900, chars=300)

    assert judge(claim(300, traits=traits), lambda _: Assessment(0.05, kind)).code == code


@pytest.mark.parametrize(
    ("length", "seen", "is_certain"),
    [
        (2_000, {"markup": False}, True),
        (700, {"markup": False, "visible": "Words that go on. " * 12}, True),
        (40, {"markup": False, "visible": "Page not found"}, False),
        (300, {"markup": False, "visible": '{"error": "no such page", "items": []}'}, False),
        (2_000, {"markup": False, "escalate": ("webgl",)}, False),
        (2_000, {"markup": False, "cut_short": "never settled"}, False),
        (2_000, {"markup": True}, False),
        (2_000, {"markup": True, "traits": PageTraits(html_chars=9_000, chars=4_000)}, False),
    ],
)
def test_what_may_be_an_error_or_unfinished_is_left_to_the_verifier(
    *, length: int, seen: dict[str, Any], is_certain: bool
) -> None:
    certain = certain_verdict(claim(length, **seen))

    assert certain == (judge(claim(length, **seen)) if is_certain else None)


_LONG = PageTraits(html_chars=20_000, chars=9_000, prose_chars=7_000)


@pytest.mark.parametrize(
    ("length", "seen", "is_certain"),
    [
        (8_000, {}, True),
        (4_999, {}, False),
        (8_000, {"traits": msgspec.structs.replace(_LONG, prose_chars=3_999)}, False),
        (8_000, {"traits": msgspec.structs.replace(_LONG, free=False)}, False),
        (8_000, {"traits": msgspec.structs.replace(_LONG, passwords=1)}, False),
        (8_000, {"challenge": ("turnstile",)}, False),
        (8_000, {"escalate": ("webgl",)}, False),
        (8_000, {"incomplete": ("spinner",)}, False),
        (8_000, {"cut_short": "never settled"}, False),
        (8_000, {"error_page": ErrorPage.NOT_FOUND}, False),
        (8_000, {"consent_wall": True}, False),
        (8_000, {"login_form": True}, False),
    ],
)
def test_so_much_text_is_the_page_itself_where_nothing_says_otherwise(
    *, length: int, seen: dict[str, Any], is_certain: bool
) -> None:
    fields: dict[str, Any] = {"traits": _LONG, **seen}
    certain = certain_verdict(claim(length, **fields))

    assert (certain is not None) == is_certain
    assert certain is None or (certain.code, certain.probability, certain.reasons) == (None, 0.99, ())
