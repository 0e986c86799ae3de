"""Reads the sources of slots out of templates."""

from __future__ import annotations

from collections.abc import Sequence

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
