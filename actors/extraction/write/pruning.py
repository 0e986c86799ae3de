"""Prunes a tree to the main content and its pictures; without title, list of contents and invisible characters."""

from __future__ import annotations

import re
from collections.abc import Collection, Container, Iterable
from urllib.parse import unquote

from turbohtml import Element, Node, Text

from actors.extraction.decide.content import Content
from actors.extraction.parse.text import INLINE, clean, one_line
from actors.extraction.write.rendering import is_verbatim

_MAX_PICTURES = 5_000
"""A page of more pictures is no text with pictures; looking at each costs 10 µs."""

_EMPTY_TAGS = frozenset({"br", "hr", "wbr"})
_CELLS = frozenset({"td", "th"})
_MAY_HOLD_PICTURE = frozenset({"a", "amp-img", "center", "div", "figure", "img", "noscript", "p", "picture", "span"})

_MAX_ALT_CHARS = 120
"""What a picture is called; what is longer was not written for who looks at the page."""

_FILE_NAME = re.compile(r"[^\s/]{1,80}\.(?:jpe?g|png|gif|webp|svg|avif|bmp|tiff?|heic)", re.IGNORECASE)
_MAX_ICON_PX = 48
"""Pixels of width or height up to which a picture is an icon, an avatar or a tracker."""

_DECORATION = re.compile(
    r"avatar|gravatar|icon|logo|sprite|spacer|pixel|tracking|badge|emoji|smiley|button|share|social|author|byline|profile"
)
_WAY = re.compile(
    r"home|up|top|prev(?:ious)?|next|back|contents|toc|index|search|permalink|[<>\u2039\u203a\u2190\u2192-]+",
    re.IGNORECASE,
)
"""What the pictures of links are called that lead through a manual."""

_SOURCES = ("data-src", "data-lazy-src", "data-original", "data-url", "data-lazy", "data-hi-res-src", "data-orig-file")
_SOURCE_SETS = ("data-srcset", "data-lazy-srcset", "srcset")
_PICTURES = "img,amp-img"
_OF_A_CAROUSEL, _MANY_CAROUSELS = 3, 10
_EMOJI = re.compile(r"[^\w\s\x00-\x7f][^\w\s\x00-\x7f\ufe0f\u200d]{0,7}")
_ADDRESS = re.compile(r"(?!data:|about:|blob:|javascript:)\S+", re.IGNORECASE)

_HEADING_SELECTOR = "h1,h2,h3,h4,h5,h6"
_WORD = re.compile(r"\w+")
_MAX_TITLE_CHARS = 500
_TITLE_SEPARATOR = re.compile(r"\s+[|\-\u2013\u2014\u00b7\u2022\u00bb:/]+\s+|\s*[|\u00bb]\s*|:\s+")
"""Where titles join the name of a page with that of its site."""

_CONTENTS_LINKS = "li a[href^='#']"
_LISTS = ("ul", "ol")
_MIN_CONTENTS_LINKS = 3
"""Links within the page that a list must have to be one of contents."""

_LINKED_SHARE = 0.8
"""Share of the letters of such a list that stand in its links, beside numbers and dots."""

_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_MAX_CONTENTS_LINKS = 2_000
_MAX_CONTENTS_HEADING = 30

_SUSPECT = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\xa0\xad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180e\u2000-\u200f"
    "\u202a-\u202f\u205f-\u206f\u3000\u3164\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
"""What cleaning may change, as one set: a search for it takes a tenth of the time."""


_SPACES = re.compile("[\xa0\u1680\u2000-\u200a\u202f\u205f\u3000]")
"""Spaces of other widths: to a reader of Markdown they are none."""

_WIDE = "\u3000"


def prune(root: Element, content: Content, hidden: Container[object]) -> None:
    """Leave of a tree the texts that were kept, with the pictures, rules and headings that stand among them.

    `hidden` are elements that nobody sees.
    """
    kept: set[Node] = {node for block in content.blocks for node in block.nodes}
    holders = content.holders
    pictures = _MAY_HOLD_PICTURE if len(root.select("img")) <= _MAX_PICTURES else frozenset[str]()
    stack = [root]
    while stack:
        children = stack.pop().children
        for child in children:
            if isinstance(child, Text):
                if child.data.isspace():
                    _make_plain(child)
                elif child not in kept:
                    child.extract()
            elif not isinstance(child, Element):
                child.extract()
            elif child in holders:
                stack.append(child)
            elif child.tag in _EMPTY_TAGS or is_verbatim(child):
                continue
            elif child in hidden or not (
                (child.tag in pictures and is_content_image(child)) or content.has_heading(child)
            ):
                _remove(child)


