"""The log of events: complete, each line of a journal once, and without a word of what was said."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import msgspec

from actors.keeper.actor import Keeper
from actors.keeper.event_log import KEPT, EventLog
from bus import Bus
from bus.memory import Broker
from bus.seal import Seal
from bus.stores import JournalLog
from protocol import collections as kept
from protocol import subjects, tool_log
from protocol.faults import Code, fault
from protocol.models import CallErrorKind, ModelCalled, Provider, RouteReason, TokenUsage
from protocol.policy import ApprovalState, Decision, Reason, ToolStatus, Verb
from protocol.runs.events import state_topic, step_topic
from protocol.runs.states import StepStatus
from protocol.subject_kinds import Journal
from protocol.tools.tool import Surface
from tests.unit.actors.keeper.ledger_data import KEY, ME, NOW, RUN, created, ended, step, taken

JOURNALS = (subjects.LEDGER, subjects.COLLECTIONS, subjects.MODEL_CALLS, subjects.TOOL_CALLS)
CALL = f"call_{0:022d}"
SECRET = "correct-horse-battery-staple"
WAIT_S = 90.0


class Log:
    """The journals, and the log that is made of them."""

    def __init__(self, folder: Path, journals: dict[str, JournalLog[Any]]) -> None:
        self.path, self.journals = folder / "events.jsonl", journals

    def log(self, **options: Any) -> EventLog:
        return EventLog(self.path, tuple(self.journals.values()), **options)

    async def write(self, journal: Journal[Any], topic: str, line: Any) -> None:
        await self.journals[journal.name].append(topic, line)

    async def steps(self, first: int, last: int) -> None:
        for number in range(first, last):
            await self.write(subjects.LEDGER, step_topic(RUN, number), step(number % 3))

    def read(self, path: Path | None = None) -> list[dict[str, Any]]:
        path = path or self.path
        written = path.read_bytes() if path.exists() else b""
        return [msgspec.json.decode(line) for line in written[: written.rfind(b"\n") + 1].splitlines()]

    async def until(self, reached: Callable[[list[dict[str, Any]]], bool]) -> list[dict[str, Any]]:
        with anyio.fail_after(WAIT_S):
            while not reached(events := self.read()):
                await anyio.sleep(0.01)
        return events


@asynccontextmanager
async def opened(folder: Path) -> AsyncGenerator[Log]:
    async with Broker() as broker, Bus(broker.connect("anybody"), "anybody", "a1").running() as bus:
        bus.seal = Seal.of(KEY)
        yield Log(folder, {one.name: await bus.journal(one) for one in JOURNALS})


async def test_each_family_is_logged_with_its_ids_and_without_what_was_said(tmp_path: Path) -> None:
    async with opened(tmp_path) as here:
        of_collection: dict[str, Any] = {"caller": ME, "at": NOW, "collection": "col_1"}
        of_capture: dict[str, Any] = {**of_collection, "job": "job_1", "source": "src_1"}
        text: dict[str, Any] = {**of_collection, "artifact": "art_1"}
        called: dict[str, Any] = {"tool": "web_answer", "provider": Provider.OLLAMA, "model": "m", "latency_ms": 400}
        called |= {"at": NOW, "reason": RouteReason.DEFAULT, "asked_preview": SECRET, "conversation": "c1"}
        of_call: dict[str, Any] = {"call": CALL, "at": NOW, "tool": "search", "conversation": "c1"}
        decision = Decision(decision=Verb.ASK, reason_code=Reason.SEARCH_SENSITIVE_QUERY)
        asked = {"query": SECRET, "engine": SECRET}
        url = f"https://example.com/?token={SECRET}&page=2"
        for journal, topic, line in (
            (subjects.LEDGER, state_topic(RUN), created(inputs={"password": SECRET})),
            (subjects.LEDGER, state_topic(RUN), taken()),
            (
                subjects.LEDGER,
                step_topic(RUN, 0),
                step(0, status=StepStatus.FAILED, fault=fault(Code.PAGE_CRASHED, SECRET)),
            ),
            (subjects.LEDGER, state_topic(RUN), ended()),
            (subjects.COLLECTIONS, "collection.col_1", kept.CollectionCreated(**of_collection, title=SECRET)),
            (
                subjects.COLLECTIONS,
                "source.col_1.src_1.state",
                kept.SourceAdded(**of_collection, source="src_1", kind=kept.SourceKind.URL, url=url),
            ),
            (
                subjects.COLLECTIONS,
                "source.col_1.src_1.1",
                kept.SourceCaptured(
                    **of_capture, version=1, url=url, title=SECRET, content_hash="0", markdown=f"# Looms\n\n{SECRET}"
                ),
            ),
            (subjects.COLLECTIONS, "text.art_1", kept.TextAsked(**text, type="timeline", title=SECRET)),
            (
                subjects.COLLECTIONS,
                "text.art_1",
                kept.TextEnded(**text, status=kept.TextStatus.COMPLETED, markdown=SECRET),
            ),
            (
                subjects.MODEL_CALLS,
                "web_answer",
                ModelCalled(**called, call_id="m1", success=True, truncated=True, usage=TokenUsage(input=7)),
            ),
            (
                subjects.MODEL_CALLS,
                "web_answer",
                ModelCalled(**called, call_id="m2", success=False, error_kind=CallErrorKind.SCHEMA),
            ),
            (
                subjects.TOOL_CALLS,
                f"call.{CALL}",
                tool_log.CallDecided(
                    **of_call, caller=ME, surface=Surface.MCP, decision=decision, digest="0", arguments=asked
                ),
            ),
            (subjects.TOOL_CALLS, f"call.{CALL}", tool_log.CallAnswered(**of_call, state=ApprovalState.ALLOWED)),
            (subjects.TOOL_CALLS, f"call.{CALL}", tool_log.CallEnded(**of_call, status=ToolStatus.OK)),
        ):
            await here.write(journal, topic, line)
        async with here.log().open():
            events = await here.until(lambda known: len(known) >= 18)

        by_type = {event["type"]: event for event in events}
        assert set(by_type) == {
            *("run.created", "run.started", "run.step", "run.succeeded", "collection.created", "source.added"),
            *("capture.job_succeeded", "source.captured", "transform.queued", "transform.completed", "artifact.saved"),
            *("llm.request", "llm.response", "llm.error", "tool.proposed", "tool.approved", "tool.executed"),
        }
        assert SECRET not in here.path.read_text()
        assert by_type["run.step"]["severity"] == "warning"
        assert by_type["run.step"]["payload"]["code"] == "PAGE_CRASHED"
        assert {event["run_id"] for event in events if event["type"].startswith("run.")} == {RUN}
        captured = by_type["source.captured"]
        assert (captured["collection_id"], captured["source_id"]) == ("col_1", "src_1")
        assert captured["payload"]["url"] == "https://example.com/?token=[redacted]&page=2"
        assert by_type["artifact.saved"]["artifact_id"] == "art_1"
        assert (by_type["llm.response"]["payload"]["status"], by_type["llm.error"]["payload"]["status"]) == (
            "truncated",
            "invalid_json",
        )
        proposed = by_type["tool.proposed"]
        assert (proposed["tool_call_id"], proposed["conversation_id"]) == (CALL, "c1")
        assert proposed["payload"]["arguments"]["query"]["chars"] == len(SECRET)
        assert proposed["payload"]["arguments"]["engine"] is True
        assert by_type["llm.request"]["timestamp"] < by_type["llm.response"]["timestamp"]
        assert here.path.stat().st_mode & 0o077 == 0


async def test_previews_are_there_for_who_wants_them(tmp_path: Path) -> None:
    async with opened(tmp_path) as here:
        line = kept.SourceCaptured(
            caller=ME,
            at=NOW,
            collection="col_1",
            job="job_1",
            source="src_1",
            version=1,
            url="https://example.com/",
            title="",
            content_hash="0",
            markdown="# Looms",
        )
        await here.write(subjects.COLLECTIONS, "source.col_1.src_1.1", line)
        async with here.log(previews=True).open():
            events = await here.until(lambda known: len(known) == 2)

        assert events[1]["payload"]["preview"] == "# Looms"


async def test_one_replica_writes_and_another_goes_on_without_a_gap_or_a_line_twice(tmp_path: Path) -> None:
    async with opened(tmp_path) as here:
        await here.write(subjects.LEDGER, state_topic(RUN), created())
        async with here.log().open():
            await here.until(lambda known: len(known) == 1)
            async with here.log().open():
                await here.steps(0, 5)
                await here.until(lambda known: len(known) == 6)
        await here.steps(5, 9)
        with here.path.open("ab") as file:
            file.write(b'{"journal":"ledger","line":9')  # it died in the middle of a line
        here.path.with_suffix(".positions").unlink()
        async with here.log().open():
            events = await here.until(lambda known: len(known) == 10)

        assert [event["line"] for event in events] == list(range(1, 11))


async def test_full_files_are_kept_five_times(tmp_path: Path) -> None:
    async with opened(tmp_path) as here:
        await here.write(subjects.LEDGER, state_topic(RUN), created())
        async with here.log(max_bytes=1_000).open():
            await here.steps(0, 60)
            await here.until(lambda known: bool(known) and known[-1]["line"] == 61)

        files = [here.path.with_name(f"events.jsonl.{number}") for number in range(KEPT, 0, -1)]
        lines = [event["line"] for file in (*files, here.path) for event in here.read(file)]
        assert lines == list(range(lines[0], 62))
        assert all(file.stat().st_size <= 1_000 for file in files)
        assert not here.path.with_name(f"events.jsonl.{KEPT + 1}").exists()


def test_the_keeper_reads_the_journals_that_are_logged() -> None:
    assert set(JOURNALS) <= set(Keeper.reads)
