"""The way out of a page that was not to be had: every action as a whole call, and an end where nothing is left.

Pure. What has been tried is known from the call itself: its options, and `attempt`, which travels in the parameters of
each action. So the advice climbs, never leads back to what has failed, and ends in `report_to_user`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, cast
from urllib.parse import quote, urlencode

import msgspec
from msgspec import Struct, structs

from actors.sites import site_of
from protocol import actions as known
from protocol.actions import RATE_LIMIT_DELAY_MS, Action, ranked
from protocol.browse import DEFAULT_LATENCY_MS, MAX_LATENCY_MS, BrowseOptions, Freshness, consistent, wish_for_scripts
from protocol.faults import Category, Code, Fault, FaultError
from protocol.sessions import DEFAULT_PROFILE
from protocol.tiers import BROWSER, SCRIPTED, TIERS, RenderTier

BROWSE: Final = "browse"
REFRESH_SESSION: Final = "refresh_session"

MAX_CALLS: Final = 4
"""How often one page is asked for at most, the first call among them."""

RETRY_MS: Final = (1_000, 4_000, 15_000)
"""The delay before each further try of what may heal by itself."""

NETWORK_RETRY_MS: Final = (1_000, 3_000, 5_000)
"""That before each further try of what the network failed at: 1 to 5 seconds, three times (000 §3, recovery tree)."""

FEW_TRIES: Mapping[Code, int] = MappingProxyType(
    {
        Code.NETWORK_DNS_FAILED: 1,
        Code.NETWORK_TLS_FAILED: 1,
        Code.NETWORK_TIMEOUT: 1,
        Code.INTERNAL_DEADLINE: 1,
        Code.PAGE_CRASHED: 1,
        Code.BLOCKED_GEO_RESTRICTED: 1,
        Code.AUTH_SESSION_EXPIRED: 1,
    }
)
"""What seldom heals is not tried as often as the rest."""

MAX_PROFILES: Final = 3
"""Saved logins that an error names."""

_SELF_SUFFICIENT = frozenset({BROWSE, REFRESH_SESSION})
"""The tools whose parameters are complete: a client need add nothing."""


class FailedCall(Struct, frozen=True):
    """A call of `browse` that came to nothing, and the profiles that are saved for its site."""

    url: str
    options: BrowseOptions
    failure: Fault
    profiles: Sequence[str] = ()

    @property
    def tier(self) -> str | None:
        """The tier that the failure is from."""
        return self.failure.context.tier if self.failure.context else None

    @property
    def highest(self) -> RenderTier:
        """The best tier that the options allow."""
        return self.options.force_tier or self.options.max_cost_tier

    def tried(self, name: str) -> int:
        """Return how often an action was followed before."""
        return self.options.attempt.count(name)

    def again(self, action: Action, *, often: bool = False, **changes: Any) -> Action | None:
        """Return an action as the whole call with these options changed.

        None where that is this very call, or where the action was followed before, unless it makes sense `often`.
        """
        if self.tried(action.action) and not often:
            return None
        options = consistent(structs.replace(self.options, **changes))
        return None if options == self.options else self._call(action, options)

    def repeated(self, action: Action, delay_ms: int, name: str = "") -> Action:
        """Return an action as the same call, after a delay."""
        return structs.replace(self._call(action, self.options, name), suggested_delay_ms=delay_ms)

    def _call(self, action: Action, options: BrowseOptions, name: str = "") -> Action:
        options = structs.replace(consistent(options), attempt=(*options.attempt, name or action.action))
        parameters = {"url": self.url, "options": msgspec.to_builtins(options)}
        return structs.replace(action, tool_to_use=BROWSE, parameters=parameters, request="POST /api/browse")


def recovered(call: FailedCall) -> Fault:
    """Return the fault with those of its actions that make sense after this call, each one whole.

    It is `retryable` where the first one is a call that needs nothing of the user; else the user is to be told.
    """
    ordered = sorted(call.failure.actions, key=lambda action: action.priority)
    actions = [action for action in _made(call, ordered) if action.action != known.REPORT.action]
    if len(call.options.attempt) + 1 >= MAX_CALLS:
        actions = [action for action in actions if action.tool_to_use not in _SELF_SUFFICIENT]
    retryable = bool(actions) and actions[0].tool_to_use in _SELF_SUFFICIENT
    ended = bool(call.options.attempt) and not retryable
    first = [action for action in actions if action.tool_to_use] if ended else actions
    rest = [action for action in actions if action not in first]
    return structs.replace(call.failure, retryable=retryable, actions=ranked((*first, known.REPORT, *rest)))


def for_model(failure: Fault) -> Fault:
    """Return a fault whose actions are as the tools of MCP take them: their arguments side by side."""
    return structs.replace(failure, actions=flat(failure.actions))


def reachable(failure: Fault, *, local: bool) -> Fault:
    """Return a fault whose actions its client may follow: a login by credentials is typed in local clients alone."""
    if local:
        return failure
    template = (known.LOG_IN.parameters or {})["templateId"]
    return structs.replace(
        failure,
        actions=tuple(
            structs.replace(action, description=_SAVE_LOGIN, tool_to_use=None, parameters=None, request=None)
            if (action.parameters or {}).get("templateId") == template
            else action
            for action in failure.actions
        ),
    )


_SAVE_LOGIN: Final = (
    "Have the user save a login for this site where Weft runs (`weft sessions import`, or `weft run login_keep_session`"
    " with their credentials), then name it by sessionProfile or profile."
)
"""How a login comes about without credentials over the network."""


def flat(actions: Iterable[Action]) -> tuple[Action, ...]:
    """Return actions as the tools of MCP take them."""
    return tuple(
        structs.replace(action, request=None, parameters=flat_arguments(action.parameters))
        if action.request
        else action
        for action in actions
    )


def flat_arguments(parameters: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the body of a request to read a page as the arguments of the tool."""
    body = dict(parameters or {})
    options = cast("dict[str, Any]", body.pop("options", {}) if "url" in body else {})
    return {**body, **options}


