"""Makes a page of JSON answers by a mapping."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType, structs

from actors.patterns.mapping.flattened import unflattened
from actors.patterns.mapping.markup import escaped, in_target, links, outline, plain_lines, tables, target, unescaped
from actors.patterns.mapping.values import (
    DriftError,
    Levels,
    UnknownCaseError,
    ValueLevel,
    case_of,
    items_of,
    resolve,
    root,
    where,
    write,
)
from protocol.documents import WebObservationSummary
from protocol.patterns.mapping import (
    CaseChoice,
    Each,
    Fields,
    Fixed,
    Form,
    Items,
    Join,
    Known,
    Node,
    One,
    PageMapping,
    Part,
    Piece,
    Raw,
    Rich,
    TemplateSlot,
    TemplateText,
    ValueSource,
)
from protocol.patterns.use import Drift

_MAX_LINES = 50_000
_MAX_ITEMS = 2_000
_INNER_LINE = re.compile(r"\n(?=[^\n])")
_STARTS = re.compile(r"\s*(?:(?:[-*+]|\d{1,9}[.)]|>|:)\s+)*")
_EMPHASIS_BEGINS = re.compile(r"(?:^|.*[\s(\[|])(?:\*{1,3}|~~)", re.DOTALL)


def render(
    mapping: PageMapping,
    answers: Sequence[Any],
    url: str,
    slots: Mapping[str, str],
    captured_at: datetime | UnsetType = UNSET,
) -> WebObservationSummary:
    """Make the page of an address of the answers to its requests; `slots` are the pieces of the address.

    Raises:
        DriftError: a value is missing, of another type, or empty where it never was.
    """
    levels = (root([unflattened(answer) for answer in answers], slots, url),)
    _assert_known(mapping.known, levels)
    written: dict[tuple[int, Any, bool], str] = {}
    markdown = _Writer(url, written, markdown=True).lines(mapping.markdown, levels)
    writer = _Writer(url, written, markdown=False, one_line=True, wording=unescaped(markdown))
    fields = writer.node(mapping.page, levels)
    fields |= {"url": url, "markdown": markdown}
    if "text" not in mapping.derived and mapping.text:
        fields["text"] = _Writer(url, written, markdown=False).lines(mapping.text, levels)
    try:
        page = msgspec.convert({"doc_type": "web.observation.summary.v1", **fields}, WebObservationSummary)
    except msgspec.ValidationError as wrong:
        raise DriftError(Drift.RETYPED, "page") from wrong
    return _derived(structs.replace(page, captured_at=captured_at), mapping)


def line_of(pieces: Sequence[Piece], levels: Levels, url: str) -> str:
    """Write a line of Markdown; raises as `render`."""
    return _Writer(url, {}, markdown=True).text(pieces, levels)


def _assert_known(known: Sequence[Known], levels: Levels) -> None:
    """Raise DriftError where a value that tells kinds of pages or items apart is none of those seen."""
    for each in known:
        if case_of(each.test, levels) not in each.cases:
            raise UnknownCaseError(where(each.test.source))


def _derived(page: WebObservationSummary, mapping: PageMapping) -> WebObservationSummary:
    if "links" in mapping.derived:
        page = structs.replace(page, extracted_links=links(page.markdown))
    if "tables" in mapping.derived:
        page = structs.replace(page, tables=tables(page.markdown))
    if "outline" in mapping.derived:
        fields = page.parts.fields
        fields = structs.replace(fields, outline=fields.outline + outline(page.markdown))
        page = structs.replace(page, parts=structs.replace(page.parts, fields=fields))
    return structs.replace(page, text=_text(page)) if "text" in mapping.derived else page


def _text(page: WebObservationSummary) -> str:
    """Return the words of a page, below the heading of level 1 that its Markdown leaves out since it is the title."""
    text, first = plain_lines(page.markdown), page.parts.fields.outline[:1]
    stands = first and first[0].level == 1 and first != outline(page.markdown)[:1]
    return f"{first[0].text}\n{text}".rstrip() if stands else text


class _Writer(Struct, frozen=True):
    """Writes templates; `markdown`: what is no markup is escaped; `one_line`: blocks stand on one line.

    `said` are the words of the page: what is gathered from items that it does not show is left out. `written` keeps
    values by their forms' ids.
    """

    url: str
    written: dict[tuple[int, Any, bool], str]
    markdown: bool
    one_line: bool = False
    wording: str = ""

    def lines(self, parts: Sequence[Part], levels: Levels) -> str:
        """Return a text of lines."""
        lines: list[str] = []
        for gap, text in self._lines(parts, levels):
            lines += (gap, text)
            if len(lines) > _MAX_LINES:
                break
        return "".join(lines).strip()

    def _lines(self, parts: Sequence[Part], levels: Levels) -> Iterator[tuple[str, str]]:
        for part in parts:
            match part:
                case One(node=TemplateText(pieces=pieces), gap=gap, indent=indent):
                    if _stands(part, levels):
                        text = self.text(pieces, levels)
                        yield gap, _INNER_LINE.sub(f"\n{indent}", text) if indent else text
                case Each():
                    for number, item in enumerate(_items(part, levels)):
                        _assert_known(part.known, (*levels, item))
                        written = list(self._lines(part.parts, (*levels, item)))
                        if written:
                            yield (part.between if number else part.first), written[0][1]
                            yield from written[1:]
                case One():
                    pass

    def node(self, node: Node, levels: Levels) -> Any:
        """Return a value."""
        match node:
            case Fixed(value=value):
                return value
            case TemplateText(pieces=pieces):
                return self.text(pieces, levels)
            case Fields(fields=fields):
                return {name: self.node(one.node, levels) for name, one in fields.items() if _stands(one, levels)}
            case Items(parts=parts, distinct=distinct, most=most):
                values = list(self._values(parts, levels))
                if not distinct:
                    return values
                return [each for each in dict.fromkeys(values) if each in self.wording][: most or None]
            case Raw(source=source):
                value = resolve(levels, source)
                if value is None:
                    raise DriftError(Drift.MISSING, where(source))
                return value

    def _values(self, parts: Sequence[Part], levels: Levels) -> Iterator[Any]:
        for part in parts:
            match part:
                case One(node=node):
                    if _stands(part, levels):
                        yield self.node(node, levels)
                case Each(parts=inner):
                    for item in _items(part, levels):
                        yield from self._values(inner, (*levels, item))

    def _write(self, form: Form, value: Any, source: ValueSource) -> str:
        if not isinstance(value, str | int) or isinstance(value, bool):
            return write(form, value, source, self.url, markdown=self.markdown)
        key = (id(form), value, self.markdown and isinstance(form, Rich))
        text = self.written.get(key)
        if text is None:
            text = self.written[key] = write(form, value, source, self.url, markdown=self.markdown)
        return text

    def _value(self, slot: TemplateSlot, levels: Levels) -> str:
        """Return the value of a slot; "" for what it has no form for."""
        try:
            return self._write(slot.form, resolve(levels, slot.source), slot.source)
        except DriftError:
            return ""

    def _slot(self, slot: TemplateSlot, levels: Levels, before: str) -> str:
        """Return a slot as it is written after what stands before it; two ways that part for the first time are new."""
        value = self._write(slot.form, resolve(levels, slot.source), slot.source)
        if slot.also and any(self._value(other, levels) != value for other in slot.also):
            raise UnknownCaseError(where(slot.source))
        if isinstance(slot.form, Rich):
            return " ".join(value.split()) if self.one_line else value
        return _embedded(value, before) if self.markdown else value

    def text(self, pieces: Sequence[Piece], levels: Levels, before: str = "") -> str:
        """Return a text that is to stand after another one."""
        text = ""
        for piece in pieces:
            match piece:
                case str():
                    text += piece
                case TemplateSlot():
                    text += self._slot(piece, levels, before + text)
                case CaseChoice(test=test, cases=cases):
                    case = case_of(test, levels)
                    if case not in cases:
                        if resolve(levels, test.source) is None:
                            raise DriftError(Drift.MISSING, where(test.source))
                        raise UnknownCaseError(where(test.source))
                    text += self.text(cases[case], levels, before + text)
                case Join():
                    text += self._joined(piece, levels, before + text)
        return text

    def _joined(self, join: Join, levels: Levels, before: str) -> str:
        """Return the items of an array on one line; whether a page says twice what was never the same, nobody knows."""
        written: list[str] = []
        for item in _items(join, levels):
            written.append(self.text(join.pieces, (*levels, item), before + join.between.join((*written, ""))))
        if not join.repeated and len(set(written)) < len(written):
            raise UnknownCaseError(where(join.source))
        return join.between.join(written)


def _embedded(value: str, before: str) -> str:
    """Return a plain value as it is written after what stands before it in Markdown."""
    if in_target(before):
        return target(value)
    begins = before.endswith(("*", "~")) and _EMPHASIS_BEGINS.fullmatch(before) is not None
    return escaped(value, starts=begins or _STARTS.fullmatch(before) is not None)


def _stands(one: One, levels: Levels) -> bool:
    if one.when is None:
        return True
    case = case_of(one.when, levels)
    if case != one.case and one.otherwise and case not in one.otherwise:
        raise UnknownCaseError(where(one.when.source))
    return case == one.case


def _items(each: Each | Join, levels: Levels) -> list[ValueLevel]:
    value = resolve(levels, each.source)
    if not value and each.may_lack:
        return []
    if value is None:
        raise DriftError(Drift.MISSING, where(each.source))
    items = items_of(value)
    if items is None:
        raise DriftError(Drift.RETYPED, where(each.source))
    if not items:
        raise DriftError(Drift.EMPTIED, where(each.source))
    return [ValueLevel(item, number) for number, item in enumerate(items[: each.limit or _MAX_ITEMS], 1)]
