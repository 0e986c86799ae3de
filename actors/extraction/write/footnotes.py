"""Joins the marks of footnotes with their texts, and writes both as footnotes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from turbohtml import Element, Node, Text

from actors.extraction.decide.content import Content
from actors.extraction.parse.tree import Page
from actors.extraction.parse.visibility import Hiding
from actors.extraction.write.rendering import Verbatim

_LINKS = "a[href*='#']"
_MARK = re.compile(
    r"[\[(]?\s*(?:(?:note|nb|fn|ref)(?:\.\s*|\s+|(?=\d)))?(\d{1,4}|[a-z]{1,2}|[ivx]{1,5}|[*\u2020\u2021\u00a7]{1,4})\s*[\])]?",
    re.IGNORECASE,
)
_TARGET = re.compile(
    r"(?:^|[^a-z])_*(?:f(?:oot)?|e(?:nd)?|side|cite_|sdfoot|sdend)?-?(?:n|ftn|edn|note|foot)|^_(?:f|e)", re.IGNORECASE
)
_CLASS = re.compile(r"foot-?note|end-?note|note-?ref|fn-?ref|reference|sidenote|\bfn\b")
_BACK = re.compile(
    r"[\s^\u2191\u21a9\u21a5\u2934\u23ce\u2b06\ufe0e\ufe0f\[\]().]*|[\[(]?(?:\d{1,4}|[a-z]|[*\u2020\u2021]{1,4})[\])]?[.:]?"
    r"|back(?: to (?:text|top|content|article|post))?|return|jump (?:back|up).{0,20}",
    re.IGNORECASE,
)
_NUMBERING = "[]().:^ \n\t0123456789"
_NUMBER = re.compile(
    r"\s*[\[(^]*\s*(\d{1,4}|[a-z]{1,2}|[ivx]{1,5}|[*\u2020\u2021]{1,4})?(?:\s*[.:)\]\u2191^]+\s*|\s*$)", re.IGNORECASE
)
_BACKLINKS = (
    ".mw-cite-backlink,.footnote-backref,.footnote-back,.reversefootnote,.footnote-return,[role='doc-backlink']"
)
_NOT_READ = "script,style,template,noscript"
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_BLOCKS = frozenset({"li", "p", "div", "dd", "aside", "section", "td", "blockquote", "dt"})
_SMALL = frozenset({"b", "small", "span", "sup"})
_MAX_NOTE_CHARS = 6_000
_MAX_NOTES = 2_000
_MAX_LINKS = 20_000


@dataclass(slots=True)
class _Footnote:
    """One footnote: the element that a mark leads to, and the marks."""

    target: Element
    label: str
    marks: list[Element] = field(default_factory=list[Element])


def extract_footnotes(body: Element, page: Page, content: Content, own: Verbatim) -> list[Element]:
    """Take the notes that kept marks lead to out of the tree, and write the marks as references to them."""
    notes = _footnotes(body, page, content)
    if not notes:
        return []
    _number(notes)
    taken = list[Element]()
    # How many targets stand at or in each element.
    targets = Counter[Node](each for note in notes for each in (note.target, *note.target.ancestors))
    for note in notes:
        # A mark within a note that looked like its way back is gone with that.
        marks = [mark for mark in note.marks if mark.parent is not None]
        text = _text(note, targets, page.hidden) if marks else None
        if text is None:
            continue
        for mark in marks:
            _refer(mark, note.label, own)
        taken.append(Element("div", None, [own.note(note.label, text)]))
    return taken


def _footnotes(body: Element, page: Page, content: Content) -> list[_Footnote]:
    marks = [
        link for link in body.select(_LINKS)[:_MAX_LINKS] if link in content.holders and (_is_mark(link, page.url))
    ]
    if not marks:
        return []
    places = _targets_by_name(body)
    notes = dict[Element, _Footnote]()
    for link in marks[:_MAX_NOTES]:
        target = places.get((link.attr("href") or "").partition("#")[2])
        if target is None or target == link or _contains(target, link):
            continue
        match = _MARK.fullmatch(link.text.strip())
        notes.setdefault(target, _Footnote(target, match[1] if match else "")).marks.append(link)
    return list(notes.values())


def _is_mark(link: Element, url: str) -> bool:
    text = link.text.strip()
    if len(text) > 12 or _MARK.fullmatch(text) is None:  # noqa: PLR2004 - "[note 1234]"
        return False
    place, _, fragment = (link.attr("href") or "").partition("#")
    if not fragment or (place and place.rsplit("/", 1)[-1] not in url and link.attr("data-type") != "noteref"):
        return False
    raised = link.closest("sup") is not None or link.select_one("sup") is not None
    names = f"{link.attr('class') or ''} {link.attr('role') or ''} {_class_of(link.parent)}"
    named = _TARGET.search(fragment) is not None or _CLASS.search(names) is not None
    return raised or (named and not text.isalpha())  # a letter in its line may be a name, or a place in an index


def _class_of(node: Node | None) -> str:
    return (node.attr("class") or "") if isinstance(node, Element) else ""


def _targets_by_name(body: Element) -> dict[str, Element]:
    places = dict[str, Element]()
    for element in body.select("a[name],[id]"):
        for name in ("name", "id"):
            if value := element.attr(name):
                places.setdefault(value, element)
    return places


def _contains(holder: Element, inner: Element) -> bool:
    return any(ancestor == holder for ancestor in inner.ancestors)


def _number(notes: list[_Footnote]) -> None:
    # The page's own marks where each is of one note, else numbers.
    labels = [note.label.lower() for note in notes]
    if len(set(labels)) < len(labels) or not all(label.isalnum() for label in labels):
        for number, note in enumerate(notes, 1):
            note.label = str(number)


def _text(note: _Footnote, targets: Mapping[Node, int], hidden: Mapping[Element, Hiding]) -> list[Node] | None:
    """Take the nodes of a note's text out of the tree, without the links back and the number before it."""
    holder = _holder(note.target, note.label)
    if holder is None or any(_says_more(heading, note.label) for heading in holder.select(",".join(_HEADINGS))):
        return None
    if any(_contains(holder, mark) for mark in note.marks) or _is_hidden(holder, hidden):
        return None
    shared = targets.get(holder, 0) > 1
    if len(holder.text) > _MAX_NOTE_CHARS and not shared:
        return None
    for inner in holder.select("*"):
        if hidden.get(inner) is Hiding.INVISIBLE:
            inner.extract()
    text = Element("div", None, list(_split(holder, note.target, targets)) if shared else [holder])
    _drop_returns(text)
    if not text.text.strip():
        return None
    for definition in text.select("dd"):
        definition.tag = "div"  # its term is the mark
    for block in text.select("pre"):
        block.tag = "code"  # a note is one paragraph to those who do not know notes
    _drop_number(text, note.label)
    if not _contains(text, note.target):
        _drop_lead(note.target)
    return [text]


