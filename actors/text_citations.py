"""Writes a kept text with what it cites below it, as whoever is shown it or handed it reads it."""

from __future__ import annotations

import re
from typing import Final

from protocol.collection_views import TextInfo
from protocol.packets import Citation
from protocol.render import escaped

CITATIONS: Final = "Citations"


def with_citations(info: TextInfo) -> str:
    """Return the Markdown of a text with its title above and what it cites below."""
    words = info.content_markdown.strip()
    parts = [words] if words.startswith("# ") else [f"# {escaped(info.title)}", words]
    if info.citations:
        parts += [f"## {CITATIONS}", "\n".join(_cited(number, one) for number, one in enumerate(info.citations, 1))]
    return "\n\n".join(parts) + "\n"


def _cited(number: int, citation: Citation) -> str:
    quote = escaped(citation.quote) if isinstance(citation.quote, str) else ""
    source = citation.source_id if isinstance(citation.source_id, str) else ""
    where = f"<{citation.url}>" if isinstance(citation.url, str) and _plain(citation.url) else escaped(source)
    return f"{number}. \u201c{quote}\u201d {where}".rstrip()


def _plain(url: str) -> bool:
    """Return whether an address can stand between brackets as it is."""
    return url.startswith(("http://", "https://")) and not re.search(r"[\s<>]", url)
