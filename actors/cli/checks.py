"""What the doctor has looked at, and what it says of the files in which an operator tells Weft what to go by."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import StrEnum

from msgspec import Struct

from actors.settings import Settings
from protocol.faults import FaultError


class CheckState(StrEnum):
    """How a check came out; `missing` alone makes the doctor fail."""

    OK = "ok"
    WARNING = "warning"
    MISSING = "missing"


class Check(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One thing that was looked at."""

    name: str
    state: CheckState
    detail: str
    cure: str = ""


def own_files(settings: Settings) -> Iterator[Check]:
    """Read every file of the operator's, as those do who go by it."""
    yield policy(settings)
    yield tool_files(settings)
    yield routing(settings)
    yield patterns(settings)
    yield hosts(settings)


def policy(settings: Settings) -> Check:
    """Read what the gate goes by."""
    from actors.policy_file import own_policy, read_policy  # noqa: PLC0415 - loads what logs are made with

    path = own_policy(settings)

    def detail() -> str:
        rules = read_policy(path, needed=bool(settings.policy_file))
        modes = ", ".join(f"{surface} {one.mode}" for surface, one in rules.surfaces.items())
        return f"{modes}; {path}: {len(rules.rules)} rules, {len(rules.sites)} sites" if path.is_file() else modes

    return _file_check("policy", detail)


def tool_files(settings: Settings) -> Check:
    """Read which search engines and which integrations there are."""
    from actors.tool_files import (  # noqa: PLC0415 - as above
        own_engines,
        own_integrations,
        read_engines,
        read_integrations,
    )

    def detail() -> str:
        engines = read_engines(own_engines(settings), needed=bool(settings.search_file))
        integrations = read_integrations(own_integrations(settings), needed=bool(settings.integrations_file))
        keys = {one.name: f" (with {one.key_variable})" if one.key_variable else "" for one in engines if one.enabled}
        engine_words = ", ".join(f"{name}{key}" for name, key in keys.items())
        return f"search engines: {engine_words or 'none'}; integrations: {', '.join(integrations) or 'none'}"

    return _file_check("tools", detail)


def routing(settings: Settings) -> Check:
    """Read which models are asked for what."""
    from actors.routing_file import own_file, read_routing  # noqa: PLC0415 - as above

    path = own_file(settings)

    def detail() -> str:
        read_routing(path, needed=bool(settings.routing_file))
        return str(path) if path.is_file() else "as shipped"

    return _file_check("routing", detail)


def patterns(settings: Settings) -> Check:
    """Read which APIs of sites are written down."""
    from actors.learner.patterns.sources.known import own_apis, read_apis  # noqa: PLC0415 - as above

    path = own_apis(settings)

    def detail() -> str:
        apis = read_apis(path, needed=bool(settings.patterns_file))
        return f"{path}: {len(apis)} APIs" if path.is_file() else "as shipped"

    return _file_check("patterns", detail)


def hosts(settings: Settings) -> Check:
    """Read of which hosts the kind is known."""
    from actors.navigator.hosts import known_hosts  # noqa: PLC0415 - as above

    def detail() -> str:
        known_hosts(settings.hosts_file)
        return settings.hosts_file or "as shipped"

    return _file_check("hosts", detail)


def _file_check(name: str, detail: Callable[[], str]) -> Check:
    """Report what a file of the operator's says, or what is wrong of it."""
    try:
        return Check(name=name, state=CheckState.OK, detail=detail())
    except FaultError as error:
        cure = error.fault.actions[0].description
        return Check(name=name, state=CheckState.MISSING, detail=error.fault.message, cure=cure)
