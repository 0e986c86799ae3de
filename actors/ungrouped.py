"""The exception of a block that has a task group, as if it had none."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Generator
from contextlib import contextmanager
from typing import Any, TypeVar

import anyio

T = TypeVar("T")


@contextmanager
def ungrouped() -> Generator[None]:
    """Raise the only exception of a group by itself: that the block has a task group is nobody's concern."""
    try:
        yield
    except BaseExceptionGroup as group:
        first, *more = group.exceptions
        if more:
            raise
        raise first from None


async def alongside(work: Callable[[], Coroutine[Any, Any, object]], wanted: Awaitable[T]) -> T:
    """Return what is wanted once other work, begun before it, is done as well; raises what either does."""
    results: list[T] = []
    with ungrouped():
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(work)
            results.append(await wanted)
    return results[0]
