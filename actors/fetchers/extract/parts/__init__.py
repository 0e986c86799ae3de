"""Reads the parts of a page that have a shape of their own."""

from __future__ import annotations

from actors.fetchers.extract.parts.breadcrumb import breadcrumb
from actors.fetchers.extract.parts.feeds import feeds
from actors.fetchers.extract.parts.forms import forms
from actors.fetchers.extract.parts.links import links
from actors.fetchers.extract.parts.lists import record_lists
from actors.fetchers.extract.parts.outline import outline
from actors.fetchers.extract.parts.pagination import pagination
from actors.fetchers.extract.parts.tables import tables

__all__ = ["breadcrumb", "feeds", "forms", "links", "outline", "pagination", "record_lists", "tables"]
