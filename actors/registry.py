"""Which actors there are, and how they are loaded."""

from __future__ import annotations

import gc
import importlib
import signal
import sys
import traceback
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

import anyio
import anyio.lowlevel
import structlog

from actors.actor import Actor
from bus.nats.keys import derived
from bus.seal import Seal, new_key
from protocol.actions import Action
from protocol.codec import decoder
from protocol.faults import Code, FaultError, fault
from protocol.packets import Request, Response
from protocol.subject_kinds import Subject
from protocol.subjects import table
from protocol.tiers import TIERS

log = structlog.stdlib.get_logger()

NOT_LOADED = "actor_not_loaded"

GATEWAY = "gateway"

_REINSTALL = Action(
    action="reinstall",
    description="Install Weft again, whole: ./scripts/run does so in a checkout, pipx reinstall weft elsewhere. "
    "--log-level debug shows the traceback.",
)

ACTORS: Mapping[str, str] = MappingProxyType(
    {
        "gateway": "actors.gateway.actor:Gateway",
        "keeper": "actors.keeper.actor:Keeper",
        "runner": "actors.runner.actor:Runner",
        "answerer": "actors.answerer.actor:Answerer",
        "planner": "actors.planner.actor:Planner",
        "policy": "actors.policy.actor:Policy",
        "sessions": "actors.sessions.actor:LoginsActor",
        "navigator": "actors.navigator.actor:Navigator",
        "verifier": "actors.verifier.actor:Verifier",
        "router": "actors.router.actor:Router",
        "learner": "actors.learner.actor:Learner",
        **{tier.actor: f"actors.{tier.actor}.actor:{tier.name.title()}" for tier in TIERS},
    }
)
"""Every actor there is, from the edge inwards: the order in which they are stopped."""


def kinds(names: Iterable[str] = ACTORS) -> dict[str, type[Actor]]:
    """Import the classes of some actors."""
    classes: dict[str, type[Actor]] = {}
    for name in names:
        module, _, kind = ACTORS[name].partition(":")
        try:
            classes[name] = getattr(importlib.import_module(module), kind)
        except Exception as error:
            raise _not_loaded(name, error) from error
    return classes


def _not_loaded(name: str, error: Exception) -> FaultError:
    """Make the error for an actor whose code cannot be imported: one line, with the place where that ended."""
    log.debug(NOT_LOADED, actor=name, exc_info=error)
    *_, (frame, line) = traceback.walk_tb(error.__traceback__)
    where = f"{frame.f_code.co_filename}:{line}"
    message = f"The actor {name} cannot be loaded: {type(error).__name__}: {error} ({where})"
    return FaultError(fault(Code.CONFIG_INVALID, message, actions=(_REINSTALL,)))


def warmed(names: Iterable[str]) -> dict[str, type[Actor]]:
    """Import some actors, and do before the fork whatever each would otherwise do, and pay for in memory, after it.

    The collector is off meanwhile and what is there at the end is never looked at again: a look is a write, and what a
    process writes to is no longer shared.
    """
    gc.disable()
    classes = kinds(names)
    for _, entry in table():
        if isinstance(entry, Subject):
            args: Any = getattr(entry, "args", None)
            answer: Any = getattr(entry, "answer", None)
            decoder(Request[args])
            if answer is not None:
                decoder(Response[answer])
    for kind in classes.values():
        kind.warm()
    Seal.of(new_key()).seal(b"", "warm")  # OpenSSL gets ready at its first use: 1.5 MB in each process forked before
    derived(new_key(), "warm")  # as does what signs
    anyio.run(_wait_for_no_signal)
    # whatever takes the place of an entry in it counts down the name that stood there, a page for each
    sys._clear_type_cache()  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  # documented, in spite of its name
    gc.freeze()
    gc.enable()
    return classes


async def _wait_for_no_signal() -> None:
    """Run a loop that listens to signals, which anyio imports at its first use."""
    with anyio.open_signal_receiver(signal.SIGTERM):
        await anyio.lowlevel.checkpoint()
