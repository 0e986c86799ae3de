"""Shows a page to whoever acts on it: what there is to act on, by ids that last, and what it says."""

from __future__ import annotations

from actors.fetchers.playwright.view.content import read
from actors.fetchers.playwright.view.finding import find
from actors.fetchers.playwright.view.info import describe
from actors.fetchers.playwright.view.locating import conceal, locate
from actors.fetchers.playwright.view.outlining import Outline, difference, outline

__all__ = ["Outline", "conceal", "describe", "difference", "find", "locate", "outline", "read"]
