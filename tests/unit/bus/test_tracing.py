"""Tracing costs nothing and says nothing while it is off."""

from __future__ import annotations

import pytest

from bus import telemetry
from bus.telemetry import ENDPOINT_VARIABLES
from bus.tracing import OFF, current_trace_id, inject, span


def test_without_an_endpoint_it_is_off(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ENDPOINT_VARIABLES:
        monkeypatch.delenv(name, raising=False)

    assert telemetry.start_tracing("actor", "r1") is OFF


def test_off_records_nothing() -> None:
    headers: dict[str, str] = {}

    with span("send x", "producer", {"a": 1}, {"traceparent": "00-1-2-01"}) as recording:
        recording.set_attribute("b", 2)
        recording.fail("CODE")
        inject(headers)

    assert headers == {}
    assert current_trace_id() is None
    OFF.close()


def test_off_lets_exceptions_through() -> None:
    with pytest.raises(ValueError, match="as it was"), span("process x"):
        raise ValueError("as it was")
