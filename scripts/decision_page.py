"""The page of the reference that tells what the gate decides about each tool, computed by the gate's own rules."""

from __future__ import annotations

from typing import Any, Final

from actors.policy.rules import BY_RISK, MOVING, GateEvidence, Judgement
from actors.policy_file import read_policy
from protocol.access import Scope
from protocol.packets import ToolCall
from protocol.policy import FieldFacts, FieldKind, Reason, ToolRequest, Verb
from protocol.policy_rules import GateMode, GateRules, SurfaceRules
from protocol.tools.registry import TOOLS
from protocol.tools.tool import SCHEMA_VERSION, Risk, Surface, Tool
from scripts import markdown

TEXT: Final = (
    f"Every tool of the registry (`protocol/tools`, schema version {SCHEMA_VERSION}), what each surface calls it, and "
    "what the gate decides with the rules that are shipped ([config/policy.toml](../../config/policy.toml)). Each cell "
    "was computed by the rules of the gate itself. An operator's own rules, the field or the address that a call is "
    "about, and what it carries of pages can make a decision stricter ([policy.md](../policy.md)); nothing but an "
    "operator's rule or a person's answer makes it milder."
)
BY_MODE_TEXT: Final = (
    "What the same risks come to by the mode of a surface or a site; of both the stricter counts. What only has "
    "another page be looked at (`navigate`, `go_back`, `scroll` and the like) may be done in `observe`, too."
)
FIELDS_TEXT: Final = (
    "Whatever acts on a field for a credential, a payment or a personal id is denied for models, ours and those behind "
    "MCP: `sensitive_field_blocked`. `login_keep_session` is the one exception: local, with values of its caller."
)
REASONS_TEXT: Final = "What a decision is given for (`reasonCode`)."
_SURFACES: Final = (
    ("Proposed by a model of ours", Surface.LLMCP, True),
    ("MCP", Surface.MCP, False),
    ("REST", Surface.REST, False),
    ("CLI", Surface.CLI, False),
)


def decisions_page() -> str:
    """Return what is decided about every tool, by surface, by mode, and why."""
    heads = ("Tool", "003", "MCP", "004", "Risk", "Scope", *(name for name, _, _ in _SURFACES))
    modes = tuple(mode.value for mode in GateMode)
    parts = [
        TEXT,
        markdown.table(heads, [_row(tool) for tool in TOOLS.values()]),
        FIELDS_TEXT,
        "## By mode",
        BY_MODE_TEXT,
        markdown.table(("Risk", *(f"`{mode}`" for mode in modes)), [_modes(risk) for risk in BY_RISK]),
        "## Reasons",
        REASONS_TEXT,
        markdown.table(("`reasonCode`",), [(f"`{reason.value}`",) for reason in Reason]),
    ]
    return markdown.page("What the gate decides", parts)


def _row(tool: Tool[Any]) -> tuple[str, ...]:
    rules = read_policy()
    names = [f"`{tool.name_on(surface)}`" for surface in (Surface.MCP, Surface.ROUTING)]
    proposed = f"`{tool.name_on(Surface.LLMCP)}`" if tool.proposable else ""
    found = [
        _decided(tool, surface, rules, proposed=proposes) if tool.proposable or not proposes else "not offered"
        for _, surface, proposes in _SURFACES
    ]
    return (f"`{tool.name}`", proposed, *names, tool.risk.value, tool.scope.value, *found)


def _modes(risk: Risk) -> tuple[str, ...]:
    """Return what a risk comes to in each mode."""
    tool = next(one for one in TOOLS.values() if one.risk is risk and one.name not in MOVING)
    decided = (
        _decided(tool, Surface.REST, GateRules(surfaces={Surface.REST: SurfaceRules(mode=mode)})) for mode in GateMode
    )
    return (risk.value, *decided)


def _decided(tool: Tool[Any], surface: Surface, rules: GateRules, *, proposed: bool = False) -> str:
    request = ToolRequest(
        id="call_0000000000000000",
        call=ToolCall(name=tool.name_on(surface), arguments={}),
        surface=surface,
        caller="somebody",
        local=True,
        proposed=proposed,
        scopes=tuple(scope.value for scope in Scope),
    )
    element = FieldFacts(page_url="https://example.com/") if tool.risk is Risk.ACT else None
    evidence = GateEvidence(element=element, kind=FieldKind.ORDINARY)
    decision = Judgement(tool=tool, request=request, evidence=evidence, rules=rules).decide()
    verb = f"**{decision.decision.value}**" if decision.decision is not Verb.ALLOW else decision.decision.value
    return f"{verb} `{decision.reason_code.value}`"
