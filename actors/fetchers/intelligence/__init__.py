"""The cheapest tier: one plain HTTP exchange, without running a script."""

from __future__ import annotations
