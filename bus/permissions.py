"""What each actor may publish and subscribe, worked out from the subjects that it declares."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from bus.transport import INBOX
from protocol.subjects import (
    BROWSE,
    BROWSER,
    CAPTURES,
    DOMAIN,
    REPLICA_GONE,
    REPLICA_READY,
    SESSION_DELETE,
    SESSION_HEALTH,
    SESSION_LIST,
    SESSION_REFRESH,
    Bucket,
    Call,
    Journal,
    Objects,
    Subject,
    Work,
    matches,
)

CLAIMS = "weft-claims"
"""The object store of claim checks."""


@dataclass(frozen=True)
class Grant:
    """Subjects that a participant may publish and subscribe; `answers`: it may reply once to whatever it receives."""

    publish: tuple[str, ...]
    subscribe: tuple[str, ...]
    answers: bool = True

    def may_publish(self, subject: str) -> bool:
        """Return whether one of the allowed patterns covers `subject`."""
        return any(covers(pattern, subject) for pattern in self.publish)

    def may_subscribe(self, subject: str) -> bool:
        """Return whether one of the allowed patterns covers every subject that `subject` matches."""
        return any(covers(pattern, subject) for pattern in self.subscribe)


def covers(pattern: str, subject: str) -> bool:
    """Return whether `pattern` matches every subject that `subject`, which may have wildcards, matches."""
    open_ended = subject.endswith(">") and not pattern.endswith(">")
    return matches(subject, pattern) and not open_ended


EVERYTHING = Grant((">",), (">",))
"""The supervisor's: it makes streams and buckets, and it starts everybody else."""


def micro_name(actor: str) -> str:
    """Spell the name of an actor as NATS micro and inboxes do: without dots."""
    return actor.replace(".", "-")


def cancel_subject(subject: str) -> str:
    """Name the subject on which the callees of a subject learn that a caller has gone."""
    return f"cancel.{subject}"


def stream_name(work: Work[Any]) -> str:
    """Name the JetStream stream that keeps this work, and its consumer with it."""
    return "WORK_" + work.task.replace(".", "_")


def object_stream(store: str) -> str:
    """Name the JetStream stream that keeps an object store."""
    return f"OBJ_{store}"


def journal_stream(journal: Journal[Any]) -> str:
    """Name the JetStream stream of a journal, which is also the first token of what signals its lines."""
    return f"JOURNAL_{journal.name}"


def grant(  # noqa: PLR0913, PLR0917 - one for each kind of entry of the table
    actor: str,
    answers: Iterable[Subject[Any]],
    publishes: Iterable[Subject[Any]],
    buckets: Iterable[Bucket[Any]] = (),
    stores: Iterable[Objects] = (),
    journals: Iterable[Journal[Any]] = (),
    reads: Iterable[Journal[Any]] = (),
) -> Grant:
    """Work out the grant of an actor: what it answers, what it calls, publishes or enqueues, and what it keeps where.

    It writes `journals`, and reads them and those of `reads`.
    """
    publish = [REPLICA_READY.wildcard, REPLICA_GONE.wildcard, "$SRV.STATS", *_storing(CLAIMS)]
    name = micro_name(actor)
    subscribe = [f"{INBOX}.{name}.>", REPLICA_GONE.wildcard, "$SRV.*", f"$SRV.*.{name}", f"$SRV.*.{name}.*"]
    publish += _calling(publishes)
    for subject in answers:
        if isinstance(subject, Work):
            publish += _consuming(stream_name(subject))
            continue
        subscribe.append(subject.wildcard)
        if isinstance(subject, Call):
            subscribe.append(cancel_subject(subject.wildcard))
    for bucket in buckets:
        publish += _writing(bucket.name)
    for store in stores:
        publish += _storing(store.name)
    written = tuple(journals)
    publish += [f"{journal.name}.>" for journal in written]
    for journal in (*written, *reads):
        publish += _reading(journal)
        subscribe.append(f"{journal_stream(journal)}.>")
    return Grant(tuple(publish), tuple(subscribe))


