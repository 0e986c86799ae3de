"""What an actor declares, and that the actors together keep the promises of the table."""

from __future__ import annotations

import sys
import tomllib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest

import actors
from actors import registry
from actors.actor import Actor, Handler, grant_like, grant_of, handlers, handles, subscribes
from actors.registry import ACTORS, kinds
from bus.permissions import grant
from protocol.faults import Code, FaultError
from protocol.pages import Fetched, FetchPage, PageClaim, Verdict
from protocol.replicas import ReplicaGone
from protocol.subject_kinds import Bucket, Call, Subject, fill
from protocol.subjects import BROWSE, FETCH, OFFERED, PAGE_BROWSED, REPLICA_GONE, VERIFY_PAGE, WHY_ABSENT, table
from protocol.tiers import RenderTier
from protocol.tools.registry import TOOLS

PLACES = Bucket("places", PageClaim)


@dataclass
class Weaver(Actor):
    """An actor of every kind."""

    name: ClassVar[str] = "weaver"
    publishes: ClassVar[tuple[Subject[Any], ...]] = (BROWSE, PAGE_BROWSED)
    buckets: ClassVar[tuple[Bucket[Any], ...]] = (PLACES,)

    @subscribes(REPLICA_GONE, at_once=2)
    async def gone(self, event: ReplicaGone) -> None: ...

    @handles(VERIFY_PAGE, at_once=3)
    async def verify(self, claim: PageClaim) -> Verdict:
        raise NotImplementedError

    async def helps(self) -> None: ...

    @handles(FETCH.at(tier="lightweight"), at_once=1)
    async def fetch(self, request: FetchPage) -> Fetched:
        raise NotImplementedError


def test_an_actor_answers_and_hears_what_its_methods_say() -> None:
    assert handlers(Weaver) == (
        Handler(REPLICA_GONE, 2, "gone"),
        Handler(VERIFY_PAGE, 3, "verify"),
        Handler(FETCH.at(tier="lightweight"), 1, "fetch"),
    )


def test_a_marked_method_is_still_a_method() -> None:
    assert Weaver.verify.__name__ == "verify"
    assert Weaver.verify.__qualname__ == "Weaver.verify"


def test_it_may_do_what_it_declares_and_nothing_else() -> None:
    allowed = grant_of(Weaver)

    assert allowed == grant(
        "weaver",
        (REPLICA_GONE, VERIFY_PAGE, FETCH.at(tier="lightweight"), WHY_ABSENT.at(actor="weaver")),
        (BROWSE, PAGE_BROWSED),
        (PLACES,),
    )
    assert allowed.may_publish("web.browse")
    assert allowed.may_subscribe("verify.page")
    assert not allowed.may_publish("verify.page")
    assert not allowed.may_subscribe("web.fetch.intelligence")


def test_who_is_like_it_asks_the_same_and_answers_nobody() -> None:
    allowed = grant_like("stdio", Weaver)

    assert all(allowed.may_publish(subject) for subject in ("web.browse", "cancel.web.browse", "events.web.browsed"))
    assert allowed.may_subscribe("events.actor.gone")
    assert allowed.may_subscribe("_INBOX.stdio.>")
    assert allowed.may_use("$JS.API.DIRECT.GET.KV_places")
    assert not allowed.may_use("$KV.places.key")
    assert not allowed.may_subscribe("verify.page")
    assert not allowed.may_subscribe(">")
    assert not allowed.may_publish("events.actor.gone")
    assert not allowed.answers


def test_who_speaks_mcp_over_stdio_gets_no_secret() -> None:
    allowed = grant_like("stdio", kinds(("gateway",))["gateway"])

    assert allowed.may_publish("browser.ask")
    assert not allowed.may_use("$JS.API.DIRECT.GET.KV_keys")


# -- all of them ---------------------------------------------------------------------------------------------------

ENTRIES = {name: entry for name, entry in table() if isinstance(entry, Subject) and entry not in (WHY_ABSENT, OFFERED)}
"""What handlers speak of; the runtime says why an actor is absent, and what is offered is answered by who offers it."""

KINDS = kinds()


def filled(call: Subject[Any]) -> list[str]:
    """Return the forms of a call that actors answer: one for each tier or for who runs tools, or itself."""
    if call.slots == ("actor",):
        runs_tools = {tool.actor for tool in TOOLS.values() if tool.actor is not None}
        return [fill(call.pattern, {"actor": actor}) for actor in sorted(runs_tools)]
    if call.slots != ("tier",):
        return [call.pattern]
    return [fill(call.pattern, {"tier": tier.value}) for tier in RenderTier]


CALLS = [pattern for entry in ENTRIES.values() if issubclass(type(entry), Call) for pattern in filled(entry)]


@pytest.mark.parametrize("pattern", CALLS)
def test_every_call_is_answered_by_exactly_one_actor(pattern: str) -> None:
    answered = Counter(handler.subject.pattern for kind in KINDS.values() for handler in handlers(kind))

    assert answered[pattern] == 1


@pytest.mark.parametrize("name", ACTORS)
def test_an_actor_speaks_of_subjects_of_the_table_alone(name: str) -> None:
    spoken = (*KINDS[name].publishes, *(handler.subject for handler in handlers(KINDS[name])))

    written = {WHY_ABSENT.pattern, OFFERED.pattern, *(entry.pattern for entry in ENTRIES.values())}
    assert {subject.form or subject.pattern for subject in spoken} <= written


@pytest.mark.parametrize("name", ACTORS)
def test_an_actor_is_known_by_its_own_name_and_tells_what_it_is(name: str) -> None:
    assert KINDS[name].name == name
    assert (KINDS[name].__doc__ or "").partition("\n")[0].endswith((".", "?"))


@pytest.mark.parametrize("contract", ["actors", "extraction"])
def test_the_import_contracts_know_every_actor(contract: str) -> None:
    project = tomllib.loads((Path(actors.__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))
    (listed,) = (one for one in project["tool"]["importlinter"]["contracts"] if one["id"] == contract)
    packages = {".".join(place.split(".")[:2]) for place in ACTORS.values()}

    assert packages - {*listed.get("modules", ()), *listed.get("forbidden_modules", ())} == set(), (
        "belongs into this contract of pyproject.toml"
    )


@pytest.mark.parametrize("name", ACTORS)
def test_every_handler_has_a_bound(name: str) -> None:
    assert all(1 <= handler.at_once <= 1_024 for handler in handlers(KINDS[name]))


def test_an_actor_that_cannot_be_imported_is_one_clear_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "torn_actor.py").write_text("import nowhere_installed\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.setattr(registry, "ACTORS", {"keeper": "torn_actor:Keeper"})

    with pytest.raises(FaultError) as caught:
        kinds(["keeper"])

    assert caught.value.fault.code is Code.CONFIG_INVALID
    assert caught.value.fault.message == (
        f"The actor keeper cannot be loaded: ModuleNotFoundError: No module named 'nowhere_installed' "
        f"({tmp_path / 'torn_actor.py'}:1)"
    )
