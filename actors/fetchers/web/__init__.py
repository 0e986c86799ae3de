"""The one way out to the web, for every tier: guarded, polite, cached."""

from __future__ import annotations
