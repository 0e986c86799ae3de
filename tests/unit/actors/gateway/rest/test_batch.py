"""Many pages over REST: an answer of bounded size, and options that no page could be read with are told at once."""

from __future__ import annotations

import msgspec
import pytest
from msgspec import UNSET

from actors.gateway.pages import BatchItem, BatchResult, ItemStatus, summary
from actors.gateway.rest.browse import MAX_REPLY_BYTES, fitted
from actors.gateway.translate import to_result
from protocol.browse import BrowseOptions
from protocol.faults import Code
from tests.unit.actors.gateway.rest.calling import client, error_of
from tests.unit.actors.gateway_data import FakeBus, browsed
from tests.unit.actors.page_data import URL


def read(size: int) -> BatchItem:
    return BatchItem(url=URL, status=ItemStatus.SUCCESS, result=to_result(browsed("x" * size), BrowseOptions()))


def batch(*sizes: int) -> BatchResult:
    items = tuple(read(size) for size in sizes)
    return BatchResult(items=items, summary=summary(items))


def test_what_fits_is_given_as_it_is() -> None:
    whole = batch(10, 10)

    assert fitted(whole) is whole


def test_pages_for_which_there_is_no_room_say_how_they_are_to_be_had() -> None:
    room = 10_000

    result = fitted(batch(100, 50_000, 200), room)

    statuses = [item.status for item in result.items]
    assert statuses == [ItemStatus.SUCCESS, ItemStatus.ERROR, ItemStatus.SUCCESS]
    assert (result.summary.success, result.summary.error) == (2, 1)
    left_out = result.items[1]
    assert (left_out.result, left_out.error is not UNSET) == (UNSET, True)
    assert left_out.error is not UNSET
    assert left_out.error.code is Code.CONTENT_TOO_LARGE
    assert [action.action for action in left_out.error.recommended_actions] == ["ask_again", "cut_pages"]
    assert len(msgspec.json.encode(result)) < room


async def test_the_answer_to_a_batch_is_bounded() -> None:
    page = browsed("x" * (MAX_REPLY_BYTES // 2))
    async with client(FakeBus(page)) as http:
        answer = await http.post("/api/browse/batch", json={"urls": [f"{URL}?{number}" for number in range(3)]})

    assert answer.status_code == 200
    assert len(answer.content) <= MAX_REPLY_BYTES
    assert [item["status"] for item in answer.json()["items"]] == ["success", "error", "error"]


@pytest.mark.parametrize("path", ["/api/browse", "/api/browse/batch", "/api/browse/preview", "/v1/fetch", "/v1/batch"])
async def test_a_login_is_used_by_those_alone_who_may_look_after_them(path: str) -> None:
    bus = FakeBus(browsed())
    pages = {"urls": [URL]} if path.endswith("batch") else {"url": URL}
    async with client(bus) as http:
        made = (await http.post("/api/keys", json={"name": "loom", "scopes": ["browse"]})).json()
        http.headers["Authorization"] = f"Bearer {made['key']}"
        answer = await http.post(path, json={**pages, "options": {"sessionProfile": "work"}})

    assert (answer.status_code, bus.calls) == (403, [])


@pytest.mark.parametrize("path", ["/api/browse/batch", "/v1/batch"])
async def test_options_that_contradict_each_other_end_the_batch_before_it_begins(path: str) -> None:
    bus = FakeBus(browsed())
    options = {"forceTier": "playwright", "maxCostTier": "intelligence"}
    async with client(bus) as http:
        answer = await http.post(path, json={"urls": [URL], "options": options})

    assert (answer.status_code, bus.calls) == (400, [])
    if path.startswith("/api"):
        assert error_of(answer).field == "options.forceTier"
