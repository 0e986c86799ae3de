"""Texts through their tools: made once of a collection, kept, and handed out, to their owner alone."""

from __future__ import annotations

import csv
import io
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import msgspec
import pytest

from actors.actor import handlers
from actors.answerer.actor import Answerer
from actors.keeper.actor import Keeper
from actors.runner.actor import Runner
from actors.runner.text_files import SharedText
from protocol import subjects
from protocol.agent import MadeText, MakeText, TransformType
from protocol.answers import LOCAL, ServedBy
from protocol.collection_views import AskText, ListTexts, PackCollection, PackedCollection, TextInfo
from protocol.collections import (
    CollectionLine,
    TextAsked,
    TextDeleted,
    TextEnded,
    TextStarted,
    TextStatus,
    sources_hash,
    text_topic,
)
from protocol.documents import CollectionSource, Document, untrusted
from protocol.faults import Code, FaultError, fault
from protocol.packets import Assistant, Citation
from protocol.pages import is_capture_of
from protocol.policy import ToolErrorCode, ToolResult, ToolStatus
from protocol.texts import PrintedPage, PrintPage
from tests.requirements import requirement
from tests.support.collecting import ME, YOU, Collecting, alone, collecting

NOTES = {
    "La Rance": "# La Rance\n\nThe first large station was built in 1966.\n\n- Power: 240 MW\n- Country: France\n",
    "Sihwa": "# Sihwa\n\nIn 2011 a larger station was opened in Korea.\n\n- Power: 254 MW\n- Country: Korea\n",
}
SECRET = "sk-proj-4f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c"


class Texts:
    """A world of collections with somebody who makes texts, or writes down that he was asked."""

    def __init__(self, world: Collecting) -> None:
        self.world = world
        self.printed: list[str] = []
        self.makes: list[MakeText] = []
        self.failures: list[FaultError] = []
        self.hold: anyio.Event | None = None

    async def print(self, page: PrintPage) -> PrintedPage:
        self.printed.append(page.html)
        return PrintedPage(pdf=b"%PDF-1.7")

    async def make(self, request: MakeText) -> MadeText:
        self.makes.append(request)
        if self.hold is not None:
            await self.hold.wait()
        if self.failures:
            raise self.failures.pop(0)
        cited = (Citation(source_id="src_1", url="https://tides.example/", quote="a quote"),)
        assistant = Assistant(markdown=f"Text {len(self.makes)} [1]", citations=cited)
        return MadeText(title="Made", assistant=assistant, sources=(), served_by=ServedBy(provider=LOCAL))

    async def pack(self, request: PackCollection) -> PackedCollection:
        view = await self.world.view(request.collection, request.caller)
        infos = [one for one in view.sources if not request.only or one.id in request.only]
        contents = [await self.world.source(one.id, caller=request.caller) for one in infos]
        documents: list[Document[Any]] = [
            untrusted(
                f"doc:{one.info.id}",
                CollectionSource(
                    collection_id=request.collection,
                    source_id=one.info.id,
                    url=one.info.url,
                    title=one.info.title,
                    captured_at=datetime(2026, 1, 1, tzinfo=UTC),
                    markdown=one.markdown,
                ),
            )
            for one in contents
        ]
        return PackedCollection(
            documents=tuple(documents), packed=(), hash=sources_hash(one.content_hash for one in contents)
        )

    async def collection(self, notes: dict[str, str] = NOTES) -> str:
        collection = await self.world.create("Tides")
        sources = [{"type": "note", "title": title, "text": text} for title, text in notes.items()]
        await self.world.tool("collection.add_sources", collectionId=collection, sources=sources)
        return collection

    async def text(self, result: ToolResult, caller: str = ME) -> TextInfo:
        return await self.world.bus.call(subjects.TEXT_GET, AskText(caller=caller, id=result.payload["artifactId"]))

    async def lines(self, result: ToolResult) -> list[CollectionLine]:
        topic = text_topic(result.payload["artifactId"])
        return [line.value async for line in self.world.journal.read(topic)]

    async def file(self, result: ToolResult) -> bytes:
        return await (await self.world.bus.objects(subjects.CAPTURES)).get(result.payload["name"])


