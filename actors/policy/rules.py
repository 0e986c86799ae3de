"""What is decided about a call, pure: every rule has its say, and the strictest counts (003, policy gate)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final

import msgspec
from msgspec import UNSET, Struct

from actors.policy.taint import TaintFinding
from actors.policy.targets import CallTarget
from protocol.policy import Decision, FieldFacts, FieldKind, Reason, ToolRequest, Verb
from protocol.policy_rules import GateMode, GateRules, PlacedRule, stricter
from protocol.tools.tool import Risk, Surface, Tool

BY_RISK: Final[Mapping[Risk, tuple[Verb, Reason]]] = MappingProxyType(
    {
        Risk.OBSERVE: (Verb.ALLOW, Reason.OBSERVE_ALLOWED),
        Risk.LINKS: (Verb.ALLOW, Reason.SELECTION_LINKS_ALLOWED),
        Risk.SEARCH: (Verb.ALLOW, Reason.SEARCH_ALLOWED),
        Risk.ACT: (Verb.ASK, Reason.ASSIST_REQUIRES_APPROVAL),
        Risk.CALCULATE: (Verb.ALLOW, Reason.CALCULATE_ALLOWED),
        Risk.COLLECT: (Verb.ALLOW, Reason.COLLECTION_ALLOWED),
        Risk.SHARE: (Verb.ASK, Reason.SHARE_REQUIRES_APPROVAL),
        Risk.READ: (Verb.ALLOW, Reason.READ_ALLOWED),
        Risk.RUN: (Verb.ALLOW, Reason.CALLER_PREAPPROVED),
        Risk.DELETE: (Verb.ASK, Reason.DELETE_REQUIRES_APPROVAL),
    }
)
"""What is decided by the risk of a tool alone (003, policy gate)."""

LOOKING_ON: Final = frozenset(BY_RISK) - {Risk.ACT, Risk.SHARE, Risk.RUN, Risk.DELETE}
"""What may be done where pages are only looked at."""

MOVING: Final = frozenset(
    {"create_session", "close_session", "create_tab", "switch_tab", "close_tab"}
    | {"navigate", "go_back", "go_forward", "refresh", "scroll", "scroll_by"}
    | {"scroll_element", "find_text"}
)
"""What only has another page, or another part of one, be looked at."""

TYPING: Final = frozenset(
    {"type_text", "type_keys", "set_value", "select_option", "press_key", "handle_dialog", "upload_file"}
)
"""The tools that put something into a field."""

SEARCHING: Final = "search"

_WHY: Final[Mapping[Reason, str]] = MappingProxyType(
    {
        Reason.OBSERVE_ALLOWED: "It looks at the page that is open.",
        Reason.SELECTION_LINKS_ALLOWED: "It reads the links of what is selected.",
        Reason.SEARCH_ALLOWED: "The query holds nothing that is private.",
        Reason.ASSIST_REQUIRES_APPROVAL: "It acts in the browser: that is for a person to allow.",
        Reason.CALCULATE_ALLOWED: "It computes, and nothing else.",
        Reason.COLLECTION_ALLOWED: "It keeps, reads or works on what is the caller's own.",
        Reason.SHARE_REQUIRES_APPROVAL: "It hands something out of Weft: that is for a person to allow.",
        Reason.READ_ALLOWED: "It reads pages of the web.",
        Reason.CALLER_PREAPPROVED: "The caller has asked for it.",
        Reason.DELETE_REQUIRES_APPROVAL: "It deletes what cannot be had back: that is for a person to allow.",
        Reason.GRANTED: "It was allowed before, for this conversation or this site.",
    }
)


class GateEvidence(Struct, frozen=True, kw_only=True):
    """What is known of a call beyond its words.

    `element` is what it acts on, `kind` what that is for. `query` says why a query is sensitive, "" where it is not.
    `hosts` are all that the call is about: of the page, and of where it leads. `unwanted` says that the user's task
    does not want the tool.
    """

    element: FieldFacts | None = None
    kind: FieldKind = FieldKind.ORDINARY
    kind_why: str = ""
    query: str = ""
    taints: tuple[TaintFinding, ...] = ()
    unwanted: bool = False
    hosts: frozenset[str] = frozenset()
    targets: tuple[CallTarget, ...] = ()
    granted: bool = False


class RuleFinding(Struct, frozen=True):
    """What one rule says."""

    verb: Verb
    reason: Reason
    why: str = ""
    rule: str = ""


_STRICTEST: Final = (Verb.DENY, Verb.ASK, Verb.ALLOW)


class Judgement(Struct, frozen=True, kw_only=True):
    """A call with everything that is known of it, and the rules that are in force."""

    tool: Tool[Any]
    request: ToolRequest
    evidence: GateEvidence = msgspec.field(default_factory=GateEvidence)
    rules: GateRules = msgspec.field(default_factory=GateRules)

    def decide(self) -> Decision:
        """Return what the gate says: of all findings the first of the strictest."""
        first = min(self._findings(), key=lambda one: _STRICTEST.index(one.verb))
        evidence = self.evidence
        return Decision(
            decision=first.verb,
            reason_code=first.reason,
            why=first.why or _WHY.get(first.reason, ""),
            rule=first.rule,
            field_kind=UNSET if evidence.element is None else evidence.kind,
            tainted=tuple(dict.fromkeys(one.argument for one in evidence.taints)),
            expects="" if evidence.element is None else evidence.element.digest,
        )

    @property
    def surface(self) -> Surface:
        """Whose rules count: what a model of ours proposes is a proposal wherever it comes in."""
        return Surface.LLMCP if self.request.proposed else self.request.surface

    def _findings(self) -> Iterator[RuleFinding]:
        yield from self._rights()
        modes = (self.rules.surface(self.surface).mode, self.rules.site_mode(self.evidence.hosts))
        yield from self._closed(stricter(*modes))
        matching = [one for one in self.rules.rules if one.rule.suits(self.tool, self.surface, self.evidence.hosts)]
        yield from (_by_rule(one) for one in matching if one.rule.decision is not Verb.ALLOW)
        yield from self._about_element(assisted=GateMode.ASSIST in modes)
        yield from self._about_targets()
        yield from self._about_words(assisted=GateMode.ASSIST in modes)
        allowing = next((one for one in matching if one.rule.decision is Verb.ALLOW), None)
        yield self._by_table(allowing, assisted=GateMode.ASSIST in modes)

    def _rights(self) -> Iterator[RuleFinding]:
        if self.tool.scope not in self.request.scopes:
            yield RuleFinding(Verb.DENY, Reason.SCOPE_MISSING, f"The key is not good for “{self.tool.scope}”.")
        if self.tool.local_only and not self.request.local:
            yield RuleFinding(Verb.DENY, Reason.LOCAL_ONLY, "This tool is for callers at this machine alone.")

    def _closed(self, mode: GateMode) -> Iterator[RuleFinding]:
        if mode is GateMode.OFF:
            yield RuleFinding(Verb.DENY, Reason.OPERATOR_RULE, "The operator has switched tools off here.")
        elif mode is GateMode.OBSERVE and self.tool.risk not in LOOKING_ON and self.tool.name not in MOVING:
            yield RuleFinding(
                Verb.DENY, Reason.OPERATOR_RULE, "The operator lets pages be read here, and nothing be done."
            )

    def _about_element(self, *, assisted: bool) -> Iterator[RuleFinding]:
        """Judge the field that is acted on: models, ours and those behind MCP, stay away from secrets."""
        evidence = self.evidence
        if evidence.element is None or self.tool.risk is not Risk.ACT:
            return
        if evidence.kind.sensitive and (self._by_model or assisted):
            why = f"The field is for {_KIND_WORDS[evidence.kind]}: {evidence.kind_why}."
            yield RuleFinding(Verb.DENY, Reason.SENSITIVE_FIELD_BLOCKED, why)
        elif evidence.kind is FieldKind.UNKNOWN and self.request.proposed:
            typing = self.tool.name in TYPING
            why = "Nothing says what the field is for" + (", so nothing is typed into it." if typing else ".")
            yield RuleFinding(Verb.DENY if typing else Verb.ASK, Reason.FIELD_UNKNOWN, why)

    @property
    def _by_model(self) -> bool:
        return self.surface in {Surface.LLMCP, Surface.MCP}

    def _about_targets(self) -> Iterator[RuleFinding]:
        for target in self.evidence.targets:
            if target.refused and (self.request.proposed or (target.of_form and self._by_model)):
                yield RuleFinding(Verb.DENY, Reason.URL_REFUSED, target.refused)
            elif target.doubted and self.request.proposed:
                yield RuleFinding(Verb.ASK, Reason.URL_REFUSED, target.doubted)

    def _about_words(self, *, assisted: bool) -> Iterator[RuleFinding]:
        evidence = self.evidence
        if evidence.taints:
            why = "; ".join(f"{one.argument}: {one.why}" for one in evidence.taints)
            yield RuleFinding(Verb.ASK, Reason.TAINTED_ARGUMENT, f"What a page says stands in the call: {why}.")
        if evidence.unwanted:
            yield RuleFinding(Verb.ASK, Reason.NOT_PERMITTED, "The user's task does not want this tool.")
        if evidence.query and (self._by_model or assisted):
            yield RuleFinding(Verb.ASK, Reason.SEARCH_SENSITIVE_QUERY, f"The query may be private: {evidence.query}.")

    def _by_table(self, allowing: PlacedRule | None, *, assisted: bool) -> RuleFinding:
        """Return what the table says; what it asks about may have been allowed before: by rule, answer or caller."""
        verb, reason = BY_RISK[self.tool.risk]
        asks = self.tool.risk in self.rules.surface(self.surface).ask
        if verb is Verb.ALLOW and not asks:
            return RuleFinding(verb, reason)
        if allowing is not None:
            return _by_rule(allowing)
        if self.evidence.granted:
            return RuleFinding(Verb.ALLOW, Reason.GRANTED)
        if not assisted and not asks:
            return RuleFinding(Verb.ALLOW, Reason.CALLER_PREAPPROVED)
        if verb is Verb.ALLOW:
            return RuleFinding(Verb.ASK, Reason.OPERATOR_RULE, "The operator has such calls asked about here.")
        return RuleFinding(verb, reason)


_KIND_WORDS: Final[Mapping[FieldKind, str]] = MappingProxyType(
    {
        FieldKind.CREDENTIAL: "credentials",
        FieldKind.PAYMENT: "payment",
        FieldKind.PERSONAL_ID: "papers of a person",
    }
)


def _by_rule(placed: PlacedRule) -> RuleFinding:
    return RuleFinding(placed.rule.decision, Reason.OPERATOR_RULE, placed.rule.reason, placed.place)
