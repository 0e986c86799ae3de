"""The page as short nodes (001 §6): what can be acted on, by which name, where, and the words beside it."""

# ruff: noqa: E501 - markup and scripts stand as a page has them

from __future__ import annotations

import json
from collections.abc import Generator
from typing import Any

import msgspec
import pytest

from actors.fetchers.playwright.tab import Tab
from actors.fetchers.playwright.view.documents import main_document
from protocol.acting.tree import PageTree, SemanticNode
from tests.integration.playwright.markup import page
from tests.integration.playwright.viewing import Viewing, viewing

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture(scope="module")
def web() -> Generator[Viewing]:
    with viewing() as running:
        yield running


def short(tree: PageTree) -> list[tuple[str, str, str]]:
    """Return role, name and context of each node."""
    return [(node.role, node.name, node.context) for node in tree.nodes]


def named(tree: PageTree, name: str) -> SemanticNode:
    """Return the one node of a name."""
    (found,) = (node for node in tree.nodes if node.name == name)
    return found


def test_controls_and_the_words_beside_them_come_in_the_order_of_the_page(web: Viewing) -> None:
    web.show(
        """<h1>Orders</h1><label>Name <input value=Bob></label><input type=password aria-label=Key value=hidden>
        <select aria-label=Size><option>Small<option selected>Large</select><input type=checkbox checked aria-label=Gift>
        <table><tr><th>Item<th>Price</tr><tr><td>Pen<td>$3<td><button>Buy</button></tr><tr><td>Ink<td>$4<td><button disabled>Buy</button></tr></table>
        <p>See <a href=/terms>the terms</a> first.</p><div class="like-btn icon" style="width:20px;height:20px" onclick="1"></div>"""
    )
    tree = web.tree()

    assert short(tree) == [
        ("h", "Orders", ""),
        ("inp", "Name", ""),
        ("inp", "Key", ""),
        ("sel", "Size", "Small | Large"),
        ("chk", "Gift", ""),
        ("text", "Item", ""),
        ("text", "Price", ""),
        ("text", "Pen", "Item"),
        ("text", "$3", "Price"),
        ("btn", "Buy", "Pen"),
        ("text", "Ink", "Item"),
        ("text", "$4", "Price"),
        ("btn", "Buy", "Ink"),
        ("text", "See the terms first.", ""),
        ("link", "the terms", ""),
        ("btn", "like btn", ""),
    ]
    assert [named(tree, name).value for name in ("Name", "Key", "Size")] == ["Bob", "********", "Large"]
    assert named(tree, "Gift").states == {"checked"}
    assert tree.nodes[12].states == {"disabled"}
    assert web.at(tree.elements[tree.nodes[9].id], "e => e.closest('tr').cells[0].textContent") == "Pen"


def test_only_what_the_window_shows_is_told_unless_more_is_asked_for(web: Viewing) -> None:
    web.show("<button>Near</button><div style='height:3000px'></div><button>Far</button><p>Below</p>")

    assert [node.name for node in web.tree().nodes] == ["Near"]
    assert [node.name for node in web.tree(everywhere=True).nodes] == ["Near", "Far", "Below"]
    assert web.tree().scroll_position == "0%"
    web.run("scrollTo(0, 5000)")
    assert [node.name for node in web.tree().nodes] == ["Far", "Below"]
    assert web.tree().scroll_position == "100%"


def test_a_point_is_one_that_is_hit_and_what_is_covered_says_so(web: Viewing) -> None:
    web.show(
        """<style>body{margin:0} button{position:absolute;left:0;width:200px;height:40px} i{position:absolute;background:#ccc}</style>
        <button style="top:0">Half</button><i style="left:60px;top:0;width:140px;height:40px"></i>
        <button style="top:100px">Whole</button><i style="left:0;top:100px;width:200px;height:40px"></i>"""
    )
    tree = web.tree()
    half, whole = named(tree, "Half"), named(tree, "Whole")

    assert half.centre is not None
    assert web.run(f"document.elementFromPoint({half.centre[0]}, {half.centre[1]}).textContent") == "Half"
    assert (half.occluded, whole.occluded) == (False, True)