@asynccontextmanager
async def texting(folder: Path, *, answerer: bool = False, runner: bool = True) -> AsyncGenerator[Texts]:
    with anyio.fail_after(90):
        async with AsyncExitStack() as stack:
            world = await stack.enter_async_context(alone(folder))
            texts = Texts(world)
            await world.bus.serve(subjects.PRINT, texts.print, at_once=4)
            if not any(one.subject is subjects.COLLECTION_PACK for one in handlers(Keeper)):
                await world.bus.serve(subjects.COLLECTION_PACK, texts.pack, at_once=4)
            if answerer:
                await stack.enter_async_context(world.replica(Answerer, "n1"))
            else:
                await world.bus.serve(subjects.MAKE_TEXT, texts.make, at_once=4)
            await stack.enter_async_context(world.replica(Keeper, "k1"))
            if runner:
                await stack.enter_async_context(world.replica(Runner, "r1"))
            yield texts


def kinds(lines: list[CollectionLine]) -> list[type[CollectionLine]]:
    return [type(line) for line in lines]


@requirement("003.tools.collections")
async def test_a_text_is_made_of_a_collection_and_kept(tmp_path: Path) -> None:
    async with texting(tmp_path, answerer=True) as texts:
        collection = await texts.collection()
        result = await texts.world.tool("transform.run", collectionId=collection, type="timeline", config={"count": 5})
        info = await texts.text(result)
        listed = await texts.world.bus.call(subjects.TEXT_LIST, ListTexts(caller=ME, collection=collection))

        assert (result.status, result.payload["status"], result.payload["type"]) == (
            ToolStatus.OK,
            "completed",
            "timeline",
        )
        assert result.payload["markdown"] == info.content_markdown
        assert info.content_markdown == (
            "- **1966:** The first large station was built in 1966. [1]\n"
            "- **2011:** In 2011 a larger station was opened in Korea. [2]"
        )
        assert [one.quote for one in info.citations] == [
            "The first large station was built in 1966.",
            "In 2011 a larger station was opened in Korea.",
        ]
        assert {one.source_id for one in info.citations} == set(info.source_ids)
        assert (info.served_by, info.config) == (LOCAL, {"count": 5})
        assert result.payload["whyLocal"] == info.why_local != ""
        assert [(one.id, one.content_markdown) for one in listed.artifacts] == [(info.id, "")]
        assert texts.world.changes[-1].event == "text"


@pytest.mark.slow
async def test_the_same_of_the_same_sources_is_made_once(tmp_path: Path) -> None:
    async with texting(tmp_path) as texts:
        collection = await texts.collection()
        arguments: dict[str, Any] = {"collectionId": collection, "type": "report"}
        texts.hold = anyio.Event()
        results = list[ToolResult]()

        async def run() -> None:
            results.append(await texts.world.tool("transform.run", **arguments))

        async with anyio.create_task_group() as tasks:
            for _ in range(3):
                tasks.start_soon(run)
            while not texts.makes:
                await anyio.lowlevel.checkpoint()
            texts.hold.set()
        later = await texts.world.tool("transform.run", **arguments)
        other = await texts.world.tool("transform.run", **arguments, config={"count": 2})
        again = await texts.world.tool("transform.run", **arguments, config={"again": True})
        await texts.world.tool(
            "collection.add_sources",
            collectionId=collection,
            sources=[{"type": "note", "text": "Further words of it."}],
        )
        changed = await texts.world.tool("transform.run", **arguments)

        ids = [one.payload["artifactId"] for one in (*results, later, other, again, changed)]
        assert len(set(ids[:4])) == 1
        assert len({ids[0], *ids[4:]}) == 4
        assert len(texts.makes) == 4
        assert kinds(await texts.lines(later)) == [TextAsked, TextStarted, TextEnded]


async def test_what_fails_for_a_while_is_tried_again_and_what_fails_for_good_is_said(tmp_path: Path) -> None:
    async with texting(tmp_path) as texts:
        collection = await texts.collection()
        texts.failures = [FaultError(fault(Code.INTERNAL_BUSY))]
        first = await texts.world.tool("transform.run", collectionId=collection, type="outline")
        texts.failures = [FaultError(fault(Code.CONTENT_EMPTY, "The sources define nothing."))]
        second = await texts.world.tool("transform.run", collectionId=collection, type="quiz")
        third = await texts.world.tool("transform.run", collectionId=collection, type="quiz")

        assert first.payload["status"] == "completed"
        assert kinds(await texts.lines(first)) == [TextAsked, TextStarted, TextStarted, TextEnded]
        assert (second.status, second.code) == (ToolStatus.ERROR, ToolErrorCode.NO_CONTEXT)
        assert second.fault is not None
        assert second.fault.message == "The sources define nothing."
        assert third.payload["status"] == "completed"


