"""Marks of a page, named."""

from __future__ import annotations

import pytest

from actors.fetchers.extract import dom
from actors.fetchers.extract.evidence import observe, signals
from protocol.documents import Signal
from protocol.pages import PageEvidence


def see(body: str, length: int = 100, head: str = "") -> PageEvidence:
    source = f"<html><head>{head}</head><body>{body}</body></html>"
    root = dom.parse(source)
    dom.show(root, "https://a.example/")
    return observe(root, source, length)


@pytest.mark.parametrize(
    ("body", "semantic"),
    [
        ("<main>x</main>", ("main",)),
        ("<main></main>", ()),
        ("<main><script>x</script></main>", ()),
        ("<main><article>x</article></main>", ("main", "article")),
        ("<div role=main>x</div>", ("role=main",)),
        ("<div>x</div>", ()),
    ],
)
def test_semantic_marks(body: str, semantic: tuple[str, ...]) -> None:
    assert see(body).semantic == semantic


@pytest.mark.parametrize(
    ("body", "length", "incomplete"),
    [
        ("<div id=root></div>", 0, ("empty_root",)),
        ("<div id=__next><script>1</script></div>", 0, ("empty_root",)),
        ("<app-root></app-root>", 0, ("empty_root",)),
        ("<div id=root>words</div>", 5, ()),
        ("<p>Loading...</p>", 10, ("loading_text",)),
        ("<p>Loading your posts…</p>", 10, ("loading_text",)),
        ("<p>Loading docks are where ships unload their goods.</p>", 60, ()),
        ("<p>Loading...</p>", 5_000, ()),
        ("<div class='card skeleton-line'></div>", 0, ("skeleton",)),
        ("<div class='app-spinner'></div>", 0, ("spinner",)),
        ("<div class='spinner' style='display:none'></div>", 0, ()),
        ("<div class='spinner'></div>", 5_000, ()),
        ("<noscript>You need to enable JavaScript to run this app.</noscript>", 0, ("enable_javascript",)),
        ("<p>JavaScript must be enabled to view this page</p>", 48, ("enable_javascript",)),
        ("<noscript>Please enable JavaScript</noscript>", 5_000, ()),
    ],
)
def test_incomplete_marks(body: str, length: int, incomplete: tuple[str, ...]) -> None:
    assert see(body, length).incomplete == incomplete


@pytest.mark.parametrize(
    ("body", "length", "challenge"),
    [
        ("<script>window._cf_chl_opt={}</script>", 5_000, ("cf-chl",)),
        ("<script src='/cdn-cgi/challenge-platform/h/b/orchestrate/x'></script>", 0, ("challenge-platform",)),
        ("<script src='/cdn-cgi/challenge-platform/scripts/jsd/main.js'></script>", 0, ()),
        ("<script src='https://geo.captcha-delivery.com/captcha/?x'></script>", 0, ("datadome",)),
        ("<div id='px-captcha'></div>", 0, ("perimeterx",)),
        ("<div id='sec-if-cpt-container'></div>", 0, ("akamai",)),
        ("<div class='cf-turnstile'></div>", 100, ("turnstile",)),
        ("<div class='cf-turnstile'></div>", 5_000, ()),
        ("<iframe src='https://www.google.com/recaptcha/api2/anchor'></iframe>", 100, ("captcha",)),
        ("<script src='https://js.hcaptcha.com/1/api.js'></script>", 100, ("captcha",)),
        ("<p>Checking your browser before accessing a.example.</p>", 60, ("checking your browser",)),
        ("<p>Verify you are human by completing the action below.</p>", 60, ("human check",)),
        ("<p>An article on why sites say Just a moment...</p>", 5_000, ()),
        ("<p>An ordinary short page.</p>", 20, ()),
    ],
)
def test_challenge_marks(body: str, length: int, challenge: tuple[str, ...]) -> None:
    assert see(body, length).challenge == challenge


def test_a_login_form_that_is_shown() -> None:
    assert see("<input type=PASSWORD>").login_form
    assert not see("<div hidden><input type=password></div>").login_form


def test_scripts_that_run_are_counted() -> None:
    kinds = ("<script>1</script>", "<script src=a></script>", "<script type=module></script>")
    body = "".join((*kinds, "<script type=application/ld+json></script>"))

    assert see(body).scripts == 3


@pytest.mark.parametrize(
    ("body", "length", "expected"),
    [
        ("<input type=password>", 20, (Signal.PAYWALL_OR_LOGIN, Signal.SPARSE_TEXT)),
        ("<p>Subscribe to continue reading</p>", 900, (Signal.PAYWALL_OR_LOGIN,)),
        ("<div id=onetrust-banner-sdk>cookies</div>", 900, (Signal.CONSENT_MODAL,)),
        ("<canvas></canvas>", 0, (Signal.SPARSE_TEXT, Signal.NON_TEXT_CONTENT)),
        ("<embed type=application/pdf>", 900, (Signal.PDF_VIEWER,)),
        ("<p>This film is not available in your country.</p>", 50, (Signal.SPARSE_TEXT, Signal.GEO_BLOCK)),
        ("<div class=age-gate></div>", 900, (Signal.AGE_GATE,)),
        ("<div id=root></div>", 0, (Signal.SPARSE_TEXT, Signal.SCRIPT_REQUIRED)),
    ],
)
def test_signals(body: str, length: int, expected: tuple[Signal, ...]) -> None:
    root = dom.parse(f"<html><body>{body}</body></html>")
    evidence = observe(root, body, length)

    assert signals(root, evidence, dom.text_of(root)) == expected
