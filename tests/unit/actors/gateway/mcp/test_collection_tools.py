"""What comes of a call that the gate has run, as a client of MCP gets it."""

from __future__ import annotations

from actors.gateway.mcp.tools.collections import outcome_answer
from protocol.documents import Content, Document, WebObservationSummary, untrusted
from protocol.policy import Decision, Reason, ToolOutcome, ToolResult, ToolStatus, Verb

CALL = "call_0123456789abcdef"


def test_words_that_the_result_has_are_not_told_again() -> None:
    told, read = 'A loom has "shafts".', "The warp runs lengthwise."
    documents = tuple(map(_document, (told, read)))
    result = ToolResult(
        tool_call_id=CALL, status=ToolStatus.OK, payload={"hits": [{"snippet": told}]}, documents=documents
    )
    decision = Decision(decision=Verb.ALLOW, reason_code=Reason.CALLER_PREAPPROVED)

    answer = outcome_answer(ToolOutcome(call_id=CALL, decision=decision, status=ToolStatus.OK, result=result))

    assert (answer.text.count("shafts"), answer.text.count(read), answer.text.count(" document 1\n")) == (1, 1, 1)
    assert answer.data == {"hits": [{"snippet": told}]}


def _document(words: str) -> Document[Content]:
    content: Content = WebObservationSummary(url="https://a.example/", title="Looms", markdown=words)
    return untrusted("doc_1", content)