def _drop_returns(text: Element) -> None:
    """Take the links back to the marks out of a note, and what holds nothing else."""
    for extra in (*text.select(_BACKLINKS), *text.select(_NOT_READ)):
        extra.extract()
    for link in text.select("a"):
        href = link.attr("href")
        if (href is None or "#" in href) and _BACK.fullmatch(link.text.strip()) and link.select_one("img") is None:
            outer = link.parent
            link.extract()
            if isinstance(outer, Element) and outer.tag in _SMALL and not outer.text.strip(" .[]()"):
                outer.extract()


def _holder(target: Element, label: str) -> Element | None:
    """Return the block that a target stands at; below a heading, or a term, that is but its number, what follows it."""
    holder: Node | None = target
    while isinstance(holder, Element) and holder.tag not in _BLOCKS and not holder.tag.startswith("h"):
        holder = holder.parent
    if not isinstance(holder, Element) or holder.tag in ("html", "body", "head"):
        return None
    names = holder.tag == "dt" or holder.tag in _HEADINGS
    if names and _says_more(holder, label):
        return None
    if names or not holder.text.strip(_NUMBERING):
        follower = holder.next_sibling
        while isinstance(follower, Text) and follower.data.isspace():
            follower = follower.next_sibling
        return follower if isinstance(follower, Element) else None
    return holder


def _says_more(name: Element, label: str) -> bool:
    """Return whether a heading or a term names a part of the page, and not a note by its number."""
    return name.text.strip(_NUMBERING).lower() not in ("", label.strip(_NUMBERING).lower())


def _split(holder: Element, target: Element, targets: Mapping[Node, int]) -> Iterator[Node]:
    """Return what follows one of the targets that share a block, up to the next."""
    start: Node = target
    while start.parent is not None and start.parent != holder:
        start = start.parent
    node: Node | None = start
    while node is not None:
        follower = node.next_sibling
        yield node
        if follower in targets:
            return
        node = follower


def _is_hidden(element: Element, hidden: Mapping[Element, Hiding]) -> bool:
    return any(
        hidden.get(each) is Hiding.INVISIBLE for each in (element, *element.ancestors) if isinstance(each, Element)
    )


def _drop_lead(target: Element) -> None:
    # What stood above a note, and held its number alone.
    lead = target
    while isinstance(lead.parent, Element) and not lead.parent.text.strip(_NUMBERING):
        lead = lead.parent
    if not lead.text.strip(_NUMBERING):
        lead.extract()


def _drop_number(text: Element, label: str) -> None:
    """Take the number of a note from the beginning of its text."""
    for node in text.descendants:
        if not isinstance(node, Text) or not node.data.strip():
            continue
        match = _NUMBER.match(node.data)
        if match is None or (match[1] and match[1].lower() != label.lower()):
            return
        node.data = node.data[match.end() :]
        if node.data.strip():
            return


def _refer(mark: Element, label: str, own: Verbatim) -> None:
    outer = mark
    while (
        isinstance(outer.parent, Element)
        and outer.parent.tag in _SMALL
        and outer.parent.text.strip(" []()") == mark.text.strip(" []()")
    ):
        outer = outer.parent
    follower = next((node.data for node in outer.following if isinstance(node, Text) and node.data), "")
    apart = " " if follower[:1] in ("(", "[", ":") else ""
    outer.replace_with(own.element(f"[^{label}]{apart}"))
