"""Marks of a page, named, and the walls that they make."""

from __future__ import annotations

import pytest

from actors.extraction.decide.blockers import find_blockers
from actors.extraction.decide.blocks import blocks as blocks_of
from actors.extraction.decide.content import Content
from actors.extraction.parse.tree import read
from protocol.confidence import Source, confidence
from protocol.documents import Signal
from protocol.pages import ErrorPage, PageEvidence

URL = "https://a.example/guide/looms"


def marks(
    body: str, length: int = 100, *, head: str = "", blocks: tuple[str, ...] = (), url: str = URL
) -> tuple[PageEvidence, tuple[Signal, ...]]:
    text = "\n".join(blocks) if blocks else "x" * length
    body += "".join(f"<p>{words}</p>" for words in blocks)
    page = read(f"<html><head>{head}</head><body>{body}</body></html>", url)
    content = Content(
        blocks=tuple(blocks_of(page)) if blocks else (),
        holders=frozenset(),
        text=text,
        confidence=confidence(Source.HEURISTIC),
        page_types={},
        attempts=(),
    )
    return find_blockers(page, content)


def see(body: str, length: int = 100, head: str = "") -> PageEvidence:
    return marks(body, length, head=head)[0]


@pytest.mark.parametrize(
    ("body", "semantic"),
    [
        ("<main>x</main>", ("main",)),
        ("<main></main>", ()),
        ("<main><script>x</script></main>", ()),
        ("<article></article><main><article>x</article></main>", ("main", "article")),
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
        ("<p>Loading more…</p>", 10, ()),
        ("<p>Loading docks are where ships unload their goods.</p>", 60, ()),
        ("<p>Loading...</p>", 5_000, ()),
        ("<div class='card skeleton-line'></div>", 0, ("skeleton",)),
        ("<div class='app-spinner'></div>", 0, ("spinner",)),
        ("<div class='spinner' style='display:none'></div>", 0, ()),
        ("<div class='spinner'></div>", 5_000, ()),
        (f"<div class='spinner'></div><nav>{'menu ' * 400}</nav>", 400, ()),
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
        (f"<div class='cf-turnstile'></div><p>{'comment ' * 300}</p>", 100, ()),
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


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("<input type=PASSWORD>", True),
        ("<div hidden><input type=password></div>", False),
        ("<header><form><input type=password></form></header>", False),
        ("<div class='login-modal'><input type=password></div>", False),
        ("<h1>Sign in</h1><form><input type=email></form>", True),
        ("<h1>Anmelden</h1><form><input></form>", True),
        ("<h1>Sign in the window</h1><form><input></form>", False),
        ("<h1>Looms</h1><form><input type=email></form>", False),
    ],
)
def test_a_login_form_that_is_shown(body: str, *, wanted: bool) -> None:
    assert see(body).login_form is wanted


def test_scripts_that_run_are_counted() -> None:
    kinds = ("<script>1</script>", "<script src=a></script>", "<script type=module></script>")
    body = "".join((*kinds, "<script type=application/ld+json></script>"))

    assert see(body).scripts == 3


@pytest.mark.parametrize(
    ("head", "body", "length", "error"),
    [
        ("<title>404 Not Found</title>", "", 0, ErrorPage.NOT_FOUND),
        ("<title>Looms</title>", "<h1>Seite nicht gefunden</h1>", 80, ErrorPage.NOT_FOUND),
        ("", "<p>Sorry, the page you requested could not be found.</p>", 60, ErrorPage.NOT_FOUND),
        ("", "<p hidden>Page not found</p>", 60, None),
        ("<title>404 Not Found</title>", "", 3_000, None),
        ("<title>Error 500</title>", "", 20, ErrorPage.SERVER_ERROR),
        ("<title>Looms</title>", "<h1>How looms work</h1>", 400, None),
    ],
)
def test_pages_that_say_they_are_an_error(head: str, body: str, length: int, error: ErrorPage | None) -> None:
    assert see(body, length, head).error_page == error


@pytest.mark.parametrize(("path", "error"), [("/404", ErrorPage.NOT_FOUND), ("/404.html", ErrorPage.NOT_FOUND)])
def test_an_address_that_is_the_error_page(path: str, error: ErrorPage) -> None:
    assert marks("<p>Oh no</p>", 5, url=f"https://a.example{path}")[0].error_page == error


ASKING = (
    "We and our partners store cookies to process personal data for advertising.",
    "You may withdraw your consent in our privacy policy at any time.",
    "Accept all",
)
SAYING = ("The shuttle carries the weft through the shed. " * 6, "The reed beats it against the cloth.")


@pytest.mark.parametrize(
    ("blocks", "head", "wall"),
    [
        (ASKING, "<title>A newspaper</title>", True),
        ((*ASKING, *SAYING), "", False),
        (ASKING, "<title>Cookie policy</title>", False),
        (("Bake the cookies for ten minutes.", "Add sugar."), "", False),
        (SAYING, "", False),
    ],
)
def test_a_page_that_only_asks_for_consent(blocks: tuple[str, ...], head: str, *, wall: bool) -> None:
    assert marks("", blocks=blocks, head=head)[0].consent_wall is wall


@pytest.mark.parametrize(
    ("body", "length", "expected"),
    [
        ("<input type=password>", 20, (Signal.PAYWALL_OR_LOGIN, Signal.SPARSE_TEXT)),
        ("<div id=onetrust-banner-sdk>cookies</div>", 900, (Signal.CONSENT_MODAL,)),
        ("<div id=onetrust-banner-sdk style='display:none'>cookies</div>", 900, ()),
        ("<div role=dialog aria-modal=true>Join us</div>", 900, (Signal.OVERLAY_BLOCKING,)),
        ("<div role=dialog aria-modal=true style='display:none'>Join us</div>", 900, ()),
        ("<canvas></canvas>", 0, (Signal.SPARSE_TEXT, Signal.NON_TEXT_CONTENT)),
        ("<embed type=application/pdf>", 900, (Signal.PDF_VIEWER,)),
        ("<div class=age-gate></div>", 900, (Signal.AGE_GATE,)),
        ("<div id=root></div>", 0, (Signal.SPARSE_TEXT, Signal.SCRIPT_REQUIRED)),
    ],
)
def test_signals(body: str, length: int, expected: tuple[Signal, ...]) -> None:
    assert marks(body, length)[1] == expected


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        ("Subscribe to continue reading. " + "x" * 600, (Signal.PAYWALL_OR_LOGIN,)),
        ("This film is not available in your country.", (Signal.SPARSE_TEXT, Signal.GEO_BLOCK)),
    ],
)
def test_signals_of_words(block: str, expected: tuple[Signal, ...]) -> None:
    assert marks("", blocks=(block,))[1] == expected
