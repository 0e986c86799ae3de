"""What nats-py raises, told as the bus tells it."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from nats.errors import Error

from bus.errors import TransportError

FAILURES = (Error, TimeoutError, OSError)
"""Whatever nats-py raises."""


def failure(error: Exception) -> TransportError:
    """Make the TransportError that names what nats-py raised."""
    return TransportError(str(error) or type(error).__name__)


@contextmanager
def told() -> Generator[None]:
    """Turn what nats-py raises inside into a TransportError."""
    try:
        yield
    except FAILURES as error:
        raise failure(error) from error
