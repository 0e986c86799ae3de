"""What an agent sees of a page: its elements, by ids that outlive a document, its text, and what changed."""

from __future__ import annotations

from actors.fetchers.playwright.view.changes import NOTHING, PageOutline, asks_for_file, difference, outline, quoted
from actors.fetchers.playwright.view.content import read
from actors.fetchers.playwright.view.facts import another, describe_field, dialog_facts, put_words, unchanged
from actors.fetchers.playwright.view.finding import conceal, find, healing, locate
from actors.fetchers.playwright.view.observation import observe, selection_links
from actors.fetchers.playwright.view.page_info import describe
from actors.fetchers.playwright.view.rows import read_rows
from actors.fetchers.playwright.view.tree import read_tree

__all__ = [
    "NOTHING",
    "PageOutline",
    "another",
    "asks_for_file",
    "conceal",
    "describe",
    "describe_field",
    "dialog_facts",
    "difference",
    "find",
    "healing",
    "locate",
    "observe",
    "outline",
    "put_words",
    "quoted",
    "read",
    "read_rows",
    "read_tree",
    "selection_links",
    "unchanged",
]
