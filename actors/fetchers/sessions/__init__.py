"""Saved logins as the tiers use them."""

from __future__ import annotations

from actors.fetchers.sessions.kept import Sessions
from actors.fetchers.sessions.session import Loan, Session

__all__ = ["Loan", "Session", "Sessions"]
