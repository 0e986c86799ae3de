"""Sees in a page what stands between a reader and its content: marks with names, for the verifier to judge by."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from urllib.parse import urlsplit

from msgspec import Struct
from turbohtml import Element, Node, Text

from actors.extraction.assets import vendors_of_body
from actors.extraction.decide.blocks import Block
from actors.extraction.decide.content import Content
from actors.extraction.decide.page_traits import page_traits
from actors.extraction.evidence import markers
from actors.extraction.evidence.markers import THIN_CHARS, error_page, folded
from actors.extraction.parse.tree import Page
from protocol.browse import MIN_CONTENT_CHARS
from protocol.documents import Signal
from protocol.pages import ErrorPage, PageEvidence

_MAX_SOURCE_CHARS = 1_000_000
"""How much of the markup is searched."""

_CHALLENGE_CHARS = 100_000
"""How much of it, where there is content: challenges are smaller, and each sign costs .2 ms a megabyte."""

_BARE_CHARS = 3 * MIN_CONTENT_CHARS
_MAX_NODES = 20_000
_OPENING_CHARS = 4 * MIN_CONTENT_CHARS
_MAX_HEADLINES = 8
_MAX_OF_KIND = 100
"""Elements of a kind that are looked at: around each, the tree is walked."""

_MEDIA = "img, picture, svg, video, audio, canvas, object, embed, iframe, input"
_MAX_LOADING = 60
"""Characters of a line that says no more than that the page is loading."""

_NEVER_SHOWN = frozenset({"script", "style", "noscript", "template", "head"})

_CONSENT_CHARS = 4_000
_CONSENT_SHARE = 0.6
"""A page of at most so many characters, this share of them in blocks that speak of consent, is a consent wall."""


def find_blockers(page: Page, content: Content, shown: Sequence[Block] = ()) -> tuple[PageEvidence, tuple[Signal, ...]]:
    """See the marks of a page, and name what they mean for its reader; `shown` are all of its blocks."""
    view = _PageView.of(page, content)
    visible, traits = page_traits(page, shown)
    evidence = PageEvidence(
        content_length=view.length,
        semantic=tuple(_semantic(view)),
        incomplete=tuple(_incomplete(view)),
        challenge=tuple(dict.fromkeys(_challenge(view))),
        login_form=_asks_login(view),
        scripts=sum(1 for script in page.root.iter_elements("script") if _runs(script)),
        error_page=_error(view),
        consent_wall=_asks_consent(view),
        visible=visible,
        traits=traits,
    )
    return evidence, tuple(_signals(view, evidence))


class _PageView(Struct, frozen=True):
    """A page as it is looked at: `words` is all that it shows, in lower case, where it has little content."""

    page: Page
    length: int
    opening: str
    words: str
    names: str
    headlines: tuple[str, ...]
    blocks: tuple[str, ...]

    @classmethod
    def of(cls, page: Page, content: Content) -> _PageView:
        text = content.text or content.text_elsewhere
        thin = len(text) < THIN_CHARS
        names = {element.attr(name) or "" for name in ("class", "id") for element in page.root.select(f"[{name}]")}
        return cls(
            page,
            len(text),
            text[:_OPENING_CHARS].lower(),
            "\n".join(_shown(page)).lower() if thin else "",
            " ".join(names).lower(),
            tuple(_headlines(page)),
            tuple(block.text for block in content.blocks) if len(text) <= _CONSENT_CHARS else (),
        )

    @property
    def thin(self) -> bool:
        return self.length < MIN_CONTENT_CHARS

    @property
    def bare(self) -> bool:
        """Whether it shows little in all: a form or a widget on a page with menus says nothing."""
        return self.thin and len(self.words) < _BARE_CHARS

    def named(self, words: Sequence[str]) -> bool:
        """Whether an element that is seen has a class or id with one of these words in it."""
        # Plain searches one after the other cost a tenth of an alternation.
        if not any(word in self.names for word in words):
            return False
        pattern = re.compile(rf"\b(?:{'|'.join(words)})")
        elements = (element for element in self.page.root.iter_elements() if pattern.search(_name(element)))
        return any(_is_visible(self.page, element) for element in islice(elements, _MAX_OF_KIND))


def _headlines(page: Page) -> Iterator[str]:
    for element in islice(page.root.iter_elements(("title", "h1", "h2")), _MAX_HEADLINES):
        if element.tag == "title" or _is_visible(page, element):
            yield element.text[:_OPENING_CHARS]


def _shown(page: Page) -> Iterator[str]:
    """Return what a page shows, text by text, without a recursion and up to a bound."""
    body = page.root.find("body")
    stack: list[Node] = [body] if body is not None else []
    for _ in range(_MAX_NODES):
        if not stack:
            return
        node = stack.pop()
        if isinstance(node, Text):
            if text := node.data.strip():
                yield text
        elif isinstance(node, Element) and node.tag not in _NEVER_SHOWN and node not in page.hidden:
            stack.extend(reversed(node.children))


def _semantic(view: _PageView) -> Iterator[str]:
    selectors = {"main": "main", "article": "article", "role=main": "[role=main]:not(main, article)"}
    for mark, selector in selectors.items():
        if any(_has_text(element) for element in view.page.root.select(selector)[:_MAX_OF_KIND]):
            yield mark


def _incomplete(view: _PageView) -> Iterator[str]:
    if any(not _has_text(element) for element in view.page.root.select(markers.ROOTS)[:_MAX_OF_KIND]):
        yield "empty_root"
    if view.thin and any(markers.LOADING.match(line.strip()) for line in view.words.split("\n")):
        yield "loading_text"
    yield from _empty_places(view.page)
    if view.named(markers.SKELETON):
        yield "skeleton"
    if view.bare and view.named(markers.SPINNER):
        yield "spinner"
    if view.thin:
        refusals = " ".join(element.text for element in view.page.root.iter_elements("noscript"))
        if markers.WANTS_SCRIPT.search(f"{refusals} {view.words}".lower()[:_MAX_SOURCE_CHARS]):
            yield "enable_javascript"


def _empty_places(page: Page) -> Iterator[str]:
    """Name what stands in the main part where nothing else does: nothing at all, or that it is loading."""
    places = [place for place in page.root.select("main, [role=main]")[:_MAX_OF_KIND] if _is_visible(page, place)]
    texts = [_text_of(place) for place in places if not place.select(_MEDIA)]
    if not places or len(texts) < len(places):
        return
    if any(markers.LOADING.match(text) for text in texts) and not any(len(text) > _MAX_LOADING for text in texts):
        yield "loading_main"
    elif not any(texts) and _needs_script(page):
        yield "empty_main"


def _text_of(place: Element) -> str:
    texts = (node.data for node in place.descendants if isinstance(node, Text) and not _within_unseen(node, place))
    return " ".join(" ".join(islice(texts, _MAX_OF_KIND)).split()).lower()


def _needs_script(page: Page) -> bool:
    return any(_runs(script) for script in page.root.iter_elements("script"))


def _challenge(view: _PageView) -> Iterator[str]:
    source = view.page.source
    end = _MAX_SOURCE_CHARS if view.thin else _CHALLENGE_CHARS
    for name, proofs in markers.SURE:
        if any(source.find(sign, 0, end) >= 0 for sign in proofs):
            yield name
    if view.bare:
        folded = source[:_MAX_SOURCE_CHARS].lower()
        yield from vendors_of_body(folded)
        for name, pattern in markers.MAYBE:
            if pattern.search(folded):
                yield name


def _asks_login(view: _PageView) -> bool:
    page = view.page
    passwords = page.root.select("input[type=password i]")[:_MAX_OF_KIND]
    if any(_is_visible(page, field) and field.closest(markers.ASIDE) is None for field in passwords):
        return True
    says_so = view.thin and any(markers.LOGIN_PART.fullmatch(folded(headline)) for headline in view.headlines)
    fields = "input[type=email i], input[type=text i], input:not([type])"
    return says_so and any(_is_visible(page, field) for field in page.root.select(fields)[:_MAX_OF_KIND])


def _error(view: _PageView) -> ErrorPage | None:
    kind = error_page(view.headlines, view.words or view.opening, view.length)
    if kind is None and view.thin and markers.ERROR_PATH.search(_path(view.page.url)):
        return ErrorPage.NOT_FOUND
    return kind


def _asks_consent(view: _PageView) -> bool:
    """Return whether most of the little that a page says is a request for consent, and not its subject."""
    if view.length > _CONSENT_CHARS or any(markers.ABOUT_PRIVACY.search(folded(line)) for line in view.headlines[:2]):
        return False
    parts = view.blocks or tuple(view.words.split("\n"))
    asking = sum(len(part) for part in parts if _is_asking(part.lower()))
    return asking > _CONSENT_SHARE * max(sum(map(len, parts)), 1)


def _is_asking(part: str) -> bool:
    return len(set(markers.CONSENT_STEMS.findall(part))) > 1 or markers.CONSENT_BUTTONS.match(part) is not None


def _signals(view: _PageView, evidence: PageEvidence) -> Iterator[Signal]:
    thin, root = view.thin, view.page.root
    evidence_of = {
        Signal.PAYWALL_OR_LOGIN: (thin and evidence.login_form) or markers.PAYWALL.search(view.opening),
        Signal.CONSENT_MODAL: evidence.consent_wall or view.named(markers.CONSENT),
        Signal.CAPTCHA_OR_ROBOT_CHECK: evidence.challenge,
        Signal.OVERLAY_BLOCKING: _is_covered(view.page),
        Signal.SPARSE_TEXT: thin,
        Signal.NON_TEXT_CONTENT: thin and next(root.iter_elements(("canvas", "video", "audio", "object")), None),
        Signal.PDF_VIEWER: root.select_one("embed[type*=pdf i], object[type*=pdf i]"),
        Signal.AGE_GATE: view.named(markers.AGE) or (thin and markers.AGE_WORDS.search(view.opening)),
        Signal.GEO_BLOCK: thin and markers.GEO.search(view.opening or view.words),
        Signal.SCRIPT_REQUIRED: thin and evidence.incomplete,
    }
    return (signal for signal, value in evidence_of.items() if value)


def _is_covered(page: Page) -> bool:
    """Return whether a dialog is open that takes the page away from its reader."""
    return any(_is_visible(page, one) for one in page.root.select("dialog[open], [aria-modal=true i]")[:_MAX_OF_KIND])


def _is_visible(page: Page, element: Element) -> bool:
    return not page.hidden or not any(node in page.hidden for node in (element, *element.ancestors))


def _has_text(element: Element) -> bool:
    texts = (node for node in element.descendants if isinstance(node, Text))
    return any(node.data.strip() and not _within_unseen(node, element) for node in texts)


def _within_unseen(node: Node, top: Element) -> bool:
    parent = node.parent
    while isinstance(parent, Element) and parent != top:
        if parent.tag in _NEVER_SHOWN:
            return True
        parent = parent.parent
    return False


def _name(element: Element) -> str:
    return f"{element.attr('class') or ''} {element.attr('id') or ''}".lower()


def _path(url: str) -> str:
    try:
        return urlsplit(url).path
    except ValueError:
        return ""


def _runs(script: Element) -> bool:
    kind = (script.attr("type") or "").lower()
    return kind in ("", "module") or "javascript" in kind
