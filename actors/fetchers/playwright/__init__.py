"""The dearest tier: a real Chromium, kept warm."""

from __future__ import annotations
