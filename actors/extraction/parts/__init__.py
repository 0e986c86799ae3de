"""Reads the parts of a page that have a shape of their own."""

from __future__ import annotations

from actors.extraction.parts.breadcrumb import breadcrumb
from actors.extraction.parts.feeds import feeds
from actors.extraction.parts.forms import forms
from actors.extraction.parts.links import links
from actors.extraction.parts.lists import record_lists
from actors.extraction.parts.outline import outline
from actors.extraction.parts.pagination import pagination
from actors.extraction.parts.tables import tables

__all__ = ["breadcrumb", "feeds", "forms", "links", "outline", "pagination", "record_lists", "tables"]
