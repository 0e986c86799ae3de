"""The parts of a page that go with its content: tables, lists, forms, links, and where it stands in its site."""

from __future__ import annotations

from actors.extraction.select.choices import ProductChoice, choices
from actors.extraction.select.forms import forms
from actors.extraction.select.links import feeds, links, markdown_link, outlinks
from actors.extraction.select.lists import record_lists
from actors.extraction.select.navigation import breadcrumb, outline, pagination
from actors.extraction.select.tables import tables

__all__ = [
    "ProductChoice",
    "breadcrumb",
    "choices",
    "feeds",
    "forms",
    "links",
    "markdown_link",
    "outline",
    "outlinks",
    "pagination",
    "record_lists",
    "tables",
]
