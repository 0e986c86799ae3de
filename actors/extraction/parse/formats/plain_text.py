"""Reads text that is nothing else: shown word for word, escaped where Markdown would read it as markup."""

from __future__ import annotations

from actors.extraction.parse.formats.found import Found, bounded
from protocol.confidence import Source
from protocol.render import plain, to_markdown


def read(text: str, url: str) -> Found | None:
    """Read plain text; any text is."""
    del url
    kept, left_out = bounded(text.strip())
    return Found(markdown=to_markdown(plain(kept)), text=kept, source=Source.SELECTOR_MATCH, left_out=left_out)
