"""The template `multi_tab_compare`: what is compared, how, and what comes of pages that cannot be read."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.runner.page_items import SectionTold
from actors.runner.template import SessionUse, Stage
from actors.runner.templates.multi_tab_compare import COMPARE, CompareInputs, top
from protocol.browsers.operations import CloseTab
from protocol.codec import encode
from protocol.faults import Code, FaultError
from protocol.runs.states import Mode, StepStatus
from tests.requirements import requirement
from tests.unit.actors.runner.templates.fake_context import BASE, FakeStepContext, Shown, dropped, result_of, run

A, B, C = f"{BASE}/a", f"{BASE}/b", f"{BASE}/c"


def inputs(*urls: str, **more: Any) -> CompareInputs:
    return msgspec.convert({"urls": urls, **more}, CompareInputs)


async def compared(*shown: Shown | Code, **more: Any) -> Any:
    """Compare pages, and give the result as JSON says it."""
    urls = [f"{BASE}/{number}" for number in range(len(shown))]
    asked = inputs(*urls, **more)
    outcomes = await run(COMPARE, asked, FakeStepContext(tabs=dict(zip(urls, shown, strict=True))))
    return result_of(COMPARE, asked, outcomes)


@requirement("002.3.templates")
def test_the_defaults_are_those_of_the_catalogue() -> None:
    asked = inputs(A, B)

    assert (asked.compare.fields, asked.compare.top_sections) == (("title", "elementCount", "topSections"), 3)
    assert (asked.compare.numeric_tolerance, asked.concurrency) == (0, 3)
    assert (COMPARE.threshold, COMPARE.limits.max_urls, COMPARE.max_timeout_ms) == (0.5, 10, 180_000)
    assert (COMPARE.mode(asked), COMPARE.session(asked)) == (Mode.SYNC, SessionUse.OWN)
    assert COMPARE.stages(asked, in_session=False) == (
        Stage(steps=("snapshot", "snapshot"), at_once=3, in_tabs=True),
        Stage(steps=("compare",)),
    )


@pytest.mark.parametrize(
    "wrong",
    [
        {"urls": [A]},
        {"urls": [A] * 11},
        {"urls": [A, B], "compare": {"fields": []}},
        {"urls": [A, B], "compare": {"fields": ["colour"]}},
        {"urls": [A, B], "compare": {"numericTolerance": -1}},
        {"urls": [A, B], "compare": {"topSections": 0}},
    ],
)
def test_inputs_beyond_the_limits_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(wrong, CompareInputs)


@pytest.mark.parametrize(
    ("off", "field"), [("pageInfo", "title"), ("pageInfo", "elementCount"), ("content", "topSections")]
)
def test_what_is_not_extracted_cannot_be_compared(off: str, field: str) -> None:
    with pytest.raises(FaultError) as caught:
        COMPARE.check(inputs(A, B, extract={off: False}, compare={"fields": [field]}))

    assert (caught.value.fault.code, caught.value.fault.field) == (
        Code.VALIDATION_INVALID_REQUEST,
        "inputs.compare.fields",
    )
    COMPARE.check(inputs(A, B, extract={off: False}, compare={"fields": _others(off)}))


def _others(off: str) -> list[str]:
    return ["topSections"] if off == "pageInfo" else ["title", "elementCount"]


async def test_pages_that_are_the_same_do_not_differ() -> None:
    told = await compared(Shown(), Shown())

    assert told["summary"] == {"total": 2, "succeeded": 2, "failed": 0, "different": 0, "same": True}
    assert [diff["same"] for diff in told["diffs"]] == [True, True, True]


async def test_every_difference_is_found_with_its_values_in_the_order_of_the_urls() -> None:
    told = await compared(
        Shown(title="Looms", elements=3, texts=("Looms", "They hold the warp.", "They are old.")),
        Shown(title="Looms today", elements=8, texts=("Looms", "They hold the weft.", "They are old.")),
    )

    title, count, sections = told["diffs"]
    assert title == {"field": "title", "same": False, "values": ["Looms", "Looms today"]}
    assert count == {"field": "elementCount", "same": False, "values": [3, 8], "delta": 5}
    assert (sections["same"], sections["changedPositions"]) == (False, [1])
    assert sections["values"][1] == ["Looms", "They hold the weft.", "They are old."]
    assert (told["summary"]["different"], told["summary"]["same"]) == (3, False)


async def test_case_and_blanks_of_titles_do_not_count() -> None:
    told = await compared(
        Shown(title="Straße der  Weber "), Shown(title="STRASSE DER WEBER"), compare={"fields": ["title"]}
    )

    assert told["diffs"] == [{"field": "title", "same": True, "values": ["Straße der  Weber ", "STRASSE DER WEBER"]}]


@pytest.mark.parametrize(("tolerance", "same"), [(0, False), (4, False), (5, True), (5.5, True)])
async def test_numbers_may_be_as_far_apart_as_the_tolerance_says(tolerance: float, same: bool) -> None:  # noqa: FBT001
    told = await compared(
        Shown(elements=3), Shown(elements=8), compare={"fields": ["elementCount"], "numericTolerance": tolerance}
    )

    assert (told["diffs"][0]["same"], told["diffs"][0]["delta"]) == (same, 5)


async def test_a_section_that_is_missing_is_a_change() -> None:
    told = await compared(Shown(texts=("Looms", "One.")), Shown(texts=("Looms",)), compare={"fields": ["topSections"]})

    assert told["diffs"][0]["changedPositions"] == [1]


async def test_only_the_first_sections_count() -> None:
    one, other = Shown(texts=("Looms", "One.", "Two.")), Shown(texts=("Looms", "One.", "Else."))

    assert (await compared(one, other, compare={"topSections": 2}))["summary"]["same"] is True
    assert (await compared(one, other, compare={"topSections": 3}))["summary"]["same"] is False


async def test_a_page_that_cannot_be_read_is_left_out_of_the_comparison() -> None:
    told = await compared(Shown(), Code.NETWORK_DNS_FAILED, Shown(title="Other"))

    assert told["summary"]["failed"] == 1
    assert [page["success"] for page in told["snapshots"]] == [True, False, True]
    assert told["diffs"][0]["values"] == ["Looms", None, "Other"]


async def test_of_one_page_alone_nothing_is_compared() -> None:
    asked = inputs(A, B)
    outcomes = await run(COMPARE, asked, FakeStepContext(tabs={A: Shown()}))

    assert [(one.name, one.status) for one in outcomes] == [
        ("snapshot", StepStatus.SUCCEEDED),
        ("snapshot", StepStatus.FAILED),
        ("compare", StepStatus.FAILED),
    ]
    # Half of the pages were read: that alone would be a partial success.
    assert (
        sum(one.status is StepStatus.SUCCEEDED for one in COMPARE.items(outcomes)) / len(COMPARE.items(outcomes)) < 0.5
    )
    assert result_of(COMPARE, asked, outcomes)["diffs"] == []


async def test_items_are_the_snapshots() -> None:
    outcomes = await run(COMPARE, inputs(A, B), FakeStepContext(tabs={A: Shown(), B: Shown()}))

    assert [one.index for one in COMPARE.items(outcomes)] == [0, 1]


async def test_every_page_has_a_tab_of_its_own_which_is_closed() -> None:
    context = FakeStepContext(tabs={A: Shown(), B: Shown()})

    await run(COMPARE, inputs(A, B, A), context)

    assert (context.open, context.opened) == ({}, 3)
    assert [done.tab_id for done in context.done if isinstance(done, CloseTab)] == [1, 2, 3]


async def test_a_run_that_was_stopped_tells_what_was_read() -> None:
    asked = inputs(A, B)
    outcomes = await run(COMPARE, asked, FakeStepContext(tabs={A: Shown(), B: Shown()}))

    told = result_of(COMPARE, asked, dropped(outcomes, 1))

    assert told["summary"] == {"total": 2, "succeeded": 1, "failed": 0, "skipped": 1}
    assert (len(told["snapshots"]), told["diffs"]) == (1, [])


@given(st.lists(st.tuples(st.text(max_size=30), st.floats(0, 1)), max_size=60), st.integers(1, 50))
def test_top_sections_are_sections_in_their_order(found: list[tuple[str, float]], most: int) -> None:
    parts = [SectionTold(tag="p", text=text, heading="", attention=attention) for text, attention in found]

    told = top(parts, most)

    plain = iter([" ".join(text.split()) for text, _ in found])
    assert len(told) <= most
    assert all(text in plain for text in told)


async def test_a_result_is_brief_in_rows_and_in_words() -> None:
    asked = inputs(A, B, C)
    shown: dict[str, Shown | Code] = {A: Shown(title="A | B"), B: Shown(title="# B"), C: Code.HTTP_NOT_FOUND}
    told = result_of(COMPARE, asked, await run(COMPARE, asked, FakeStepContext(tabs=shown)))

    table, written, brief = COMPARE.table(told), COMPARE.markdown(told), COMPARE.brief(told)

    assert {len(row) for row in table.rows} == {len(table.header)}
    assert len(table.rows) == 9
    assert table.rows[0] == ("title", False, None, None, 0, A, "A | B")
    assert table.rows[8][3:] == ("", 2, C, None)
    assert f"| 1 | {A} | A \\| B |" in written
    assert [line for line in written.split("\n") if line.startswith("#")] == [
        "# Comparison",
        "## title: different",
        "## elementCount: the same",
        "## topSections: the same",
    ]
    assert brief["diffs"] == told["diffs"]
    assert len(encode(brief)) < len(encode(told))
