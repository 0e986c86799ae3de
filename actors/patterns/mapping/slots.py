"""Reads the sources of slots out of templates, and the words between them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from protocol.patterns.mapping import (
    CaseChoice,
    Each,
    Fields,
    Items,
    Join,
    Node,
    One,
    Part,
    Piece,
    Raw,
    TemplateSlot,
    TemplateText,
    ValueSource,
)


def sources_in(pieces: Sequence[Piece]) -> list[ValueSource]:
    """Return the sources of the slots of a text."""
    return slots_of(TemplateText(pieces=tuple(pieces)))


def slots_of(part: Part | Node) -> list[ValueSource]:
    """Return the sources of the slots of a part."""
    candidates: list[ValueSource] = []
    stack: list[Part | Node | Piece] = [part]
    while stack:
        match stack.pop():
            case TemplateSlot(source=source) | Raw(source=source):
                candidates.append(source)
            case CaseChoice(test=test, cases=cases):
                candidates.append(test.source)
                stack.extend(piece for pieces in cases.values() for piece in pieces)
            case Join(source=source, pieces=pieces):
                candidates.append(source)
                stack.extend(pieces)
            case TemplateText(pieces=pieces):
                stack.extend(pieces)
            case One(node=node):
                stack.append(node)
            case Each(source=source, parts=parts):
                candidates.append(source)
                stack.extend(parts)
            case Items(parts=parts):
                stack.extend(parts)
            case Fields(fields=fields):
                stack.extend(fields.values())
            case _:
                pass
    return list(dict.fromkeys(candidates))


def words_in(parts: Iterable[Part | Node | Piece]) -> str:
    """Return the words of a template, a line for each: what it writes whatever the answers are."""
    return "\n".join(_words(parts))


def stands_in(text: str, words: str) -> bool:
    """Return whether a text stands among words, and not within one of them."""
    return text in words and re.search(rf"(?<!\w){re.escape(text)}(?!\w)", words) is not None


def _words(parts: Iterable[Part | Node | Piece]) -> Iterator[str]:
    for part in parts:
        match part:
            case str():
                yield part
            case Fields(fields=fields):
                yield from _words(fields.values())
            case Items(parts=inner) | Each(parts=inner) | TemplateText(pieces=inner) | Join(pieces=inner):
                yield from _words(inner)
            case One(node=node):
                yield from _words((node,))
            case CaseChoice(cases=cases):
                for pieces in cases.values():
                    yield from _words(pieces)
            case _:
                pass
