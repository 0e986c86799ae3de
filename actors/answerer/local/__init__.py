"""Answers without any model: by what stands in the sources, word for word."""

from __future__ import annotations

from actors.answerer.local.answers import answer
from actors.answerer.local.summaries import summarize

__all__ = ["answer", "summarize"]
