"""What is found in a body that is no HTML: the same parts that a page has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from protocol.confidence import Confidence, Source
from protocol.documents import ExtractedLink, ExtractedTable, Signal
from protocol.page import PageFields

MAX_CHARS = 1_000_000
"""How much of a body is written."""

MAX_TITLE_CHARS = 300
MAX_WORDS_CHARS = 200

Clock: TypeAlias = Callable[[], float]
"""Returns the seconds of a processor that the thread has used."""


def no_clock() -> float:
    """Return no time: what is read is then bounded by its size alone."""
    return 0.0


@dataclass(frozen=True, kw_only=True)
class Found:
    """The content as Markdown and as its `text`, where it is from (000 §2), and what else the body says.

    `title` is "" where the body has none. `left_out` counts what is not written, in characters, and `kept_back` by kind
    what nobody is meant to see or could be read. Scores are those of the sources, where the body gave no better ones.
    """

    markdown: str
    text: str
    source: Source
    title: str = ""
    title_source: Source = Source.STRUCTURED_DATA
    tables: tuple[ExtractedTable, ...] = ()
    links: tuple[ExtractedLink, ...] = ()
    fields: PageFields = field(default_factory=PageFields)
    left_out: int = 0
    kept_back: Mapping[str, int] = field(default_factory=dict[str, int])
    signals: tuple[Signal, ...] = ()
    title_score: float | None = None
    sure: Mapping[str, Confidence] = field(default_factory=dict[str, Confidence])
    tables_sure: tuple[Confidence, ...] = ()
    declared_language: str | None = None
    """What the body declares where that is still to be weighed against its text; `fields.language` is then unset."""


def bounded(text: str) -> tuple[str, int]:
    """Cut a text at the end of a line where it is too long, and tell how many characters are left out."""
    if len(text) <= MAX_CHARS:
        return text, 0
    end = text.rfind("\n", MAX_CHARS // 2, MAX_CHARS)
    kept = text[: end if end > 0 else MAX_CHARS]
    return kept, len(text) - len(kept)


def fenced(text: str, language: str) -> tuple[str, int]:
    """Write a text as a block of code; where it is cut a line says so."""
    kept, left_out = bounded(text)
    longest = run = 0
    for character in kept if "```" in kept else "":
        run = run + 1 if character == "`" else 0
        longest = max(longest, run)
    fence = "`" * max(3, longest + 1)
    more = f"\n\n*({left_out:,} more characters)*" if left_out else ""
    return f"{fence}{language}\n{kept}\n{fence}{more}", left_out
