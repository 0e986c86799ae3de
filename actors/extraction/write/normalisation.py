"""Brings what Markdown cannot hold into a form that it can: line breaks, words that are set apart, links of blocks."""

from __future__ import annotations

import re
from collections.abc import Sequence

from turbohtml import Element, Node, Text

from actors.extraction.parse.addresses import make_absolute, spelled, without_tracking
from actors.extraction.parse.styles import shown_as_block
from actors.extraction.parse.text import INLINE, is_next_part, is_permalink, parts_words

_BLOCK_TAGS = frozenset(
    {"address", "article", "blockquote", "div", "dl", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6"}
    | {"header", "hr", "li", "ol", "p", "pre", "section", "table", "ul"}
)
_RULER = re.compile(r"\s*[|:][\s|:-]*(?:\n|$)")
"""A line that would make a table of what stands above and below it."""

_LINES_KEPT = re.compile(r"white-space\s*:\s*(?:pre|break-spaces)[\w-]*\s*;?", re.IGNORECASE)
_TYPEWRITTEN = re.compile(r"monospace|courier|consolas|menlo|monaco", re.IGNORECASE)
_CODE = "pre,code,kbd,samp,tt"

_SINGLE_LINE = "a,code,h1,h2,h3,h4,h5,h6,td,th,caption"
_EMPHASIS = frozenset(
    {"b", "cite", "del", "em", "font", "i", "ins", "q", "s", "small", "span", "strike", "strong", "u"}
)

_IDEOGRAPH = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
_LETTERS = re.compile(r"[^\W_]")
_MORE_SAID = 20
"""Letters at most of what is said before a price to who listens, such as "Price" or "now"."""

_LIKE_DIVISIONS = "center,fieldset,form,hgroup,legend,search"
"""What a page shows in lines of its own, and Markdown has no sign for."""

_BOXED = "button,label"
"""What a page sets apart from the words beside it, in the same line."""

_MAX_PARTS = 20_000

_MAY_BE_EMPTY = (
    "article,aside,blockquote,dd,div,dl,dt,figcaption,figure,footer,header,h1,h2,h3,h4,h5,h6,li,main,nav,ol,p,section"
    ",ul,a,b,button,em,font,i,label,small,span,strong"
)
_PARTS_AROUND_BLOCKS = ",".join(
    f"{part}:has(address,article,blockquote,div,dl,figure,h1,h2,h3,h4,h5,h6,ol,p,pre,section,table,ul)"
    for part in ("button", "font", "label", "small", "span")
)
_WRITTEN = frozenset({"hr", "img", "td", "th", "weft-verbatim"})
_LISTS = frozenset({"ol", "ul"})

_HEADINGS = "h1,h2,h3,h4,h5,h6"
_ANCHOR = re.compile(
    r"[#¶§🔗⚓\s]*|link|anchor|permalink|permanent link|(?:direct )?link to (?:this|the) \w+|copy link", re.IGNORECASE
)
_ANCHOR_CLASS = re.compile(r"anchor|header-?link|perma-?link|hash-?link|heading-?link")
_EDIT_LINKS = ".mw-editsection,.editsection"
_ADDRESS = re.compile(r"(?:https?://|mailto:|tel:)[^\s<>]+", re.IGNORECASE)
_BLOCKS = "h1,h2,h3,h4,h5,h6,p,div,ul,ol,table,figure,blockquote,pre,section,article,header"
_AROUND_BLOCKS = ",".join(f"a:has({tag})" for tag in _BLOCKS.split(","))
_MAX_URL_CHARS = 2_000


def keep_lines(body: Element) -> None:
    """Break the lines of a text whose style keeps them; turbohtml takes whatever has such a style for code.

    Many editors give it to every paragraph and every run of words. A division of typewritten lines is code.
    """
    broken = set[Node]()
    for element in body.select("[style*='white-space' i]"):
        style = element.attr("style") or ""
        if _LINES_KEPT.search(style) is None or (element.tag == "div" and _TYPEWRITTEN.search(style)):
            continue
        element.attrs["style"] = _LINES_KEPT.sub("", style)
        if element.closest(_CODE) is None and broken.isdisjoint(element.ancestors):
            broken.add(element)
            for text in [node for node in element.descendants if isinstance(node, Text)]:
                _break_lines(text)


def _break_lines(text: Text) -> None:
    if (
        "\n" not in text.data
        or text.data.isspace()
        or (isinstance(text.parent, Element) and text.parent.closest(_CODE))
    ):
        return
    nodes = list[Node]()
    for line in text.data.split("\n"):
        nodes += [Element("br"), Text(line)] if line.strip() else [Element("br")]
    text.replace_with(*nodes[1:])


def split_paragraphs(body: Element) -> None:
    """Turn two or more line breaks in a row into the end of a paragraph; drop those at either end of a block."""
    for inner in reversed(body.select("br")):
        _lift_break(inner)
    done = set[Element]()
    for first in body.select("br"):
        if first in done:
            continue
        follower, run = _consecutive_breaks(first)
        done.update(run)
        if len(run) > 1 or (isinstance(follower, Text) and _RULER.match(follower.data)):
            first.replace_with(Element("div"))
            for other in run[1:]:
                other.extract()
        elif _is_end(follower) or _is_end(_previous(first)):
            first.extract()


def _lift_break(inner: Element) -> None:
    """Take a break out of emphasis, which ends before it and begins again after it; elsewhere in a line, a space."""
    if inner.closest(_SINGLE_LINE) is not None:
        inner.replace_with(Text(" "))
        return
    parent = inner.parent
    while isinstance(parent, Element) and parent.tag in _EMPHASIS:
        begins = _previous(inner) is None
        rest = list(inner.next_siblings)
        if not _is_blank(rest):
            parent.insert_after(Element(parent.tag, None, rest))
        parent.insert_after(inner)
        if begins:
            parent.extract()
        parent = inner.parent


def _consecutive_breaks(first: Element) -> tuple[Node | None, list[Element]]:
    """Return the breaks that follow one directly, itself included, and what comes after them."""
    run = [first]
    node = first.next_sibling
    while node is not None:
        if isinstance(node, Element) and node.tag == "br":
            run.append(node)
        elif not _is_blank([node]):
            break
        node = node.next_sibling
    return node, run


def _previous(node: Element) -> Node | None:
    before = node.previous_sibling
    while before is not None and _is_blank([before]):
        before = before.previous_sibling
    return before


def _next(node: Node) -> Node | None:
    after = node.next_sibling
    while after is not None and _is_blank([after]):
        after = after.next_sibling
    return after


def _is_end(neighbour: Node | None) -> bool:
    return neighbour is None or (isinstance(neighbour, Element) and neighbour.tag in _BLOCK_TAGS)


def _is_blank(nodes: Sequence[Node]) -> bool:
    return all(isinstance(node, Text) and node.data.isspace() for node in nodes)


def break_around_blocks(body: Element) -> None:
    """Set a line break between an inline element that the page shows as a block, and the text beside it."""
    for element in body.select("[style*='display' i]"):
        if element.tag in INLINE and shown_as_block(element.attr("style") or ""):
            if not _is_apart(_previous(element)):
                element.insert_before(Element("br"))
            if not _is_apart(_next(element)):
                element.insert_after(Element("br"))


def drop_said_twice(body: Element) -> None:
    """Remove what repeats for eyes what stands beside it for ears: of a price, often without its point or its word."""
    for shown in body.select("[aria-hidden=true]"):
        if (letters := _LETTERS.findall(shown.text)) and (
            _ends_in(shown.previous_sibling, letters) or _ends_in(shown.next_sibling, letters)
        ):
            shown.extract()


def _ends_in(spoken: Node | None, letters: list[str]) -> bool:
    text = _LETTERS.findall(spoken.text) if isinstance(spoken, Element) else []
    return len(text) <= len(letters) + _MORE_SAID and text[-len(letters) :] == letters


def part_words(body: Element) -> None:
    """Part what a page shows apart from the text beside it, where Markdown would join the words."""
    for element in body.select(_LIKE_DIVISIONS):
        element.tag = "div"
    for element in body.select("dir"):
        element.tag = "ul"
    for element in body.select(_BOXED):
        if not _is_end(element.previous_sibling):
            element.insert_before(Text(" "))
        if not _is_end(element.next_sibling):
            element.insert_after(Text(" "))
    for link in body.select("a+a"):
        if _is_word_beside(_last_text(link.previous_sibling)[-1:], _first_text(link)[:1]):
            link.insert_before(Text(" "))
    for part in body.select("[class]+[class],span+span")[:_MAX_PARTS]:
        if is_next_part(part) and parts_words(_last_text(part.previous_sibling), part, _first_text(part)):
            part.insert_before(Text(" "))


def _is_word_beside(last: str, first: str) -> bool:
    """Return whether a word ends and another begins; Chinese and Japanese set no space between theirs."""
    return last.isalnum() and first.isalnum() and not (_IDEOGRAPH.match(last) and _IDEOGRAPH.match(first))


def _first_text(element: Element) -> str:
    return next((node.data for node in element.descendants if isinstance(node, Text) and node.data), "")


def _last_text(node: Node | None) -> str:
    while isinstance(node, Element) and node.children:
        node = node.children[-1]
    return node.data if isinstance(node, Text) else ""


def _is_apart(neighbour: Node | None) -> bool:
    return _is_end(neighbour) or (isinstance(neighbour, Element) and neighbour.tag == "br")


def clean_links(body: Element, base: str) -> None:
    """Make links absolute, plain and within one block; remove those that lead nowhere or to themselves."""
    for extra in body.select(_EDIT_LINKS):
        extra.extract()
    for link in filter(is_permalink, body.select("a[href*='#']")):
        link.extract()
    for link in body.select(_AROUND_BLOCKS):
        _move_into_block(link)
    for anchor in body.select(",".join(f"{tag} a" for tag in _HEADINGS.split(","))):
        _remove_anchor(anchor)
    make_absolute(body, base)
    for picture in body.select("img"):
        source = picture.attrs["src"] = spelled(picture.attr("src") or "")
        if not source.startswith(("http://", "https://")):
            picture.extract()
    for link in body.select("a"):
        href = spelled(link.attr("href") or "")
        if not _says_something(link) or len(href) > _MAX_URL_CHARS or _ADDRESS.fullmatch(href) is None:
            link.unwrap()
            continue
        link.attrs["href"] = without_tracking(href)
        if link.attr("title") is not None:
            del link.attrs["title"]  # nobody sees it


def drop_empty(body: Element) -> None:
    """Remove that of which nothing was kept: at the top of an item of a list, it would part it from its mark.

    So would a part of a line around blocks. A list that is an item by itself belongs to the item before it.
    """
    full = _full_elements(body)
    for part in body.select(_PARTS_AROUND_BLOCKS):
        part.tag = "div"
    for block in body.select(_MAY_BE_EMPTY):
        if block not in full and (_is_end(_previous(block)) or _is_end(_next(block))):
            block.extract()
    for item in body.select("li:has(ul,ol)"):
        inner, before = _only_child(item), _previous(item)
        while inner is not None and inner.tag == "div":
            inner = _only_child(inner)
        if inner is None or inner.tag not in _LISTS:
            continue
        if isinstance(before, Element) and before.tag == "li":
            before.append(inner)
            item.extract()
        else:
            item.replace_with(*list(inner.children))


def _only_child(element: Element) -> Element | None:
    """Return the element that is all of another; None where there are more, or a text."""
    held = [node for node in element.children if not (isinstance(node, Text) and node.data.isspace())]
    return held[0] if len(held) == 1 and isinstance(held[0], Element) else None


def _full_elements(body: Element) -> set[Element]:
    """Return the elements that hold a text, a picture or what else is written."""
    full = {body}
    for node in body.descendants:
        if isinstance(node, Text):
            above = node.parent if node.data and not node.data.isspace() else None
        else:
            above = node if isinstance(node, Element) and node.tag in _WRITTEN else None
        while isinstance(above, Element) and above not in full:
            full.add(above)
            above = above.parent
    return full


def _says_something(element: Element) -> bool:
    return bool(element.text.strip()) or element.select_one("img,weft-verbatim") is not None


def _remove_anchor(anchor: Element) -> None:
    href = (anchor.attr("href") or "").strip()
    label = anchor.text.strip()
    is_anchor = href.startswith("#") or _ANCHOR_CLASS.search((anchor.attr("class") or "").lower())
    if (href.startswith("#") or is_anchor) and _ANCHOR.fullmatch(label):
        anchor.extract()
    elif href.startswith("#"):
        anchor.unwrap()


def _move_into_block(link: Element) -> None:
    """Let a link around blocks stand within its heading, or else its first block that says something."""
    target = link.select_one(_HEADINGS)
    if target is None:
        blocks = [block for block in link.select(_BLOCKS) if block.text.strip() and block.select_one(_BLOCKS) is None]
        target = blocks[0] if blocks else None
    href = link.attr("href")
    if target is not None and href and target.select_one("a") is None:
        target.wrap_children(Element("a", {"href": href}))
    link.unwrap()
