"""Writes a page, or what holds its main content, as HTML that runs nothing and loads nothing but pictures."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from functools import cache

from turbohtml import Element
from turbohtml.clean import OnDisallowed, Policy, Sanitizer

from actors.extraction.decide.content import Content
from actors.extraction.parse.tree import Page
from actors.extraction.parse.visibility import Hiding

_TAGS = frozenset({
    "a", "abbr", "address", "article", "aside", "b", "bdi", "bdo", "blockquote", "br", "caption", "cite", "code",
    "col", "colgroup", "dd", "del", "details", "dfn", "div", "dl", "dt", "em", "figcaption", "figure", "footer",
    "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "i", "img", "ins", "kbd", "li", "main", "mark", "nav", "ol",
    "p", "pre", "q", "rp", "rt", "ruby", "s", "samp", "section", "small", "span", "strong", "sub", "summary", "sup",
    "table", "tbody", "td", "tfoot", "th", "thead", "time", "tr", "u", "ul", "var", "wbr",
})  # fmt: skip
_ATTRIBUTES = {
    "*": frozenset({"dir", "lang"}),
    "a": frozenset({"href"}),
    "img": frozenset({"alt", "height", "src", "width"}),
    "ol": frozenset({"reversed", "start", "type"}),
    "details": frozenset({"open"}),
    "td": frozenset({"colspan", "rowspan"}),
    "th": frozenset({"colspan", "rowspan", "scope"}),
    "col": frozenset({"span"}),
    "colgroup": frozenset({"span"}),
    "time": frozenset({"datetime"}),
    "code": frozenset({"class"}),
}
_SCHEMES = frozenset({"http", "https", "mailto", "tel"})
_WITH_CONTENT = frozenset(
    {"applet", "audio", "base", "button", "canvas", "dialog", "embed", "frame", "frameset", "head", "iframe", "input"}
    | {"link", "math", "meta", "noembed", "noframes", "noscript", "object", "option", "plaintext", "script", "select"}
    | {"style", "svg", "template", "textarea", "title", "video", "xmp"}
)
"""What is left out with all that stands in it; of other elements that are not allowed, the children stay."""

_HIDDEN_MARK = "data-weft-unseen"
_KEPT_MARK = "data-weft-kept"
_EMPTY_TAGS = frozenset({"br", "hr", "wbr"})


def sanitised_html(page: Page, content: Content | None = None) -> str:
    """Return a page, or what holds the main content of it, as HTML with absolute links, without what nobody sees.

    The tree of the page is left as it was.
    """
    body = next((each for each in page.root.children if isinstance(each, Element) and each.tag == "body"), page.root)
    unseen = [element for element, why in page.hidden.items() if why is Hiding.INVISIBLE]
    kept = content.holders if content is not None else frozenset[Element]()
    with _marked(unseen, _HIDDEN_MARK), _marked(kept, _KEPT_MARK):
        clean = _sanitizer(_HIDDEN_MARK, _KEPT_MARK).sanitize_node(body)
    for element in clean.select(f"[{_HIDDEN_MARK}]"):
        element.extract()
    if content is not None:
        _prune(clean)
    clean.resolve_links(page.base)
    # Once more, for what the base of the page may have made of its links.
    return _sanitizer().sanitize_node(clean).inner_html


@cache
def _sanitizer(*marks: str) -> Sanitizer:
    attributes = {**_ATTRIBUTES, "*": _ATTRIBUTES["*"] | {*marks}}
    return Sanitizer(
        Policy(
            tags=_TAGS,
            attributes=attributes,
            url_schemes=_SCHEMES,
            allow_relative_urls=bool(marks),
            on_disallowed_tag=OnDisallowed.STRIP,
            remove_with_content=_WITH_CONTENT,
            add_link_rel=frozenset({"noopener", "noreferrer", "nofollow"}),
        )
    )


@contextmanager
def _marked(elements: Iterable[Element], name: str) -> Generator[None]:
    # Elements of a copy are others: only an attribute tells which of them is which.
    for element in elements:
        element.attrs[name] = ""
    try:
        yield
    finally:
        for element in elements:
            del element.attrs[name]


def _prune(clean: Element) -> None:
    stack = [clean]
    while stack:
        for child in stack.pop().children:
            if not isinstance(child, Element) or child.tag in _EMPTY_TAGS:
                continue
            if child.attr(_KEPT_MARK) is not None:
                stack.append(child)
            elif child.text.strip() or (child.tag != "img" and child.select_one("img") is None):
                child.extract()
