"""Reads the parts of a page that have a shape of their own."""

from __future__ import annotations

from actors.extraction.select.breadcrumb import breadcrumb
from actors.extraction.select.feeds import feeds
from actors.extraction.select.forms import forms
from actors.extraction.select.links import links
from actors.extraction.select.lists import record_lists
from actors.extraction.select.outline import outline
from actors.extraction.select.pagination import pagination
from actors.extraction.select.tables import tables

__all__ = ["breadcrumb", "feeds", "forms", "links", "outline", "pagination", "record_lists", "tables"]
