"""What the gate decides, row by row: the table of 003, modes, scopes, and what each surface changes."""

from __future__ import annotations

from typing import Any

import pytest

from actors.policy.rules import decide
from protocol.packets import ToolCall
from protocol.policy import FieldKind, Reason, ToolRequest, Verb
from protocol.tools.registry import find
from protocol.tools.tool import Surface
from tests.requirements import requirement

ACTING = ("click", "type", "select", "scroll", "open_tab", "navigate", "back", "forward", "refresh")
COLLECTING = ("collection.create", "collection.add_sources", "collection.list_sources", "source.capture")
KEEPING = ("source.refresh", "transform.list_types", "transform.run", "artifact.save", "artifact.open")


def proposed(name: str, arguments: dict[str, Any] | None = None) -> ToolRequest:
    """Return a proposal of a model of ours."""
    return ToolRequest(
        id="call_0123456789abcdef",
        call=ToolCall(name=name, arguments=arguments or {}),
        surface=Surface.LLMCP,
        caller="somebody",
        proposed=True,
    )


@requirement("003.tool-call.policy")
@pytest.mark.parametrize(
    ("name", "kind", "verb", "reason"),
    [
        ("browser.observe_dom", FieldKind.UNKNOWN, Verb.ALLOW, Reason.OBSERVE_ALLOWED),
        ("browser.get_selection_links", FieldKind.UNKNOWN, Verb.ALLOW, Reason.SELECTION_LINKS_ALLOWED),
        ("search", FieldKind.UNKNOWN, Verb.ALLOW, Reason.SEARCH_ALLOWED),
        *(
            (f"browser.{name}", kind, Verb.DENY, Reason.SENSITIVE_FIELD_BLOCKED)
            for name in ACTING
            for kind in (FieldKind.CREDENTIAL, FieldKind.PAYMENT, FieldKind.PERSONAL_ID)
        ),
        *((f"browser.{name}", FieldKind.ORDINARY, Verb.ASK, Reason.ASSIST_REQUIRES_APPROVAL) for name in ACTING),
        ("app.calculate", FieldKind.UNKNOWN, Verb.ALLOW, Reason.CALCULATE_ALLOWED),
        *((name, FieldKind.UNKNOWN, Verb.ALLOW, Reason.COLLECTION_ALLOWED) for name in (*COLLECTING, *KEEPING)),
        ("artifact.share", FieldKind.UNKNOWN, Verb.ASK, Reason.SHARE_REQUIRES_APPROVAL),
        ("integration.invoke", FieldKind.UNKNOWN, Verb.ASK, Reason.SHARE_REQUIRES_APPROVAL),
    ],
)
def test_a_proposal_is_decided_by_the_table(name: str, kind: FieldKind, verb: Verb, reason: Reason) -> None:
    decision = decide(find(name), proposed(name), kind)

    assert (decision.decision, decision.reason_code) == (verb, reason)
