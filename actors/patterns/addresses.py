"""Addresses of pages and of the requests behind them: their templates, and how they are matched and filled."""

from __future__ import annotations

from actors.patterns.matching import match
from actors.patterns.page_templates import page_kind, page_template
from actors.patterns.request_templates import Observed, answers_of, requests_of
from actors.patterns.templates import FillError, fill

__all__ = ["FillError", "Observed", "answers_of", "fill", "match", "page_kind", "page_template", "requests_of"]
