"""Looks at a document as it came: whether it needs an engine at all, and what it shows without one."""

from __future__ import annotations

import re

_RUNS = re.compile(
    rb"<(?:script|iframe|frame|embed|object)[\s>/]|\son[a-z]{3,20}\s*=|http-equiv\s*=\s*[\"']?refresh", re.IGNORECASE
)
_DATA_SCRIPT = re.compile(rb"<script[^>]{0,300}\btype\s*=\s*[\"']?application/(?:ld\+)?json", re.IGNORECASE)
_HIDDEN = (b"script", b"style", b"noscript", b"template", b"title")
_MAX_LOOKED_AT = 1_000_000


def runs(body: bytes) -> bool:
    """Whether a document holds anything that runs, or that loads other documents into it."""
    found = sum(1 for _ in _RUNS.finditer(body))
    return found > sum(1 for _ in _DATA_SCRIPT.finditer(body))


def shown_chars(body: bytes) -> int:
    """Count, roughly, the bytes of text that a document shows before any script ran."""
    rest, count, at = body[:_MAX_LOOKED_AT].lower(), 0, 0
    while (start := rest.find(b"<", at)) >= 0:
        count += len(rest[at:start].strip())
        name = next((name for name in _HIDDEN if rest.startswith(name, start + 1)), None)
        closing = rest.find(b"</" + name, start) if name else -1
        end = rest.find(b">", max(start, closing))
        if end < 0 or (name and closing < 0):
            return count
        at = end + 1
    return count + len(rest[at:].strip())
