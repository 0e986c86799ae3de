"""The navigator: gets a page by the cheapest tier that can."""

from __future__ import annotations

from actors.navigator.actor import Navigator

__all__ = ["Navigator"]
