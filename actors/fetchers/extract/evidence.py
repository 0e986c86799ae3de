"""Sees in a page's markup what speaks for or against it: marks with names, for the verifier to judge by."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lxml.html import HtmlElement

from actors.fetchers.extract.dom import first, text_of
from actors.fetchers.extract.error_pages import error_page
from protocol.browse import MIN_CONTENT_CHARS
from protocol.documents import Signal
from protocol.pages import ErrorPage, PageEvidence

_MAX_SOURCE_CHARS = 1_000_000
"""How much of the markup is searched."""

_ROOT_IDS = frozenset(
    {"root", "app", "__next", "__nuxt", "___gatsby", "svelte", "application", "react-root", "main-app"}
)
_LOADING = re.compile(
    r"^(?:loading|please wait|wird geladen|chargement|cargando|caricamento|加载中|読み込み中)[\w ]{0,20}[ .…]*$"
)
_SKELETON = re.compile(r"skeleton|shimmer|placeholder-glow|content-loader")
_SPINNER = re.compile(r"\b(?:spinner|loader|loading)\b")
_WANTS_SCRIPT = re.compile(
    r"(?:enable|activate|allow|requires?|needs?|turn on)[^.<]{0,60}javascript"
    r"|javascript[^.<]{0,60}(?:enabled|required|disabled|turned off|to be on|to run)"
)

# Only a challenge has these: the platform's script alone (`challenge-platform/scripts`) is on ordinary pages, too.
_SURE = (
    ("cf-chl", re.compile(r"_cf_chl_opt|cf-chl-|cf_chl_(?:tk|rc|prog)|cf-browser-verification")),
    ("challenge-platform", re.compile(r"/cdn-cgi/challenge-platform/h/")),
    ("datadome", re.compile(r"captcha-delivery\.com")),
    ("perimeterx", re.compile(r"px-captcha|_pxappid[^;]{0,80};[^<]{0,200}captcha")),
    ("akamai", re.compile(r"sec-if-cpt-container|bm-verify=|/_sec/cp_challenge/")),
    ("ddos-guard", re.compile(r"ddos-guard/js-challenge|/\.well-known/ddos-guard/")),
)
# These stand on ordinary pages, too: in a contact form, in an article about them. They count where there is no content.
_MAYBE = (
    ("turnstile", re.compile(r"challenges\.cloudflare\.com/turnstile|cf-turnstile")),
    (
        "captcha",
        re.compile(r"(?:google|recaptcha)\.(?:com|net)/recaptcha|hcaptcha\.com|g-recaptcha|arkoselabs\.com|geetest"),
    ),
    ("datadome", re.compile(r"datadome")),
    ("perimeterx", re.compile(r"perimeterx|/px/client/")),
    ("akamai", re.compile(r"reference&#32;&#35;|reference #[0-9a-f]{1,4}\.[0-9a-f]{6,}|errors\.edgesuite\.net")),
    ("imperva", re.compile(r"_incapsula_resource|incapsula incident id")),
    ("aws-waf", re.compile(r"awswaf\.com|awswafintegration")),
    ("just a moment", re.compile(r"just a moment|einen moment|un momento")),
    (
        "checking your browser",
        re.compile(r"checking your browser|verifying your browser|checking if the site connection"),
    ),
    (
        "human check",
        re.compile(
            r"(?:verify|confirm|prove)[^.<]{0,30}(?:you are|you're) (?:a )?(?:human|not a robot)"
            r"|pardon our interruption"
        ),
    ),
)

_CONSENT = re.compile(
    r"onetrust|cookiebot|didomi|usercentrics|cookie-?consent|cookie-?banner|sp_message_container|qc-cmp2|truste"
)
_PAYWALL = re.compile(r"(?:subscribe|sign in|log in|register)[^.<]{0,40}(?:to (?:continue|keep|read)|for full access)")
_AGE = re.compile(r"age[-_ ](?:gate|verification)|are you (?:over|at least) (?:18|21)")
_GEO = re.compile(r"not available in your (?:country|region|location)")


def observe(root: HtmlElement, source: str, content_length: int) -> PageEvidence:
    """See what there is; `source` is the markup as it came, `content_length` the length of what was extracted."""
    thin = content_length < MIN_CONTENT_CHARS
    return PageEvidence(
        content_length=content_length,
        semantic=tuple(_semantic(root)),
        incomplete=tuple(_incomplete(root, thin=thin)),
        challenge=tuple(dict.fromkeys(_challenge(source[:_MAX_SOURCE_CHARS].lower(), thin=thin))),
        login_form=any((field.get("type") or "").lower() == "password" for field in root.iter("input")),
        scripts=sum(1 for script in root.iter("script") if _runs(script)),
        error_page=_error(root, content_length),
    )


def signals(root: HtmlElement, evidence: PageEvidence, text: str) -> tuple[Signal, ...]:
    """Name what stands between a reader and the page."""
    thin = evidence.content_length < MIN_CONTENT_CHARS
    opening = text[: 4 * MIN_CONTENT_CHARS].lower()
    names = " ".join(_names(root))
    found = {
        Signal.PAYWALL_OR_LOGIN: (thin and evidence.login_form) or _PAYWALL.search(opening),
        Signal.CONSENT_MODAL: _CONSENT.search(names),
        Signal.CAPTCHA_OR_ROBOT_CHECK: evidence.challenge,
        Signal.SPARSE_TEXT: thin,
        Signal.NON_TEXT_CONTENT: thin and first(root, "canvas", "video", "audio", "object") is not None,
        Signal.PDF_VIEWER: any("pdf" in (embed.get("type") or "").lower() for embed in root.iter("embed", "object")),
        Signal.AGE_GATE: _AGE.search(names) or (thin and _AGE.search(opening)),
        Signal.GEO_BLOCK: thin and _GEO.search(opening),
        Signal.SCRIPT_REQUIRED: thin and evidence.incomplete,
    }
    return tuple(signal for signal, seen in found.items() if seen)


def _semantic(root: HtmlElement) -> Iterator[str]:
    for tag in ("main", "article"):
        if any(_has_text(element) for element in root.iter(tag)):
            yield tag
    if any(element.get("role") == "main" and _has_text(element) for element in root.iter("div", "section", "td")):
        yield "role=main"


def _incomplete(root: HtmlElement, *, thin: bool) -> Iterator[str]:
    if any(_is_root(element) and not _has_text(element) for element in root.iter()):
        yield "empty_root"
    body = first(root, "body")
    words = text_of(body).lower() if body is not None and thin else ""
    if any(_LOADING.match(line) for line in words.split("\n")):
        yield "loading_text"
    names = " ".join(_names(root))
    if _SKELETON.search(names):
        yield "skeleton"
    if thin and _SPINNER.search(names):
        yield "spinner"
    refusals = " ".join(text for noscript in root.iter("noscript") for text in noscript.itertext())
    if thin and _WANTS_SCRIPT.search(f"{refusals} {words}".lower()[:_MAX_SOURCE_CHARS]):
        yield "enable_javascript"


def _error(root: HtmlElement, content_length: int) -> ErrorPage | None:
    body = first(root, "body")
    headlines = [text_of(element) for element in root.iter("title", "h1", "h2")]
    return error_page(headlines, text_of(body) if body is not None else "", content_length)


def _challenge(source: str, *, thin: bool) -> Iterator[str]:
    for name, pattern in _SURE + (_MAYBE if thin else ()):
        if pattern.search(source):
            yield name


def _names(root: HtmlElement) -> Iterator[str]:
    for element in root.iter():
        if name := element.get("class"):
            yield name.lower()
        if name := element.get("id"):
            yield name.lower()


def _is_root(element: HtmlElement) -> bool:
    return element.tag == "app-root" or element.get("id") in _ROOT_IDS


def _has_text(element: HtmlElement) -> bool:
    return any(
        text.strip()
        for node in element.iter()
        if node.tag not in ("script", "style", "noscript")
        for text in _own(node)
    )


def _own(node: HtmlElement) -> tuple[str, ...]:
    return (node.text or "", *(child.tail or "" for child in node))


def _runs(script: HtmlElement) -> bool:
    kind = (script.get("type") or "").lower()
    return kind in ("", "module") or "javascript" in kind