def test_what_scrolls_says_how_far_and_whether_more_follows(web: Viewing) -> None:
    rows = "".join(f"<li>Row {number}</li>" for number in range(40))
    web.show(f"<ul id=cart-items style='height:100px;overflow:auto'>{rows}</ul>")
    (box,) = web.tree().scrollable_containers
    web.run("document.querySelector('ul').scrollTo(0, 10000)")
    tree = web.tree()
    (end,) = tree.scrollable_containers

    assert (box.depth, box.has_more) == ("0%", True)
    assert (end.id, end.depth, end.has_more) == (box.id, "100%", False)
    assert tree.nodes[-1].name == "Row 39"


def test_what_was_scrolled_past_within_the_page_stays_part_of_it(web: Viewing) -> None:
    rows = "".join(f"<div style='height:60px'>Row {row} <button>Take {row}</button></div>" for row in range(12))
    web.show(
        f"<div id=list style='height:150px;overflow:auto'>{rows}</div><button style='position:absolute;left:-900px'>Away</button>"
    )
    web.run("list.scrollTop = 600")
    names = [node.name for node in web.tree(everywhere=True).nodes if node.role == "btn"]

    assert names == [f"Take {row}" for row in range(12)]


def test_the_entries_of_a_menu_that_listens_for_them_all_are_told_each(web: Viewing) -> None:
    web.show(
        "<ul id=hints tabindex=0><li tabindex=-1>Rochester<li tabindex=-1>Hagerstown</ul><p tabindex=-1>Only words</p>"
    )
    roles = {node.name: node.role for node in web.tree().nodes}

    assert roles == {"Rochester": "btn", "Hagerstown": "btn", "Only words": "text"}


def test_drawings_tell_shape_size_and_colour(web: Viewing) -> None:
    web.show(
        """<svg width=200 height=100 style="position:absolute;left:0;top:0"><circle cx=20 cy=20 r=10 fill=blue></circle>
        <rect x=50 y=10 width=30 height=20 fill="#ff0000" onclick=1></rect><polygon points="100,10 120,40 80,40" fill=green></polygon>
        <text x=10 y=80>seven</text></svg>"""
    )
    tree = web.tree(colours=True)

    assert [(node.role, node.shape, node.colour) for node in tree.nodes] == [
        ("img", "circle", "blue #0000ff"),
        ("btn", "rect", "red #ff0000"),
        ("img", "triangle", "green #008000"),
        ("text", "text", "black #000000"),
    ]
    assert tree.nodes[0].box == (10, 10, 20, 20)
    assert tree.nodes[3].name == "seven"


def test_frames_and_shadow_roots_are_part_of_it_where_they_stand(web: Viewing) -> None:
    inner = f"http://localhost:{web.site.port}{page('<body style=margin:0><button>Pay</button>')}"
    web.show(
        f"""<p>Before</p><iframe title=Card width=300 height=60 style="position:absolute;left:50px;top:100px;border:0" src="{inner}"></iframe>
        <div id=host></div><script>host.attachShadow({{mode: 'open'}}).innerHTML = '<button>Inside</button>'</script>"""
    )
    tree = web.tree()
    pay = named(tree, "Pay")

    assert [node.name for node in tree.nodes] == ["Before", "Pay", "Inside"]
    assert (pay.frame, pay.id[:3]) == (1, "f1_")
    assert pay.centre is not None
    assert pay.centre[0] > 50
    assert pay.centre[1] > 100
    assert web.at(tree.elements[pay.id], "e => e.textContent") == "Pay"


def test_what_does_not_fit_comes_after_what_the_query_is_about(web: Viewing) -> None:
    web.show("".join(f"<button>Thing {number}</button>" for number in range(80)))
    first = web.tree(query="open thing 70", max_tokens=200)
    rest = web.tree(query="open thing 70", max_tokens=200, after=first.next)

    assert "Thing 70" in [node.name for node in first.nodes]
    assert [node.centre for node in first.nodes] == sorted(
        [node.centre for node in first.nodes], key=lambda at: (at[1], at[0]) if at else (0, 0)
    )
    assert first.tokens <= 200
    assert first.left_out == 80 - len(first.nodes)
    assert not {node.id for node in first.nodes} & {node.id for node in rest.nodes}
    assert web.tree(max_tokens=None).left_out == 0


