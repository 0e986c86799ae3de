"""Applications of our own on real frameworks, built as for production, and what they ask the site for."""

from __future__ import annotations

from tests.site.apps.building import NotBuiltError, build_apps
from tests.site.apps.routes import BROWSER_PAGES, FRAMEWORK_PAGES, HOSTILE_PAGES, answer_apps, answer_corpus

__all__ = [
    "BROWSER_PAGES",
    "FRAMEWORK_PAGES",
    "HOSTILE_PAGES",
    "NotBuiltError",
    "answer_apps",
    "answer_corpus",
    "build_apps",
]
