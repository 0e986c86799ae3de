"""The engine of the middle tier: Lightpanda in processes behind walls, spoken to over CDP."""

from __future__ import annotations
