"""What has changed between two versions of a page, section by section, and what is kept of a long one: pure."""

from __future__ import annotations

import difflib
import re
from collections import defaultdict
from itertools import islice
from typing import Final

from protocol.collections import SectionChange

MAX_CHANGES: Final = 50
"""Sections that are told of."""

MAX_HEADING_CHARS: Final = 200
_HEADING: Final = re.compile(r"#{1,6}[ \t]+(.*?)[ \t#]*")
_FENCE: Final = re.compile(r"^ {0,3}(`{3,}|~{3,})", re.MULTILINE)
_MARKER: Final = "\n\n*[… {left:,} of {total:,} characters are left out here …]*\n\n"
_PIECES: Final = 8
_MIN_BLOCK, _MAX_BLOCK = 80, 2_000
_HEAD, _MIDDLE = 0.5, 0.25
"""Shares of what is kept: the rest is the end."""


def section_changes(before: str, after: str) -> tuple[SectionChange, ...]:
    """Return which sections of a page have changed, in the order of the new version, those that are gone last."""
    old, new = _sections(before), _sections(after)
    changes = [change for heading, lines in new.items() if (change := _change(heading, old.get(heading), lines))]
    changes += [
        SectionChange(heading=heading, change="removed", removed_lines=_filled(lines))
        for heading, lines in old.items()
        if heading not in new
    ]
    return tuple(changes[:MAX_CHANGES])


def _change(heading: str, before: list[str] | None, after: list[str]) -> SectionChange | None:
    if before is None:
        return SectionChange(heading=heading, change="added", added_lines=_filled(after))
    if before == after:
        return None
    added = removed = 0
    for line in difflib.unified_diff(before, after, lineterm="", n=0):
        added += line.startswith("+") and not line.startswith("+++")
        removed += line.startswith("-") and not line.startswith("---")
    return SectionChange(heading=heading, change="changed", added_lines=added, removed_lines=removed)


def _sections(markdown: str) -> dict[str, list[str]]:
    """Return the lines of each section by its heading; those of the same heading are one."""
    sections = defaultdict[str, list[str]](list)
    heading, fence = "", ""
    for line in markdown.splitlines():
        fence = _fenced(line, fence)
        if not fence and (match := _HEADING.fullmatch(line)):
            heading = match[1][:MAX_HEADING_CHARS]
            sections[heading] += []
        elif line.strip():
            sections[heading].append(line.rstrip())
    return {name: lines for name, lines in sections.items() if name or lines}


def _filled(lines: list[str]) -> int:
    return max(len(lines), 1)


def _fenced(line: str, fence: str) -> str:
    """Return the fence that stands open after a line, "" where none does."""
    match = _FENCE.match(line)
    if match is None:
        return fence
    if not fence:
        return match[1]
    closes = match[1][0] == fence[0] and len(match[1]) >= len(fence) and not line.strip().strip(fence[0])
    return "" if closes else fence


def sampled(markdown: str, most: int) -> tuple[str, bool]:
    """Return a page in `most` characters, about, and whether it was cut: its head, middle and end, and marks between.

    It is cut between blocks, never within a fence of code: one that is longer than its share is left out whole.
    """
    if len(markdown) <= most:
        return markdown, False
    room = max(most - 2 * len(_MARKER.format(left=len(markdown), total=len(markdown))), 0)
    blocks = _blocks(markdown, min(max(room // _PIECES, _MIN_BLOCK), _MAX_BLOCK))
    head = _taken(blocks, 0, int(room * _HEAD))
    end = len(blocks) - _taken(blocks[::-1], 0, int(room * (1 - _HEAD - _MIDDLE)))
    end = max(end, head)
    start = _start_of_middle(blocks, head, end)
    stop = start + _taken(blocks[start:end], 0, int(room * _MIDDLE))
    parts = [blocks[:head], blocks[start:stop], blocks[end:]]
    gaps = [sum(map(len, blocks[head:start])), sum(map(len, blocks[stop:end]))]
    return _joined(parts, gaps, len(markdown)), True


def _joined(parts: list[list[str]], gaps: list[int], total: int) -> str:
    text = "".join(parts[0])
    for part, gap in zip(parts[1:], gaps, strict=True):
        if gap:
            text = text.rstrip("\n") + _MARKER.format(left=gap, total=total)
        text += "".join(part)
    return text.strip("\n") + "\n"


def _start_of_middle(blocks: list[str], head: int, end: int) -> int:
    """Return the block that stands in the middle of what is between the head and the end."""
    half = sum(map(len, blocks[head:end])) // 2
    return head + _taken(blocks[head:end], 0, half)


def _taken(blocks: list[str], first: int, room: int) -> int:
    """Return how many blocks from the first on fit into some characters."""
    used = 0
    for count, block in enumerate(islice(blocks, first, None)):
        used += len(block)
        if used > room:
            return count
    return len(blocks) - first


def _blocks(markdown: str, longest: int) -> list[str]:
    """Return the blocks of a page, each with the empty lines behind it; a fence of code is one, a long text several."""
    blocks, current, fence = list[str](), list[str](), ""
    for line in markdown.splitlines(keepends=True):
        before, fence = fence, _fenced(line, fence)
        begins = not before and (not line.strip() or _HEADING.fullmatch(line.rstrip("\n")) is not None)
        if begins and current and current[-1].strip():
            blocks.append("".join(current))
            current = []
        current.append(line)
    blocks.append("".join(current))
    return [piece for block in blocks for piece in _pieces(block, longest)]


def _pieces(block: str, longest: int) -> list[str]:
    """Return a block in pieces that are not too long, at the end of a line or a word: code has none."""
    if len(block) <= longest or _FENCE.search(block):
        return [block]
    pieces, left = list[str](), block
    while len(left) > longest:
        places = (left.rfind(mark, 0, longest) + 1 for mark in "\n ")
        cut = next((place for place in places if place > longest // 2), longest)
        pieces.append(left[:cut])
        left = left[cut:]
    return [*pieces, left]
