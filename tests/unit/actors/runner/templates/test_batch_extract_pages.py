"""The template `batch_extract_pages` over real markup: items, retries, bounds, and what is written of them."""

from __future__ import annotations

from typing import Any

import anyio
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from actors.runner.page_items import BRIEF_BYTES, MAX_ITEM_BYTES
from actors.runner.template import SessionUse, Stage
from actors.runner.templates.batch_extract_pages import BATCH, STEP, BatchInputs
from protocol.browsers.operations import CloseTab, CreateTab, GetPageContent, GetPageInfo, Navigate, WaitForStable
from protocol.codec import encode
from protocol.faults import Code
from protocol.runs.states import Mode
from protocol.tiers import RenderTier
from tests.requirements import requirement
from tests.unit.actors.runner.templates.fake_context import (
    BASE,
    PAGES,
    FakeStepContext,
    Shown,
    dropped,
    json_of,
    ladder,
    result_of,
    run,
    with_title,
)

ARTICLE = (PAGES / "article.html").read_text()
LOGIN = (PAGES / "login.html").read_text()
SESSION = "sess_" + "A" * 22


def inputs(*urls: str, **more: Any) -> BatchInputs:
    return msgspec.convert({"urls": urls, **more}, BatchInputs)


async def one(html: str, **more: Any) -> Any:
    """Read one page by the ladder."""
    asked = inputs(f"{BASE}/page", **more)
    outcomes = await run(BATCH, asked, FakeStepContext({f"{BASE}/page": ladder(html)}))
    return result_of(BATCH, asked, outcomes)["items"][0]


@requirement("002.3.templates")
def test_the_defaults_are_those_of_the_catalogue() -> None:
    asked = inputs("https://a.example")

    assert (asked.concurrency, asked.extract.page_info, asked.extract.content) == (3, True, True)
    assert (asked.extract.max_elements, asked.extract.max_content_length) == (50, 4_000)
    assert (BATCH.threshold, BATCH.limits.max_urls, BATCH.limits.max_concurrency) == (0.5, 1_000, 5)
    assert BATCH.session(asked) is SessionUse.NONE


@pytest.mark.parametrize(
    "wrong",
    [
        {"urls": []},
        {"urls": ["https://a.example"] * 1_001},
        {"urls": ["https://a.example"], "concurrency": 6},
        {"urls": ["https://a.example"], "extract": {"maxElements": 0}},
        {"urls": ["https://a.example"], "extract": {"maxContentLength": 50_001}},
        {"urls": ["https://a.example"], "depth": 2},
    ],
)
def test_inputs_beyond_the_limits_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(wrong, BatchInputs)


def test_few_pages_are_waited_for() -> None:
    assert BATCH.mode(inputs(*["https://a.example"] * 10)) is Mode.SYNC
    assert BATCH.mode(inputs(*["https://a.example"] * 11)) is Mode.ASYNC


def test_each_url_is_a_step_of_one_stage() -> None:
    asked = inputs("https://a.example", "https://b.example", concurrency=2)

    assert BATCH.stages(asked, in_session=False) == (Stage(steps=(STEP, STEP), at_once=2),)
    assert BATCH.stages(asked, in_session=True) == (Stage(steps=(STEP, STEP), at_once=2, in_tabs=True),)


async def test_a_page_is_told_with_its_words_its_kind_and_what_got_it() -> None:
    item = await one(ARTICLE)

    assert item["url"] == item["finalUrl"] == f"{BASE}/page"
    assert (item["title"], item["success"], item["tier"]) == ("How a loom is warped", True, "intelligence")
    assert (item["pageType"], item["pageInfo"]["type"]) == ("article", "article")
    assert item["content"].startswith("Before a single row of cloth")
    assert item["elementCount"] == item["pageInfo"]["elementCount"] == item["pageInfo"]["links"] > 0
    assert item["pageInfo"]["headings"] == 1
    assert 0 < item["confidence"] <= 1
    assert "error" not in item


