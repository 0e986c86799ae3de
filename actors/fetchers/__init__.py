"""The tiers that get a page, one folder each, with what they share beside them."""

from __future__ import annotations
