"""Reads config/policy.toml and the operator's own file over it."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final

from actors.settings import Settings
from actors.toml_file import Place, TomlForm, Watched, line_of
from protocol.policy_rules import GateRules, PolicyFile

POLICY_FORM: Final = TomlForm(PolicyFile, "policy_file", "config/policy.toml")
"""The form of the files."""


def own_policy(settings: Settings) -> Path:
    """Return where the operator's file is looked for."""
    return Path(settings.policy_file).expanduser() if settings.policy_file else settings.data_dir / "policy.toml"


def read_policy(own: Path | None = None, *, needed: bool = False) -> GateRules:
    """Read the shipped file and over it the operator's, which may be missing unless it is `needed`.

    Raises:
        FaultError: CONFIG_INVALID, with the file and the line that is wrong.
    """
    rules = shipped_policy()
    if own is not None and (needed or own.is_file()):
        rules = _over(rules, POLICY_FORM.text_of(own), str(own))
    return rules


@cache
def shipped_policy() -> GateRules:
    """Read the shipped file, once."""
    return _over(GateRules(), POLICY_FORM.shipped_text, POLICY_FORM.shipped_name)


def watched_policy(settings: Settings) -> Watched[GateRules]:
    """Return the rules as they stand, once it is opened."""
    return Watched(own_policy(settings), read_policy)


def _over(rules: GateRules, text: str, name: str) -> GateRules:
    file = POLICY_FORM.parse(text, name)
    lines = (line_of(text, Place("[[rules]]", number)) for number in range(len(file.rules)))
    return rules.over(file, (f"{Path(name).name}, line {line}" for line in lines))
