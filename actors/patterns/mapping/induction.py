"""Induces how the JSON answers of an API become a page, from pages and the answers that they were made from."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

import msgspec
from msgspec import UNSET, Struct, structs

from actors.patterns.mapping import markup
from actors.patterns.mapping.comparison import agreement, body_words
from actors.patterns.mapping.flattened import unflattened
from actors.patterns.mapping.kinds import known_kinds
from actors.patterns.mapping.rendering import render
from actors.patterns.mapping.sequences import Listing, Unit
from actors.patterns.mapping.shown_text import ShownText
from actors.patterns.mapping.slots import slots_of, words_in
from actors.patterns.mapping.study import GiveUpError, StepBudget, Study, ValueScope, texts_of, tokens
from actors.patterns.mapping.trees import Example, induce_fields, induce_parts, placed
from actors.patterns.mapping.values import DriftError, is_array, is_object, root, write
from protocol.documents import WebObservationSummary
from protocol.page import Product
from protocol.patterns.mapping import Fields, One, PageMapping, Part, Rich, ValueSource

Derived = Literal["text", "outline", "links", "tables"]

MAX_SHOWN = 5
_STEPS = 60_000
"""What an induction may cost: some two seconds on a slow core."""

_OF_PRODUCTS = frozenset(field.encode_name for field in structs.fields(Product))
_CHARS_A_STEP = 500
_MAX_CHARS = 500_000
_PROSE_CHARS = 120
_MOST_UNEXPLAINED = 0.5
"""Share of the prose of a single page that may be in no answer."""


class Shown(Struct, frozen=True):
    """A page with the JSON answers that it was made from, one for each request, and the pieces of its address.

    `lines` are the blocks of text that it shows, `links` what it leads to, also those that were not extracted.
    """

    answers: tuple[Any, ...]
    page: WebObservationSummary
    url: str
    slots: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])
    lines: tuple[str, ...] = ()
    links: tuple[str, ...] = ()


def induce(shown: Sequence[Shown]) -> PageMapping | None:
    """Return how answers become pages of a kind; None where they do not account for the pages.

    What it returns makes each of the pages again as `agreement` wants it.
    """
    shown = shown[-MAX_SHOWN:]
    if not shown or any(len(each.page.markdown) > _MAX_CHARS for each in shown):
        return None
    try:
        mapping = _induced(shown, StepBudget(_STEPS))
    except GiveUpError:
        return None
    return mapping if mapping is not None and all(_is_made(mapping, each) for each in shown) else None


def _is_made(mapping: PageMapping, shown: Shown) -> bool:
    try:
        made = render(mapping, shown.answers, shown.url, shown.slots)
    except DriftError:
        return False
    return agreement(made, shown.page, shown.lines, shown.links).same


def _induced(shown: Sequence[Shown], budget: StepBudget) -> PageMapping | None:
    scopes = _scopes(shown, budget, markdown=True)
    markdown = _lines([each.page.markdown for each in shown], scopes)
    if not any(slots_of(part) for part in markdown) or _is_prose(shown, markdown):
        return None
    derived = tuple(_derived(shown))
    text: tuple[Part, ...] = ()
    if "text" not in derived:
        text = _lines([each.page.text or "" for each in shown], _scopes(shown, budget, markdown=False))
    fields = _scopes(shown, budget, markdown=False, one_line=True)
    page = _fields([_tree(each.page, derived) for each in shown], fields)
    sources = slots_of(One(node=page)) + [source for part in markdown for source in slots_of(part)]
    known = known_kinds([each.levels for each in fields], sources, words_in(markdown))
    return PageMapping(page=page, markdown=markdown, text=text, derived=derived, known=known)


def _scopes(shown: Sequence[Shown], budget: StepBudget, *, markdown: bool, one_line: bool = False) -> list[ValueScope]:
    scopes: list[ValueScope] = []
    for each in shown:
        known = tokens((*_strings(_json(each.page)), *each.lines))
        study = Study(each.url, known, markdown, budget, one_line, ShownText.of(each.lines))
        answers = [unflattened(answer) for answer in each.answers]
        scopes.append(ValueScope(study, (root(answers, each.slots, each.url),)))
    return scopes


def _derived(shown: Sequence[Shown]) -> Iterator[Derived]:
    """Yield what of each page is read out of its Markdown as the page has it."""
    pages = [each.page for each in shown]
    if all(page.text is not UNSET and _says_the_same(page) for page in pages):
        yield "text"
    if all(page.parts.fields.outline[_heading_count(page) :] == markup.outline(page.markdown) for page in pages):
        yield "outline"
    if all(
        [(link.url, link.text) for link in page.extracted_links]
        == [(link.url, link.text) for link in markup.links(page.markdown)]
        for page in pages
    ):
        yield "links"
    if all(page.tables == markup.tables(page.markdown) for page in pages):
        yield "tables"


def _says_the_same(page: WebObservationSummary) -> bool:
    """Return whether the text of a page has the words of its Markdown, perhaps below a heading that is the title."""
    words = markup.plain_lines(page.markdown).split()
    return words in ((page.text or "").split(), body_words(page))


_NOT_OF_THE_TREE = ("doc_type", "url", "markdown", "text", "html", "captured_at")


def _tree(page: WebObservationSummary, derived: tuple[Derived, ...]) -> dict[str, Any]:
    """Return what of a page has a template as a tree."""
    tree: dict[str, Any] = _json(page)
    for name in _NOT_OF_THE_TREE:
        tree.pop(name, None)
    parts = tree.get("parts", {})
    parts.pop("left_out", None)
    if "links" in derived:
        tree.pop("extracted_links", None)
    if "tables" in derived:
        tree.pop("tables", None)
    fields = parts.get("fields", {})
    if "outline" in derived and "outline" in fields:
        fields["outline"] = fields["outline"][: _heading_count(page)]
    return tree


def _heading_count(page: WebObservationSummary) -> int:
    """Return how many headings the outline has before those of the Markdown, which leaves the title out."""
    return max(0, len(page.parts.fields.outline) - len(markup.outline(page.markdown)))


def _fields(trees: list[dict[str, Any]], scopes: list[ValueScope]) -> Fields:
    """Return the template of what a page has beside its words; what nothing accounts for is left out."""
    inner = [tree.pop("parts", {}) for tree in trees]
    own = [parts.pop("fields", {}) for parts in inner]
    sold = [fields.pop("product", None) for fields in own]
    known = _objects(own, scopes)
    if (product := _sold(sold, scopes)) is not None:
        known.fields["product"] = product
    parts = _objects(inner, scopes)
    parts.fields["fields"] = One(node=known)
    page = _objects(trees, scopes)
    page.fields["parts"] = One(node=parts)
    return page


def _sold(sold: Sequence[dict[str, Any] | None], scopes: Sequence[ValueScope]) -> One | None:
    having = [number for number, each in enumerate(sold) if each]
    if not having:
        return None
    examples = [Example(sold[number], scopes[number]) for number in having]
    node = induce_fields(examples, may_lack=lambda _: True, read_out=_OF_PRODUCTS)
    return placed(node, having, scopes, uneven=True) if node is not None and node.fields else None


def _objects(values: Sequence[dict[str, Any]], scopes: Sequence[ValueScope]) -> Fields:
    examples = [Example(value, scope) for value, scope in zip(values, scopes, strict=True)]
    return induce_fields(examples, may_lack=lambda _: True) or Fields(fields={})


_BREAK = re.compile(r"(\n+)")
_PREFIX = re.compile(r"(?:\s*(?:[-*+]|\d{1,9}[.)]|>|:)\s+)*\s*")


def _lines(texts: Sequence[str], scopes: Sequence[ValueScope]) -> tuple[Part, ...]:
    listings = [Listing(_merged(list(_units(text)), scope), scope) for text, scope in zip(texts, scopes, strict=True)]
    return induce_parts(listings) or ()


def _units(text: str) -> Iterator[Unit]:
    """Yield the lines of a text, with the line ends before each."""
    pieces = _BREAK.split(f"\n\n{text}")
    for gap, line in zip(pieces[1::2], pieces[2::2], strict=True):
        if line.strip():
            yield Unit(line, (line,), gap)


def _merged(units: list[Unit], scope: ValueScope) -> list[Unit]:
    """Let the lines of one value be one unit, so that it is one slot."""
    places: dict[str, list[int]] = {}
    for number, unit in enumerate(units):
        places.setdefault(_PREFIX.sub("", unit.value, count=1), []).append(number)
    gone: set[int] = set()
    for blocks in sorted(_blocks(scope), key=len, reverse=True):
        lines = list(_units(blocks))
        for start in places.get(_PREFIX.sub("", lines[0].value, count=1), ()):
            span = range(start, start + len(lines))
            if span.stop > len(units) or not gone.isdisjoint(span):
                continue
            indent = _indent(units[start : span.stop], lines)
            if indent is not None:
                head = units[start].value.removesuffix(lines[0].value)
                text = f"{head}{blocks}"
                units[start] = Unit(text, (text,), units[start].gap, indent)
                gone.update(span[1:])
                gone.add(start)
                units[start].repeat = -1
    taken = gone - {number for number, unit in enumerate(units) if "\n" in unit.value}
    return [unit for number, unit in enumerate(units) if number not in taken]


def _indent(units: list[Unit], lines: list[Unit]) -> str | None:
    """Return what stands before the further lines of a value on a page; None where these lines are not that value."""
    if not units[0].value.endswith(lines[0].value):
        return None
    indents: set[str] = set()
    for unit, line in zip(units[1:], lines[1:], strict=True):
        if not unit.value.endswith(line.value) or unit.gap.count("\n") != line.gap.count("\n"):
            return None
        indents.add(unit.value.removesuffix(line.value))
    return indents.pop() if len(indents) == 1 else None


def _blocks(scope: ValueScope) -> Iterator[str]:
    """Yield the values of all depths that are of several lines."""
    study = scope.study
    for text in texts_of(scope.levels[0].value):
        html = markup.is_html(text)
        if html or "\n" in text.strip():
            study.budget.spend(len(text) // _CHARS_A_STEP + 1)
            blocks = write(Rich(html=html), text, ValueSource(), study.url, markdown=study.markdown)
            if "\n" in blocks:
                yield blocks


def _is_prose(shown: Sequence[Shown], markdown: Sequence[Part]) -> bool:
    """Return whether most of what a single page says is in no answer: nothing tells then whether others say it too."""
    if len(shown) > 1:
        return False
    constant = sum(len(text) for text in _strings(_json(markdown)) if len(text) >= _PROSE_CHARS)
    return constant > _MOST_UNEXPLAINED * len(shown[0].page.markdown)


def _json(value: object) -> Any:
    return msgspec.json.decode(msgspec.json.encode(value))


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif is_object(value) or is_array(value):
        for each in (*value, *value.values()) if is_object(value) else value:
            yield from _strings(each)
