"""The actor that decides which model is asked, asks it, and alone has the keys of all providers."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

import anyio
from msgspec import structs

from actors.actor import Actor, handles, subscribes
from actors.router.budget import ModelBudget
from actors.router.calling import call_model
from actors.router.choosing import Chooser
from actors.router.credentials import PURPOSE, CredentialFile
from actors.router.figures import NOTHING
from actors.router.overrides import SharedOverrides
from actors.router.pool import ProviderPool
from actors.router.provider import ProviderCredentials, ProviderError, ProviderKind
from actors.router.providers.table import PROVIDERS, VARIABLES
from actors.router.recording import CallRecorder
from actors.router.table import KEYLESS, RouteRequest, RoutingTable
from actors.router.tries import CallDependencies, CallInHand, ModelTries
from actors.routing_file import WatchedRouting, own_file, read_routing
from actors.settings import Settings
from bus.clock import now_ms
from protocol import subjects
from protocol.faults import Code, FaultError, fault
from protocol.models import (
    CallModel,
    CallOutcome,
    ModelAnswer,
    ModelClass,
    ModelMessage,
    ModelName,
    Provider,
    RouteDecision,
    RouteReason,
    TextPart,
)
from protocol.routes import (
    AskRoute,
    ListProviders,
    ListRoutes,
    NamedProvider,
    Override,
    ProviderList,
    ProviderState,
    RouteChange,
    RouteConfig,
    RouteTable,
    SetRoute,
    UnsetRoute,
)
from protocol.subject_kinds import Bucket, Journal, Subject

TEST_TOOL: Final = "provider_test"
TEST_WORDS: Final = "Answer with one word: yes."
TEST_TOKENS: Final = 16


@dataclass
class Router(Actor):
    """Answers CALL_MODEL, and everything about routes and providers; the keys never leave it."""

    name: ClassVar[str] = "router"
    publishes: ClassVar[tuple[Subject[Any], ...]] = (subjects.MODEL_TEXT,)
    buckets: ClassVar[tuple[Bucket[Any], ...]] = (subjects.ROUTE_OVERRIDES, subjects.MODEL_SPEND)
    journals: ClassVar[tuple[Journal[Any], ...]] = (subjects.MODEL_CALLS,)
    purposes: ClassVar[tuple[str, ...]] = (PURPOSE,)
    variables: ClassVar[tuple[str, ...]] = VARIABLES

    environment: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    """Where credentials are looked for first: the variables that no other process has."""
    kinds: Mapping[Provider, ProviderKind] = field(default_factory=lambda: PROVIDERS, repr=False)

    _routing: WatchedRouting = field(init=False, repr=False)
    _overrides: SharedOverrides = field(init=False, repr=False)
    _dependencies: CallDependencies = field(init=False, repr=False)

    @classmethod
    def warm(cls) -> None:
        """Read the shipped routes, and decide once."""
        RoutingTable(read_routing()).decide(RouteRequest(tool=""), lambda _: KEYLESS, lambda _: NOTHING)

    @classmethod
    def check(cls, settings: Settings) -> None:
        """Read the operator's routing file."""
        read_routing(own_file(settings), needed=bool(settings.routing_file))

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[None]:
        """Read credentials, routes and overrides, and follow their changes; nobody is asked."""
        file = CredentialFile.of(self.settings.data_dir, self.bus.seal) if self.bus.seal is not None else None
        pool = ProviderPool(self.environment, self.settings.model_hosts, file, self.kinds)
        await pool.load()
        self._routing, self._overrides = WatchedRouting(self.settings), SharedOverrides(self.bus)
        budget, chooser = ModelBudget(self.bus, self.settings), Chooser(pool, self._table, self.kinds)
        recorder = CallRecorder(await self.bus.journal(subjects.MODEL_CALLS))
        self._dependencies = CallDependencies(bus=self.bus, chooser=chooser, budget=budget, recorder=recorder)
        async with self._routing.open(), self._overrides.open(), budget.open(), anyio.create_task_group() as tasks:
            tasks.start_soon(pool.watch)
            try:
                yield
            finally:
                tasks.cancel_scope.cancel()
                with anyio.CancelScope(shield=True):
                    await pool.aclose()

    # -- calls -------------------------------------------------------------------------------------------------------

    @handles(subjects.CALL_MODEL, at_once=256)
    async def call(self, request: CallModel) -> ModelAnswer:
        """Answer by the model that is decided for, or else by those after it.

        Raises:
            FaultError: CONFIG_NO_MODEL; RATE_LIMIT_BUDGET; NETWORK_MODEL_FAILED; VALIDATION_INVALID_REQUEST.
        """
        return await call_model(self._dependencies, request)

    @subscribes(subjects.CALL_OUTCOME, at_once=64)
    async def judged(self, outcome: CallOutcome) -> None:
        """Write down what was found of an answer of this replica."""
        await self._dependencies.recorder.judged(outcome)

    # -- routes ------------------------------------------------------------------------------------------------------

    @handles(subjects.ROUTES, at_once=16)
    async def routes(self, _request: ListRoutes) -> RouteTable:
        """Return the routes as they stand."""
        return RouteTable(routes=tuple(self._table().routes()), available=self._available())

    @handles(subjects.ROUTE, at_once=64)
    async def route(self, request: AskRoute) -> RouteChange:
        """Return who would be asked for a tool, and why; nobody is."""
        return RouteChange(tool_pattern=request.tool, decision=self._decision(request.tool))

    @handles(subjects.ROUTE_CONFIG, at_once=64)
    async def config(self, request: AskRoute) -> RouteConfig:
        """Return what a call for a tool is made with, without its secrets."""
        decision, credentials = self.build_config_for_tool(request.tool)
        return RouteConfig(
            provider=decision.provider,
            model=decision.model,
            reason=decision.reason,
            has_api_key=bool(credentials.api_key),
            has_secret_key=bool(credentials.secret_access_key),
            base_url=credentials.base_url or None,
            resource_name=credentials.resource_name or None,
            region=credentials.region or None,
        )

    def build_config_for_tool(self, tool: str) -> tuple[RouteDecision, ProviderCredentials]:
        """Return who is asked for a tool and what with, for callers in this process (004 "LLMConfig Output")."""
        decision = self._decision(tool)
        return decision, self._dependencies.chooser.pool.credentials(decision.provider) or ProviderCredentials()

    @handles(subjects.ROUTE_SET, at_once=16)
    async def set_route(self, request: SetRoute) -> RouteChange:
        """Send the tools of a pattern to a model, whatever is learned, until that is taken back."""
        row = Override(pattern=request.pattern, name=request.name, reason="optimized", manual=True, updated_at=now_ms())
        await self._overrides.set(row)
        return self._changed(request.pattern)

    @handles(subjects.ROUTE_UNSET, at_once=16)
    async def unset_route(self, request: UnsetRoute) -> RouteChange:
        """Take the override of a pattern back, a learned one as well."""
        await self._overrides.unset(request.pattern)
        return self._changed(request.pattern)

    # -- providers ---------------------------------------------------------------------------------------------------

    @handles(subjects.PROVIDERS, at_once=16)
    async def providers(self, _request: ListProviders) -> ProviderList:
        """Return how every provider stands; nobody is asked."""
        states = {state.provider: state for state in self._dependencies.chooser.pool.states()}
        order = self._routing.routing.order
        return ProviderList(providers=tuple(self._with_cooling(states[one]) for one in order if one in states))

    @handles(subjects.PROVIDER_TEST, at_once=8)
    async def test(self, request: NamedProvider) -> ProviderState:
        """Ask a provider for one word, even where it is left alone after an error.

        Raises:
            FaultError: RATE_LIMIT_BUDGET; VALIDATION_INVALID_REQUEST, when it has no model of that kind.
        """
        state = next(one for one in self._dependencies.chooser.pool.states() if one.provider is request.provider)
        if not state.available:
            return state
        usual = self._routing.routing.model(request.provider, ModelClass.SIMPLE)
        name = ModelName(provider=request.provider, model=request.model) if request.model else usual
        if name is None:
            message = f"config/routing.toml names no simple model of {request.provider}: name one."
            raise FaultError(fault(Code.VALIDATION_INVALID_REQUEST, message, field="model"))
        question = ModelMessage(role="user", parts=(TextPart(text=TEST_WORDS),))
        call = CallModel(tool=TEST_TOOL, messages=(question,), max_tokens=TEST_TOKENS, pin=name)
        hand = CallInHand(call=call, stream=None, digest="", asked_preview=TEST_WORDS)
        try:
            await ModelTries(self._dependencies, hand, name, RouteReason.OPTIMIZED, others=False).run()
        except ProviderError as error:
            return structs.replace(self._with_cooling(state), works=False, message=str(error))
        self._dependencies.chooser.answered(call, name, RouteReason.OPTIMIZED, name)
        return structs.replace(self._with_cooling(state), works=True)

    def _table(self) -> RoutingTable:
        return RoutingTable(self._routing.routing, self._overrides.table)

    def _decision(self, tool: str) -> RouteDecision:
        return self._dependencies.chooser.decide(RouteRequest(tool=tool)).decision

    def _changed(self, pattern: str) -> RouteChange:
        return RouteChange(tool_pattern=pattern, decision=self._decision(pattern.rstrip("*")))

    def _available(self) -> tuple[Provider, ...]:
        available = self._dependencies.chooser.pool.available
        return tuple(one for one in self._routing.routing.order if one in available)

    def _with_cooling(self, state: ProviderState) -> ProviderState:
        return structs.replace(state, cooling_ms=self._dependencies.chooser.provider_cooling_ms(state.provider))
