"""What tests of collections need not wait for."""

from __future__ import annotations

import pytest

from actors.runner.collections import capturing


@pytest.fixture
def collecting_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Try pages again at once."""
    monkeypatch.setattr(capturing, "AGAIN_MS", (1, 1))