def test_what_is_fixed_to_the_window_is_told_wherever_it_stands(web: Viewing) -> None:
    web.show(
        """<section style="height:900px"><nav style="position:fixed;top:0;left:0;right:0;height:60px"><b>Looms</b> <a href=/cart>Cart</a></nav>Top</section>
        <section style="height:3000px"></section><button>Order</button>"""
    )
    web.run("scrollTo(0, 10000)")

    assert [node.name for node in web.tree().nodes] == ["Looms Cart", "Cart", "Order"]


def test_peers_are_told_apart_by_what_their_rows_say(web: Viewing) -> None:
    post = "<div class=post><b>Ann</b> @ann <p>{}</p><span class='icon like' onclick=1>&nbsp;</span><span onclick=1 class=share>&nbsp;</span></div>"
    web.show(post.format("First words") + post.format("Second words"))
    tree = web.tree()

    assert [(node.name, node.context) for node in tree.nodes if node.role == "btn"] == [
        ("like", "Ann @ann First words"),
        ("share", "Ann @ann First words"),
        ("like", "Ann @ann Second words"),
        ("share", "Ann @ann Second words"),
    ]


def test_what_only_holds_controls_is_none_and_what_holds_rows_tells_them(web: Viewing) -> None:
    web.show(
        """<div onclick=1><input type=checkbox id=c><label for=c>Gift</label></div>
        <ul role=menu onclick=1><li role=menuitem tabindex=0>Open<li role=menuitem tabindex=-1>Close</ul>
        <ul onclick=1><li>One<li>Two</ul><svg id=grid width=100 height=50 onclick=1><text x=5 y=20>A</text></svg>"""
    )
    tree = web.tree()

    assert [(node.role, node.name, node.shape) for node in tree.nodes] == [
        ("chk", "Gift", ""),
        ("menu", "Open", ""),
        ("menu", "Close", ""),
        ("btn", "One Two", ""),
        ("text", "One", ""),
        ("text", "Two", ""),
        ("btn", "grid", "drawing"),
        ("text", "A", "text"),
    ]


def test_an_id_that_is_a_point_keeps_its_signs(web: Viewing) -> None:
    web.show("<svg width=50 height=50><circle id='(-1,0.5)' onclick=1 cx=20 cy=20 r=5></circle></svg>")

    assert [node.name for node in web.tree().nodes] == ["(-1,0.5)"]


def test_closed_shadow_roots_are_read_and_what_stands_in_them_is_taken_hold_of(web: Viewing) -> None:
    web.show(
        """<div id=a></div><x-shop style="display:block;height:60px"></x-shop><script>
        a.attachShadow({mode: 'closed'}).innerHTML = '<p>Price: $5</p><button>Buy</button>';
        document.querySelector('x-shop').attachShadow({mode: 'closed'}).innerHTML = '<button>Pay</button>';</script>"""
    )
    tree = web.tree()
    buy = tree.elements[named(tree, "Buy").id]

    assert [(node.role, node.name) for node in tree.nodes] == [("text", "Price: $5"), ("btn", "Buy"), ("btn", "Pay")]
    assert not named(tree, "Buy").occluded
    assert web.at(buy, "e => e.textContent") == "Buy"


