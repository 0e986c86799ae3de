"""Answers of the answerer, and what a client gets of them, for the tests of every surface."""

from __future__ import annotations

from typing import Any

from protocol.answers import Answered, Extracted, FieldFound, FieldOrigin, ServedBy, SourceRead
from protocol.faults import Code, fault
from protocol.models import ModelName, Provider, RouteReason, TokenUsage
from protocol.packets import Assistant, Citation, Locator, ToolCall
from protocol.render import Doc, Paragraph, Text
from protocol.tiers import RenderTier
from tests.unit.actors.page_data import URL

QUOTE = "A loom has warp and weft."
CITATION = Citation(
    doc_id="page-1",
    url=URL,
    quote=QUOTE,
    locator=Locator(type="text_fragment", value="A%20loom%20has%20warp%20and%20weft."),
    confidence=0.9,
)
TREE = Doc(children=(Paragraph(children=(Text(text="Looms have warp and weft [1]."),)),))
MARKDOWN = "Looms have warp and weft [1]."
SERVED = ServedBy(
    provider="openai",
    model="gpt-4o-mini",
    requested=ModelName(provider=Provider.OPENAI, model="gpt-4o-mini"),
    reason=RouteReason.DEFAULT,
    calls=2,
    usage=TokenUsage(input=900, output=80, cache_read=100),
    cost_usd=0.25,
)
QUOTED = ServedBy(provider="local", why_local="No provider has credentials.")
READ = SourceRead(doc_id="page-1", url=URL, title="Looms", tier=RenderTier.INTELLIGENCE, confidence=0.8, chars=120)
UNREAD = SourceRead(doc_id="page-2", url="https://gone.example/", error=fault(Code.HTTP_NOT_FOUND))
ANSWERED = Answered(
    assistant=Assistant(title="Looms", render=TREE, markdown=MARKDOWN, citations=(CITATION,)),
    supported=True,
    sources=(READ, UNREAD),
    served_by=SERVED,
    confidence=0.75,
    unsupported=("Looms are blue.",),
    collect=("The history of looms",),
    tool_calls=(ToolCall(name="browser.navigate", arguments={"url": "https://b.example/"}),),
)
EXTRACTED = Extracted(
    data={"parts": ["warp", "weft"], "colour": None},
    fields={
        "/parts/0": FieldFound(confidence=0.9, origin=FieldOrigin.TEXT, citation=CITATION),
        "/parts/1": FieldFound(confidence=0.9, origin=FieldOrigin.TEXT, citation=CITATION),
        "/colour": FieldFound(reason="The page names no colour."),
    },
    sources=(READ,),
    served_by=QUOTED,
    confidence=0.9,
)

CITED: dict[str, Any] = {
    "docId": "page-1",
    "url": URL,
    "quote": QUOTE,
    "locator": {"type": "text_fragment", "value": "A%20loom%20has%20warp%20and%20weft."},
    "confidence": 0.9,
}
"""The citation as clients get it."""
BLOCK = (
    "---CITATIONS---\n"
    f'{{"doc_id":"page-1","url":"{URL}","quote":"{QUOTE}",'
    '"locator":{"type":"text_fragment","value":"A%20loom%20has%20warp%20and%20weft."},"confidence":0.9}\n'
    "---END CITATIONS---\n"
)
