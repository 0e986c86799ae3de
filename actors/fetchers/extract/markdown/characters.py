"""Takes the characters that nobody sees out of kept texts, and counts them."""

from __future__ import annotations

from turbohtml import Element, Text

from actors.fetchers.extract.parts.words import clean


def cleaned(text: str) -> tuple[str, int]:
    """Give a text without what is not seen, and how many characters that was."""
    seen = clean(text)
    return seen.replace("\u00a0", " "), len(text) - len(seen)


def clean_texts(body: Element) -> int:
    """Clean every text of a tree; tell how many characters were taken out."""
    whole = body.text
    if whole.isascii() and len(clean(whole)) == len(whole):
        return 0
    removed = 0
    for node in body.descendants:
        if isinstance(node, Text):
            seen, count = cleaned(node.data)
            if seen != node.data:
                node.data = seen
            removed += count
    return removed