def _make_plain(space: Text) -> None:
    # Spaces of other widths would be written as references.
    if not space.data.isascii():
        space.data = _SPACES.sub(" ", space.data)


def _remove(child: Element) -> None:
    if child.tag in _CELLS:
        child.clear()  # a row keeps its columns
    elif child.tag in INLINE and child.select_one("br") is not None:
        child.replace_with(Element("br"))  # a line ends here, whatever stood around it
    elif child.tag in INLINE and child.text.isspace():
        child.replace_with(Text(_SPACES.sub(" ", child.text)))
    else:
        child.extract()


def is_content_image(element: Element) -> bool:
    """Return whether an element without kept text is a picture that says something (not an icon, avatar or tracker)."""
    picture = element if element.tag in ("img", "amp-img") else element.select_one(_PICTURES)
    if picture is None or (element is not picture and element.text.strip() and element.tag != "noscript"):
        return False
    name = _name_of(picture)
    leads = picture.closest("a") is not None and _WAY.fullmatch(name) is not None
    is_word = _EMOJI.fullmatch(name) is not None
    return bool(name) and not leads and (is_word or not _is_decoration(picture, element))


def _is_decoration(picture: Element, holder: Element) -> bool:
    sizes = (picture.attr("width") or "", picture.attr("height") or "")
    if any(size.rstrip("px").isdecimal() and int(size.rstrip("px")[:6]) <= _MAX_ICON_PX for size in sizes):
        return True
    names = f"{picture.attr('class') or ''} {picture.attr('id') or ''} {holder.attr('class') or ''}".lower()
    return _DECORATION.search(names) is not None


def resolve_images(body: Element) -> None:
    """Set the real address and a plain name of each picture of a pruned tree; remove those that lack one of them."""
    sources = set[str]()
    if len(body.select(_PICTURES)) >= _MANY_CAROUSELS * _OF_A_CAROUSEL:
        for extra in _rest_of_carousels(body):
            extra.extract()
    for picture in body.select(_PICTURES):
        alt = _name_of(picture)
        source = _source(picture)
        if _EMOJI.fullmatch(alt):
            picture.replace_with(Text(alt))
        elif not source or source in sources or not alt:
            picture.extract()
        else:
            sources.add(source)
            picture.replace_with(Element("img", {"src": source, "alt": alt}))


def _rest_of_carousels(body: Element) -> list[Element]:
    """Return the pictures behind the first of each run without a text between, where a page has many such runs.

    Its cards show more of the same thing when somebody turns them over.
    """
    runs = [list[Element]()]
    for node in body.descendants:
        if isinstance(node, Element) and node.tag in ("img", "amp-img"):
            runs[-1].append(node)
        elif runs[-1] and isinstance(node, Text) and not node.data.isspace():
            runs.append([])
    long = [run[1:] for run in runs if len(run) >= _OF_A_CAROUSEL]
    return [picture for rest in long for picture in rest] if len(long) >= _MANY_CAROUSELS else []


def _source(picture: Element) -> str:
    for name in _SOURCES:
        if (value := picture.attr(name)) and _ADDRESS.fullmatch(value.strip()):
            return value.strip()
    for name in _SOURCE_SETS:
        if value := picture.attr(name):
            first = value.strip().split(" ", 1)[0].rstrip(",")
            if _ADDRESS.fullmatch(first) and not (name == "srcset" and _is_plain(picture.attr("src") or "")):
                return first
    sources = (picture.attr("src"), *(value for name, value in picture.attrs.items() if name.endswith("-src")))
    return next((each.strip() for each in sources if isinstance(each, str) and _is_plain(each)), "")


def _is_plain(source: str) -> bool:
    return _ADDRESS.fullmatch(source.strip()) is not None


def _name_of(picture: Element) -> str:
    """Return what a picture is called; "" where it is by no more than its file."""
    alt = one_line(picture.attr("alt") or "", _MAX_ALT_CHARS)
    return "" if _FILE_NAME.fullmatch(alt) else alt