def _made(call: FailedCall, actions: Iterable[Action]) -> Iterator[Action]:
    for action in actions:
        maker = _MAKERS.get(action.action)
        if maker is not None:
            yield from filter(None, maker(call, action))
        elif action.tool_to_use == BROWSE and action.parameters is not None:
            yield from filter(None, (_merged(call, action),))
        else:
            yield action


def _merged(call: FailedCall, action: Action) -> Action | None:
    """Return an action that names what is to be changed as the whole call: its address, or its options."""
    given = dict(action.parameters or {})
    url = given.pop("url", None)
    options = msgspec.convert({**msgspec.to_builtins(call.options), **given}, BrowseOptions)
    changes = {name: getattr(options, name) for name in BrowseOptions.__struct_fields__}
    if url is None:
        return call.again(action, **changes)
    other = structs.replace(call, url=url)
    return None if call.tried(action.action) else other.repeated(action, action.suggested_delay_ms or 0)


Made = Iterator[Action | None]


def _retry(call: FailedCall, action: Action) -> Made:
    code = call.failure.code
    count = call.tried(action.action)
    if code is Code.AUTH_SESSION_EXPIRED:
        if call.options.session_profile is not None and not call.tried(
            REFRESH_SESSION
        ):  # what comes after the session was renewed
            yield call.repeated(action, RETRY_MS[0], REFRESH_SESSION)
    elif count < FEW_TRIES.get(code, len(RETRY_MS)):
        delays = NETWORK_RETRY_MS if call.failure.category is Category.NETWORK else RETRY_MS
        yield call.repeated(action, max(delays[count], action.suggested_delay_ms or 0))


def _wait(call: FailedCall, action: Action) -> Made:
    count = call.tried(action.action)
    if count < FEW_TRIES.get(call.failure.code, len(RETRY_MS)):
        delay_ms = action.suggested_delay_ms or RATE_LIMIT_DELAY_MS
        own = delay_ms == RATE_LIMIT_DELAY_MS  # the site named none: each wait is longer than the one before
        yield call.repeated(action, delay_ms * 2**count if own else delay_ms)


def _more_time(call: FailedCall, action: Action) -> Made:
    allowed = call.options.max_latency_ms
    if call.tried(action.action) and allowed >= DEFAULT_LATENCY_MS:
        return
    if call.failure.code is Code.CONTENT_REQUIRES_JS and allowed >= DEFAULT_LATENCY_MS:
        return  # every tier that is allowed had its time
    wanted = min(max(DEFAULT_LATENCY_MS, 2 * allowed), MAX_LATENCY_MS)
    least, most = TIERS[0].spec.typical_ms[0], TIERS[-1].spec.typical_ms[1]
    words = f"Allow more time: a page takes {least} to {most} ms, a slow site more; maxLatencyMs was {allowed}."
    yield call.again(structs.replace(action, description=words), often=True, max_latency_ms=wanted)