async def test_sections_have_their_tag_and_the_heading_above_them() -> None:
    item = await one(ARTICLE)

    parts = [(one["tag"], one["text"][:20], one["heading"]) for one in item["contentSections"]]
    assert parts[0] == ("p", "Before a single row ", "")
    assert ("h2", "What can go wrong", "") in parts
    assert ("li", "Two threads are cros", "What can go wrong") in parts


async def test_fields_of_forms_are_elements() -> None:
    item = await one(LOGIN)

    assert item["pageInfo"]["forms"] >= 1
    assert item["pageInfo"]["elements"][0]["type"] == "input"


async def test_only_what_is_wanted_is_told() -> None:
    item = await one(ARTICLE, extract={"pageInfo": False, "content": False})

    assert set(item) == {"index", "url", "success", "finalUrl", "title", "tier", "confidence"}


async def test_content_and_elements_keep_to_their_limits() -> None:
    item = await one(ARTICLE, extract={"maxContentLength": 100, "maxElements": 1})

    assert len(item["content"]) <= 100
    assert item["truncated"] is True
    assert len(item["pageInfo"]["elements"]) == 1
    assert item["elementCount"] > 1


async def test_a_failed_page_is_a_failed_item() -> None:
    asked = inputs(f"{BASE}/good", f"{BASE}/gone", "no address", "  ", "file:///etc/passwd")
    context = FakeStepContext({f"{BASE}/good": ladder(ARTICLE), f"{BASE}/gone": Code.HTTP_NOT_FOUND})

    told = result_of(BATCH, asked, await run(BATCH, asked, context))

    assert told["summary"] == {"total": 5, "succeeded": 1, "failed": 4, "byTier": {"intelligence": 1}}
    assert [item["success"] for item in told["items"]] == [True, False, False, False, False]
    errors = [item["error"] for item in told["items"][1:]]
    assert [error["errorCode"] for error in errors] == ["EXECUTION_ERROR", *["INVALID_PARAMETER"] * 3]
    assert (errors[0]["code"], errors[0]["failedStep"], errors[0]["retryable"]) == ("HTTP_NOT_FOUND", "navigate", False)
    assert all(error["error"] and error["recoverHint"] for error in errors)


@pytest.mark.parametrize(
    ("status", "code"),
    [(404, "HTTP_NOT_FOUND"), (418, "HTTP_CLIENT_ERROR"), (429, "RATE_LIMIT_EXCEEDED"), (507, "HTTP_SERVER_ERROR")],
)
async def test_the_page_of_an_error_is_a_failed_item(status: int, code: str) -> None:
    asked = inputs(f"{BASE}/page")
    context = FakeStepContext({f"{BASE}/page": ladder(ARTICLE, status=status)})

    told = result_of(BATCH, asked, await run(BATCH, asked, context))

    assert told["items"][0]["error"]["code"] == code


@pytest.mark.parametrize(
    ("code", "tries"),
    [
        (Code.NETWORK_TIMEOUT, 2),
        (Code.INTERNAL_DEADLINE, 2),
        (Code.PAGE_CRASHED, 2),
        (Code.NETWORK_CONNECTION_FAILED, 1),
        (Code.HTTP_SERVICE_UNAVAILABLE, 1),
        (Code.BLOCKED_BOT_DETECTION, 1),
    ],
)
async def test_only_what_came_too_late_or_crashed_is_tried_again(code: Code, tries: int) -> None:
    context = FakeStepContext({f"{BASE}/page": code})

    await run(BATCH, inputs(f"{BASE}/page"), context)

    assert len(context.asked) == tries


async def test_a_page_gets_no_more_time_than_the_run_has_left() -> None:
    context = FakeStepContext({f"{BASE}/page": ladder(ARTICLE)}, left_ms=1_234)

    await run(BATCH, inputs(f"{BASE}/page"), context)

    assert context.asked[0][1].max_latency_ms == 1_234


