"""The table of the gate, pure: what is decided about a call (003, policy gate)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from protocol.policy import Decision, FieldKind, Reason, ToolRequest, Verb
from protocol.tools.tool import Risk, Tool

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


def decide(tool: Tool[Any], request: ToolRequest, kind: FieldKind) -> Decision:
    """Return what the gate says of a call."""
    if tool.risk is Risk.ACT and kind.sensitive:
        return Decision(decision=Verb.DENY, reason_code=Reason.SENSITIVE_FIELD_BLOCKED, field_kind=kind)
    verb, reason = BY_RISK[tool.risk]
    if verb is Verb.ASK and not request.proposed:
        return Decision(decision=Verb.ALLOW, reason_code=Reason.CALLER_PREAPPROVED)
    return Decision(decision=verb, reason_code=reason)
