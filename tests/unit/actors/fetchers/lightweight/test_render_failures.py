"""Each way in which a page may end has its fault, or is read."""

from __future__ import annotations

import pytest

from actors.fetchers.lightweight.rendering import RenderFailure, fault_of, may_retry, spoils_process
from protocol.faults import Code

CODES = {
    RenderFailure.JS_HANG: Code.BROWSER_PAGE_HUNG,
    RenderFailure.RESOURCE_EXHAUSTED: Code.PAGE_CRASHED,
    RenderFailure.ENGINE_STUCK: Code.BROWSER_PAGE_HUNG,
    RenderFailure.READ_FAILED: Code.PAGE_CRASHED,
    RenderFailure.NO_TIME: Code.NETWORK_TIMEOUT,
    RenderFailure.NO_ENGINE: Code.INTERNAL_UNAVAILABLE,
}


@pytest.mark.parametrize("ill", RenderFailure)
def test_every_end_has_its_fault(ill: RenderFailure) -> None:
    fault = fault_of(ill)

    assert fault.code is CODES[ill]
    assert fault.actions


@pytest.mark.parametrize(
    ("ill", "alone", "again"),
    [
        (RenderFailure.RESOURCE_EXHAUSTED, False, True),
        (RenderFailure.RESOURCE_EXHAUSTED, True, False),
        (RenderFailure.ENGINE_STUCK, False, True),
        (RenderFailure.JS_HANG, False, True),
        (RenderFailure.JS_HANG, True, False),
        (RenderFailure.READ_FAILED, False, True),
        (RenderFailure.NO_TIME, False, False),
        (RenderFailure.NO_ENGINE, False, False),
    ],
)
def test_only_who_may_have_suffered_from_another_is_shown_again(
    ill: RenderFailure, *, alone: bool, again: bool
) -> None:
    assert may_retry(ill, alone=alone) is again


@pytest.mark.parametrize(
    ("limit", "harmful"), [("", False), ("time", False), ("nav_loop", True), ("too_many_requests", True)]
)
def test_a_page_that_broke_a_limit_costs_its_process(limit: str, *, harmful: bool) -> None:
    assert spoils_process(limit) is harmful
