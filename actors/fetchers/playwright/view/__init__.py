"""What an agent sees of a page: its elements, by ids that outlive a document, its text, and what changed."""

from __future__ import annotations

from actors.fetchers.playwright.view.changes import PageOutline, difference, outline
from actors.fetchers.playwright.view.content import read
from actors.fetchers.playwright.view.finding import conceal, find, locate
from actors.fetchers.playwright.view.page_info import describe

__all__ = ["PageOutline", "conceal", "describe", "difference", "find", "locate", "outline", "read"]
