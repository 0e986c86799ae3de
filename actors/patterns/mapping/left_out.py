"""Finds the template of a line that all pages show, though extraction has left it, or a part of it, out of some."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import structs

from actors.patterns.mapping.rendering import line_of
from actors.patterns.mapping.shown_text import is_said_by
from actors.patterns.mapping.study import ValueScope
from actors.patterns.mapping.texts import Instance, induce_text
from actors.patterns.mapping.values import DriftError
from protocol.patterns.mapping import Piece, TemplateSlot

Pieces = tuple[Piece, ...]


_TRIED = 3


def line_everywhere(lines: Mapping[int, str], scopes: Sequence[ValueScope]) -> Pieces | None:
    """Return the template of a line of which `lines` are what was extracted, by the numbers of their pages.

    None where one of the pages does not show what the others have.
    """
    if any(scope.study.shown is None for scope in scopes):
        return None
    longest = sorted(lines, key=lambda number: -len(lines[number]))[:_TRIED]
    some = [lines] if len(lines) < len(scopes) else []
    for known in (*some, *({number: lines[number]} for number in longest)):
        whole = _shown(_induced(known, scopes), lines, scopes)
        pieces = _induced(whole, scopes) if whole else None
        if pieces is not None:
            return pieces
    return None


def _shown(pieces: Pieces | None, lines: Mapping[int, str], scopes: Sequence[ValueScope]) -> dict[int, str]:
    """Return the lines that pieces make, if all pages show theirs and say more by it than what was extracted."""
    whole: dict[int, str] = {}
    for number, scope in enumerate(scopes):
        line = _line_shown(pieces or (), scope)
        if not line or not is_said_by(lines.get(number, ""), line):
            return {}
        whole[number] = line
    return whole


def _induced(lines: Mapping[int, str], scopes: Sequence[ValueScope]) -> Pieces | None:
    return induce_text([Instance(line, scopes[number]) for number, line in sorted(lines.items())])


def _line_shown(pieces: Pieces, scope: ValueScope) -> str:
    """Return the line that a template makes on a page that shows it, in one of the forms that may be right; else ""."""
    shown = scope.study.shown
    for variant in _variants(pieces):
        scope.study.budget.spend()
        try:
            line = line_of(variant, scope.levels, scope.study.url)
        except DriftError:
            continue
        if shown is not None and shown.shows(line):
            return line
    return ""


def _variants(pieces: Pieces) -> Iterator[Pieces]:
    """Yield pieces with each slot in its likeliest form, then with one of them in another that may be right."""
    yield tuple(structs.replace(piece, also=()) if isinstance(piece, TemplateSlot) else piece for piece in pieces)
    for place, piece in enumerate(pieces):
        for other in piece.also if isinstance(piece, TemplateSlot) else ():
            yield (*pieces[:place], other, *pieces[place + 1 :])
