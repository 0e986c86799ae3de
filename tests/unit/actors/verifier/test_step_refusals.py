"""A step is not done where the page itself says so: in words, by a field that it marks, by the status of an error."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import structs

from protocol.acting.actions import ActionCall
from protocol.acting.steps import BlockerKind
from protocol.acting.tree import SemanticNode
from tests.unit.actors.verifier.test_steps import CITY, CLICK, NAME, PAGE, call, changed, judged, node, state

WORDS = (40.0, 110.0)
"""Where a message stands that is beside a field."""

REFUSALS: dict[str, tuple[tuple[SemanticNode, ...], dict[str, Any], str]] = {
    "it asks for something beside a field": (
        changed(node(8, "text", "Choose a city from the list", WORDS)), {}, "Choose a city from the list",
    ),
    "it says who may": (
        changed(node(8, "text", "Only owners can do this.", (40, 230))), {}, "Only owners can do this.",
    ),
    "it marks another field": (changed(structs.replace(CITY, state="invalid")), {}, "City"),
    "it came with a status of an error": (
        (node(20, "h", "Back soon"),), {"url": "https://shop.example/usage", "status": 503}, "503, Back soon",
    ),
    "its title is a status of an error": (
        (node(20, "h", "Page not found"),), {"url": "https://shop.example/nope", "title": "404"}, "Page not found",
    ),
}  # fmt: skip

TAKEN: dict[str, tuple[ActionCall, tuple[SemanticNode, ...]]] = {
    "a next step that asks for what it brings": (
        CLICK, changed(node(8, "text", "Choose a date", WORDS), node(9, "inp", "Date", (40, 130))),
    ),
    "a choice beside which it asks for another": (
        call("click", node(3, "chk", "I agree")),
        changed(node(3, "chk", "I agree", state="checked"), node(8, "text", "Select a city", WORDS)),
    ),
    "what it says of an empty list": (CLICK, changed(node(8, "text", "You don't have any items", (40, 230)))),
}  # fmt: skip

REWRITTEN = (("abcdefgh", "abcde"), ("12ab34", "1234"))


@pytest.mark.parametrize(("nodes", "fields", "words"), REFUSALS.values(), ids=REFUSALS)
def test_what_a_page_refuses_is_not_done_and_its_words_are_the_last(
    nodes: tuple[SemanticNode, ...], fields: dict[str, Any], words: str
) -> None:
    verdict = judged(CLICK, state(*nodes, **fields), final=True)

    assert (verdict.succeeded, verdict.task_done, verdict.refused) == (False, False, True)
    assert words in verdict.evidence[-1]


@pytest.mark.parametrize(("action", "nodes"), TAKEN.values(), ids=TAKEN)
def test_what_only_looks_like_a_refusal_is_none(action: ActionCall, nodes: tuple[SemanticNode, ...]) -> None:
    verdict = judged(action, state(*nodes))

    assert (verdict.succeeded, verdict.refused) == (True, False), verdict


@pytest.mark.parametrize(("wanted", "held"), REWRITTEN)
def test_a_field_that_has_made_something_else_of_a_value_is_quoted(wanted: str, held: str) -> None:
    verdict = judged(call("setValue", NAME, value=wanted), state(*changed(structs.replace(NAME, value=held))))

    assert (verdict.succeeded, verdict.confidence < 0.1) == (False, True)
    assert repr(held) in verdict.evidence[-1]


def test_the_status_of_an_error_names_what_stands_in_the_way() -> None:
    after = state(*PAGE, url="https://shop.example/usage", status=503)

    verdict = judged(CLICK, after)

    assert verdict.blocker is not None
    assert (verdict.blocker.kind, "503" in verdict.blocker.words) == (BlockerKind.PAGE_ERROR, True)
