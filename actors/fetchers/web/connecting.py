"""Connects to sites through the guard, and tells in faults what broke on the way."""

from __future__ import annotations

import ssl
from collections.abc import Generator
from contextlib import contextmanager

import httpcore2
import httpx2

from protocol.faults import Code, FaultError, fault

_MAX_CONNECTIONS = 100
_KEEPALIVE_S = 30.0


class GuardedTransport(httpx2.AsyncHTTPTransport):
    """httpx's transport over a pool that connects through the guard, and never through a proxy."""

    def __init__(self, trusted: ssl.SSLContext, backend: httpcore2.AsyncNetworkBackend) -> None:
        self._pool = httpcore2.AsyncConnectionPool(
            ssl_context=trusted,
            max_connections=_MAX_CONNECTIONS,
            keepalive_expiry=_KEEPALIVE_S,
            http2=True,
            network_backend=backend,
        )


def trusted(ca_file: str) -> ssl.SSLContext:
    """Load the certificate authorities, which takes some milliseconds: call it in a thread."""
    context = httpx2.create_ssl_context(trust_env=False)
    if ca_file:
        context.load_verify_locations(ca_file)
    return context


@contextmanager
def faults() -> Generator[None]:
    """Tell in a fault what httpx raises."""
    try:
        yield
    except httpx2.TimeoutException as error:
        raise FaultError(fault(Code.NETWORK_TIMEOUT)) from error
    except httpx2.ConnectError as error:
        code = Code.NETWORK_TLS_FAILED if _broke_in_tls(error) else Code.NETWORK_CONNECTION_FAILED
        raise FaultError(fault(code)) from error
    except httpx2.DecodingError as error:
        message = "The site's compressed answer cannot be unpacked."
        raise FaultError(fault(Code.NETWORK_CONNECTION_FAILED, message)) from error
    except httpx2.HTTPError as error:
        raise FaultError(fault(Code.NETWORK_CONNECTION_FAILED)) from error


def _broke_in_tls(error: BaseException) -> bool:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLError):
            return not isinstance(cause, ssl.SSLEOFError | ssl.SSLZeroReturnError)
        cause = cause.__cause__ or cause.__context__
    return False
