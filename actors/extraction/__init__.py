"""How the words of a page are taken out of what a site sent: pure, without I/O or a clock."""

from __future__ import annotations
