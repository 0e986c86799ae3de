"""What nats-py raises, told as the bus tells it."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from nats.errors import Error

from bus.errors import TransportError


@contextmanager
def told() -> Generator[None]:
    """Turn whatever nats-py raises inside into a TransportError that names it."""
    try:
        yield
    except (Error, TimeoutError, OSError) as error:
        raise TransportError(str(error) or type(error).__name__) from error
