"""The middle tier: the page's own scripts in a small engine, without a browser."""

from __future__ import annotations