@pytest.mark.slow
async def test_what_a_dead_replica_began_another_one_makes_once(tmp_path: Path) -> None:
    async with texting(tmp_path, runner=False) as texts:
        texts.hold = anyio.Event()
        async with texts.world.replica(Runner, "r1"):
            collection = await texts.collection()
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_asked, texts, collection)
                while not texts.makes:
                    await anyio.lowlevel.checkpoint()
                tasks.cancel_scope.cancel()
        texts.hold.set()
        async with texts.world.replica(Runner, "r2"):
            result = await texts.world.tool("transform.run", collectionId=collection, type="report")

        lines = await texts.lines(result)
        assert result.payload["status"] == "completed"
        assert [one.replica for one in lines if isinstance(one, TextStarted)] == ["r1", "r2"]
        assert kinds(lines).count(TextEnded) == 1


async def _asked(texts: Texts, collection: str) -> None:
    await texts.world.tool("transform.run", collectionId=collection, type="report")


async def test_what_is_asked_for_wrongly_is_named(tmp_path: Path) -> None:
    async with texting(tmp_path) as texts:
        collection = await texts.collection({})
        of = {"collectionId": collection}
        results = [
            await texts.world.tool("transform.run", **of, type="poem"),
            await texts.world.tool("transform.run", **of, type="quiz", config={"choices": 9}),
            await texts.world.tool("transform.run", **of, type="quiz", config={"coutn": 9}),
            await texts.world.tool("transform.run", collectionId="col_nobody", type="quiz"),
            await texts.world.tool("transform.run", YOU, **of, type="quiz"),
            await texts.world.tool("transform.run", **of, type="quiz"),
        ]

        messages = [one.fault.message if one.fault else "" for one in results]
        assert "type: there is no 'poem', but comparison, timeline" in messages[0]
        assert "$.choices" in messages[1]
        assert "`coutn`" in messages[2]
        assert [one.code for one in results[3:]] == [
            ToolErrorCode.NOT_FOUND,
            ToolErrorCode.NOT_FOUND,
            ToolErrorCode.NO_CONTEXT,
        ]


@requirement("003.tools.app")
async def test_types_are_listed_with_the_schemas_of_their_configs(tmp_path: Path) -> None:
    async with collecting(tmp_path) as world:
        result = await world.tool("transform.list_types")

    types = {one["type"]: one for one in result.payload["types"]}
    assert list(types) == [kind.value for kind in TransformType]
    assert types["quiz"]["config"]["properties"]["choices"]["maximum"] == 6


@requirement("003.tools.app")
async def test_a_text_is_kept_once_without_secrets_unless_that_is_wanted(tmp_path: Path) -> None:
    async with collecting(tmp_path) as world:
        texts = Texts(world)
        markdown = f"# Notes\n\nThe key is {SECRET}."
        call = "call_0123456789abcdef0123"
        first = await world.tool("artifact.save", ME, call, title="Notes", markdown=markdown, tags=["a"])
        same = await world.tool("artifact.save", ME, call, title="Notes", markdown=markdown, tags=["a"])
        plain = await world.tool("artifact.save", title="Notes", markdown=markdown, redaction="none")
        long = await world.tool("artifact.save", title="Long", markdown="a" * 400_001)
        opened = await world.tool("artifact.open", artifactId=first.payload["artifactId"].replace("_", ":", 1))
        shown = await world.tool("artifact.open", artifactId=first.payload["artifactId"], target="browser")
        strange = await world.tool("artifact.open", YOU, artifactId=first.payload["artifactId"])

        assert first == same
        assert len(await texts.lines(first)) == 1
        assert (first.payload["redacted"], plain.payload["redacted"]) == (True, False)
        assert SECRET not in (await texts.text(first)).content_markdown
        assert SECRET in (await texts.text(plain)).content_markdown
        assert (await texts.text(first)).tags == ("a",)
        assert long.code is ToolErrorCode.INVALID_ARGUMENTS
        assert opened.payload["markdown"] == "# Notes\n\nThe key is [redacted]."
        assert "markdown" not in shown.payload
        assert shown.payload["newTab"] is True
        assert strange.code is ToolErrorCode.NOT_FOUND
        with pytest.raises(FaultError):
            await texts.text(first, YOU)