def test_other_forms_of_the_page_have_the_same_ids(web: Viewing) -> None:
    web.show(
        """<h1>Shop</h1><p>Words</p><a href="/cart" class=big data-testid=cart style="color:red">Cart</a>
        <input name=q placeholder=Find type=search><input type=password aria-label=Key value=hidden>
        <select aria-label=Size><option>S<option selected>M</select><div style="display:none"><button>Gone</button></div>"""
    )
    ids = [node.id for node in web.tree(text=False).nodes]
    whole = web.do(_called, "v2")
    skeleton = web.do(_called, "skeleton")["html"].splitlines()

    assert whole == [
        {"id": ids[0], "role": "link", "name": "Cart", "href": web.site.url("/cart")},
        {"id": ids[1], "role": "input", "name": "Find", "type": "search", "placeholder": "Find"},
        {"id": ids[2], "role": "input", "name": "Key", "value": "********", "type": "password"},
        {"id": ids[3], "role": "select", "name": "Size", "value": "M"},
    ]
    assert skeleton == [
        f'<a id="{ids[0]}" href="/cart" data-testid="cart">Cart</a>',
        f'<input id="{ids[1]}" name="q" type="search" placeholder="Find">',
        f'<input id="{ids[2]}" type="password" value="********" aria-label="Key">',
        f'<select id="{ids[3]}" value="M" aria-label="Size"><option>S</option><option>M</option></select>',
    ]


def test_a_selector_leads_to_its_control_and_to_no_other(web: Viewing) -> None:
    web.show(
        """<nav><a href=/>Home</a><a href=/cart>Cart</a></nav><form><input name=q aria-label=One><button name=q>Go</button></form>
        <form><input name=q aria-label='a "b"'><select name=q aria-label=Size><option>1</select></form><o:p name=w onclick="1">Word</o:p>
        <ul><li><div><a href=/1>First</a></div><li><div><a href=/2>Second</a> <button>Buy</button></div></ul>
        <ol><li><button>Buy</button><li><span><button>Sell</button></span></ol><p><button id=last data-test=x>Last</button></p><div id=deep></div>
        <script>deep.attachShadow({ mode: 'open' }).innerHTML = '<input name=q aria-label=Deep><p><button>Down</button></p>'</script>"""
    )
    found = [(node.id, node.name, node.selector) for node in web.tree(selectors=True).nodes if node.selector]
    fits = "(root, one) => [...root.querySelectorAll(one)].map((one) => one.getAttribute('data-llm-id'))"
    roots = {name: "deep.shadowRoot" if name in {"Deep", "Down"} else "document" for _, name, _ in found}

    assert [(name, selector) for _, name, selector in found] == [
        ("Home", "nav > a:nth-of-type(1)"),
        ("Cart", "a:nth-of-type(2)"),
        ("One", 'input[aria-label="One"]'),
        ("Go", 'button[name="q"]'),
        ('a "b"', r'input[aria-label="a \"b\""]'),
        ("Size", 'select[name="q"]'),
        ("Word", r'o\:p[name="w"]'),
        ("First", "li:nth-of-type(1) > div > a"),
        ("Second", "li:nth-of-type(2) > div > a"),
        ("Buy", "div > button"),
        ("Buy", "li:nth-of-type(1) > button"),
        ("Sell", "span > button"),
        ("Last", 'button[data-test="x"]'),
        ("Deep", 'input[name="q"]'),
        ("Down", "button"),
    ]
    assert [web.run(f"({fits})({roots[name]}, {json.dumps(selector)})") for _, name, selector in found] == [
        [number] for number, _, _ in found
    ]


def test_a_tree_that_is_too_large_to_be_sent_is_filtered_by_its_query(web: Viewing) -> None:
    web.show("".join(f"<button>Thing {number}</button> " for number in range(150)))
    nodes = msgspec.json.decode(msgspec.json.encode(web.tree(max_tokens=None).nodes))
    few = web.do(_called, "rag", nodes=nodes[:20], query="thing")
    many = web.do(_called, "rag", nodes=nodes, query="thing 120")

    assert (few["dom_filtered"], few["original_node_count"], few["nodes"]) == (False, 20, nodes[:20])
    assert (many["dom_filtered"], many["filter_reason"], many["original_node_count"]) == (True, "150 nodes", 150)
    assert 10 <= len(many["nodes"]) <= 50
    assert nodes[120] in many["nodes"]
    assert 0 < many["token_reduction"] < 100


async def _called(tab: Tab, /, function: str, **arguments: Any) -> Any:
    return await main_document(tab).call(function, object, **arguments)
