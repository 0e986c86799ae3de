"""Describes what a page shows as a whole, its chrome included, for the verifier to judge by."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from types import MappingProxyType
from urllib.parse import urljoin, urlsplit

from msgspec import Struct, structs
from turbohtml import Element

from actors.extraction.decide.blocks import Block, TextBox
from actors.extraction.evidence.markers import ROOTS
from actors.extraction.parse.tree import Page
from protocol.pages import VISIBLE_CHARS, PageTraits

_MAX_LINE = 300
_MAX_NAMES = 600
_MAX_OUTER = 60
_OUTER_LEVELS = 6
_MAX_COUNT = 1_000

_CHROME = frozenset({"header", "nav", "footer", "aside"})
_CHROME_ROLES = frozenset({"banner", "navigation", "contentinfo", "complementary", "search"})
_CHROME_KEY = re.compile(
    r"(?:^|[\s_-])(?:header|footer|nav|navbar|navigation|menu|sidebar|breadcrumbs?|topbar|masthead|copyright)"
    r"(?:$|[\s_-])",
    re.IGNORECASE,
)
_MAIN = frozenset({"main", "article"})
_NO_CHROME = frozenset({"html", "body", *_MAIN})
_PROSE_CHARS = 80
"""From here on a block outside the chrome is a sentence or more."""

_MOSTLY = 0.5
_DATED = (
    re.compile("article:published_time"),
    re.compile(
        r"""date(?:published["']|(?<=["']pubdate)["']"""
        r"""|(?<=name=date)|(?<=name=["']date)|(?<=name=dc\.date)|(?<=name=["']dc\.date))"""
    ),
)
"""What names the day of publication in markup in lower case; each begins with letters, which are found fast."""

_AUTHOR = "author"
_BEFORE_AUTHOR = tuple(f"{name}={quote}" for name in ("name", "rel", "itemprop") for quote in ("", '"', "'"))
_VALUE_FOLLOWS = re.compile(r'"\s*:')
_DECLARED = (
    re.compile(r"""itemtype=["']?https?://schema\.org/(\w{3,30})"""),
    re.compile(r'"@type"\s*:\s*\[?\s*"(\w{3,30})'),
)
_FOLDED: Mapping[str, str] = MappingProxyType({"\u0130": "i", "\u0131": "i", "\u017f": "s", "\u212a": "k"})
"""Characters that a search without regard to case takes for letters of ASCII, and `lower` does not."""

_CURRENT = "[aria-current], nav .active, nav .current, nav .selected, .current-menu-item, .breadcrumb, .breadcrumbs"
_MAX_SEARCHED = 400_000
_MAX_DECLARED = 200
_FREE = re.compile(r'"isAccessibleForFree"\s*:\s*"?(true|false)', re.IGNORECASE)
_BUTTONS = "button, input[type=submit i], input[type=button i], [role=button]"
_WHOLE = re.compile(r"https?://([A-Za-z0-9._:-]+)(?=[/?#]|$)")
_HOME = frozenset({"", "/", "#"})


def page_traits(page: Page, blocks: Sequence[Block]) -> tuple[str, PageTraits]:
    """Return the first `VISIBLE_CHARS` of what a page shows, and what the whole of it is like."""
    weighed, root = _weigh(blocks), page.root
    metas = {(_attr(meta, "name") or _attr(meta, "property")): _attr(meta, "content") for meta in _some(root, "meta")}
    links = [_attr(link, "href") for link in _some(root, "a")]
    canonical = _canonical(page)
    traits = PageTraits(
        title=_first_line(root, "title"),
        h1=_first_line(root, "h1"),
        names=" ".join(_outer_names(root))[:_MAX_NAMES],
        chars=weighed.chars,
        chrome_chars=weighed.chrome,
        main_chars=weighed.main,
        prose_chars=weighed.prose,
        longest=weighed.longest,
        blocks=weighed.outside,
        inline_links=weighed.inline_links,
        html_chars=len(page.source),
        headings=_count(root, "h1, h2, h3"),
        paragraphs=_count(root, "p"),
        links=len(links),
        links_within=_count_within(links, page.url),
        forms=_count(root, "form"),
        inputs=_count(root, "input:not([type=hidden i]), textarea, select"),
        passwords=_count(root, "input[type=password i]"),
        buttons=_count(root, _BUTTONS),
        images=_count(root, "img, picture"),
        styles=_count(root, "link[rel~=stylesheet i]"),
        noindex="noindex" in metas.get("robots", "").lower(),
        free=_is_free(page.source),
        canonical_elsewhere=canonical is False,
        refresh=root.select_one("meta[http-equiv=refresh i]") is not None,
        og_type=metas.get("og:type", "")[:_MAX_LINE],
        language=_attr(root, "lang")[:_MAX_LINE],
        items=_count(root, "li"),
        cells=_count(root, "td"),
        description=len(metas.get("description", "")),
        metas=len(metas),
        alternates=_count(root, "link[rel~=alternate i]"),
        canonical=canonical is not None,
        app=any(element.text.strip() for element in root.select(ROOTS)),
        current=root.select_one(_CURRENT) is not None,
    )
    return _visible(blocks), _with_declared(traits, root, page.source[:_MAX_SEARCHED])


def _with_declared(traits: PageTraits, root: Element, source: str) -> PageTraits:
    small = _small(source)
    return structs.replace(
        traits,
        dated=any(named.search(small) for named in _DATED) or root.select_one("time[datetime]") is not None,
        signed=_is_signed(small),
        declared=" ".join(dict.fromkeys(_declared_types(source)))[:_MAX_DECLARED],
    )


def _small(source: str) -> str:
    """Return a text with its letters of ASCII in lower case."""
    if source.isascii():
        return source.lower()
    for char, letter in _FOLDED.items():
        source = source.replace(char, letter)
    # Bytes, which know ASCII alone, take a quarter of the time of all letters.
    return source.encode("utf-8", "surrogatepass").lower().decode("utf-8", "surrogatepass")


def _is_signed(small: str) -> bool:
    """Return whether markup in lower case names an author in an attribute or as a key."""
    at = small.find(_AUTHOR)
    while at >= 0:
        end = at + len(_AUTHOR)
        after = small[end : end + 1]
        if small.endswith("article:", 0, at):
            return True
        if small.endswith(_BEFORE_AUTHOR, 0, at) and not (after.isalnum() or after == "_"):
            return True
        if small.endswith('"', 0, at) and _VALUE_FOLLOWS.match(small, end) is not None:
            return True
        at = small.find(_AUTHOR, end)
    return False


def _declared_types(source: str) -> Iterator[str]:
    """Return the types of schema.org that markup speaks of, in its order."""
    end = 0
    matches = (match for pattern in _DECLARED for match in pattern.finditer(source))
    for match in sorted(matches, key=lambda each: each.start()):
        if match.start() >= end:
            end = match.end()
            yield match[1]


def _visible(blocks: Sequence[Block]) -> str:
    lines, length = list[str](), 0
    for block in blocks:
        lines.append(block.text[: VISIBLE_CHARS - length])
        length += len(lines[-1]) + 1
        if length >= VISIBLE_CHARS:
            break
    return "\n".join(lines)[:VISIBLE_CHARS]


class _Weights(Struct, frozen=True):
    """Characters of all blocks, in the chrome, in what is called main, and in sentences outside the chrome.

    `longest` is the largest block there, `outside` the number of blocks, `inline_links` how many sentences hold links.
    """

    chars: int
    chrome: int
    main: int
    prose: int
    longest: int
    outside: int
    inline_links: int


def _weigh(blocks: Sequence[Block]) -> _Weights:
    places = dict[TextBox, tuple[bool, bool]]()
    chars = chrome = main = 0
    outside = list[Block]()
    for block in blocks:
        size = len(block.text)
        in_chrome, in_main = _place(block.box, places)
        chars += size
        chrome += size * in_chrome
        main += size * in_main
        if not in_chrome:
            outside.append(block)
    prose = [block for block in outside if len(block.text) >= _PROSE_CHARS and block.linked < _MOSTLY]
    return _Weights(
        chars=chars,
        chrome=chrome,
        main=main,
        prose=sum(len(block.text) for block in prose),
        longest=max((len(block.text) for block in prose), default=0),
        outside=len(outside),
        inline_links=sum(block.linked > 0 for block in prose),
    )


def _place(box: TextBox, places: dict[TextBox, tuple[bool, bool]]) -> tuple[bool, bool]:
    """Return whether a box lies in the chrome and whether in the main part, by what is around it."""
    waiting: list[TextBox] = []
    at: TextBox | None = box
    while at is not None and at not in places:
        waiting.append(at)
        at = at.parent
    around = places[at] if at is not None else (False, False)
    for each in reversed(waiting):
        in_main = around[1] or each.tag in _MAIN
        around = places[each] = (around[0] or (not in_main and _is_chrome(each)), in_main)
    return around


def _is_chrome(box: TextBox) -> bool:
    if box.tag in _CHROME:
        return True
    if box.tag in _NO_CHROME:
        return False
    return _attr(box.element, "role") in _CHROME_ROLES or bool(box.key and _CHROME_KEY.search(box.key))


def _outer_names(root: Element) -> Iterator[str]:
    """Return the classes and ids of the first elements of the body, level by level."""
    body = root.find("body")
    level = [body] if body is not None else []
    left = _MAX_OUTER
    for _ in range(_OUTER_LEVELS):
        for element in level:
            yield from filter(None, (_attr(element, "class"), _attr(element, "id")))
        left -= len(level)
        if left <= 0:
            return
        inner = (node for element in level for node in element.children if isinstance(node, Element))
        level = list(islice((node for node in inner if node.tag not in ("script", "style")), left))


def _some(root: Element, tag: str) -> Iterator[Element]:
    return islice(root.iter_elements(tag), _MAX_COUNT)


def _count(root: Element, selector: str) -> int:
    return len(root.select(selector)[:_MAX_COUNT])


def _first_line(root: Element, tag: str) -> str:
    element = next(iter(root.iter_elements(tag)), None)
    return " ".join(element.text.split())[:_MAX_LINE] if element is not None else ""


def _is_free(source: str) -> bool | None:
    """Return what is declared first of the page being free to read."""
    at = source.find("isAccessibleForFree")
    declared = _FREE.search(source, max(at - 1, 0), at + 60) if at >= 0 else None
    return None if declared is None else declared[1].lower() == "true"


def _canonical(page: Page) -> bool | None:
    """Return whether the page says that it is to be known by the path that it stands at; None where it does not say."""
    link = page.root.select_one("link[rel=canonical i]")
    declared = _attr(link, "href") if link is not None else ""
    if not declared:
        return None
    try:
        return urlsplit(urljoin(page.url, declared)).path.rstrip("/") == urlsplit(page.url).path.rstrip("/")
    except ValueError:
        return None


def _count_within(links: Sequence[str], url: str) -> int:
    """Count the links that lead to other places of the same host."""
    try:
        host = urlsplit(url).netloc
    except ValueError:
        return sum(_is_rooted(link) and link not in _HOME for link in links)
    counted = Counter(links)
    return sum(count for link, count in counted.items() if link not in _HOME and _leads_within(link, url, host))


def _leads_within(link: str, url: str, host: str) -> bool:
    if _is_rooted(link):
        return True
    if whole := _WHOLE.match(link):  # most are, and need not be taken apart
        return whole[1] == host
    try:
        return urlsplit(urljoin(url, link)).netloc == host
    except ValueError:
        return False


def _is_rooted(link: str) -> bool:
    return link.startswith(("/", ".", "?")) and not link.startswith("//")


def _attr(element: Element, name: str) -> str:
    return element.attr(name) or ""
