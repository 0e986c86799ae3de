"""Reads items out of the outcomes of steps, and counts them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from actors.runner.reading.told import ItemError, PageItem
from actors.runner.template import Outcome
from protocol.browsers.results import ERROR_CODES, ErrorCode
from protocol.faults import KINDS, Code
from protocol.runs.states import StepStatus


def items_of(outcomes: Iterable[Outcome], urls: Sequence[str]) -> tuple[PageItem, ...]:
    """Return the items of the steps that were done, in the order of the addresses; each step has that of its number."""
    items = list[PageItem]()
    for outcome in sorted(outcomes, key=lambda one: one.index):
        if outcome.status is StepStatus.SUCCEEDED:
            items.append(msgspec.convert(outcome.output, PageItem))
        elif outcome.status is StepStatus.FAILED:
            items.append(_failed(outcome, urls[outcome.index]))
    return tuple(items)


def _failed(outcome: Outcome, url: str) -> PageItem:
    code = outcome.code or Code.INTERNAL_ERROR
    error = ItemError(
        error=outcome.message or KINDS[code].meaning,
        error_code=outcome.step_code or ERROR_CODES.get(code, ErrorCode.EXECUTION_ERROR),
        code=code,
        failed_step=outcome.failed_at or outcome.name,
        recover_hint=outcome.hint,
        retryable=KINDS[code].retryable,
    )
    return PageItem(index=outcome.index, url=url, success=False, error=error)
