"""Writes the main content of a page as Markdown and plain text, or frames as links, and a page as safe HTML."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import islice

from msgspec import Struct
from turbohtml import Element, Node, Text, parse_fragment
from turbohtml.clean import OnDisallowed, Policy, Sanitizer

from actors.extraction.decide.blocks import Block, TextBox
from actors.extraction.decide.content import Content
from actors.extraction.parse.addresses import on_the_web
from actors.extraction.parse.text import one_line
from actors.extraction.parse.tree import Page
from actors.extraction.parse.visibility import Hiding, hidden
from actors.extraction.select.choices import ProductChoice
from actors.extraction.select.posts import Post, posts
from actors.extraction.write import normalisation, pruning
from actors.extraction.write.code import rewrite_code
from actors.extraction.write.collapsed import mark_collapsed, names_of_folds
from actors.extraction.write.footnotes import extract_footnotes
from actors.extraction.write.formulas import replace_formulas
from actors.extraction.write.icons import drawn_cells, mark_tasks, write_drawn
from actors.extraction.write.pruning import clean_nodes, cleaned
from actors.extraction.write.rendering import Verbatim, render, unwrap_forged
from actors.extraction.write.substitutes import substitutes, write_substitutes
from actors.extraction.write.tables import rewrite_tables
from protocol.documents import ExtractedLink

_HOLDS_BLOCKS = frozenset({"article", "aside", "dd", "div", "li", "main", "section", "td"})


class LeftOut(Struct, frozen=True):
    """What nobody sees and was left out: whole texts of the page, and characters within what was kept."""

    invisible_texts: int = 0
    invisible_characters: int = 0


class ContentText(Struct, frozen=True):
    """The main content as Markdown, and as plain text with a line for every block."""

    markdown: str
    text: str
    left_out: LeftOut = LeftOut()


def write_markdown(page: Page, content: Content, title: str, choices: Sequence[ProductChoice] = ()) -> ContentText:
    """Write the main content below its title, and `choices` where they stand among it.

    The tree of the page is taken apart for it, so this comes last.
    """
    invisible_texts = _count_invisible_texts(page)
    if content.text_elsewhere:
        text, removed = cleaned(content.text_elsewhere)
        return ContentText(_paragraphs(text), text, LeftOut(invisible_texts, removed))
    body = next(
        (child for child in page.root.children if isinstance(child, Element) and child.tag == "body"), page.root
    )
    own = Verbatim()
    unwrap_forged(body)
    replace_formulas(body, content.holders, own)
    footnotes = extract_footnotes(body, page, content, own)
    bylines = posts(page, content)
    mark_tasks(body, content, own)
    drawn, places = drawn_cells(body, content), [_place_in(content, body, choice.place) for choice in choices[:1]]
    shown = substitutes(body, content, page.hidden, page.base, own)
    anchors, names = pruning.anchors(body), names_of_folds(body, page.hidden)
    pruning.prune(body, content, page.hidden)
    write_drawn(drawn)
    write_substitutes(shown)
    pruning.drop_contents(body, anchors)
    pruning.drop_title(body, title)
    _write_bylines(bylines)
    _write_choices(places, _untold(choices, content))
    body.extend(footnotes)
    removed = clean_nodes(node for block in content.blocks for node in block.nodes)
    removed += clean_nodes(node for note in footnotes for node in note.descendants)
    rewrite_code(body)
    rewrite_tables(body, page.hidden, own, page.later_rows)
    mark_collapsed(body, page.hidden, own, names)
    pruning.resolve_images(body)
    normalisation.keep_lines(body)
    normalisation.drop_said_twice(body)
    normalisation.part_words(body)
    normalisation.clean_links(body, page.base)
    normalisation.drop_empty(body)
    normalisation.break_around_blocks(body)
    normalisation.split_paragraphs(body)
    return ContentText(render(body, own), cleaned(_lines(page, content))[0], LeftOut(invisible_texts, removed))


def fragment_markdown(source: str, base: str) -> str:
    """Write a piece of HTML as it is written where it stands in the main content of a page; `base` is its address."""
    body = Element("body", None, list(parse_fragment(source[:_MAX_MARKUP_CHARS], positions=False).children))
    own = Verbatim()
    unseen = hidden(body)
    for element in (*body.select(_UNSEEN), *(each for each, why in unseen.items() if why is Hiding.INVISIBLE)):
        element.extract()
    unwrap_forged(body)
    clean_nodes(body.descendants)
    rewrite_code(body)
    rewrite_tables(body, unseen, own, {})
    mark_collapsed(body, unseen, own)
    pruning.resolve_images(body)
    normalisation.keep_lines(body)
    normalisation.drop_said_twice(body)
    normalisation.part_words(body)
    normalisation.clean_links(body, base)
    normalisation.drop_empty(body)
    normalisation.split_paragraphs(body)
    return render(body, own)


def _lines(page: Page, content: Content) -> str:
    """Return the plain text, with the later rows of very long tables after the rows that stand in the tree."""
    if not page.later_rows and next(page.root.iter_elements("pre"), None) is None:
        return content.text
    last = {table: number for number, block in enumerate(content.blocks) for table in _tables_around(block, page)}
    after = {number: table for table, number in last.items()}
    lines = list[str]()
    for number, block in enumerate(content.blocks):
        lines.append(_text_of(block))
        if number in after:
            lines.extend(page.later_rows[after[number]].lines)
    return "\n".join(lines)


def _text_of(block: Block) -> str:
    """Return the text of a block: on one line, unless its lines are its form."""
    box: TextBox | None = block.box
    while box is not None and box.tag != "pre":
        box = box.parent
    return block.text if box is None else "".join(node.data for node in block.nodes).strip("\n")


def _tables_around(block: Block, page: Page) -> Iterator[Element]:
    box: TextBox | None = block.box
    while box is not None:
        if box.tag == "table" and box.element in page.later_rows:
            yield box.element
        box = box.parent


def _write_bylines(bylines: Iterable[Post]) -> None:
    """Write above each post who wrote it, and when."""
    for post in bylines:
        element = post.element
        place = element if element.tag in _HOLDS_BLOCKS else element.select_one("td,th,li,dd,div,p,article,section")
        if place is not None:
            words: list[Node] = [Element("strong", None, [Text(post.author)])] if post.author else []
            words += [Text(f"{', ' if post.author else ''}{post.date}")] if post.date else []
            place.insert(0, Element("p", None, words))


class _Place(Struct, frozen=True):
    """A place in what is kept of a tree: in `around`, after whichever are left of `before`."""

    around: Element
    before: frozenset[Node]


def _place_in(content: Content, body: Element, element: Element) -> _Place:
    branch: Node = element
    for around in element.ancestors:
        if isinstance(around, Element) and (around is body or around in content.holders):
            children = around.children
            return _Place(around, frozenset(children[: next(at for at, one in enumerate(children) if one is branch)]))
        branch = around
    return _Place(body, frozenset(body.children))


def _untold(choices: Sequence[ProductChoice], content: Content) -> list[ProductChoice]:
    """Return the choices whose options do not all stand among what was kept."""
    lines = set(content.text.split("\n"))
    return [choice for choice in choices if not lines.issuperset(choice.options)]


def _write_choices(places: Iterable[_Place], choices: Sequence[ProductChoice]) -> None:
    """Write what can be chosen as a list, where the form of it stood, in place of its labels."""
    names = {one.label for one in choices}
    for place in places if choices else ():
        for label in choices[0].place.select("label, legend"):
            if one_line(label.text, _MAX_NAME_CHARS).strip(" :*") in names:
                label.extract()
        items = [Element("li", None, [Text(f"{one.label}: {', '.join(one.options)}")]) for one in choices]
        kept = sum(1 for child in place.around.children if child in place.before)
        place.around.insert(kept, Element("ul", None, items))


def _paragraphs(text: str) -> str:
    """Render lines as paragraphs that stay text."""
    lines = (line for line in text.splitlines() if line.strip())
    return render(Element("div", None, [Element("p", None, [Text(line)]) for line in lines]), Verbatim())


def _count_invisible_texts(page: Page) -> int:
    return sum(
        1
        for element, why in page.hidden.items()
        if why is Hiding.INVISIBLE and element.tag != "template" and element.text.strip()
    )


_MAX_FRAMES = 50
_MAX_NAME_CHARS = 200
_MAX_MARKUP_CHARS = 100_000
_UNSEEN = "script, style, template, iframe, object, noscript"


def is_of_frames(page: Page) -> bool:
    """Return whether a page consists of frames, so that it has no body of its own."""
    return any(isinstance(child, Element) and child.tag == "frameset" for child in page.root.children)


def frame_links(page: Page) -> tuple[ExtractedLink, ...]:
    """Return the frames of a page that consists of frames alone, with their names; none for any other page."""
    if not is_of_frames(page):
        return ()
    frames = {
        url: one_line(frame.attr("title") or frame.attr("name") or url, _MAX_NAME_CHARS)
        for frame in islice(page.root.iter_elements("frame"), _MAX_FRAMES)
        if (url := on_the_web(page.base, frame.attr("src") or ""))
    }
    return tuple(ExtractedLink(url=url, text=name) for url, name in frames.items())


def frames_markdown(page: Page, frames: tuple[ExtractedLink, ...]) -> str:
    """Return a list of the frames, and below it the words for who cannot show frames."""
    says = f"A page of {len(frames)} frames: its words stand in them." if frames else "A page of frames without any."
    items = [Element("li", None, [Element("a", {"href": link.url}, [Text(link.text)])]) for link in frames]
    parts: list[Node] = [Element("p", None, [Text(says)]), Element("ul", None, items)]
    for other in page.root.iter_elements("noframes"):
        words = parse_fragment(other.text[:_MAX_MARKUP_CHARS], positions=False).remove(_UNSEEN).to_text()
        parts += [Element("p", None, [Text(line)]) for line in words.splitlines() if line.strip()]
    return render(Element("div", None, parts), Verbatim())


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
