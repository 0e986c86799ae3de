"""All that decides who may come in, put together as the settings say, and kept up to date while the gateway lives."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager

from actors.gateway.access import resource
from actors.gateway.access.credentials import Credentials, Tokens
from actors.gateway.access.gate import AccessControl
from actors.gateway.access.key_store import KeyStore
from actors.gateway.access.limits import Hands, Kind, Rates
from actors.gateway.access.rules import rules
from actors.gateway.access.usage import Ledger
from actors.rates import Rate
from actors.settings import Settings
from bus import Tables

ANONYMOUS_BURST = 100
FAILED_BURST = 20


@asynccontextmanager
async def access_control(
    bus: Tables, settings: Settings, open_paths: Iterable[str], replica: str
) -> AsyncGenerator[AccessControl, None]:
    """Make the doors of a gateway; within the block they know the keys, and write down who used what."""
    async with AsyncExitStack() as opened:
        tokens = await opened.enter_async_context(_tokens(settings)) if settings.oauth_issuer else None
        key_store, ledger = KeyStore(), Ledger(replica)
        await opened.enter_async_context(key_store.watching(bus))
        await opened.enter_async_context(ledger.writing(bus))
        failures = Rates(Rate.per_minute(settings.rate_failed_per_minute, FAILED_BURST))
        most = {
            Kind.REQUEST: settings.requests_at_once,
            Kind.STREAM: settings.streams_at_once,
            Kind.SOCKET: settings.sockets_at_once,
        }
        yield AccessControl(
            rules=rules(settings, [*open_paths, *resource.paths(settings)]),
            credentials=Credentials(settings.api_key, key_store, failures, tokens),
            rates=Rates(Rate.per_minute(settings.rate_per_minute, settings.rate_burst)),
            anonymous=Rates(Rate.per_minute(settings.rate_anonymous_per_minute, ANONYMOUS_BURST)),
            hands=Hands(most),
            ledger=ledger,
        )


@asynccontextmanager
async def _tokens(settings: Settings) -> AsyncGenerator[Tokens, None]:
    from actors.gateway.access.tokens import judging  # noqa: PLC0415 - costs 60 ms, and most have no issuer

    async with judging(settings) as judge:
        yield judge
