"""Each way in which a page may end has its fault, or is read."""

from __future__ import annotations

import pytest

from actors.fetchers.lightweight.outcome import Ill, fault_of, harms, repeats
from protocol.faults import Code

CODES = {
    Ill.JS_HANG: Code.BROWSER_PAGE_HUNG,
    Ill.RESOURCE_EXHAUSTED: Code.PAGE_CRASHED,
    Ill.ENGINE_STUCK: Code.PAGE_CRASHED,
    Ill.READ_FAILED: Code.PAGE_CRASHED,
    Ill.NO_ENGINE: Code.INTERNAL_UNAVAILABLE,
}


@pytest.mark.parametrize("ill", Ill)
def test_every_end_has_its_fault(ill: Ill) -> None:
    fault = fault_of(ill)

    assert fault.code is CODES[ill]
    assert fault.actions


@pytest.mark.parametrize(
    ("ill", "alone", "again"),
    [
        (Ill.RESOURCE_EXHAUSTED, False, True),
        (Ill.RESOURCE_EXHAUSTED, True, False),
        (Ill.ENGINE_STUCK, False, True),
        (Ill.JS_HANG, False, True),
        (Ill.JS_HANG, True, False),
        (Ill.READ_FAILED, False, True),
        (Ill.NO_ENGINE, False, False),
    ],
)
def test_only_who_may_have_suffered_from_another_is_shown_again(ill: Ill, *, alone: bool, again: bool) -> None:
    assert repeats(ill, alone=alone) is again


@pytest.mark.parametrize(
    ("limit", "harmful"), [("", False), ("time", False), ("nav_loop", True), ("too_many_requests", True)]
)
def test_a_page_that_broke_a_limit_costs_its_process(limit: str, *, harmful: bool) -> None:
    assert harms(limit) is harmful
