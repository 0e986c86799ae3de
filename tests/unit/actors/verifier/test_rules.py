"""The verifier tells whole pages from everything that sites serve instead of them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.verifier.rules import judge
from protocol.browse import ValidationDetails
from protocol.faults import Code
from protocol.pages import ErrorPage, PageClaim, PageEvidence, Verdict
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
    ],
)
def test_how_much_of_the_page_is_there(
    *, length: int, evidence: dict[str, Any], code: Code | None, usable: bool
) -> None:
    judgement = judge(claim(length, **evidence))

    assert (judgement.code, judgement.usable) == (code, usable)


@pytest.mark.parametrize(
    ("length", "evidence", "code"),
    [
        (0, {"scripts": 5, "incomplete": ("loading",)}, Code.CONTENT_EMPTY),
        (40, {"scripts": 5}, None),
        (40, {"scripts": 5, "incomplete": ("loading",)}, None),
        (700, {"incomplete": ("loading",)}, None),
        (40, {"challenge": ("turnstile",)}, Code.BLOCKED_BOT_DETECTION),
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
        (407, Code.AUTH_MISSING_SESSION),
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
        ({"content_length": 80}, Code.AUTH_MISSING_SESSION),
        ({"content_length": 80, "url": "https://example.com/authors/7"}, Code.AUTH_MISSING_SESSION),
        ({"content_length": 3_000}, None),
        ({"content_length": 80, "url": "https://example.com/login"}, None),
        ({"content_length": 80, "url": "https://example.com/sign-in.html?next=%2F"}, None),
    ],
)
def test_a_login_form_in_place_of_the_page(fields: dict[str, Any], code: Code | None) -> None:
    assert code_of(**fields, login_form=True) == code


@pytest.mark.parametrize(
    ("status", "error", "code"),
    [
        (200, ErrorPage.NOT_FOUND, Code.HTTP_NOT_FOUND),
        (203, ErrorPage.SERVER_ERROR, Code.HTTP_SERVER_ERROR),
        (410, ErrorPage.SERVER_ERROR, Code.HTTP_NOT_FOUND),
        (200, None, None),
    ],
)
def test_an_error_that_calls_itself_a_success(status: int, error: ErrorPage | None, code: Code | None) -> None:
    judgement = judge(claim(2_000, status=status, error_page=error))

    assert (judgement.code, judgement.usable) == (code, code is None)


@pytest.mark.parametrize(
    ("tier", "code"),
    [
        (RenderTier.INTELLIGENCE, Code.CONTENT_REQUIRES_JS),
        (RenderTier.LIGHTWEIGHT, Code.CONTENT_REQUIRES_JS),
        (RenderTier.PLAYWRIGHT, Code.CONTENT_TOO_SHORT),
    ],
)
def test_a_request_for_consent_is_not_the_page(tier: RenderTier, code: Code) -> None:
    judgement = judge(claim(2_000, tier=tier, consent_wall=True))

    assert (judgement.code, judgement.usable) == (code, False)


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


def test_a_short_page_of_the_light_tier_may_be_longer_in_a_browser() -> None:
    assert code_of(300, tier=RenderTier.LIGHTWEIGHT) == Code.CONTENT_TOO_SHORT


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