def drop_title(body: Element, title: str) -> None:
    """Remove a first heading that says the title once more, or a part of it, and is not all that there is."""
    heading = body.select_one(_HEADING_SELECTOR)
    if heading is None or _words(heading.text) not in map(_words, (title, *_TITLE_SEPARATOR.split(title))):
        return
    if body.text.strip() != heading.text.strip():
        heading.extract()


def _words(text: str) -> list[str]:
    return _WORD.findall(text[:_MAX_TITLE_CHARS].lower())


def anchors(body: Element) -> Collection[str]:
    """Return the names of the places that a list of contents may lead to; asked before the tree is pruned."""
    if len(body.select(_CONTENTS_LINKS)[:_MIN_CONTENTS_LINKS]) < _MIN_CONTENTS_LINKS:
        return ()
    return {element.attr("id") or element.attr("name") or "" for element in body.select("[id], a[name]")} - {""}


def drop_contents(body: Element, known: Collection[str]) -> None:
    """Remove lists of links to known places of the same page, with the heading that is theirs alone."""
    links = body.select(_CONTENTS_LINKS)[:_MAX_CONTENTS_LINKS]
    if len(links) < _MIN_CONTENTS_LINKS:
        return
    for outer in dict.fromkeys(outermost for link in links if (outermost := _outermost(link)) is not None):
        if _is_contents(outer, known):
            _drop_heading(outer)
            outer.extract()


def _outermost(link: Element) -> Element | None:
    outermost = None
    for ancestor in link.ancestors:
        if isinstance(ancestor, Element) and ancestor.tag in _LISTS:
            outermost = ancestor
    return outermost


def _is_contents(outer: Element, known: Collection[str]) -> bool:
    """Return whether a list is of links, most of them to places that there are: other fragments are for scripts."""
    links = [link for link in outer.iter_elements("a") if link.text.strip()]
    targets = [link.attr("href") or "" for link in links]
    if len(links) < _MIN_CONTENTS_LINKS or not all(target.startswith("#") for target in targets):
        return False
    if 2 * sum(unquote(target[1:]) in known for target in targets) < len(targets):
        return False
    return sum(_letters(link.text) for link in links) >= _LINKED_SHARE * _letters(outer.text)


def _letters(text: str) -> int:
    return sum(map(str.isalpha, text))


def _drop_heading(outer: Element) -> None:
    place: Node = outer
    while _nearest_sibling(place.previous_sibling, forward=False) is None and isinstance(place.parent, Element):
        if place.parent.tag == "body":
            return
        place = place.parent
    heading = _nearest_sibling(place.previous_sibling, forward=False)
    if isinstance(heading, Element) and heading.tag in _HEADINGS and len(heading.text) <= _MAX_CONTENTS_HEADING:
        follower = _nearest_sibling(place.next_sibling, forward=True)
        if follower is None or (isinstance(follower, Element) and follower.tag in _HEADINGS):
            heading.extract()


def _nearest_sibling(node: Node | None, *, forward: bool) -> Node | None:
    """Return the nearest sibling that is no white space, itself included."""
    while isinstance(node, Text) and node.data.isspace():
        node = node.next_sibling if forward else node.previous_sibling
    return node


def cleaned(text: str) -> tuple[str, int]:
    """Return a text without invisible characters, and how many those were."""
    if _SUSPECT.search(text) is None:
        return text, 0
    text = _without_returns(text)
    visible = clean(text)
    return _SPACES.sub(" ", visible), len(text) - len(visible)


def _without_returns(text: str) -> str:
    """Write carriage returns, which only references bring into a tree, as a page shows them: as spaces.

    Markdown would read one as the end of a line, and so of the code or the heading in which it stands.
    """
    return text.replace("\r\n", "\n").replace("\r", " ") if "\r" in text else text


def clean_nodes(nodes: Iterable[Node]) -> int:
    """Clean those of some nodes that are texts; return how many characters were removed."""
    removed = 0
    for node in nodes:
        if isinstance(node, Text):
            data = node.data
            if not (data.isascii() and data.isprintable()):
                visible, count = cleaned(data)
                if _WIDE in data and isinstance(node.parent, Element) and node.parent.closest("pre") is not None:
                    visible = clean(_without_returns(data))  # it keeps columns below each other
                if visible != data:
                    node.data = visible
                removed += count
    return removed
