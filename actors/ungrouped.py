"""The exception of a block that has a task group, as if it had none."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager


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
