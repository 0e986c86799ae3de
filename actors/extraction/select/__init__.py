"""Reads the parts of a page that have a shape of their own."""

from __future__ import annotations

from actors.extraction.select.forms import forms
from actors.extraction.select.links import feeds, links
from actors.extraction.select.lists import record_lists
from actors.extraction.select.navigation import breadcrumb, outline, pagination
from actors.extraction.select.tables import tables

__all__ = ["breadcrumb", "feeds", "forms", "links", "outline", "pagination", "record_lists", "tables"]
