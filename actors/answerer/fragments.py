"""Writes text directives (WICG Scroll To Text Fragment): where in a page a browser scrolls to a quote."""

from __future__ import annotations

import re
from urllib.parse import quote as percent_encoded

from msgspec import Struct

from actors.answerer.citable_source import CitableSource, fold
from actors.markdown.plain_lines import LineKind

_MAX_EXACT_CHARS = 120
"""Longer quotes are named by their ends, so that a footnote mark between them does not matter."""

_END_WORDS = 5
_CONTEXT_WORDS = (0, 2, 4, 8)
_TERM_CHARS = 40
"""Room that is looked through for a word of the context."""

_TERM = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\u0e00-\u0e7f]{1,2}|[^\s\u3040-\u30ff\u3400-\u9fff\u0e00-\u0e7f]+")


class TextDirective(Struct, frozen=True):
    """`[prefix-,]start[,end][,-suffix]`."""

    start: str
    end: str = ""
    prefix: str = ""
    suffix: str = ""

    def __str__(self) -> str:
        """Write it as it stands behind `#:~:text=`."""
        parts = [f"{_encoded(self.prefix)}-" if self.prefix else "", _encoded(self.start)]
        parts += [_encoded(self.end), f"-{_encoded(self.suffix)}" if self.suffix else ""]
        return ",".join(filter(None, parts))


def text_directive(evidence: CitableSource, start: int, end: int) -> str:
    """Return the directive that leads to a passage of a source: the shortest whose first match is that passage."""
    first, last = _ends(evidence, start, end)
    preceding, following = _words_before(evidence, start), _words_behind(evidence, end)
    directive = TextDirective(first, last)
    for count in _CONTEXT_WORDS:
        prefix, suffix = _last_words(preceding, count), _first_words(following, count)
        for directive in (TextDirective(first, last, prefix), TextDirective(first, last, prefix, suffix)):
            if _first_match(evidence.folded, directive) == start:
                return str(directive)
    return str(directive)


def _ends(evidence: CitableSource, start: int, end: int) -> tuple[str, str]:
    """Return how a passage begins and ends; the end is empty where the beginning is all of it."""
    passage = evidence.text.text[start:end]
    if _is_row(evidence, start):
        return _row_ends(evidence, passage)
    if "\n" not in passage and len(passage) <= _MAX_EXACT_CHARS:
        return passage, ""
    terms = list(_TERM.finditer(passage))
    head = passage[: terms[min(_END_WORDS, len(terms)) - 1].end()].split("\n")[0]
    tail = passage[terms[max(len(terms) - _END_WORDS, 0)].start() :].split("\n")[-1]
    return head, tail


def _row_ends(evidence: CitableSource, passage: str) -> tuple[str, str]:
    """Return the first and the last cell of a row: no match goes from one cell into the next."""
    for table in evidence.source.tables:
        for row in (table.headers, *table.rows):
            cells = [" ".join(cell.split()) for cell in row if cell.strip()]
            if " ".join(cells) == passage:
                return cells[0], cells[-1] if len(cells) > 1 else ""
    words = passage.split()
    return words[0], words[-1] if len(words) > 1 else ""


def _words_before(evidence: CitableSource, start: int) -> str:
    """Return the words before a passage, of one block alone: no part of a directive goes from one into the next."""
    text = evidence.text.text[:start].rstrip()
    line = text[text.rfind("\n") + 1 :]
    return _row_ends(evidence, line)[1] if _is_row(evidence, len(text) - 1) else line


def _words_behind(evidence: CitableSource, end: int) -> str:
    """Return the words behind a passage, of one block alone."""
    rest = evidence.text.text[end:].lstrip()
    line = rest.partition("\n")[0]
    return _row_ends(evidence, line)[0] if _is_row(evidence, len(evidence.text.text) - len(rest)) else line


def _is_row(evidence: CitableSource, place: int) -> bool:
    return any(one.kind is LineKind.ROW for one in evidence.within(place, place + 1))


def _last_words(line: str, count: int) -> str:
    near = line[-_TERM_CHARS * (count + 1) :]
    terms = list(_TERM.finditer(near))
    return near[terms[-min(count, len(terms))].start() :].strip() if terms and count else ""


def _first_words(line: str, count: int) -> str:
    near = line[: _TERM_CHARS * (count + 1)]
    terms = list(_TERM.finditer(near))
    return near[: terms[min(count, len(terms)) - 1].end()].strip() if terms and count else ""


def _first_match(folded: str, directive: TextDirective) -> int:
    """Return where a browser finds a directive first; -1 for nowhere."""
    prefix, start, suffix = (_pattern(part) for part in (directive.prefix, directive.start, directive.suffix))
    end = _pattern(directive.end)
    pattern = (rf"{prefix}\s*" if prefix else "") + f"(?P<start>{start})"
    for match in re.finditer(pattern, folded):
        position = match.end()
        if end:
            closing = re.compile(end).search(folded, position)
            if closing is None:
                return -1
            position = closing.end()
        if not suffix or re.compile(rf"\s*{suffix}").match(folded, position):
            return match.start("start")
    return -1


def _pattern(words: str) -> str:
    """Return the pattern of some words as whole words."""
    if not words:
        return ""
    before = r"(?<!\w)" if words[0].isascii() and words[0].isalnum() else ""
    behind = r"(?!\w)" if words[-1].isascii() and words[-1].isalnum() else ""
    return before + re.escape(fold(words)) + behind


def _encoded(words: str) -> str:
    return percent_encoded(words, safe="").replace("-", "%2D")
