"""The template `multi_tab_compare` in a real browser: every difference that there is, and none that there is not."""

from __future__ import annotations

import secrets
from collections.abc import Generator
from typing import Any
from urllib.parse import urlencode

import anyio
import pytest

from protocol.browsers.operations import SESSION_PREFIX, CreateSession
from protocol.faults import Code
from protocol.runs.states import RunStatus
from tests.integration.templates.reading_system import IN_BROWSER, Running, running
from tests.requirements import requirement
from tests.support.sharing import Shared, inside, sharing

pytestmark = [pytest.mark.browser, pytest.mark.full]

COMPARE = "multi_tab_compare"
ENOUGH_S = 90.0
"""What two to five pages may take."""

PARAGRAPHS = (
    "Before a single row of cloth can be woven, the long threads have to be stretched over the loom.",
    "Each thread then goes through the eye of a heddle and a gap of the reed, and the shed opens.",
    "Most mistakes show within the first breadth of a hand, and it is quicker to unpick them.",
)


def page(title: str = "Looms", links: int = 3, paragraphs: tuple[str, ...] = PARAGRAPHS, menu: str = "Home") -> str:
    """Return the path of a page."""
    anchors = "".join(f"<a href='/notes/{number}'>Note {number}</a> " for number in range(links))
    words = "".join(f"<p>{one}</p>" for one in paragraphs)
    body = (
        f"<!doctype html><html lang=en><title>{title}</title><nav><ul><li><a href=/>{menu}</a></li></ul></nav>"
        f"<main><h1>About looms</h1>{words}<div>{anchors}</div></main></html>"
    )
    return f"/asked?{urlencode({'body': body})}"


async def compared(here: Running, *paths: str, **more: Any) -> Any:
    """Compare pages within the time that is allowed."""
    with anyio.fail_after(ENOUGH_S):
        ended = await here.run(COMPARE, {"urls": [here.site.url(path) for path in paths], **more})
    assert ended.status is RunStatus.SUCCEEDED, ended.fault
    return await here.whole(ended)


@pytest.fixture(scope="module")
def one_browser() -> Generator[Shared[Running]]:
    with sharing(running(IN_BROWSER, limit_s=None)) as one:
        yield one


@pytest.fixture
def it(one_browser: Shared[Running]) -> Generator[Shared[Running]]:
    yield one_browser
    one_browser.run(Running.anew)


@requirement("002.12.compare")
@pytest.mark.slow
@inside
async def test_every_known_difference_is_found_and_no_other(it: Running) -> None:
    other = (PARAGRAPHS[0], "Each thread is tied to the beam, and nothing else is done with it.", PARAGRAPHS[2])
    same = await compared(it, page(), page(menu="Start"), page(title="  LOOMS "))
    five = await compared(
        it, page(), page(title="Looms of today"), page(links=5), page(paragraphs=other), page(), concurrency=5
    )
    left = await it.sessions(0)

    assert same["summary"] == {"total": 3, "succeeded": 3, "failed": 0, "different": 0, "same": True}
    title, count, sections = five["diffs"]
    assert (title["same"], title["values"]) == (False, ["Looms", "Looms of today", "Looms", "Looms", "Looms"])
    assert (count["same"], count["delta"], count["values"][2] - count["values"][0]) == (False, 2, 2)
    assert (sections["same"], sections["changedPositions"]) == (False, [2])
    assert [value[2][:14] for value in sections["values"]] == [
        *["Each thread th"] * 3,
        "Each thread is",
        "Each thread th",
    ]
    assert [shot["tier"] for shot in five["snapshots"]] == ["playwright"] * 5
    assert left == ()


@requirement("002.6.partial")
@pytest.mark.slow
@inside
async def test_a_page_that_cannot_be_read_is_left_out_and_one_alone_is_no_comparison(it: Running) -> None:
    gone = it.site.url("/status/404")
    urls = [it.site.url(page()), gone, it.site.url(page(title="Other"))]
    partly = await it.run(COMPARE, {"urls": urls})
    alone = await it.run(COMPARE, {"urls": urls[:2]})

    assert (partly.status, partly.result["diffs"][0]["values"]) == (
        RunStatus.PARTIAL_SUCCESS,
        ["Looms", None, "Other"],
    )
    assert alone.status is RunStatus.FAILED
    assert alone.fault is not None
    assert alone.fault.code is Code.STEP_EXECUTION_FAILED
    assert len(alone.result["snapshots"]) == 2


@requirement("002.8.sessions")
@pytest.mark.slow
@inside
async def test_a_session_of_the_caller_is_worked_in_and_kept(it: Running) -> None:
    session = SESSION_PREFIX + secrets.token_urlsafe(16)
    await it.do(CreateSession(session_id=session))
    before = await it.tabs(session)
    urls = [it.site.url(page()), it.site.url(page(links=9))]
    ended = await it.run(COMPARE, {"urls": urls, "compare": {"fields": ["elementCount"]}}, session)

    assert ended.result["diffs"][0]["delta"] == 6
    assert await it.tabs(session) == before
    assert await it.sessions(1) == (session,)