async def test_each_tier_is_counted() -> None:
    asked = inputs(f"{BASE}/a", f"{BASE}/b", f"{BASE}/a")
    context = FakeStepContext({f"{BASE}/a": ladder(ARTICLE), f"{BASE}/b": ladder(ARTICLE, tier=RenderTier.LIGHTWEIGHT)})

    told = result_of(BATCH, asked, await run(BATCH, asked, context))

    assert told["summary"]["byTier"] == {"intelligence": 2, "lightweight": 1}
    assert [item["index"] for item in told["items"]] == [0, 1, 2]


async def test_what_was_never_begun_is_only_counted() -> None:
    asked = inputs(f"{BASE}/a", f"{BASE}/a", f"{BASE}/a")
    outcomes = await run(BATCH, asked, FakeStepContext({f"{BASE}/a": ladder(ARTICLE)}))

    told = result_of(BATCH, asked, dropped(outcomes, 1))

    assert told["summary"] == {"total": 3, "succeeded": 1, "failed": 0, "skipped": 2, "byTier": {"intelligence": 1}}
    assert len(told["items"]) == 1


# -- in a session of the caller ----------------------------------------------------------------------------------------


@requirement("002.8.window")
async def test_in_a_session_each_page_has_a_tab_which_is_named_and_closed() -> None:
    asked = inputs(f"{BASE}/a")
    context = FakeStepContext(tabs={f"{BASE}/a": Shown()}, session_id=SESSION)

    item = result_of(BATCH, asked, await run(BATCH, asked, context))["items"][0]

    assert context.done == [
        CreateTab(),
        Navigate(url=f"{BASE}/a", tab_id=1),
        WaitForStable(timeout=10_000, tab_id=1),
        GetPageInfo(max_elements=50, tab_id=1),
        GetPageContent(max_length=4_000, tab_id=1),
        CloseTab(tab_id=1),
    ]
    assert context.parts == [
        "create_tab",
        "navigate",
        "wait_for_stable",
        "get_page_info",
        "get_page_content",
        "close_tab",
    ]
    assert (item["tier"], item["pageType"], item["elementCount"]) == ("playwright", "article", 3)
    assert item["content"] == "- Home\n\n# Looms\n\nThey hold the warp.\n\nThey are old."
    assert item["contentSections"][1] == {"tag": "h1", "text": "Looms", "heading": "", "attention": 0.8}
    assert item["pageInfo"]["elements"][0]["id"] == "link_0"


async def test_the_dialogs_of_a_page_are_dismissed_and_a_page_that_never_stops_asking_is_left() -> None:
    asked = inputs(f"{BASE}/a", f"{BASE}/b")
    context = FakeStepContext(tabs={f"{BASE}/a": Shown(dialogs=2), f"{BASE}/b": Shown(dialogs=900)}, session_id=SESSION)

    told = result_of(BATCH, asked, await run(BATCH, asked, context))

    assert [item["success"] for item in told["items"]] == [True, False]
    assert told["items"][1]["error"]["failedStep"] == "wait_for_stable"
    assert context.open == {}


async def test_the_tab_of_a_page_that_fails_is_closed_and_another_one_opened() -> None:
    asked = inputs(f"{BASE}/a", f"{BASE}/b")
    context = FakeStepContext(tabs={f"{BASE}/a": Code.PAGE_CRASHED, f"{BASE}/b": Shown(status=503)}, session_id=SESSION)

    told = result_of(BATCH, asked, await run(BATCH, asked, context))

    assert (context.open, context.opened) == ({}, 3)
    assert [item["error"]["code"] for item in told["items"]] == ["PAGE_CRASHED", "HTTP_SERVICE_UNAVAILABLE"]
    assert [item["error"]["failedStep"] for item in told["items"]] == ["navigate", "navigate"]


async def test_the_tab_of_a_step_that_is_stopped_is_closed() -> None:
    context = FakeStepContext(session_id=SESSION, hangs=True)

    with anyio.fail_after(90):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run, BATCH, inputs(f"{BASE}/a"), context)
            await context.navigating.wait()
            tasks.cancel_scope.cancel()

    assert (context.open, context.opened) == ({}, 1)


