"""An actor: a class whose marked methods answer subjects of the table."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

from msgspec import Struct

from actors.settings import Settings
from bus import Bus
from bus.permissions import Grant, client, grant, micro_name
from protocol import subjects
from protocol.replicas import Absence, WhyAbsent
from protocol.subject_kinds import Bucket, Call, Event, Journal, Objects, Subject, Work

A = TypeVar("A")
R = TypeVar("R")
S = TypeVar("S")
M = TypeVar("M", bound=Callable[..., Any])

_MARK = "__handles__"


class Handler(Struct, frozen=True):
    """One subject that an actor answers: by which method, and how many times at once in one replica.

    An event that is `shared` is handled by one replica alone.
    """

    subject: Subject[Any]
    at_once: int
    method: str
    shared: bool = False


@dataclass
class Actor:
    """The base of every actor: give it a bus and settings, and it is ready to be tested or run.

    A subclass names itself, declares in `publishes` what it calls and tells (its NATS permissions come from that and
    from its handlers), and opens what it holds in `open`.
    """

    name: ClassVar[str]
    publishes: ClassVar[tuple[Subject[Any], ...]] = ()
    buckets: ClassVar[tuple[Bucket[Any], ...]] = ()
    purposes: ClassVar[tuple[str, ...]] = ()
    """What it seals and unseals beside its sealed stores, by the first word of the place."""
    variables: ClassVar[tuple[str, ...]] = ()
    """Variables of the environment that it gets as its field `environment`, and that no other process has; `*` ends the
    name of a family."""
    stores: ClassVar[tuple[Objects, ...]] = ()
    journals: ClassVar[tuple[Journal[Any], ...]] = ()
    reads: ClassVar[tuple[Journal[Any], ...]] = ()
    """Journals that it reads and never writes."""

    bus: Bus
    settings: Settings

    @classmethod
    def warm(cls) -> None:
        """Load what every replica needs, before the process is forked that they live in; no thread, no file stays."""

    @classmethod
    def check(cls, settings: Settings) -> None:
        """Read what the settings name beside themselves, so that a system with what is wrong there does not start.

        Raises:
            FaultError: CONFIG_INVALID.
        """
        del settings

    @classmethod
    def unavailability(cls, settings: Settings) -> Absence | None:
        """Return why this actor cannot work on this machine, if so: its replicas then answer that and nothing else."""
        del settings
        return None

    def room(self, handler: Handler) -> int:
        """Return how often at once this replica runs a handler: as it was marked, unless a setting says otherwise."""
        return handler.at_once

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[None]:
        """Hold the actor's resources; it serves while the block lasts, and is drained before it ends."""
        yield


def handles(
    call: Call[A, R], *, at_once: int
) -> Callable[[Callable[[S, A], Awaitable[R]]], Callable[[S, A], Awaitable[R]]]:
    """Answer `call` by this method, at most `at_once` times at once in one replica; more is refused as busy."""
    return _marked(call, at_once)


def subscribes(
    event: Event[A], *, at_once: int, shared: bool = False
) -> Callable[[Callable[[S, A], Awaitable[None]]], Callable[[S, A], Awaitable[None]]]:
    """Call this method with every `event`, in every replica, at most `at_once` times at the same time.

    With `shared` it is called in one replica alone, whichever it is.
    """
    return _marked(event, at_once, shared=shared)


def consumes(
    work: Work[A], *, at_once: int
) -> Callable[[Callable[[S, A], Awaitable[None]]], Callable[[S, A], Awaitable[None]]]:
    """Do `work` by this method, at most `at_once` pieces at once in one replica; what is not done is handed on."""
    return _marked(work, at_once)


def handlers(actor: type[Actor]) -> tuple[Handler, ...]:
    """Return the subjects that an actor answers, subscribes to and consumes, in the order of its methods."""
    return tuple(mark for method in vars(actor).values() if (mark := getattr(method, _MARK, None)) is not None)


def grant_of(actor: type[Actor]) -> Grant:
    """Return what an actor may publish and subscribe."""
    answers = dict.fromkeys(handler.subject for handler in handlers(actor))
    return grant(
        actor.name,
        [*answers, why_absent(actor)],
        actor.publishes,
        actor.buckets,
        actor.stores,
        actor.journals,
        actor.reads,
    )


def purposes_of(actor: type[Actor]) -> tuple[str, ...]:
    """Return the purposes that an actor is given keys for: its sealed stores, and what it says itself."""
    stores: tuple[Bucket[Any] | Objects | Journal[Any], ...] = (
        *actor.buckets,
        *actor.stores,
        *actor.journals,
        *actor.reads,
    )
    return tuple(dict.fromkeys((*(store.name for store in stores if store.sealed), *actor.purposes)))


def grant_like(name: str, actor: type[Actor]) -> Grant:
    """Return what a participant may publish and subscribe who does what an actor does, but answers nobody."""
    subscribes = [handler.subject for handler in handlers(actor) if isinstance(handler.subject, Event)]
    return client(
        name, subscribes, actor.publishes, [bucket for bucket in actor.buckets if not bucket.sealed], actor.stores
    )


def why_absent(actor: type[Actor]) -> Call[WhyAbsent, Absence]:
    """Return the subject on which a replica that cannot work says why."""
    return subjects.WHY_ABSENT.at(actor=micro_name(actor.name))


def _marked(subject: Subject[Any], at_once: int, *, shared: bool = False) -> Callable[[M], M]:
    def mark(method: M) -> M:
        setattr(method, _MARK, Handler(subject, at_once, method.__name__, shared))
        return method

    return mark
