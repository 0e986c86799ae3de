"""What is never installed, whatever wants it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LOCKS = sorted(ROOT.glob("requirements*.lock"))


@pytest.mark.parametrize("lock", LOCKS, ids=[lock.name for lock in LOCKS])
def test_no_lock_has_a_router_or_a_framework_of_models(lock: Path) -> None:
    names = re.findall(r"^([a-z0-9-]+)(?:\[[^\]]*\])?==", lock.read_text(encoding="utf-8"), re.MULTILINE)

    assert names
    assert [name for name in names if re.match(r"litellm|lang(chain|graph|smith)", name)] == []
