"""Hypothesis strategies made from the wire types: a new field is tested before anybody writes a test."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC
from typing import Any

from hypothesis import strategies as st
from msgspec import Raw, inspect

from protocol.actions import Action
from protocol.browse import BrowseOptions, BrowseResult, StructuredError
from protocol.codec import encode
from protocol.documents import Content, Document, Trust, WebObservationChunk
from protocol.faults import Code, fault
from protocol.offers.results import ResourceContents
from protocol.packets import Assistant, Citation, Request, Response
from protocol.replicas import Cancel
from protocol.subject_kinds import Bucket, Call, Journal, Objects, Subject
from protocol.subjects import table
from tests.support.scale import is_full

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


def wire_types() -> dict[str, Any]:
    """Everything that is written as JSON, by name: what stands in the table, the packets around it, the edge's own.

    What travels in packets stands there once by itself and, with `--full`, in each of its packets.
    """
    found: dict[str, Any] = {
        "request": Request[Any],
        "response": Response[Any],
        "document": Document[Content],
        "options": BrowseOptions,
        "result": BrowseResult,
        "error": StructuredError,
        "cancel": Cancel,
    }
    for name, entry in table():
        match entry:
            case Bucket():
                found[f"{name} value"] = entry.value
            case Journal():
                found[f"{name} line"] = entry.line
            case Objects():
                pass
            case Subject():
                args: Any = entry.args
                found[f"{name} request"] = Request[args] if is_full() else args
                if isinstance(entry, Call):
                    answer: Any = vars(entry)["answer"]
                    found[f"{name} response"] = Response[answer] if is_full() else answer
    return {name: kind for kind, name in {kind: name for name, kind in found.items()}.items()}


def values(kind: object) -> st.SearchStrategy[Any]:
    """Every value of a wire type that keeps the rules of its `__post_init__`."""
    return _MAKER.make(inspect.type_info(kind))


class _Maker:
    def __init__(self) -> None:
        self._structs: dict[Any, st.SearchStrategy[Any]] = {}

    def make(self, info: inspect.Type) -> st.SearchStrategy[Any]:  # noqa: C901, PLR0911, PLR0912 - a line for each type
        match info:
            case inspect.Metadata():
                return self.make(info.type)
            case inspect.AnyType():
                return JSON
            case inspect.NoneType():
                return st.none()
            case inspect.BoolType():
                return st.booleans()
            case inspect.IntType():
                return st.integers(-(2**53) if info.ge is None else info.ge, 2**53 if info.le is None else info.le)
            case inspect.FloatType():
                least, most = info.ge if info.gt is None else info.gt, info.le if info.lt is None else info.lt
                return st.floats(
                    least,
                    most,
                    allow_nan=False,
                    allow_infinity=False,
                    allow_subnormal=False,
                    exclude_min=info.gt is not None,
                    exclude_max=info.lt is not None,
                )
            case inspect.StrType():
                if info.pattern is not None:
                    return st.from_regex(info.pattern).filter(lambda text: len(text) <= (info.max_length or len(text)))
                return st.text(min_size=info.min_length or 0, max_size=min(20, info.max_length or 20))
            case inspect.DateTimeType():
                return st.datetimes(timezones=st.just(UTC))
            case inspect.EnumType():
                return st.sampled_from(list(info.cls))
            case inspect.LiteralType():
                return st.sampled_from(info.values)
            case inspect.BytesType():
                return st.binary(max_size=20)
            case inspect.RawType():
                return JSON.map(lambda value: Raw(encode(value)))
            case inspect.TupleType():
                return st.tuples(*[self.make(item) for item in info.item_types])
            case inspect.VarTupleType():
                least = info.min_length or 0
                return st.lists(self.make(info.item_type), min_size=least, max_size=max(least, 2)).map(tuple)
            case inspect.DictType():
                return st.dictionaries(self.make(info.key_type), self.make(info.value_type), max_size=2)
            case inspect.UnionType():
                return st.one_of([self.make(member) for member in info.types])
            case inspect.StructType():
                return self._struct(info)
            case _:
                msg = f"wire types have no {type(info).__name__} yet"
                raise NotImplementedError(msg)

    def _struct(self, info: inspect.StructType) -> st.SearchStrategy[Any]:
        if info.cls not in self._structs:
            self._structs[info.cls] = st.deferred(lambda: self._filled(info))
        return self._structs[info.cls]

    def _filled(self, info: inspect.StructType) -> st.SearchStrategy[Any]:
        fields = {field.name: self._field(field) for field in info.fields}
        return st.fixed_dictionaries(fields).map(lambda row: info.cls(**mended(info.cls, _given(row))))

    def _field(self, field: inspect.Field) -> st.SearchStrategy[Any]:
        written = self.make(field.type)
        return written if field.required else st.just(_LEFT_OUT) | written


_LEFT_OUT = object()
_MAKER = _Maker()
"""One for all: what several types hold is made by one strategy, which Hypothesis looks through once."""


def _given(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if value is not _LEFT_OUT}


def mended(kind: object, row: dict[str, Any]) -> dict[str, Any]:
    """Make a row keep the rules that its type checks for itself."""
    mend = _MENDS.get(getattr(kind, "__origin__", kind))
    return mend(row) if mend else row


def _mended_document(row: dict[str, Any]) -> dict[str, Any]:
    return {**row, "kind": row["content"].__struct_config__.tag, "trust": Trust.UNTRUSTED}


def _mended_chunk(row: dict[str, Any]) -> dict[str, Any]:
    return {**row, "chunk_count": max(row["chunk_index"], row["chunk_count"])}


def _mended_assistant(row: dict[str, Any]) -> dict[str, Any]:
    return row if {"render", "markdown"} & row.keys() else {**row, "markdown": ""}


def _mended_action(row: dict[str, Any]) -> dict[str, Any]:
    return {**row, "priority": max(1, row.get("priority", 1))}


def _mended_response(row: dict[str, Any]) -> dict[str, Any]:
    bodies = [name for name in ("assistant", "result", "error") if name in row]
    kept = {bodies[0]: row[bodies[0]]} if bodies else {"error": fault(Code.INTERNAL_ERROR)}
    return {name: value for name, value in row.items() if name not in bodies} | kept


def _mended_citation(row: dict[str, Any]) -> dict[str, Any]:
    return row if row.get("source_id") or row.get("doc_id") else {**row, "doc_id": "doc"}


def _mended_contents(row: dict[str, Any]) -> dict[str, Any]:
    held = {"text": row["text"]} if "text" in row else {"blob": row.get("blob", "")}
    return {name: value for name, value in row.items() if name not in {"text", "blob"}} | held


_MENDS: dict[Any, Callable[[dict[str, Any]], dict[str, Any]]] = {
    Document: _mended_document,
    WebObservationChunk: _mended_chunk,
    Assistant: _mended_assistant,
    Action: _mended_action,
    Response: _mended_response,
    Citation: _mended_citation,
    ResourceContents: _mended_contents,
}
