"""Takes the characters that nobody sees out of kept texts, and counts them."""

from __future__ import annotations

from collections.abc import Iterable

from turbohtml import Node, Text

from actors.fetchers.extract.parts.words import clean


def cleaned(text: str) -> tuple[str, int]:
    """Give a text without what is not seen, and how many characters that was."""
    seen = clean(text)
    return seen.replace("\u00a0", " "), len(text) - len(seen)


def clean_nodes(nodes: Iterable[Node]) -> int:
    """Clean those of some nodes that are texts; tell how many characters were taken out."""
    removed = 0
    for node in nodes:
        if isinstance(node, Text):
            data = node.data
            if not (data.isascii() and data.isprintable()):
                seen, count = cleaned(data)
                if seen != data:
                    node.data = seen
                removed += count
    return removed
