"""Compares two pages: how like their words are, and which of their fields are equal."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

from msgspec import UNSET, structs
from rapidfuzz.distance import Indel

from actors.patterns.mapping import dates
from actors.patterns.mapping.markup import unescaped
from actors.patterns.mapping.numbers import CURRENCY_SIGNS
from protocol.documents import WebObservationSummary
from protocol.page import Heading, PageFields, Product, RecordList

ENOUGH = 0.95
"""What text and fields must reach each for two pages to be the same."""

_MAX_WORDS = 60_000
_SHOWN_CHARS = 40
"""How much of a line that is missing or extra is told."""

_READ_OUT = frozenset({"authors", "published", "modified", "description", "image", "lists"})
"""What extraction reads out of some pages of a kind and not of others, beside what is sold."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """How like two pages are, from 0 to 1: their words in order, and the share of their fields that are equal.

    `lines` counts those that are missing or extra. `unlike` names the other fields by their wire names, and the lines
    by how many they are and how the first of them begins.
    """

    text: float
    fields: float
    unlike: tuple[str, ...] = ()
    lines: int = 0

    @property
    def same(self) -> bool:
        """Return whether one page stands for the other: no line is wrong, and hardly a field."""
        return not self.lines and self.text >= ENOUGH and self.fields >= ENOUGH


def agreement(made: WebObservationSummary, rendered: WebObservationSummary) -> Agreement:
    """Compare a page that was made of answers with one that was rendered; fields that neither has do not count.

    Nor is it wrong to have a field that extraction did not find on the page, where the page says it in words.
    """
    ours, theirs = _fields(made, rendered.title), _fields(rendered, rendered.title)
    names = [name for name in theirs if ours[name] or theirs[name]]
    unlike = tuple(
        name
        for name in names
        if ours[name] != theirs[name] and not _may_be_more(name, ours[name], theirs[name], rendered)
    )
    missing, extra = _differing(made, rendered)
    return Agreement(
        text=_alike(made, rendered),
        fields=1 - len(unlike) / len(names) if names else 1.0,
        unlike=(*unlike, *_difference("missing", missing), *_difference("extra", extra)),
        lines=len(missing) + len(extra),
    )


def _differing(made: WebObservationSummary, rendered: WebObservationSummary) -> tuple[list[str], list[str]]:
    """Return the lines of a rendered page that are missing, and those that are extra; all where their order differs."""
    ours, theirs = _lines(_content(made, rendered.title)), _lines(_content(rendered, rendered.title))
    if ours == theirs:
        return [], []
    missing, extra = Counter(theirs) - Counter(ours), Counter(ours) - Counter(theirs)
    return list(missing.elements()) or ([] if extra else theirs), list(extra.elements())


def _content(page: WebObservationSummary, title: str) -> str:
    """Return the Markdown of a page below a first heading that says its title: some have it, others not."""
    first, _, rest = page.markdown.partition("\n")
    heading = unescaped(first.removeprefix("# ")).strip()
    return rest if first.startswith("# ") and heading.casefold() in title.casefold() else page.markdown


def _lines(markdown: str) -> list[str]:
    return [words for line in markdown.split("\n") if (words := " ".join(line.split()))]


def _difference(how: str, lines: Sequence[str]) -> Iterator[str]:
    if lines:
        yield f"{len(lines)} {'line' if len(lines) == 1 else 'lines'} {how}: {lines[0][:_SHOWN_CHARS]}"


def _alike(made: WebObservationSummary, rendered: WebObservationSummary) -> float:
    """Return the lesser likeness of the two writings of the content: as Markdown, and as text."""
    ours, theirs = _content(made, rendered.title), _content(rendered, rendered.title)
    markdown = _similarity(ours.split(), theirs.split())
    if rendered.text is UNSET or made.text is UNSET:
        return markdown
    return min(markdown, _similarity(body_words(made), body_words(rendered)))


def body_words(page: WebObservationSummary) -> list[str]:
    """Return the words of a page's text without a heading before it that says the title: some have it, others not."""
    words = (page.text or "").split()
    title = page.parts.fields.outline[:1] if _below_title(page, page.title) != page.parts.fields.outline else ()
    heading = title[0].text.split() if title else []
    return words[len(heading) :] if words[: len(heading)] == heading else words


def _similarity(one: list[str], other: list[str]) -> float:
    return 1.0 if one == other else Indel.normalized_similarity(one[:_MAX_WORDS], other[:_MAX_WORDS])


def _fields(page: WebObservationSummary, title: str) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "title": page.title,
        "language": page.language or "",
        "tables": page.tables,
        "lists": page.parts.lists,
        "extracted_links": tuple((link.url, link.text) for link in page.extracted_links),
    }
    for known in structs.fields(PageFields):
        if known.name != "product":
            fields[known.encode_name] = getattr(page.parts.fields, known.name) or ""
    fields["outline"] = _below_title(page, title)
    sold = page.parts.fields.product
    for known in structs.fields(Product):
        fields[f"product.{known.encode_name}"] = getattr(sold, known.name) if isinstance(sold, Product) else ""
    return fields


def _below_title(page: WebObservationSummary, title: str) -> tuple[Heading, ...]:
    """Return the headings of a page without one that says its title: some have it, others of their kind do not."""
    outline = page.parts.fields.outline
    words = title.casefold()
    return outline[1:] if outline and outline[0].level == 1 and outline[0].text.casefold() in words else outline


def _may_be_more(name: str, value: Any, candidates: Any, rendered: WebObservationSummary) -> bool:
    """Return whether a field says what the words of a rendered page say, where extraction found none or fewer."""
    if candidates and (name != "authors" or not _begins(value, candidates)):
        return False
    if name not in _READ_OUT and not name.startswith("product."):
        return False
    words = unescaped(f"{rendered.title}\n{rendered.markdown}\n{rendered.text or ''}")
    plain = " ".join(words.split()).casefold()
    return all(_is_said(text, plain, rendered.language or "en") for text in _strings(value))


def _begins(whole: tuple[str, ...], first: tuple[str, ...]) -> bool:
    return whole[: len(first)] == first


_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_WRITTEN_NUMBER = re.compile(r"\d(?:[\d.,' \u00a0\u202f\u2019]*\d)?")


def _is_said(text: str, plain: str, language: str) -> bool:
    """Return whether a text stands among words as it is, or as a number, a date or a currency may be written."""
    if " ".join(text.split()).casefold() in plain:
        return True
    if (sign := CURRENCY_SIGNS.get(text)) is not None:
        return sign.casefold() in plain
    if _NUMBER.fullmatch(text):
        return any(_digits(one) == _digits(text) for one in _WRITTEN_NUMBER.findall(plain))
    time = dates.parsed(text)
    return time is not None and any(
        dates.formatted(time, day).casefold() in plain
        for day in dates.days((language[:2],))
        if "{Y}" in day.pattern and day.pattern != "{Y}" and "{d" in day.pattern
    )


def _digits(number: str) -> str:
    whole, point, fraction = number.rpartition(number[-3]) if number[-3:-2] in (".", ",") else (number, "", "")
    return f"{''.join(filter(str.isdigit, whole))}.{fraction if point else ''}".removesuffix(".00").rstrip(".")


def _strings(value: object) -> Iterator[str]:
    match value:
        case str():
            yield value
        case RecordList(rows=rows):
            yield from (cell for row in rows for cell in row if cell)
        case tuple():
            for each in cast("tuple[object, ...]", value):
                yield from _strings(each)
        case _:
            pass