# -- bounds and forms --------------------------------------------------------------------------------------------------


async def test_an_item_never_grows_beyond_its_bound() -> None:
    shown = Shown(elements=1_000, path="x" * 2_000, texts=("Looms", *["wörd" * 120] * 40))
    asked = inputs(f"{BASE}/a", extract={"maxContentLength": 50_000, "maxElements": 1_000})
    context = FakeStepContext(tabs={f"{BASE}/a": shown}, session_id=SESSION)

    item = result_of(BATCH, asked, await run(BATCH, asked, context))["items"][0]

    assert len(encode(item)) <= MAX_ITEM_BYTES
    assert (item["truncated"], item["elementCount"]) == (True, 1_000)
    assert 0 < len(item["pageInfo"]["elements"]) < 1_000
    assert len(item["contentSections"]) == 42


async def test_a_brief_result_leaves_out_the_words_and_then_the_last_items() -> None:
    asked = inputs(*[f"{BASE}/a"] * 1_000)
    (outcome,) = await run(BATCH, inputs(f"{BASE}/a"), FakeStepContext({f"{BASE}/a": ladder(ARTICLE)}))
    outcomes = [at_index(outcome, index) for index in range(1_000)]

    brief = BATCH.brief(result_of(BATCH, asked, outcomes))

    assert len(encode(brief)) <= BRIEF_BYTES
    assert set(brief["items"][0]).isdisjoint({"content", "contentSections", "pageInfo"})
    assert brief["items"][0]["truncated"] is True
    assert brief["summary"]["total"] == len(brief["items"]) + brief["itemsLeftOut"] == 1_000


def at_index(outcome: Any, index: int) -> Any:
    return structs.replace(outcome, index=index, output={**outcome.output, "index": index})


async def test_rows_are_as_wide_as_their_header() -> None:
    asked = inputs(f"{BASE}/a", f"{BASE}/b")
    outcomes = await run(BATCH, asked, FakeStepContext({f"{BASE}/a": ladder(ARTICLE)}))

    table = BATCH.table(result_of(BATCH, asked, outcomes))

    assert {len(row) for row in table.rows} == {len(table.header)}
    rows = [dict(zip(table.header, row, strict=True)) for row in table.rows]
    assert rows[0]["title"] == "How a loom is warped"
    assert (rows[1]["success"], rows[1]["errorCode"], rows[1]["title"]) == (False, "INVALID_PARAMETER", None)


async def test_words_of_a_page_are_no_markup_of_ours() -> None:
    evil = "| [click](javascript:x) <img src=x> ## `"
    html = "<title>T</title><main><h1>T</h1><pre>```\n# Not ours\n```</pre><p>One.</p><p>Two.</p></main>"
    asked = inputs(f"{BASE}/a")
    context = FakeStepContext({f"{BASE}/a": with_title(ladder(html), evil)})

    written = BATCH.markdown(result_of(BATCH, asked, await run(BATCH, asked, context)))

    escaped = r"\| \[click\](javascript:x) \<img src=x\> \#\# \`"
    assert f"| 1 | https://notes.example/a | {escaped} |" in written
    assert f"## 1. {escaped}" in written
    lines = written.split("\n")
    assert [line for line in lines if line.startswith("#")] == ["# Pages", f"## 1. {escaped}"]
    assert not any(line.startswith("```") for line in lines)


@given(title=st.text(), url=st.text(min_size=1, max_size=40))
def test_no_title_and_no_address_breaks_a_row(title: str, url: str) -> None:
    item = {"index": 0, "url": url, "success": True, "title": title, "tier": "intelligence", "content": title}
    result = {"summary": {"total": 1, "succeeded": 1, "failed": 0}, "items": [item]}

    lines = BATCH.markdown(json_of(result)).split("\n")

    rows = [line for line in lines if line.startswith("|")]
    assert len(rows) == 3
    assert rows[2].replace("\\\\", "").replace(r"\|", "").count("|") == 8
