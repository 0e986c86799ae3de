"""What each actor may publish and subscribe, worked out from the subjects that it declares."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct, structs

from bus.transport import INBOX
from protocol.subject_kinds import Bucket, Call, Journal, Objects, Subject, Work, matches
from protocol.subjects import (
    BROWSE,
    BROWSER,
    CAPTURES,
    DOMAIN,
    OFFER_NEWS,
    OFFER_SAID,
    OFFERED,
    OFFERS,
    RECORDED,
    REPLICA_DRAINED,
    REPLICA_GONE,
    REPLICA_READY,
    SESSION_DELETE,
    SESSION_HEALTH,
    SESSION_LIST,
    SESSION_REFRESH,
    STORAGE_FILLED,
)

CLAIMS = "CLAIMS"
"""The stream of claim checks, and in lower case the first token of its subjects."""

WORK_PREFIX, OBJECTS_PREFIX, JOURNAL_PREFIX, BUCKET_PREFIX = "WORK_", "OBJ_", "JOURNAL_", "KV_"
"""How the names of streams begin, by what they keep."""

FIGURES = "figures"
"""The token before the last of an inbox in which anybody gathers the figures of all replicas."""

OBSERVER = "observer"
"""The name under which a gateway looks at the whole bus for an operator."""

STORE_API = "$JS.store.API"
"""The prefix of the JetStream API for those who reach it from an account of their own (`$JS.API` in their account is
the server's)."""

_API = "$JS.API"

_FIGURES_ASKED = "$SRV.STATS"
"""What every participant may ask, and every actor answers."""

_OF_EACH = (REPLICA_READY.wildcard, RECORDED.wildcard)
"""What every actor tells: that it is there, and what it has noted of conversations."""


_OF_ALL = (REPLICA_GONE.wildcard, STORAGE_FILLED.wildcard)
"""What everybody hears: which replica has died, and that there is no room on the disk."""


class Grant(Struct, frozen=True):
    """What a participant may do.

    On the bus it may publish and subscribe subjects, and reply to those who may publish the subjects that it `answers`.
    What is kept (JetStream) is in another account, which lets it send to the subjects `uses` and hear the subjects
    `hears`, and has its replies end in an account that nobody shares.
    """

    publish: tuple[str, ...]
    subscribe: tuple[str, ...]
    answers: tuple[str, ...] = ()
    uses: tuple[str, ...] = ()
    hears: tuple[str, ...] = ()

    @property
    def owns(self) -> bool:
        """Whether what is kept is this participant's own: it makes and removes what all others use."""
        return ">" in self.uses

    def may_publish(self, subject: str) -> bool:
        """Return whether one of the allowed patterns covers `subject`."""
        return any(covers(pattern, subject) for pattern in self.publish)

    def may_subscribe(self, subject: str) -> bool:
        """Return whether one of the allowed patterns covers every subject that `subject` matches."""
        return any(covers(pattern, subject) for pattern in self.subscribe)

    def may_use(self, subject: str) -> bool:
        """Return whether `subject`, which may have wildcards, may be sent to where things are kept."""
        return any(covers(pattern, subject) for pattern in self.uses)

    def may_hear(self, subject: str) -> bool:
        """Return whether every subject that `subject` matches may be heard of what is kept."""
        return any(covers(pattern, subject) for pattern in self.hears)


def covers(pattern: str, subject: str) -> bool:
    """Return whether `pattern` matches every subject that `subject`, which may have wildcards, matches."""
    open_ended = subject.endswith(">") and not pattern.endswith(">")
    return matches(subject, pattern) and not open_ended


def overlap(one: str, other: str) -> bool:
    """Return whether there is a subject that both patterns match."""
    tokens, others = one.split("."), other.split(".")
    for token, another in zip(tokens, others, strict=False):
        if ">" in (token, another):
            return True
        if token != another and "*" not in (token, another):
            return False
    return len(tokens) == len(others)


def inboxes(allowed: Grant, everybody: Mapping[str, Grant]) -> tuple[str, ...]:
    """Return where a participant may reply: in the inboxes of those who may ask it.

    They are named, since leave to reply to whatever one has received (`allow_responses` of NATS) is leave to say all:
    who sends something to himself chooses where its reply goes.
    """
    asking = (
        f"{INBOX}.{micro_name(name)}.>"
        for name, other in everybody.items()
        if any(overlap(subject, answered) for subject in other.publish for answered in allowed.answers)
    )
    return (*asking, *([f"{INBOX}.*.*.{FIGURES}.*"] if allowed.answers else []))


EVERYTHING = Grant((">",), (">",), uses=(">",), hears=(">",))
"""The supervisor's: it makes streams and buckets, and it starts everybody else."""


def micro_name(actor: str) -> str:
    """Spell the name of an actor as NATS micro and inboxes do: without dots."""
    return actor.replace(".", "-")


def cancel_subject(subject: str) -> str:
    """Name the subject on which the callees of a subject learn that a caller has gone."""
    return f"cancel.{subject}"


def stream_name(work: Work[Any]) -> str:
    """Name the JetStream stream that keeps this work, and its consumer with it."""
    return WORK_PREFIX + work.task.replace(".", "_")


def object_stream(store: str) -> str:
    """Name the JetStream stream that keeps an object store."""
    return f"{OBJECTS_PREFIX}{store}"


def journal_stream(journal: Journal[Any]) -> str:
    """Name the JetStream stream of a journal, which is also the first token of what signals its lines."""
    return f"{JOURNAL_PREFIX}{journal.name}"


def bucket_stream(bucket: str) -> str:
    """Name the JetStream stream of a bucket, which is also the first token of what signals its changes."""
    return f"{BUCKET_PREFIX}{bucket}"


def claim_scope(subject: str) -> str:
    """Return the place of the claim checks of messages on `subject`: those alone may read them who get the messages.

    That of a reply is the inbox of the participant that it goes to.
    """
    tokens = subject.split(".")
    return ".".join(tokens[:2] if tokens[0] == INBOX else tokens)


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
    name = micro_name(actor)
    publishes = tuple(publishes)
    publish = [*_OF_EACH, REPLICA_DRAINED.at(actor=name).wildcard, _FIGURES_ASKED, *_calling(publishes)]
    answered = ["$SRV.PING", "$SRV.INFO"]
    subscribe = [f"{INBOX}.{name}.>", *_OF_ALL, "$SRV.*", f"$SRV.*.{name}", f"$SRV.*.{name}.*"]
    uses, hears = [*_replying(), *_sending(name, publishes)], list[str]()
    for subject in answers:
        uses += _taking_claims(subject.wildcard)
        if isinstance(subject, Work):
            uses += [*_consuming(stream_name(subject)), *_advancing(subject), *_giving_claims(subject.wildcard)]
            continue
        subscribe.append(subject.wildcard)
        if isinstance(subject, Call):
            answered.append(subject.wildcard)
            subscribe.append(cancel_subject(subject.wildcard))
    for bucket in buckets:
        uses += [f"$KV.{bucket.name}.>", *_reading_bucket(bucket.name)]
        hears.append(f"{bucket_stream(bucket.name)}.>")
    for store in stores:
        uses += _storing(store.name)
    written = tuple(journals)
    uses += [f"{journal.name}.>" for journal in written]
    uses += [f"{_API}.STREAM.PURGE.{journal_stream(journal)}" for journal in written if journal.ttl_ms is None]
    for journal in (*written, *reads):
        uses += _reading_stream(journal_stream(journal))
        hears.append(f"{journal_stream(journal)}.>")
    return Grant(tuple(publish), tuple(subscribe), tuple(answered), _once(uses), _once(hears))


def client(
    name: str,
    subscribes: Iterable[Subject[Any]],
    publishes: Iterable[Subject[Any]],
    watches: Iterable[Bucket[Any]] = (),
    stores: Iterable[Objects] = (),
) -> Grant:
    """Work out the grant of somebody who asks as an actor does, and answers nothing: it reads the tables it watches."""
    publishes, subscribes = tuple(publishes), tuple(subscribes)
    subscribe = [f"{INBOX}.{micro_name(name)}.>", *_OF_ALL, *(subject.wildcard for subject in subscribes)]
    uses, hears = _sending(micro_name(name), publishes), list[str]()
    for subject in subscribes:
        uses += _taking_claims(subject.wildcard)
    for bucket in watches:
        uses += _reading_bucket(bucket.name)
        hears.append(f"{bucket_stream(bucket.name)}.>")
    for store in stores:
        uses += _storing(store.name)
    publish = (_FIGURES_ASKED, RECORDED.wildcard, *_calling(publishes))
    return Grant(publish, tuple(subscribe), uses=_once(uses), hears=_once(hears))


def host() -> Grant:
    """Return the grant of who starts the actors of one host among several: it makes nothing, and asks nothing."""
    return Grant((REPLICA_GONE.wildcard, _FIGURES_ASKED), (f"{INBOX}.host.>", REPLICA_READY.wildcard, *_OF_ALL))


def offerer(name: str) -> Grant:
    """Return the grant of an actor that brings tools to MCP under `name`, which writes its own offer and no other."""
    allowed = grant(name, [OFFERED.at(actor=name)], [OFFER_NEWS, OFFER_SAID])
    own = [f"$KV.{OFFERS.name}.{name}", f"$KV.{OFFERS.name}.{name}.>"]
    opening = f"{_API}.STREAM.INFO.{bucket_stream(OFFERS.name)}"
    return structs.replace(allowed, uses=_once([*allowed.uses, *own, opening]))


def onlooker() -> Grant:
    """Return the grant of the command line: it may ask for pages, look after logins, and listen to everything.

    It may also fetch the pictures and downloads that came of its asking, and no more.
    """
    calls = (BROWSE, BROWSER, DOMAIN, SESSION_LIST, SESSION_HEALTH, SESSION_DELETE, SESSION_REFRESH)
    publish = (subject for call in calls for subject in (call.wildcard, cancel_subject(call.wildcard)))
    uses = [*_sending("onlooker", calls), *_storing(CAPTURES.name)]
    return Grant((*publish, "$SRV.>"), (">",), uses=_once(uses))


def observer() -> Grant:
    """Return the grant of who looks at the whole bus: it hears everything, says nothing, and answers nobody.

    Of what is kept it learns how much there is, and not what.
    """
    uses = (f"{_API}.STREAM.LIST", f"{_API}.CONSUMER.LIST.*")
    return Grant((f"{INBOX}.{OBSERVER}.>",), (">",), uses=uses)


def _once(subjects: Iterable[str]) -> tuple[str, ...]:
    """Return the subjects in their order, without those that another one covers: it would have them sent twice."""
    once = tuple(dict.fromkeys(subjects))
    wide = [one for one in once if "*" in one or ">" in one]
    return tuple(one for one in once if not any(other != one and covers(other, one) for other in wide))


def _calling(publishes: Iterable[Subject[Any]]) -> list[str]:
    publish: list[str] = []
    for subject in publishes:
        if isinstance(subject, Work):
            continue
        publish.append(subject.wildcard)
        if isinstance(subject, Call):
            publish.append(cancel_subject(subject.wildcard))
    return publish


def _sending(name: str, publishes: Iterable[Subject[Any]]) -> list[str]:
    """Return what a participant uses who sends these: it puts work and claim checks, and takes those of its answers."""
    inbox = f"{INBOX}.{name}"
    uses = [*_giving_claims(inbox), *_taking_claims(inbox)]
    for subject in publishes:
        uses += _giving_claims(subject.wildcard)
        if isinstance(subject, Work):
            uses += [*subject.kept, f"{_API}.STREAM.INFO.{stream_name(subject)}", *_advancing(subject)]
    return uses


def _replying() -> list[str]:
    """Return what a participant uses who answers: it leaves claim checks for whoever has asked."""
    return _giving_claims(f"{INBOX}.*")


def _giving_claims(scope: str) -> list[str]:
    return [f"{CLAIMS.lower()}.{scope}.*.*"]


def _taking_claims(scope: str) -> list[str]:
    return [f"{_API}.DIRECT.GET.{CLAIMS}.{CLAIMS.lower()}.{scope}.*.*"]


def _consuming(stream: str) -> list[str]:
    return [
        f"{_API}.STREAM.INFO.{stream}",
        f"{_API}.CONSUMER.INFO.{stream}.{stream}",
        f"{_API}.CONSUMER.MSG.NEXT.{stream}.{stream}",
        f"$JS.ACK.{stream}.>",
    ]


def _advancing(work: Work[Any]) -> list[str]:
    """Return what moves work from the line of its account into the queue."""
    if work.share is None:
        return []
    stream = stream_name(work)
    return [work.standing("*"), f"{_API}.STREAM.MSG.GET.{stream}", f"{_API}.STREAM.MSG.DELETE.{stream}"]


def _storing(store: str) -> list[str]:
    stream = object_stream(store)
    return [
        f"$O.{store}.>",
        *_reading_stream(stream),
        f"{_API}.STREAM.PURGE.{stream}",
        f"{_API}.STREAM.MSG.GET.{stream}",
    ]


def _reading_stream(stream: str) -> list[str]:
    return [f"{_API}.STREAM.INFO.{stream}", f"{_API}.DIRECT.GET.{stream}", f"{_API}.DIRECT.GET.{stream}.>"]


def _reading_bucket(bucket: str) -> list[str]:
    stream = bucket_stream(bucket)
    return [*_reading_stream(stream), f"{_API}.STREAM.MSG.GET.{stream}"]
