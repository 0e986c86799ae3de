"""Writing of the main content: as Markdown and plain text, and as sanitised HTML."""

from __future__ import annotations

from actors.extraction.write.writer import ContentText, LeftOut, fragment_markdown, sanitised_html, write_markdown

__all__ = ["ContentText", "LeftOut", "fragment_markdown", "sanitised_html", "write_markdown"]
