"""Compares two pages: how like their words are, and which of their fields are equal."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, cast

from msgspec import UNSET, Struct, structs
from rapidfuzz.distance import Indel

from actors.patterns.mapping import dates
from actors.patterns.mapping.markup import links, plain_lines, unescaped
from actors.patterns.mapping.numbers import CURRENCY_SIGNS
from actors.patterns.mapping.shown_text import Difference, ShownText, difference
from protocol.documents import ExtractedTable, WebObservationSummary
from protocol.page import Heading, PageFields, Product, RecordList

ENOUGH = 0.95
"""What text and fields must reach each for two pages to be the same."""

_MAX_WORDS = 60_000
_SHOWN_CHARS = 40
"""How much of a line that is missing or extra is told."""

_READ_OUT = frozenset({"authors", "published", "modified", "description", "image", "lists"})
"""What extraction reads out of some pages of a kind and not of others, beside what is sold."""

_SHOWN = frozenset({"tables", "outline"})
"""What of a page follows from its lines, and has no words but theirs."""


class Agreement(Struct, frozen=True):
    """How like two pages are, from 0 to 1: their words in order, and the share of their fields that are equal.

    `lines` counts those that are missing or extra, `extra` the latter alone. `unlike` names the other fields by their
    wire names, and the lines by how many they are and how the first of them begins.
    """

    text: float
    fields: float
    unlike: tuple[str, ...] = ()
    lines: int = 0
    extra: int = 0

    @property
    def same(self) -> bool:
        """Return whether one page stands for the other: no line is wrong, and hardly a field."""
        return not self.lines and self.text >= ENOUGH and self.fields >= ENOUGH


def agreement(
    made: WebObservationSummary,
    rendered: WebObservationSummary,
    shown_lines: Sequence[str] = (),
    shown_links: Sequence[str] = (),
) -> Agreement:
    """Compare a page that was made of answers with one that was rendered; fields that neither has do not count.

    `shown_lines` are the blocks of text of the rendered page, `shown_links` what it leads to, also what extraction has
    left out. It is not wrong to have a line or a field that was not extracted, where the page says it in words.
    """
    ours, theirs = _fields(made, rendered.title), _fields(rendered, rendered.title)
    names = [name for name in theirs if ours[name] or theirs[name]]
    addresses = frozenset(
        (*shown_links, *(link.url for link in (*rendered.extracted_links, *links(rendered.markdown))))
    )
    words = _SaidWords(rendered, shown_lines, addresses)
    unlike = tuple(
        name for name in names if ours[name] != theirs[name] and not words.may_be_more(name, ours[name], theirs[name])
    )
    lines = _differing(made, rendered, shown_lines, addresses)
    return Agreement(
        text=_alike(made, rendered, lines),
        fields=1 - len(unlike) / len(names) if names else 1.0,
        unlike=(*unlike, *_difference("missing", lines.missing), *_difference("extra", lines.extra)),
        lines=len(lines.missing) + len(lines.extra),
        extra=len(lines.extra),
    )


def _differing(
    made: WebObservationSummary,
    rendered: WebObservationSummary,
    shown_lines: Sequence[str],
    addresses: frozenset[str],
) -> Difference:
    """Return the lines in which a page that was made differs from the rendered one."""
    ours, theirs = _lines(_content(made, rendered.title)), _lines(_content(rendered, rendered.title))
    if ours == theirs:
        return Difference()
    return difference(ours, theirs, ShownText.of(shown_lines), addresses)


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


def _alike(made: WebObservationSummary, rendered: WebObservationSummary, lines: Difference) -> float:
    """Return the lesser likeness of the two writings of the content, as Markdown and as text.

    What is known to be right does not count, though it was not extracted.
    """
    ours, theirs = _content(made, rendered.title), _content(rendered, rendered.title)
    markdown = _similarity(ours.split(), theirs.split(), len(" ".join((*lines.known, *lines.parts)).split()))
    if rendered.text is UNSET or made.text is UNSET:
        return markdown
    right = sum(len(plain_lines(line).split()) for line in (*lines.known, *lines.parts))
    return min(markdown, _similarity(body_words(made), body_words(rendered), right))


def body_words(page: WebObservationSummary) -> list[str]:
    """Return the words of a page's text without a heading before it that says the title: some have it, others not."""
    words = (page.text or "").split()
    title = page.parts.fields.outline[:1] if _below_title(page, page.title) != page.parts.fields.outline else ()
    heading = title[0].text.split() if title else []
    return words[len(heading) :] if words[: len(heading)] == heading else words


def _similarity(one: list[str], other: list[str], right: int) -> float:
    """Return how alike words are, of which some that only one of the two has count as if both had them."""
    if one == other:
        return 1.0
    one, other = one[:_MAX_WORDS], other[:_MAX_WORDS]
    return 1 - max(Indel.distance(one, other) - right, 0) / (len(one) + len(other))


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


class _SaidWords:
    """The words of a rendered page, which tell whether a field that was not extracted is right all the same."""

    def __init__(self, rendered: WebObservationSummary, shown_lines: Sequence[str], addresses: frozenset[str]) -> None:
        self._rendered = rendered
        self._shown_lines = shown_lines
        self._addresses = addresses
        self._plain = ""

    def may_be_more(self, name: str, value: Any, candidates: Any) -> bool:
        """Return whether a field says what the page says, where extraction found none or fewer."""
        if name in _READ_OUT or name.startswith("product."):
            return (not candidates or (name == "authors" and _begins(value, candidates))) and self._says(value)
        if name == "extracted_links":
            return _is_part(candidates, value) and all(
                url in self._addresses and self._says(text) for url, text in value
            )
        return name in _SHOWN and bool(self._shown_lines) and _is_part(candidates, value) and self._says(value)

    def _says(self, value: Any) -> bool:
        if not self._plain:
            page = self._rendered
            words = unescaped("\n".join((page.title, page.markdown, page.text or "", *self._shown_lines)))
            self._plain = " ".join(words.split()).casefold()
        return all(_is_said(text, self._plain, self._rendered.language or "en") for text in _strings(value))


def _is_part(part: Any, whole: Any) -> bool:
    """Return whether a value has nothing but what another has as well, in the same order."""
    if isinstance(part, str) and isinstance(whole, str):
        return part in ("", whole)
    if isinstance(part, ExtractedTable) and isinstance(whole, ExtractedTable):
        rows, whole_rows = (part.headers, *part.rows), (whole.headers, *whole.rows)
        return len(rows) == len(whole_rows) and all(map(_is_row_of, rows, whole_rows))
    if isinstance(part, tuple) and isinstance(whole, tuple):
        rest = iter(cast("tuple[object, ...]", whole))
        return all(any(_is_part(one, other) for other in rest) for one in cast("tuple[object, ...]", part))
    return bool(part == whole)


def _is_row_of(cells: tuple[str, ...], whole: tuple[str, ...]) -> bool:
    return len(cells) == len(whole) and all(map(_is_part, cells, whole))


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
        case ExtractedTable(headers=headers, rows=rows):
            yield from (cell for row in (headers, *rows) for cell in row if cell)
        case Heading(text=text):
            yield text
        case tuple():
            for each in cast("tuple[object, ...]", value):
                yield from _strings(each)
        case _:
            pass
