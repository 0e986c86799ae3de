"""What lives in a loop of its own, so that the tests of a file share it: a browser, actors on a bus, a site."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable, Generator
from contextlib import AbstractAsyncContextManager, contextmanager
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import anyio
from anyio.from_thread import BlockingPortal, start_blocking_portal

T = TypeVar("T")

TEST_S = 240.0
"""What one test may take."""


@dataclass(frozen=True)
class Shared(Generic[T]):
    """What is shared, and the way into its loop."""

    value: T
    portal: BlockingPortal

    def run(self, test: Callable[..., Awaitable[None]], **given: Any) -> None:
        """Run a coroutine function there, which gets what is shared and its own arguments."""
        self.portal.call(functools.partial(self._bounded, test, given))

    async def _bounded(self, test: Callable[..., Awaitable[None]], given: dict[str, Any]) -> None:
        with anyio.fail_after(TEST_S):
            await test(self.value, **given)


@contextmanager
def sharing(manager: AbstractAsyncContextManager[T]) -> Generator[Shared[T]]:
    """Have it live for as long as the block lasts."""
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(manager) as value:
        yield Shared(value, portal)


def inside(test: Callable[..., Awaitable[None]]) -> Callable[..., None]:
    """Run a test in the loop of what it shares: it gets the value of its fixture `it`."""

    @functools.wraps(test)
    def run(*, it: Shared[Any], **given: Any) -> None:
        it.run(test, **given)

    return run
