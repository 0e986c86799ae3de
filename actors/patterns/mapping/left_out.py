"""What pages show though extraction has left it out: the sentences of an answer, and the template of such a line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec
from msgspec import structs

from actors.patterns.mapping.comparison import ENOUGH
from actors.patterns.mapping.markup import plain_lines
from actors.patterns.mapping.rendering import line_of
from actors.patterns.mapping.shown_text import ShownText, is_said_by, squeezed
from actors.patterns.mapping.study import ValueScope, texts_of
from actors.patterns.mapping.texts import Instance, induce_text
from actors.patterns.mapping.values import DriftError
from protocol.documents import WebObservationSummary
from protocol.patterns.mapping import Piece, TemplateSlot

Pieces = tuple[Piece, ...]


_TRIED = 3

_SENTENCE_CHARS: Final = 40
"""How long a text of an answer is at least that is on a page by no chance."""


def leaves_out(made: WebObservationSummary, answers: Sequence[Any], lines: Sequence[str]) -> bool:
    """Return whether a page that was made of answers lacks sentences of theirs that the page shows in its `lines`.

    They are so much of it that with them it would be another page.
    """
    shown = ShownText.of(lines)
    if shown is None:
        return False
    has = "".join(map(_words, (made.title, made.markdown, *texts_of(msgspec.to_builtins(made.parts.fields)))))
    sentences = {_words(text) for text in texts_of(answers) if len(text) >= _SENTENCE_CHARS and shown.shows(text)}
    lacks = sum(len(words) for words in sentences if words not in has)
    return lacks > (1 - ENOUGH) * (lacks + len(has))


def _words(markdown: str) -> str:
    return squeezed(plain_lines(markdown))


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
