"""The policy files: what is shipped is 003's table, an operator's file lies over it, and a wrong line is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from actors.policy.actor import Policy
from actors.policy_file import POLICY_FORM, read_policy
from actors.settings import Settings
from protocol.faults import Code, FaultError
from protocol.policy_rules import GateMode
from protocol.tools.tool import Risk, Surface

RULE = '[[rules]]\ndecision = "deny"\nreason = "No."\n'


def test_what_is_shipped_asks_about_what_a_model_does() -> None:
    rules = read_policy()

    modes = {surface: rules.surface(surface).mode for surface in Surface}
    assert {surface for surface, mode in modes.items() if mode is GateMode.PREAPPROVED} == {
        Surface.MCP,
        Surface.REST,
        Surface.CLI,
        Surface.INTERACT,
    }
    assert modes[Surface.LLMCP] is GateMode.ASSIST
    assert rules.surface(Surface.MCP).ask == (Risk.SHARE, Risk.DELETE)
    assert (rules.approval_ms(), rules.rules, rules.sites) == (600_000, (), ())


def test_the_operators_file_adds_to_what_is_shipped(tmp_path: Path) -> None:
    own = tmp_path / "policy.toml"
    own.write_text('[surfaces.rest]\nmode = "assist"\n[approvals]\nlifetime_s = 60\n\n' + RULE)

    rules = read_policy(own)

    assert rules.surface(Surface.REST).mode is GateMode.ASSIST
    assert rules.surface(Surface.CLI).mode is GateMode.PREAPPROVED
    assert rules.approval_ms() == 60_000
    assert [one.place for one in rules.rules] == [f"{own.name}, line 6"]


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("[surfaces.llmcp]\nmode = ?", 2, "is not TOML"),
        ('[surfaces.llmcp]\nmode = "free"', 2, "Invalid enum value 'free'"),
        ('[surfaces.mcpp]\nmode = "off"', 1, "Invalid enum value 'mcpp'"),
        ('# mine\n[approvals]\nlifetime_s = 1\nremember_days = "3"', 3, "Expected `int` >= 10"),
        ("[approvals]\nlifetime = 1", 2, "unknown field `lifetime`"),
        (RULE + "\n" + RULE.replace("deny", "refuse"), 6, "Invalid enum value 'refuse'"),
        (RULE + 'hosts = ["https://a.example/"]', 4, "It has to be "),
        ('[[sites]]\nmode = "off"', 1, "missing required field `hosts`"),
        ("rule = []", 1, "unknown field `rule`"),
    ],
)
def test_a_wrong_file_is_told_with_its_line(text: str, line: int, words: str) -> None:
    with pytest.raises(FaultError) as caught:
        POLICY_FORM.parse(text, "mine.toml")

    assert (caught.value.fault.code, caught.value.fault.field) == (Code.CONFIG_INVALID, "policy_file")
    assert f"line {line}" in caught.value.fault.message
    assert words in caught.value.fault.message


def test_the_example_of_the_documentation_is_a_policy_file() -> None:
    example = (
        (Path(__file__).parents[3] / "docs" / "policy.md").read_text().partition("```toml\n")[2].partition("```")[0]
    )

    file = POLICY_FORM.parse(example, "docs/policy.md")

    assert (len(file.surfaces), len(file.sites), len(file.rules)) == (1, 1, 1)


def test_a_system_with_a_wrong_file_does_not_start(tmp_path: Path) -> None:
    (tmp_path / "policy.toml").write_text("[[rules]]\n")

    with pytest.raises(FaultError, match="line 1"):
        Policy.check(Settings(data_dir=tmp_path))
    with pytest.raises(FaultError, match="cannot be read"):
        Policy.check(Settings(policy_file=str(tmp_path / "none.toml")))
