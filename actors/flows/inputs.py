"""The inputs of a flow that is done again: what was recorded, in place of it what its caller gives, and its secrets."""

from __future__ import annotations

from collections.abc import Mapping

from protocol.faults import Code, FaultError, fault
from protocol.flows import FlowParameter


def values_of(
    parameters: tuple[FlowParameter, ...], given: Mapping[str, str], secrets: Mapping[str, str]
) -> dict[str, str]:
    """Return the value of each input that is no secret.

    Raises:
        FaultError: VALIDATION_INVALID_REQUEST, one is unknown, missing, or a secret that is given in the open. No value
            is quoted.
    """
    known = {one.name: one for one in parameters}
    for name in given:
        if name not in known:
            raise _invalid("parameters", name, f"the flow has no such parameter; it has {', '.join(known) or 'none'}")
        if known[name].secret:
            raise _invalid("parameters", name, "it is a secret: give it in secrets, where it is kept nowhere")
    for name in secrets:
        if name not in known or not known[name].secret:
            raise _invalid("secrets", name, "the flow has no such secret")
    values = dict[str, str]()
    for one in parameters:
        if one.secret and not secrets.get(one.name):
            raise _invalid("secrets", one.name, "it is needed each time anew, as it was never recorded")
        if one.secret:
            continue
        value = given.get(one.name, one.default)
        if value is None:
            raise _invalid("parameters", one.name, "it is needed")
        values[one.name] = value
    return values


def _invalid(where: str, name: str, reason: str) -> FaultError:
    field = f"{where}.{name[:60]}"
    return FaultError(fault(Code.VALIDATION_INVALID_REQUEST, f"{field}: {reason}", field=field))
