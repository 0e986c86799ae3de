"""What can be done in a browser session: the operations by families, and how one is performed."""

from __future__ import annotations

from actors.fetchers.playwright.operations.performing import perform
from actors.fetchers.playwright.operations.place import Means

__all__ = ["Means", "perform"]
