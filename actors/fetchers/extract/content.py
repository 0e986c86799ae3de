"""Chooses the main content of a page, and writes it as Markdown."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, replace

import trafilatura
from lxml import etree
from lxml.html import HtmlElement
from msgspec import UNSET
from trafilatura.settings import Document
from trafilatura.xml import xmltotxt

from actors.fetchers.extract.dom import first, text_of
from actors.fetchers.extract.extraction import clean
from protocol.browse import MIN_CONTENT_CHARS, SelectorAttempt
from protocol.confidence import BASELINES, Confidence, Source, confidence
from protocol.render import plain, to_markdown

_Element = etree._Element  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - lxml has no public name for it

_MAX_ELEMENTS = 25_000
"""A larger tree is read by its selectors alone: the heuristics take 70 µs an element, measured."""

_WITHIN = 0.9
"""Share of the heuristics' words that an element must hold to be confirmed by them."""

_MOST = 0.25
"""Share of an element's words that the heuristics must have kept, or the match counts for less."""

_UNCONFIRMED_SCORE = 0.60
"""A selector that matched, half validated (000 §2, "Medium")."""

_WORD = re.compile(r"\w+")
_RULER = re.compile(r"^\|?[ |:-]*---[ |:-]*$")


@dataclass(frozen=True)
class Content:
    """The main content: its words, the element they stand in, and every way that was tried."""

    text: str
    markdown: str
    element: HtmlElement
    confidence: Confidence
    attempts: tuple[SelectorAttempt, ...]


@dataclass(frozen=True)
class _Candidate:
    selector: str
    source: str
    kind: Source
    element: HtmlElement | None = None
    text: str = ""
    markdown: str = ""


def choose(root: HtmlElement, url: str) -> Content:
    """Take what the heuristics found, sure where an element of the page's own holds it; else that element, or all."""
    body = first(root, "body")
    whole = root if body is None else body
    marked = list(_marked(whole))
    guess = _guess(root, url)
    rest = _Candidate("body", "body", Source.FALLBACK, whole, text_of(whole))
    if len(rest.text) < MIN_CONTENT_CHARS and _share(rest.text, guess.text) < _WITHIN:
        guess = replace(guess, text="", markdown="")  # a page of a few words has none to leave out
    rows = [*marked, guess, rest]
    if guess.text:
        holder = next((row for row in marked if _share(guess.text, row.text) >= _WITHIN), None)
        if holder is None:
            return _content(rows, guess, whole, confidence(Source.HEURISTIC))
        score = None if _share(holder.text, guess.text) >= _MOST else _UNCONFIRMED_SCORE
        chosen = replace(holder, text=guess.text, markdown=guess.markdown)
        return _content(rows, chosen, whole, confidence(Source.SELECTOR_MATCH, score))
    holder = next((row for row in marked if len(row.text) >= MIN_CONTENT_CHARS), None)
    if holder is not None:
        return _content(rows, holder, whole, confidence(Source.SELECTOR_MATCH, _UNCONFIRMED_SCORE))
    return _content(rows, rest, whole, confidence(Source.FALLBACK))


def paragraphs(text: str) -> str:
    """Write plain lines as Markdown that stays text."""
    return to_markdown(plain(text.replace("\n", "\n\n")))


def _content(rows: list[_Candidate], chosen: _Candidate, whole: HtmlElement, sure: Confidence) -> Content:
    return Content(
        text=chosen.text,
        markdown=chosen.markdown or paragraphs(chosen.text),
        element=whole if chosen.element is None else chosen.element,
        confidence=sure,
        attempts=tuple(_attempt(row, chosen) for row in rows),
    )


def _attempt(row: _Candidate, chosen: _Candidate) -> SelectorAttempt:
    selected = row.selector == chosen.selector
    reason = f"{chosen.selector} is the surer choice" if row.text else "not there or empty"
    return SelectorAttempt(
        selector=row.selector,
        source=row.source,
        matched=bool(row.text),
        content_length=len(row.text),
        confidence_score=BASELINES[row.kind],
        selected=selected,
        skip_reason=UNSET if selected else reason,
    )


def _marked(whole: HtmlElement) -> Iterator[_Candidate]:
    roles = (element for element in whole.iter("div", "section", "td") if element.get("role") == "main")
    yield _largest("main", "main", whole.iter("main"))
    yield _largest("article", "article", whole.iter("article"))
    yield _largest('[role="main"]', "role_main", roles)


def _largest(selector: str, source: str, elements: Iterator[HtmlElement]) -> _Candidate:
    none = _Candidate(selector, source, Source.SELECTOR_MATCH)
    found = (
        replace(none, element=element, text=text_of(element)) for element, _ in zip(elements, range(20), strict=False)
    )
    return max(found, key=lambda candidate: len(candidate.text), default=none)


def _guess(root: HtmlElement, url: str) -> _Candidate:
    none = _Candidate("trafilatura", "heuristic", Source.HEURISTIC)
    if sum(1 for _ in root.iter()) > _MAX_ELEMENTS:
        return none
    tree = deepcopy(root)
    for caption in list(tree.iter("caption")):
        _before_table(caption)
    try:
        found = trafilatura.bare_extraction(
            tree,
            url=url,
            output_format="markdown",
            include_links=True,
            include_formatting=True,
            include_comments=True,
            fast=True,  # its fall-backs cost 200 ms when first used, and half as much again on each page
        )
    except (RecursionError, ValueError):
        return none
    if not isinstance(found, Document):
        return none
    parts = (found.body, found.commentsbody)
    text = "\n".join(filter(None, (_words(xmltotxt(_unlinked(part), include_formatting=False)) for part in parts)))
    markdown = "\n\n".join(filter(None, (xmltotxt(part, include_formatting=True).strip() for part in parts)))
    return replace(none, text=clean(text), markdown=clean(markdown))


def _unlinked(part: _Element | None) -> _Element | None:
    # trafilatura writes links as Markdown in plain text, too.
    if part is None:
        return None
    words = deepcopy(part)
    etree.strip_tags(words, "ref")
    return words


def _before_table(caption: HtmlElement) -> None:
    # trafilatura makes a caption the table's header row.
    table = caption.getparent()
    if table is not None and table.tag == "table" and table.getparent() is not None:
        caption.drop_tree()
        caption.tag = "p"
        table.addprevious(caption)


def _words(text: str) -> str:
    """Take the pipes and rulers of tables out of plain text."""
    lines = (_RULER.sub("", line) for line in text.split("\n"))
    cells = (" ".join(line.replace("|", " ").split()) if line.startswith("|") else line.strip() for line in lines)
    return "\n".join(line for line in cells if line)


def _share(part: str, whole: str) -> float:
    """Tell how much of the words of `part` are in `whole`, each as often as it stands there."""
    words = Counter(_WORD.findall(part.lower()))
    total = words.total()
    return (words & Counter(_WORD.findall(whole.lower()))).total() / total if total else 0.0
