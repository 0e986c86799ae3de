"""Which variables are kept from other processes: those that are named, and families of them."""

from __future__ import annotations

from actors.runner.variables import VARIABLES
from actors.runtime.withheld import named


def test_keys_of_engines_and_secrets_of_integrations_are_withheld() -> None:
    there = (
        "HOME",
        "BRAVE_API_KEY",
        "SEARCH_KEY_MINE",
        "INTEGRATION_SECRET_CHAT",
        "INTEGRATION_SECRETS",
        "SEARCH_ENGINE",
    )

    assert named(VARIABLES, there) == ["BRAVE_API_KEY", "SEARCH_KEY_MINE", "INTEGRATION_SECRET_CHAT"]