def _lightweight(call: FailedCall, action: Action) -> Made:
    light = SCRIPTED[0]
    if call.highest.rank < light.rank and not call.tried(known.NO_SCRIPTS.action):
        yield call.again(action, force_tier=light, max_latency_ms=_time_for(call, light))


def _browser(call: FailedCall, action: Action) -> Made:
    used = BROWSER.value in (call.tier, call.options.force_tier)
    if not used and not call.tried(known.NO_SCRIPTS.action):
        yield call.again(action, force_tier=BROWSER, max_latency_ms=_time_for(call, BROWSER))


def _consent(call: FailedCall, action: Action) -> Made:
    yield call.again(action, force_tier=BROWSER, dismiss_overlays=True, max_latency_ms=_time_for(call, BROWSER))


def _no_scripts(call: FailedCall, action: Action) -> Made:
    if not wish_for_scripts(call.options):
        yield call.again(action, force_tier=TIERS[0])


def _any_tier(call: FailedCall, action: Action) -> Made:
    if not any(call.tried(one.action) for one in (known.USE_LIGHTWEIGHT, known.USE_BROWSER, known.REFUSE_CONSENT)):
        yield call.again(action, force_tier=None, max_cost_tier=TIERS[-1])


def _no_selector(call: FailedCall, action: Action) -> Made:
    yield call.again(action, wait_for_selector=None)


def _fresh(call: FailedCall, action: Action) -> Made:
    yield call.again(action, freshness_requirement=Freshness.REALTIME)


def _fix(call: FailedCall, action: Action) -> Made:
    """Resolve what contradicts itself; what else is wrong with a request is told by its message."""
    yield call.again(action) or structs.replace(action, tool_to_use=None, parameters=None)


def _use_saved(call: FailedCall, action: Action) -> Made:
    others = [name for name in call.profiles if name != call.options.session_profile]
    for name in others[:MAX_PROFILES]:
        words = f"Ask again with the session {name!r}, which is saved for this site."
        yield call.again(structs.replace(action, description=words), session_profile=name)


def _refresh(call: FailedCall, action: Action) -> Made:
    profile, site = call.options.session_profile, site_or_nothing(call.url)
    if profile is not None and site and not call.tried(REFRESH_SESSION):
        path = f"/api/sessions/{quote(site, safe='')}/refresh?{urlencode({'profile': profile})}"
        parameters = {"domain": site, "profile": profile}
        yield structs.replace(action, parameters=parameters, request=f"POST {path}")


def _log_in(call: FailedCall, action: Action) -> Made:
    inputs = {"startUrl": call.url, "profile": call.options.session_profile or DEFAULT_PROFILE}
    yield structs.replace(action, parameters={**(action.parameters or {}), "inputs": inputs}, request="POST /api/runs")


_MAKERS: Mapping[str, Callable[[FailedCall, Action], Made]] = MappingProxyType(
    {
        known.RETRY.action: _retry,
        known.WAIT.action: _wait,
        known.MORE_TIME.action: _more_time,
        known.USE_LIGHTWEIGHT.action: _lightweight,
        known.USE_BROWSER.action: _browser,
        known.NO_SCRIPTS.action: _no_scripts,
        known.ANY_TIER.action: _any_tier,
        known.NO_SELECTOR.action: _no_selector,
        known.REFUSE_CONSENT.action: _consent,
        known.FRESH.action: _fresh,
        known.FIX_INPUT.action: _fix,
        known.USE_SAVED.action: _use_saved,
        known.REFRESH.action: _refresh,
        known.LOG_IN.action: _log_in,
    }
)
"""What makes a whole call of an action, or nothing where it does not apply; any other action stays as it is."""


def _time_for(call: FailedCall, tier: RenderTier) -> int:
    """Return the time that is allowed, or more where the tier mostly takes more."""
    allowed = call.options.max_latency_ms
    return allowed if allowed > tier.spec.typical_ms[1] else DEFAULT_LATENCY_MS


def site_or_nothing(url: str) -> str:
    """Return the site of an address, or nothing where it has none."""
    try:
        return site_of(url, "url")
    except FaultError:
        return ""
