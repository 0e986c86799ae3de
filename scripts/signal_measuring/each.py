"""Asks the same of many pages, a few at once."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio

from scripts.signal_measuring.corpus import Sample

_PAGE_SECONDS = 90

_T = TypeVar("_T")


async def each(samples: list[Sample], ask: Callable[[Sample], Awaitable[_T]], at_once: int) -> dict[str, _T]:
    """Return the answers by the pages' names.

    Raises:
        TimeoutError: a page took longer than any page may.
    """
    answers: dict[str, _T] = {}
    limiter = anyio.CapacityLimiter(at_once)

    async def answer(sample: Sample) -> None:
        async with limiter:
            with anyio.fail_after(_PAGE_SECONDS):
                answers[sample.name] = await ask(sample)

    async with anyio.create_task_group() as tasks:
        for sample in samples:
            tasks.start_soon(answer, sample)
    return answers
