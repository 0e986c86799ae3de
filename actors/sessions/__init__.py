"""The actor that looks after saved logins."""

from __future__ import annotations
