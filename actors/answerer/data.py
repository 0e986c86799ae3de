"""Answers EXTRACT: hands what was read to the rules, and what these leave open to a model, redacted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any, Final

from anyio import to_thread
from msgspec import UNSET, structs

from actors import redact
from actors.answerer.citable_source import CitableSource, fold_quote
from actors.answerer.extracting.extraction import ExtractedData, extract
from actors.answerer.model_calls import EXTRACT, LOCAL_ONLY, ModelCalls
from actors.answerer.reading import Reading
from bus import Bus, TransportError
from protocol.answers import ExtractData, Extracted, FieldFound, ServedBy
from protocol.faults import Code, FaultError, fault
from protocol.models import CallOutcome, ModelAnswer, ModelMessage, OutputSchema, TextPart
from protocol.subjects import CALL_OUTCOME

BY_RULE: Final = "Rules have found what there is to find."


async def extracted_from(bus: Bus, request: ExtractData, reading: Reading) -> Extracted:
    """Return the data that a request asks for, and tell the router whether what a model said of it held.

    Raises:
        FaultError: VALIDATION_INVALID_REQUEST for a schema that is not read; CONFIG_NO_MODEL, where the model that the
            request names is not to be had.
    """
    calls, answers = ModelCalls(bus, request), list[ModelAnswer]()

    async def ask(messages: tuple[ModelMessage, ...], output: OutputSchema) -> Any:
        answer = await calls.call(EXTRACT, [_redacted(one) for one in messages], output=output)
        answers.append(answer)
        if answer.data is UNSET:
            raise FaultError(fault(Code.NETWORK_MODEL_FAILED))
        return answer.data

    data = await extract(request, reading.sources, None if request.local_only else ask, to_thread.run_sync)
    if request.pin is not None and data.fault is not None and data.fault.code is Code.CONFIG_NO_MODEL:
        raise FaultError(data.fault)
    for answer in answers:
        with suppress(FaultError, TransportError):
            await bus.tell(CALL_OUTCOME, CallOutcome(call_id=answer.call_id, tool=EXTRACT, verified=data.all_quoted))
    return Extracted(
        data=data.data,
        fields={pointer: _by_its_chunk(one, reading.evidence) for pointer, one in data.fields.items()},
        sources=reading.reads,
        served_by=_served(calls, data, local_only=request.local_only),
        confidence=data.confidence,
    )


def _served(calls: ModelCalls, data: ExtractedData, *, local_only: bool) -> ServedBy:
    if data.used_model and data.fault is None:
        return calls.served
    why = LOCAL_ONLY if local_only else BY_RULE
    return calls.local(data.fault.message if data.fault is not None else why)


def _by_its_chunk(field: FieldFound, sources: Sequence[CitableSource]) -> FieldFound:
    """Return a field whose citation names the document that its quote came in, where several make a source."""
    citation = field.citation
    if citation is None or not isinstance(citation.quote, str):
        return field
    source = next((one for one in sources if one.pieces and one.source.doc_id == citation.doc_id), None)
    start = source.folded.find(fold_quote(citation.quote)) if source is not None else -1
    if source is None or start < 0:
        return field
    doc_id = source.doc_id_of(start, start + len(fold_quote(citation.quote)))
    return structs.replace(field, citation=structs.replace(citation, doc_id=doc_id))


def _redacted(message: ModelMessage) -> ModelMessage:
    parts: Iterable[Any] = (
        structs.replace(part, text=redact.text(part.text)) if isinstance(part, TextPart) else part
        for part in message.parts
    )
    return structs.replace(message, parts=tuple(parts))
