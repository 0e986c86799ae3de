"""A grant covers what was declared and nothing besides, as nats-server judges it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bus.permissions import Grant, cancel_subject, covers, grant, inboxes, micro_name, onlooker, stream_name
from protocol.subject_kinds import Bucket, Journal, Objects, Work, matches
from protocol.subjects import BROWSE, FETCH, PAGE_BROWSED

TOKEN = st.sampled_from(["a", "b"])
SUBJECT = st.lists(TOKEN, min_size=1, max_size=4).map(".".join)
_TOKENS = st.lists(TOKEN | st.just("*"), min_size=1, max_size=3).map(".".join)
PATTERN = _TOKENS | _TOKENS.map(lambda tokens: f"{tokens}.>") | st.just(">")

CHORE = Work("work.chore.{kind}", int)


@given(PATTERN, PATTERN, SUBJECT)
def test_what_is_covered_is_never_more_than_what_covers(pattern: str, inner: str, subject: str) -> None:
    if covers(pattern, inner) and matches(subject, inner):
        assert matches(subject, pattern)


@pytest.mark.parametrize(
    ("pattern", "subject", "covered"),
    [
        ("web.*", "web.fetch", True),
        ("web.*", "web.*", True),
        ("web.*", "web.>", False),
        ("web.>", "web.*", True),
        ("web.>", "web.>", True),
        ("web.>", "web.a.>", True),
        ("*", ">", False),
        (">", ">", True),
        ("web.fetch", "web.*", False),
        ("web.fetch", "web", False),
    ],
)
def test_wildcards_are_covered_by_wider_ones(pattern: str, subject: str, covered: bool) -> None:  # noqa: FBT001 - data
    assert covers(pattern, subject) is covered


def test_who_answers_hears_and_who_asks_says() -> None:
    fetcher = grant("fetcher.intelligence", [FETCH.at(tier="intelligence")], [PAGE_BROWSED])
    navigator = grant("navigator", [BROWSE], [FETCH])

    assert fetcher.may_subscribe("web.fetch.intelligence")
    assert fetcher.may_subscribe(cancel_subject("web.fetch.intelligence"))
    assert not fetcher.may_subscribe("web.fetch.*")
    assert not fetcher.may_publish("web.fetch.intelligence")
    assert fetcher.may_publish("events.web.browsed")
    assert not fetcher.may_publish("tool.x")
    assert navigator.may_publish("web.fetch.intelligence")
    assert navigator.may_publish(cancel_subject("web.fetch.browser"))
    assert not navigator.may_publish("web.browse")


def test_inboxes_belong_to_their_actor() -> None:
    one = grant("fetcher.one", [], [])

    assert one.may_subscribe("_INBOX.fetcher-one.x.1")
    assert not one.may_subscribe("_INBOX.fetcher-two.x.1")
    assert not one.may_subscribe("_INBOX.>")


def test_work_is_put_by_one_and_taken_by_another() -> None:
    name = stream_name(CHORE)
    maker, taker = grant("maker", [], [CHORE]), grant("taker", [CHORE], [])

    assert name == "WORK_work_chore"
    assert maker.may_use("work.chore.any")
    assert not maker.may_use(f"$JS.API.CONSUMER.MSG.NEXT.{name}.{name}")
    assert taker.may_use(f"$JS.API.CONSUMER.MSG.NEXT.{name}.{name}")
    assert not taker.may_use("work.chore.any")
    assert not taker.may_subscribe("work.chore.any")
    for one in (maker, taker):
        assert one.may_use(f"$JS.API.STREAM.INFO.{name}")
        assert not one.may_use(f"$JS.API.STREAM.DELETE.{name}")


def test_a_bucket_opens_itself_and_no_other() -> None:
    keeper = grant("keeper", [], [], [Bucket("places", int)])

    assert keeper.may_use("$KV.places.home")
    assert not keeper.may_use("$KV.secrets.home")
    assert not keeper.may_use("$JS.API.STREAM.DELETE.KV_places")


def test_a_store_opens_itself_and_no_other() -> None:
    keeper = grant("keeper", [], [], [], [Objects("files", ttl_ms=1, max_bytes=1)])

    assert keeper.may_use("$O.files.M.bmFtZQ==")
    assert keeper.may_use("$JS.API.DIRECT.GET.OBJ_files")
    assert not keeper.may_use("$O.secrets.M.bmFtZQ==")
    assert not keeper.may_use("$JS.API.STREAM.DELETE.OBJ_files")
    assert not keeper.may_use("$JS.API.STREAM.CREATE.OBJ_files")


def test_a_journal_opens_itself_and_no_other_and_nobody_rubs_anything_out() -> None:
    keeper = grant("keeper", [], [], journals=[Journal("diary", int, ttl_ms=1, max_bytes=1)])

    assert keeper.may_use("diary.run.a.state")
    assert keeper.may_use("$JS.API.DIRECT.GET.JOURNAL_diary")
    assert keeper.may_hear("JOURNAL_diary.>")
    assert not keeper.may_use("ledger.run.a.state")
    assert not keeper.may_use("JOURNAL_diary.run.a.state")
    for verb in ("CREATE", "UPDATE", "PURGE", "DELETE", "MSG.DELETE"):
        assert not keeper.may_use(f"$JS.API.STREAM.{verb}.JOURNAL_diary")


def test_who_only_reads_a_journal_writes_no_line_of_it() -> None:
    reader = grant("reader", [], [], reads=[Journal("diary", int, ttl_ms=1, max_bytes=1)])

    assert reader.may_use("$JS.API.DIRECT.GET.JOURNAL_diary")
    assert reader.may_hear("JOURNAL_diary.>")
    assert not reader.may_use("diary.run.a.state")


def test_the_onlooker_hears_all_and_answers_nothing() -> None:
    looking = onlooker()

    assert looking.may_subscribe(">")
    assert looking.may_publish("web.browse")
    assert looking.may_publish("session.list")
    assert not looking.may_publish("session.save")
    assert not looking.may_publish("web.fetch.intelligence")
    assert not looking.answers


def test_replies_go_to_those_alone_who_may_ask() -> None:
    grants = {
        "a.b": Grant(("x.*", "events.y"), ()),
        "c": Grant(("x.y.z", "z"), ("events.y",)),
        "d": Grant(("x.>",), ("x.*",), ("x.1",)),
    }

    assert inboxes(grants["d"], grants) == ("_INBOX.a-b.>", "_INBOX.d.>", "_INBOX.*.*.figures.*")
    assert inboxes(grants["c"], grants) == ()


def test_names_have_no_dots() -> None:
    assert micro_name("fetcher.intelligence") == "fetcher-intelligence"


def test_nothing_is_granted_by_nothing() -> None:
    assert not Grant((), ()).may_publish("a")
    assert not Grant((), ()).may_subscribe("a")
