"""The inputs of a run: read strictly, with what is secret in them kept apart and never quoted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from actors.runner.template import Template
from protocol.codec import malformed
from protocol.faults import Code, FaultError, fault

_INVALID = Code.VALIDATION_INVALID_REQUEST
_FIELD = "inputs"

_read = msgspec.json.Decoder(dict[str, Any])


def given(data: bytes) -> dict[str, Any]:
    """Read the JSON of inputs.

    Raises:
        FaultError: VALIDATION_INVALID_REQUEST, when it is no object.
    """
    try:
        return _read.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        # The complaint of the decoder quotes nothing, but its place in the text helps nobody who sent an object.
        raise _invalid(_FIELD, "give a JSON object with the inputs that the template's inputsSchema names") from None


def converted(template: Template[Any], values: Mapping[str, Any]) -> Any:
    """Read inputs as the template has them.

    Raises:
        FaultError: VALIDATION_INVALID_REQUEST with the field named; what is secret is not quoted.
    """
    try:
        return msgspec.convert(dict(values), type=template.inputs)
    except msgspec.ValidationError as error:
        complaint = str(error)
    told = malformed(_INVALID, complaint).fault
    name = told.field or ""
    root = name.partition(".")[0].partition("[")[0]
    if root in secret_names(template) and name != root:
        raise _invalid(f"{_FIELD}.{root}", "is not what the template's inputsSchema says")
    if root in secret_names(template):
        raise _invalid(f"{_FIELD}.{root}", "is missing, or not what the template's inputsSchema says")
    reason = told.message.removeprefix(f"{name}: ")
    raise _invalid(f"{_FIELD}.{name}" if name else _FIELD, f"{reason}; the template's inputsSchema says what it takes")


def kept(template: Template[Any], inputs: Struct) -> dict[str, Any]:
    """Return inputs as JSON says them, without what is secret."""
    values: dict[str, Any] = msgspec.to_builtins(inputs, str_keys=True)
    return {name: value for name, value in values.items() if name not in secret_names(template)}


def secret(template: Template[Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is secret in inputs."""
    return {name: value for name, value in values.items() if name in secret_names(template)}


def secret_names(template: Template[Any]) -> frozenset[str]:
    """Name the secret inputs as JSON has them."""
    names = {one.name: one.encode_name for one in msgspec.structs.fields(template.inputs)}
    return frozenset(names[name] for name in template.secret)


def _invalid(name: str, reason: str) -> FaultError:
    return FaultError(fault(_INVALID, f"{name}: {reason}", field=name))
