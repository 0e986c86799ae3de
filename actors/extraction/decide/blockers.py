"""Sees in a page what stands between a reader and its content: marks with names, for the verifier to judge by."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from urllib.parse import urlsplit

from turbohtml import Element, Node, Text

from actors.extraction.decide.content.content import Content
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
_MAX_LOOKED_AT = 100
"""Elements of a kind that are looked at: around each, the tree is walked."""

_UNSEEN = frozenset({"script", "style", "noscript", "template", "head"})

_CONSENT_CHARS = 4_000
_CONSENT_SHARE = 0.6
"""A page of at most so many characters, this share of them in blocks that speak of consent, is a consent wall."""


def look(page: Page, content: Content) -> tuple[PageEvidence, tuple[Signal, ...]]:
    """See the marks of a page, and name what they mean for its reader."""
    sight = _Sight.of(page, content)
    evidence = PageEvidence(
        content_length=sight.length,
        semantic=tuple(_semantic(sight)),
        incomplete=tuple(_incomplete(sight)),
        challenge=tuple(dict.fromkeys(_challenge(sight))),
        login_form=_wants_login(sight),
        scripts=sum(1 for script in page.root.iter_elements("script") if _runs(script)),
        error_page=_error(sight),
        consent_wall=_asks_consent(sight),
    )
    return evidence, tuple(_signals(sight, evidence))


@dataclass(frozen=True)
class _Sight:
    """A page as it is looked at: `words` is all that it shows, in lower case, where it has little content."""

    page: Page
    length: int
    opening: str
    words: str
    names: str
    headlines: tuple[str, ...]
    blocks: tuple[str, ...]

    @classmethod
    def of(cls, page: Page, content: Content) -> _Sight:
        text = content.text or content.said_elsewhere
        thin = len(text) < THIN_CHARS
        names = page.root.xpath("//@class | //@id")
        return cls(
            page,
            len(text),
            text[:_OPENING_CHARS].lower(),
            "\n".join(_shown(page)).lower() if thin else "",
            " ".join({str(name) for name in names}).lower() if isinstance(names, list) else "",
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
        return any(_seen(self.page, element) for element in islice(elements, _MAX_LOOKED_AT))


def _headlines(page: Page) -> Iterator[str]:
    for element in islice(page.root.iter_elements(("title", "h1", "h2")), _MAX_HEADLINES):
        if element.tag == "title" or _seen(page, element):
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
        elif isinstance(node, Element) and node.tag not in _UNSEEN and node not in page.hidden:
            stack.extend(reversed(node.children))


def _semantic(sight: _Sight) -> Iterator[str]:
    selectors = {"main": "main", "article": "article", "role=main": "[role=main]:not(main, article)"}
    for mark, selector in selectors.items():
        if any(_has_text(element) for element in sight.page.root.select(selector)[:_MAX_LOOKED_AT]):
            yield mark


def _incomplete(sight: _Sight) -> Iterator[str]:
    if any(not _has_text(element) for element in sight.page.root.select(markers.ROOTS)[:_MAX_LOOKED_AT]):
        yield "empty_root"
    if sight.thin and any(markers.LOADING.match(line.strip()) for line in sight.words.split("\n")):
        yield "loading_text"
    if sight.named(markers.SKELETON):
        yield "skeleton"
    if sight.bare and sight.named(markers.SPINNER):
        yield "spinner"
    if sight.thin:
        refusals = " ".join(element.text for element in sight.page.root.iter_elements("noscript"))
        if markers.WANTS_SCRIPT.search(f"{refusals} {sight.words}".lower()[:_MAX_SOURCE_CHARS]):
            yield "enable_javascript"


def _challenge(sight: _Sight) -> Iterator[str]:
    source = sight.page.source
    end = _MAX_SOURCE_CHARS if sight.thin else _CHALLENGE_CHARS
    for name, proofs in markers.SURE:
        if any(source.find(sign, 0, end) >= 0 for sign in proofs):
            yield name
    if sight.bare:
        folded = source[:_MAX_SOURCE_CHARS].lower()
        for name, pattern in markers.MAYBE:
            if pattern.search(folded):
                yield name


def _wants_login(sight: _Sight) -> bool:
    page = sight.page
    passwords = page.root.select("input[type=password i]")[:_MAX_LOOKED_AT]
    if any(_seen(page, field) and field.closest(markers.ASIDE) is None for field in passwords):
        return True
    says_so = sight.thin and any(markers.LOGIN_PART.fullmatch(folded(headline)) for headline in sight.headlines)
    fields = "input[type=email i], input[type=text i], input:not([type])"
    return says_so and any(_seen(page, field) for field in page.root.select(fields)[:_MAX_LOOKED_AT])


def _error(sight: _Sight) -> ErrorPage | None:
    found = error_page(sight.headlines, sight.words or sight.opening, sight.length)
    if found is None and sight.thin and markers.ERROR_PATH.search(_path(sight.page.url)):
        return ErrorPage.NOT_FOUND
    return found


def _asks_consent(sight: _Sight) -> bool:
    """Return whether most of the little that a page says is a request for consent, and not its subject."""
    if sight.length > _CONSENT_CHARS or any(markers.ABOUT_PRIVACY.search(folded(line)) for line in sight.headlines[:2]):
        return False
    parts = sight.blocks or tuple(sight.words.split("\n"))
    asking = sum(len(part) for part in parts if _is_asking(part.lower()))
    return asking > _CONSENT_SHARE * max(sum(map(len, parts)), 1)


def _is_asking(part: str) -> bool:
    return len(set(markers.CONSENT_STEMS.findall(part))) > 1 or markers.CONSENT_BUTTONS.match(part) is not None


def _signals(sight: _Sight, evidence: PageEvidence) -> Iterator[Signal]:
    thin, root = sight.thin, sight.page.root
    found = {
        Signal.PAYWALL_OR_LOGIN: (thin and evidence.login_form) or markers.PAYWALL.search(sight.opening),
        Signal.CONSENT_MODAL: evidence.consent_wall or sight.named(markers.CONSENT),
        Signal.CAPTCHA_OR_ROBOT_CHECK: evidence.challenge,
        Signal.SPARSE_TEXT: thin,
        Signal.NON_TEXT_CONTENT: thin and next(root.iter_elements(("canvas", "video", "audio", "object")), None),
        Signal.PDF_VIEWER: root.select_one("embed[type*=pdf i], object[type*=pdf i]"),
        Signal.AGE_GATE: sight.named(markers.AGE) or (thin and markers.AGE_WORDS.search(sight.opening)),
        Signal.GEO_BLOCK: thin and markers.GEO.search(sight.opening or sight.words),
        Signal.SCRIPT_REQUIRED: thin and evidence.incomplete,
    }
    return (signal for signal, seen in found.items() if seen)


def _seen(page: Page, element: Element) -> bool:
    return not page.hidden or not any(node in page.hidden for node in (element, *element.ancestors))


def _has_text(element: Element) -> bool:
    texts = (node for node in element.descendants if isinstance(node, Text))
    return any(node.data.strip() and not _within_unseen(node, element) for node in texts)


def _within_unseen(node: Node, top: Element) -> bool:
    parent = node.parent
    while isinstance(parent, Element) and parent != top:
        if parent.tag in _UNSEEN:
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
