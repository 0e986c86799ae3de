"""What is read of a page that a client has sent: its controls, its words, selectors, and what more is asked for."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.planner.interacting.negotiation import Negotiation
from actors.planner.interacting.selectors import selector_of
from actors.planner.interacting.sent_page import evidence_of, read_page, request_digest
from actors.planner.interacting.skeleton import nodes_of, read_skeleton
from actors.planner.page_evidence import field_facts
from protocol.acting.interact import (
    ActionFailure,
    ClientObservations,
    ClientVerification,
    InteractRequest,
)
from protocol.acting.steps import BeforeState
from protocol.acting.tree import PageTree, SemanticNode, SemanticNodeV2
from tests.requirements import requirement

URL = "https://shop.example/"
PLACED = (SemanticNode(id="1", role="btn", name="A", centre=(1, 1)),)
BARE = (SemanticNode(id="1", role="btn", name="A"),)
TREE = frozenset({"tree"})
HTML = """<html><head><title>Shop</title><style>b{}</style></head><body>
<h1>Looms</h1><div class="x"><p>Costs <b>12 euros</b></p><p style="display: none">Secret price</p></div>
<script>var a = "<a href=/evil>x</a>";</script>
<form><label for="q">Search for</label><input id="q" name="q" data-llm-id="4" value="jack" required>
<label>Password <input type="password" value="hunter2" data-llm-id="5"></label><input type="hidden" value="1">
<select name="size" data-llm-id="6"><option>S</option><option selected>M</option></select>
<input type="checkbox" aria-label="Gift" data-llm-id="7" checked>
<button data-testid="go" data-llm-id="8">Go <svg><text>svg</text></svg></button></form>
<div onclick="x()">Card</div><span tabindex="0">Focus</span><span tabindex="-1">Never</span>
<a>No link</a><a href="/basket" data-llm-id="9">Basket</a><div hidden><button>Hidden</button></div>
<div contenteditable="true" role="textbox" aria-label="Note"></div></body></html>"""


def ask(**other: Any) -> InteractRequest:
    given: dict[str, Any] = {"url": URL, **other}
    return InteractRequest(query="Click Go", **given)


def test_a_page_is_read_by_what_takes_a_click_or_the_focus() -> None:
    skeleton = read_skeleton(HTML)

    kept = [(one.ids[:1], one.role, one.name, one.value, one.states) for one in skeleton.elements]
    assert kept == [
        (("4",), "input", "Search for", "jack", ("required",)),
        (("5",), "input", "Password", "•••", ()),
        (("6",), "select", "size", "M", ()),
        (("7",), "checkbox", "Gift", "", ("checked",)),
        (("8",), "button", "Go", None, ()),
        ((), "button", "Card", None, ()),
        ((), "button", "Focus", None, ()),
        (("9",), "link", "Basket", None, ()),
        ((), "textbox", "Note", None, ()),
    ]
    words = [(role, text) for _, role, text in skeleton.words]
    assert ("h", "Looms") in words
    assert ("text", "12 euros") in words
    assert "Secret price" not in str(words)
    assert all("class" not in one.attributes for one in skeleton.elements)


def test_the_nodes_of_a_skeleton_stand_in_its_order() -> None:
    nodes = nodes_of(read_skeleton(HTML))

    assert [(one.id, one.role, one.name) for one in nodes if one.role in {"h", "inp", "btn", "sel", "chk", "link"}] == [
        ("w0", "h", "Looms"),
        ("4", "inp", "Search for"),
        ("5", "inp", "Password"),
        ("6", "sel", "size"),
        ("7", "chk", "Gift"),
        ("8", "btn", "Go"),
        ("n5", "btn", "Card"),
        ("n6", "btn", "Focus"),
        ("9", "link", "Basket"),
        ("n8", "inp", "Note"),
    ]


@pytest.mark.parametrize(
    ("node", "selector"),
    [
        (SemanticNode(id="8", role="btn", name="Go"), 'button[data-testid="go"]'),
        (SemanticNode(id="4", role="inp"), 'input[name="q"]'),
        (SemanticNode(id="5", role="inp"), 'input[type="password"]'),
        (SemanticNode(id="7", role="chk"), 'input[aria-label="Gift"]'),
        (SemanticNode(id="77", role="link", name="Basket"), '[data-llm-id="9"]'),
        (SemanticNode(id="99", role="btn", name="Other", selector="#own"), "#own"),
        (SemanticNode(id="f1_5", role="btn", name="Other"), '[data-llm-id="f1_5"]'),
    ],
)
def test_the_selector_is_by_what_lasts_longest(node: SemanticNode, selector: str) -> None:
    assert selector_of(node, read_skeleton(HTML)) == selector


@requirement("001.4.selectors")
def test_a_selector_that_several_answer_to_is_passed_over() -> None:
    html = (
        '<button data-testid="x" data-llm-id="1">A</button><button data-testid="x" name="b" data-llm-id="2">B</button>'
    )
    skeleton = read_skeleton(html)

    selectors = [selector_of(SemanticNode(id=name, role="btn"), skeleton) for name in ("1", "2")]
    assert selectors == ['[data-llm-id="1"]', 'button[name="b"]']


def test_a_tree_goes_first_and_the_words_of_the_page_beside_it() -> None:
    tree = (SemanticNode(id="8", role="btn", name="Go"),)
    alone = read_page(ask(interactive_tree=tree))
    with_dom = read_page(ask(interactive_tree=tree, dom=HTML))
    v2 = read_page(ask(semantic_nodes=(SemanticNodeV2(id="8", role="button", name="Go"),)))
    skeleton = read_page(ask(dom_mode="skeleton", skeleton_dom="<button data-llm-id='8'>Go</button>"))

    assert alone.tree.nodes == v2.tree.nodes == skeleton.tree.nodes == tree
    assert with_dom.tree.nodes[0] == tree[0]
    assert "12 euros" in [one.name for one in with_dom.tree.nodes]
    assert (alone.parts, with_dom.parts) == (TREE, TREE | {"dom", "skeleton"})
    assert alone.tree.hash == v2.tree.hash == with_dom.tree.hash


@requirement("001.6.fallback")
@pytest.mark.parametrize(
    "sent",
    [
        {"interactive_tree": (), "skeleton_dom": HTML},
        {"semantic_nodes": (), "dom": HTML},
        {"interactive_tree": (), "skeleton_dom": "<button data-llm-id='3'>Help</button>", "dom": HTML},
        {"interactive_tree": BARE, "dom": HTML},
        {"dom_mode": "skeleton", "skeleton_dom": "<button data-llm-id='3'>Help</button>", "dom": HTML},
    ],
)
def test_what_the_first_look_does_not_have_is_taken_from_the_next(sent: dict[str, Any]) -> None:
    page = read_page(ask(**sent))

    found = [one for one in page.tree.nodes if one.name == "Go"]
    assert [(one.id, one.role) for one in found] == [("8", "btn")]
    assert selector_of(found[0], page.skeleton) == 'button[data-testid="go"]'
    assert "12 euros" in [one.name for one in page.tree.nodes]


@requirement("001.6.v2")
@pytest.mark.parametrize(
    "sent",
    [
        {"semantic_nodes": (SemanticNodeV2(id="5", role="textbox", name="PIN", type="password", placeholder="4"),)},
        {"skeleton_dom": '<input aria-label="PIN" data-llm-id="5" type="password" placeholder="4">'},
    ],
)
def test_what_is_known_of_a_field_is_known_to_the_gate(sent: dict[str, Any]) -> None:
    facts = field_facts(read_page(ask(**sent)).tree, "5")

    assert facts
    assert (facts.label, facts.type, facts.placeholder) == ("PIN", "password", "4")


def test_an_unchanged_tree_is_the_one_of_the_round_before() -> None:
    nodes = (SemanticNode(id="8", role="btn", name="Go"),)
    before = BeforeState(url=URL, hash="h1", nodes=nodes)

    same, other = (read_page(ask(interactive_tree_hash=one), before) for one in ("h1", "h2"))
    assert (same.known, same.tree.nodes, same.tree.hash) == (True, nodes, "h1")
    assert (other.known, other.tree.nodes) == (False, ())


def test_what_a_client_has_seen_is_evidence() -> None:
    evidence = evidence_of(
        ask(
            last_action_error=ActionFailure(message="stale", code="STALE", element_id="f1_2"),
            last_action_status="failure",
            client_observations=ClientObservations(did_network_occur=True, did_dom_mutate=False),
            client_verification=ClientVerification(element_found=False, url_changed=True),
            verification_passed=False,
            errors_detected=("Invalid",),
            previous_url=URL,
        )
    )

    assert (evidence.status, evidence.error_code, evidence.error_message) == ("failure", "STALE", "stale")
    assert (evidence.network, evidence.mutation, evidence.url_changed, evidence.element_found) == (
        True,
        False,
        True,
        False,
    )
    assert (evidence.sentinel, evidence.errors, evidence.previous_url) == (False, ("Invalid",), URL)


def test_a_digest_is_that_of_all_that_was_sent() -> None:
    digests = {request_digest(*one) for one in (("a", ask()), ("b", ask()), ("a", ask(screenshot=None)), ("a", ask()))}
    assert len(digests) == 3


@requirement("001.6.filtered")
@pytest.mark.parametrize(
    ("query", "nodes", "more", "wanted"),
    [
        ("How much is the blue loom?", BARE, {}, ("full", False, False)),
        ("Which loom is cheapest?", BARE, {}, ("full", False, False)),
        ("Click the gear icon", PLACED, {}, ("hybrid", True, True)),
        ("Click the button in the corner", BARE, {}, ("hybrid", True, True)),
        ("Click the gear icon", PLACED, {"models": False}, ("full", False, False)),
        ("Click the button in the corner", PLACED, {}, None),
        ('Click "Top icon"', BARE, {}, None),
        ("Click Search", BARE, {}, None),
        ("Click Search", BARE, {"models": False}, ("full", False, False)),
        ("Click Search", BARE, {"filtered": True}, ("full", False, False)),
        ("Click Search", BARE, {"filtered": True, "solved": True}, None),
        ("Click Search", (), {}, ("skeleton", False, True)),
        ("How much is it?", BARE, {"solved": True}, None),
        ("How much is it?", BARE, {"sent": TREE | {"dom", "skeleton"}}, None),
        ("How much is it?", BARE, {"requested": frozenset({"dom"})}, None),
        ("Click the icon", BARE, {"requested": frozenset({"screenshot", "skeleton"})}, None),
        ("Click A", (), {"known": False, "sent": frozenset[str]()}, ("semantic", False, False)),
    ],
)
def test_more_is_asked_for_only_where_it_helps_and_once(
    query: str, nodes: tuple[SemanticNode, ...], more: dict[str, Any], wanted: tuple[str, bool, bool] | None
) -> None:
    page = PageTree(url=URL, nodes=nodes)
    facts: dict[str, Any] = {"sent": TREE, "models": True, **more}
    asked = Negotiation(query=query, page=page, **facts).wanted()

    assert (None if asked is None else (asked.mode, asked.screenshot, asked.skeleton)) == wanted


def test_nothing_is_asked_for_without_a_page() -> None:
    assert Negotiation(query="How much is it?", page=PageTree(url=""), sent=frozenset()).wanted() is None


MARKS = (
    *(
        "<a href=x>",
        "<button>",
        "</button>",
        "<label for=q>",
        "<label>",
        "</label>",
        "<input id=q value=v>",
        "<select>",
    ),
    *("<option selected>", "<textarea>", "<svg>", "<div onclick=x>", "</div>", "<!--", "&#0;"),
)
PIECES = st.sampled_from(MARKS)


@given(st.lists(PIECES | st.text(max_size=5), max_size=30))
def test_whatever_html_a_client_sends_is_read(pieces: list[str]) -> None:
    skeleton = read_skeleton("".join(pieces))
    nodes = nodes_of(skeleton)

    assert len(nodes) == len(skeleton.elements) + len(skeleton.words)
