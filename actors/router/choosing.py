"""Who is asked now: the table, with what this process knows of providers, failures, recent calls and conversations."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import random
from typing import Final

import msgspec
from msgspec import Struct

from actors.router.figures import RecentCalls
from actors.router.pool import ProviderPool
from actors.router.provider import Capabilities, ProviderCredentials, ProviderError, ProviderKind
from actors.router.providers.table import PROVIDERS
from actors.router.reactions import Cooldowns
from actors.router.table import KEYLESS, NO_IMAGES, NO_TOOLS, Kept, RoutePlan, RouteRequest, RoutingTable
from bus.clock import now_ms
from protocol.models import CallModel, ImagePart, ModelCalled, ModelName, Provider, RouteReason

MOST_CONVERSATIONS: Final = 5_000
"""Conversations whose model is remembered; those that were asked longest ago are forgotten."""

_Talk = tuple[str, str, str]
"""A conversation of a caller about a tool; the ids of conversations are of the callers' own choice."""


class Needs(Struct, frozen=True, kw_only=True):
    """What a model must be able to do for a request; a schema all can be held to, by one means or another."""

    images: bool = False
    tools: bool = False

    @classmethod
    def of(cls, call: CallModel) -> Needs:
        """Return what a call needs."""
        images = any(isinstance(part, ImagePart) for message in call.messages for part in message.parts)
        return cls(images=images, tools=bool(call.tools))


NO_NEEDS = Needs()


@dataclass
class Chooser:
    """Decides from what is in memory; `table` returns the routing as it stands."""

    pool: ProviderPool
    table: Callable[[], RoutingTable]
    kinds: Mapping[Provider, ProviderKind] = field(default_factory=lambda: PROVIDERS)
    clock: Callable[[], int] = now_ms
    draw: Callable[[], float] = random
    cooldowns: Cooldowns = field(default_factory=Cooldowns, init=False)
    recent: RecentCalls = field(default_factory=RecentCalls, init=False)
    _kept: OrderedDict[_Talk, Kept] = field(default_factory=OrderedDict[_Talk, Kept], init=False)
    _keys: dict[Provider, tuple[ProviderCredentials | None, str]] = field(
        default_factory=dict[Provider, tuple[ProviderCredentials | None, str]], init=False
    )

    def choose(self, call: CallModel) -> RoutePlan:
        """Decide who is asked in turn for a call."""
        needs = Needs.of(call)
        request = RouteRequest(
            tool=call.tool,
            images=needs.images,
            pin=call.pin,
            kept=self._kept.get(_talk(call)) if call.conversation else None,
            draw=self.draw(),
        )
        return self.decide(request, needs)

    def decide(self, request: RouteRequest, needs: Needs = NO_NEEDS) -> RoutePlan:
        """Decide without a call; nobody is asked."""
        return self.table().decide(
            request, lambda name: self.why_not(name, needs), lambda name: self.recent.of(request.tool, name)
        )

    def why_not(self, name: ModelName, needs: Needs = NO_NEEDS) -> str:
        """Return why a model cannot be asked now; empty: it can."""
        if name.provider not in self.pool.available:
            return KEYLESS
        can = self.capabilities(name.provider)
        if needs.images and not can.images:
            return NO_IMAGES
        if needs.tools and not can.tools:
            return NO_TOOLS
        left_ms = self.cooling_ms(name)
        return f"it is left alone for {-(-left_ms // 1_000)} s after an error" if left_ms else ""

    def capabilities(self, provider: Provider) -> Capabilities:
        """Return what the models of a provider can do."""
        return self.kinds[provider].capabilities

    def cooling_ms(self, name: ModelName) -> int:
        """Return how long a model is still left alone."""
        return self.cooldowns.left_ms(name, self._key_of(name.provider), now_ms=self.clock())

    def provider_cooling_ms(self, provider: Provider) -> int:
        """Return how long a provider is left alone whatever the model."""
        return self.cooldowns.key_left_ms(provider.value, self._key_of(provider), now_ms=self.clock())

    def soonest_ms(self, plan: RoutePlan) -> int | None:
        """Return when the first model can be asked again that is only left alone; None: there is none."""
        names = (one.name for one in plan.decision.candidates if one.name.provider in self.pool.available)
        return min((left_ms for name in names if (left_ms := self.cooling_ms(name))), default=None)

    def failed(self, name: ModelName, error: ProviderError) -> None:
        """Note a failure that the tries of a model ended with."""
        self.cooldowns.failed(name, self._key_of(name.provider), error, now_ms=self.clock())

    def answered(self, call: CallModel, name: ModelName, reason: RouteReason, rule: ModelName) -> None:
        """Note who has answered, and keep the conversation to them."""
        self.cooldowns.answered(name, self._key_of(name.provider))
        if call.conversation and call.pin is None:
            talk = _talk(call)
            self._kept[talk] = Kept(name=name, reason=reason, rule=rule)
            self._kept.move_to_end(talk)
            if len(self._kept) > MOST_CONVERSATIONS:
                self._kept.popitem(last=False)

    def release(self, call: CallModel) -> None:
        """Keep a conversation to its model no longer: it has failed."""
        self._kept.pop(_talk(call), None)

    def count(self, line: ModelCalled) -> None:
        """Count a try among the recent ones."""
        self.recent.add(line)

    def _key_of(self, provider: Provider) -> str:
        """Return what tells the credentials of a provider apart from others, without being one."""
        credentials = self.pool.credentials(provider)
        known = self._keys.get(provider)
        if known is None or known[0] is not credentials:
            digest = hashlib.sha256(msgspec.json.encode(credentials)).hexdigest()[:16]
            known = self._keys[provider] = (credentials, digest)
        return known[1]


def _talk(call: CallModel) -> _Talk:
    return call.caller, call.conversation, call.tool
