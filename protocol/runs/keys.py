"""What an idempotency key stands for."""

from __future__ import annotations

from msgspec import Struct


class KeyedRun(Struct, frozen=True, kw_only=True):
    """One entry of RUN_KEYS: the run, and a digest of what was asked, without what is secret in it."""

    run_id: str
    asked: str