@requirement("003.tools.app")
async def test_a_text_is_handed_out_in_each_format(tmp_path: Path) -> None:
    table = "## Ends\n\n| Name | Sum |\n|---|---|\n| =1+1 | a \\| b |\n| **Bold** | -3 |\n"
    async with texting(tmp_path) as texts:
        saved = await texts.world.tool("artifact.save", title="../Q3: <ends>", markdown=table)
        artifact = saved.payload["artifactId"]

        async def shared(form: str, **more: Any) -> ToolResult:
            return await texts.world.tool("artifact.share", artifactId=artifact, format=form, **more)

        files = {form: await shared(form) for form in ("markdown", "text", "json", "csv", "pdf")}
        contents = {form: await texts.file(result) for form, result in files.items()}

        assert [one.payload["fileName"] for one in files.values()] == [
            f"Q3 ends{ending}" for ending in (".md", ".txt", ".json", ".csv", ".pdf")
        ]
        assert all(is_capture_of(one.payload["name"], ME) for one in files.values())
        assert not is_capture_of(files["pdf"].payload["name"], YOU)
        assert contents["markdown"].decode() == f"# ../Q3: \\<ends\\>\n\n{table.strip()}\n"
        assert contents["text"].decode() == "../Q3: <ends>\nEnds\nName Sum\n=1+1 a | b\nBold -3\n"
        assert msgspec.json.decode(contents["json"], type=SharedText).markdown == table
        assert list(csv.reader(io.StringIO(contents["csv"].decode("utf-8-sig")))) == [
            ["Name", "Sum"],
            ["'=1+1", "a | b"],
            ["Bold", "'-3"],
        ]
        assert contents["pdf"] == b"%PDF-1.7"
        assert "<td>=1+1</td>" in texts.printed[0]


async def test_a_clipboard_has_the_words_and_a_share_sheet_is_refused_with_a_way_out(tmp_path: Path) -> None:
    async with texting(tmp_path) as texts:
        saved = await texts.world.tool("artifact.save", title="CON", markdown="- one [1]\n- =two\n")
        of = {"artifactId": saved.payload["artifactId"]}
        clipboard = await texts.world.tool("artifact.share", **of, format="csv", target="clipboard")
        named = await texts.world.tool("artifact.share", **of, format="text", filename="a/b\u202e\x00.txt")
        sheet = await texts.world.tool("artifact.share", **of, format="text", target="share_sheet")
        printed = await texts.world.tool("artifact.share", **of, format="pdf", target="clipboard")
        strange = await texts.world.tool("artifact.share", YOU, **of, format="text")

        assert clipboard.payload["text"] == "\ufeffsection,text\r\n,one [1]\r\n,'=two\r\n"
        assert clipboard.payload["fileName"] == f"{of['artifactId']}.csv"
        assert named.payload["fileName"] == "a b.txt"
        assert sheet.fault is not None
        assert [one.action for one in sheet.fault.actions] == ["share_as_file"]
        assert [one.code for one in (sheet, printed, strange)] == [
            ToolErrorCode.INVALID_ARGUMENTS,
            ToolErrorCode.INVALID_ARGUMENTS,
            ToolErrorCode.NOT_FOUND,
        ]


async def test_a_text_that_is_deleted_is_gone_from_the_journal_too(tmp_path: Path) -> None:
    async with collecting(tmp_path) as world:
        texts = Texts(world)
        saved = await world.tool("artifact.save", title="Notes", markdown="Words.")
        strange = await world.tool("artifact.delete", YOU, artifactId=saved.payload["artifactId"])
        deleted = await world.tool("artifact.delete", artifactId=saved.payload["artifactId"])

        assert strange.code is ToolErrorCode.NOT_FOUND
        assert deleted.status is ToolStatus.OK
        assert kinds(await texts.lines(saved)) == [TextDeleted]
        with pytest.raises(FaultError):
            await texts.text(saved)


@pytest.mark.slow
async def test_a_table_of_texts_follows_from_the_journal(tmp_path: Path) -> None:
    async with texting(tmp_path) as texts:
        collection = await texts.collection()
        made = await texts.world.tool("transform.run", collectionId=collection, type="report")
        before = await texts.text(made)
        async with texts.world.replica(Keeper, "k2"):
            listed = await texts.world.bus.call(subjects.TEXT_LIST, ListTexts(caller=ME))
            strange = await texts.world.bus.call(subjects.TEXT_LIST, ListTexts(caller=YOU))
            after = await texts.text(made)

        assert before == after
        assert before.status is TextStatus.COMPLETED
        assert (listed.total, strange.total) == (1, 0)
