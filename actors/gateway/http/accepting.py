"""Reads what form of answer a client prefers (RFC 9110 §12.5.1)."""

from __future__ import annotations

import re
from collections.abc import Iterable

from actors.gateway.http.answers import EVENTS, JSON

_WEIGHT = re.compile(r"\s*q\s*=\s*(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)\s*", re.IGNORECASE)


def wants_events(accept: Iterable[str]) -> bool:
    """Return whether a client names server-sent events, and likes JSON no better."""
    weights = _weights(",".join(accept))
    events = weights.get(EVENTS, 0.0)
    return events > 0 and events >= weights.get(JSON, 0.0)


def _weights(accept: str) -> dict[str, float]:
    """Return the weight of each media type that is named in full; one that cannot be read counts as 0."""
    found: dict[str, float] = {}
    for part in accept.split(","):
        essence, *parameters = part.split(";")
        weight = 1.0
        for parameter in parameters:
            if parameter.strip().lower().startswith("q"):
                read = _WEIGHT.fullmatch(parameter)
                weight = float(read[1]) if read else 0.0
        name = essence.strip().lower()
        found[name] = max(found.get(name, 0.0), weight)
    return found
