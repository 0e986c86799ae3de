"""The one way out to the web, for every tier: guarded, rate-limited, cached."""

from __future__ import annotations
