"""The operations in a browser session, a file for each family; `dispatch.py` is the way in."""

from __future__ import annotations

from actors.fetchers.playwright.operations.context import OperationDependencies
from actors.fetchers.playwright.operations.dispatch import perform

__all__ = ["OperationDependencies", "perform"]