def client(
    name: str,
    subscribes: Iterable[Subject[Any]],
    publishes: Iterable[Subject[Any]],
    watches: Iterable[Bucket[Any]] = (),
    stores: Iterable[Objects] = (),
) -> Grant:
    """Work out the grant of somebody who asks as an actor does, and answers nothing: it reads the tables it watches."""
    publish = ["$SRV.STATS", *_storing(CLAIMS), *_calling(publishes)]
    for bucket in watches:
        publish += _watching(bucket.name)
    for store in stores:
        publish += _storing(store.name)
    subscribe = [f"{INBOX}.{micro_name(name)}.>", REPLICA_GONE.wildcard, *(subject.wildcard for subject in subscribes)]
    return Grant(tuple(publish), tuple(subscribe), answers=False)


def onlooker() -> Grant:
    """Return the grant of the command line: it may ask for pages, look after logins, and listen to everything.

    It may also fetch the pictures and downloads that came of its asking, and no more.
    """
    calls = (BROWSE, BROWSER, DOMAIN, SESSION_LIST, SESSION_HEALTH, SESSION_DELETE, SESSION_REFRESH)
    publish = [subject for call in calls for subject in (call.wildcard, cancel_subject(call.wildcard))]
    return Grant(
        (*publish, "$SRV.>", *_storing(CLAIMS), *_storing(CAPTURES.name)),
        (">",),
        answers=False,
    )


def _calling(publishes: Iterable[Subject[Any]]) -> list[str]:
    publish: list[str] = []
    for subject in publishes:
        publish.append(subject.wildcard)
        if isinstance(subject, Call):
            publish.append(cancel_subject(subject.wildcard))
        if isinstance(subject, Work):
            publish.append(f"$JS.API.STREAM.INFO.{stream_name(subject)}")
    return publish


def _consuming(stream: str) -> list[str]:
    return [
        f"$JS.API.STREAM.INFO.{stream}",
        f"$JS.API.CONSUMER.INFO.{stream}.{stream}",
        f"$JS.API.CONSUMER.MSG.NEXT.{stream}.{stream}",
        f"$JS.ACK.{stream}.>",
    ]


def _storing(store: str) -> list[str]:
    stream = object_stream(store)
    return [
        f"$O.{store}.>",
        f"$JS.API.STREAM.INFO.{stream}",
        f"$JS.API.STREAM.PURGE.{stream}",
        f"$JS.API.STREAM.MSG.GET.{stream}",
        f"$JS.API.DIRECT.GET.{stream}",
        f"$JS.API.DIRECT.GET.{stream}.>",
    ]


def _reading(journal: Journal[Any]) -> list[str]:
    stream = journal_stream(journal)
    return [
        f"$JS.API.STREAM.INFO.{stream}",
        f"$JS.API.DIRECT.GET.{stream}",
        f"$JS.API.DIRECT.GET.{stream}.>",
    ]


def _writing(bucket: str) -> list[str]:
    return [f"$KV.{bucket}.>", *_watching(bucket)]


def _watching(bucket: str) -> list[str]:
    stream = f"KV_{bucket}"
    return [
        f"$JS.API.STREAM.INFO.{stream}",
        f"$JS.API.STREAM.MSG.GET.{stream}",
        f"$JS.API.DIRECT.GET.{stream}",
        f"$JS.API.DIRECT.GET.{stream}.>",
        f"$JS.API.CONSUMER.CREATE.{stream}",
        f"$JS.API.CONSUMER.CREATE.{stream}.>",
        f"$JS.API.CONSUMER.DELETE.{stream}.>",
        f"$JS.API.CONSUMER.INFO.{stream}.>",
        f"$JS.FC.{stream}.>",
        f"$JS.ACK.{stream}.>",
    ]
