"""Ids of elements: whatever a page does to its nodes, an id stands for one thing, and for as long as that is there."""

# ruff: noqa: E501 - markup and scripts stand as a page has them

from __future__ import annotations

import json
import random
import time
from collections.abc import Generator
from typing import Any

import pytest

from actors.fetchers.playwright.stability import FOR_FETCH
from actors.fetchers.playwright.tab import Tab
from protocol.faults import Code, FaultError
from tests.integration.playwright.viewing import LIMIT_S, Viewing, viewing
from tests.support.scale import first, one_in, sized

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.full]

NAMES = ["Bread", "Butter", "Cheese", "Dates", "Eggs", "Figs", "Grapes", "Honey", "Ink", "Jam", "Kale", "Leek", "Milk"]
STEPS = sized(5, 10)
ROWS_SHOWN = 6

# Draws rows of a list in one of several ways. What an element really is stands in a property that is seen in the world
# of the page alone.
PAGE = """<!doctype html><title>Rows</title><main><h1>Pantry</h1><div id=root></div></main><script>
const is = (element, truth) => { element.truth = truth; return element; };
function make() {
  const row = document.createElement('LI_OR_DIV');
  row.className = 'row';
  row.innerHTML = 'MARKUP';
  return row;
}
function fill(row, item) {
  const [name, remove, count, tick] = ['h3', '.remove', '.count', 'input'].map((part) => row.querySelector(part));
  if (name) name.textContent = item.name;
  if (remove) is(remove, 'remove:' + item.id).textContent = BARE ? item.name : 'Remove';
  if (count) is(count, 'count:' + item.id).textContent = `Used ${item.used} times`;
  if (tick) is(tick, 'tick:' + item.id).checked = item.used % 2;
  return row;
}
const nodes = new Map();
const ways = {
  keyed(items) {
    root.replaceChildren(...items.map((item) => {
      if (!nodes.has(item.id)) nodes.set(item.id, make());
      return fill(nodes.get(item.id), item);
    }));
  },
  fresh(items) { root.replaceChildren(...items.map((item) => fill(make(), item))); },
  unkeyed(items) {
    while (root.children.length < items.length) root.append(make());
    while (root.children.length > items.length) root.lastChild.remove();
    items.forEach((item, index) => fill(root.children[index], item));
  },
  recycled(items) {
    const shown = new Set(items.map((item) => item.id));
    const free = [...root.children].filter((row) => !shown.has(row.item));
    for (const row of free) row.hidden = true;
    for (const item of items) {
      const row = [...root.children].find((one) => one.item === item.id) ?? free.shift() ?? root.appendChild(make());
      row.item = item.id;
      row.hidden = false;
      fill(row, item);
    }
  },
  whole(items) {
    const main = document.createElement('main');
    main.innerHTML = '<h1>Pantry</h1><div id=root></div>';
    main.lastChild.replaceChildren(...items.map((item) => fill(make(), item)));
    document.querySelector('main').replaceWith(main);
  },
};
const draw = (way, items) => ways[way](items);
</script>"""
NAMED = "<h3></h3><button class=remove></button><button class=count></button><input type=checkbox aria-label=Ready>"
BARE = "<i></i><button class=remove></button>"


@pytest.fixture(scope="module")
def web() -> Generator[Viewing]:
    with viewing() as running:
        yield running


class Pantry:
    """What there really is, and what happens to it."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.made = 0
        self.items: list[dict[str, Any]] = []
        for _ in range(ROWS_SHOWN):
            self.insert()

    def insert(self) -> None:
        name = f"{NAMES[self.made % len(NAMES)]}{'' if self.made < len(NAMES) else f' {self.made}'}"
        item = {"id": self.made, "name": name, "used": self.chance.randrange(9)}
        self.items.insert(self.chance.randrange(len(self.items) + 1), item)
        self.made += 1

    def step(self) -> str:
        """Let one thing happen; gives the item whose name changed, if any."""
        what = self.chance.choice(["insert", "remove", "shuffle", "use", "again", "rename", "window"])
        one = self.chance.choice(self.items)
        if what == "insert":
            self.insert()
        elif what == "remove" and len(self.items) > 2:
            self.items.remove(one)
        elif what == "shuffle":
            self.chance.shuffle(self.items)
        elif what == "use":
            one["used"] += 1
        elif what == "rename":
            one["name"] = f"Old {one['name']}"
            return str(one["id"])
        elif what == "window":
            for _ in range(3):
                self.insert()
            self.items = self.items[3:]
        return ""


def truths(web: Viewing, prefix: str = "") -> dict[str, str]:
    """Return what each id stands for."""
    return {name: str(web.at(name, "e => e.truth")) for name in web.elements() if name.startswith(prefix)}


@pytest.mark.parametrize("seed", first(1, range(2)))
@pytest.mark.parametrize("markup", [NAMED, BARE], ids=["named", "bare"])
@pytest.mark.parametrize("way", first(3, ["keyed", "recycled", "whole", "fresh", "unkeyed"]))
def test_an_id_stands_for_one_thing_for_as_long_as_that_is_there(
    web: Viewing, way: str, markup: str, seed: int
) -> None:
    pantry = Pantry(seed)
    bare = "true" if markup == BARE else "false"
    web.show(PAGE.replace("MARKUP", markup).replace("BARE", bare).replace("LI_OR_DIV", "div" if seed % 2 else "li"))
    meant: dict[str, str] = {}
    called: dict[str, str] = {}
    for _ in range(STEPS):
        web.run(f"draw('{way}', {json.dumps(pantry.items)})")
        now = truths(web)

        assert {f"remove:{item['id']}" for item in pantry.items} <= set(now.values())
        for name, truth in now.items():
            assert meant.setdefault(name, truth) == truth, f"{name} was {meant[name]}"
            assert called.setdefault(truth, name) == name, f"{truth} was {called[truth]}"
        if renamed := pantry.step():
            called = {truth: name for truth, name in called.items() if not truth.endswith(f":{renamed}")}


COUNTER = """<title>Counter</title><main><button>Clicked 0 times</button><p>Text</p></main><script>
let n = 0;
const add = () => { n += 1; STEP };
document.addEventListener('click', (e) => e.target.localName === 'button' && add());
</script>"""
STEPS_OF_COUNTER = {
    "text": "document.querySelector('button').textContent = `Clicked ${n} times`",
    "node": "document.querySelector('button').outerHTML = `<button>Clicked ${n} times</button>`",
    "page": "document.querySelector('main').outerHTML = `<main><button>Clicked ${n} times</button><p>Text</p></main>`",
}


@pytest.mark.parametrize("step", ["text", "node", "page"])
def test_a_button_that_counts_its_clicks_stays_the_same(web: Viewing, step: str) -> None:
    web.show(COUNTER.replace("STEP", STEPS_OF_COUNTER[step]))
    (name,) = web.elements()
    for count in range(3):
        web.at(name, "e => e.click()")

        assert web.labels() == {name: f"Clicked {count + 1} times"}


@pytest.mark.parametrize("label", ["Pause", "Following ✓", "Show less"])
def test_a_button_that_says_something_else_stays_the_same(web: Viewing, label: str) -> None:
    web.show("<main><button>Play</button><p>Text</p></main>")
    (name,) = web.elements()
    web.run(f"document.querySelector('button').textContent = '{label}'")

    assert web.labels() == {name: label}


def test_a_button_in_the_place_of_another_is_another(web: Viewing) -> None:
    web.show("<main><button>Save</button><p>Text</p></main>")
    (name,) = web.elements()
    web.run("document.querySelector('main').innerHTML = '<button>Delete</button><p>Text</p>'")

    assert web.labels() == {"button_delete": "Delete"}
    with pytest.raises(FaultError) as caught:
        web.at(name, "e => e")
    assert caught.value.fault.code is Code.ELEMENT_NOT_FOUND
    assert caught.value.fault.field == "element_id"
    assert "get_page_info" in caught.value.fault.message


def test_who_asks_for_what_is_gone_hears_what_is_like_it(web: Viewing) -> None:
    web.show("<main><button>Save draft</button><button>Send</button></main>")
    with pytest.raises(FaultError) as caught:
        web.at("button_save_drafts", "e => e")

    assert "button_save_draft" in caught.value.fault.message


def test_ids_last_when_the_page_is_loaded_again(web: Viewing) -> None:
    shown = ["Bread", "Butter", "Cheese"]
    web.show(
        "<title>List</title><main><ul></ul></main><script>const names = (localStorage.names ?? 'Bread,Butter,Cheese').split(',');"
        "document.querySelector('ul').innerHTML = names.map((n) => `<li><b>${n}</b><button>Remove</button></li>`).join('')</script>"
    )
    before = web.labels()
    web.run("localStorage.names = 'Apples,Butter,Cheese'")
    web.do(reload)
    after = {name: web.at(name, "e => e.previousSibling.textContent") for name in web.elements()}
    web.run("localStorage.clear()")

    assert len(before) == len(shown)
    assert after == {
        "button_remove_apples": "Apples",
        "button_remove_butter": "Butter",
        "button_remove_cheese": "Cheese",
    }


def test_alike_buttons_without_a_row_keep_their_ids_when_the_page_is_loaded_again(web: Viewing) -> None:
    script = "document.querySelector('main').innerHTML = sessionStorage.more ? '<h2>New</h2><button data-testid=c>Go</button>' + MARKUP : MARKUP"
    markup = "'<button data-testid=a>Go</button><p></p><button data-testid=b>Go</button>'"
    web.show(f"<title>Same</title><main></main><script>const MARKUP = {markup}; {script}</script>")
    before = {name: web.at(name, "e => e.dataset.testid") for name in web.elements()}
    web.run("sessionStorage.more = '1'")
    web.do(reload)
    after = {name: web.at(name, "e => e.dataset.testid") for name in web.elements()}
    web.run("sessionStorage.clear()")

    assert before.items() <= after.items()
    assert len(after) == 3


async def reload(one: Tab) -> None:
    deadline_s = time.monotonic() + LIMIT_S
    await one.page.reload(wait_until="commit")
    await one.settle(FOR_FETCH, deadline_s)


@pytest.mark.parametrize(
    "name",
    one_in(
        3,
        [
            "react-list",
            "svelte-list",
            "vue-list",
            "solid-list",
            "preact-list",
            "alpine-list",
            "lit-list",
            "mithril-list",
            "elements",
        ],
    ),
)
def test_ids_of_a_framework_last(web: Viewing, name: str) -> None:
    web.open(f"/apps/{name}/")
    before = web.labels(visible_only=False)
    for label in [element for element in before if element.startswith("button")][:1]:
        web.at(label, "e => e.click()")
    again = web.labels(visible_only=False)

    assert {element: label for element, label in again.items() if element in before} == {
        element: label for element, label in before.items() if element in again
    }
    web.do(reload)
    assert web.labels(visible_only=False).keys() == before.keys()


@pytest.mark.parametrize("app", first(1, ["react-router", "vue-router"]))
def test_ids_last_while_an_application_goes_from_view_to_view(web: Viewing, app: str) -> None:
    web.open(f"/apps/{app}/")
    first = {name: web.at(name, "e => e.textContent") for name in list(web.elements())[:12]}
    (link, *_) = [
        name for name, element in web.elements().items() if "/threads/" in element.href or "/notes" in element.href
    ]
    web.at(link, "e => e.click()")
    web.do(settle)
    second = {name: web.at(name, "e => e.textContent") for name in list(web.elements())[:12]}
    web.do(back)
    third = {name: web.at(name, "e => e.textContent") for name in list(web.elements())[:12]}

    assert first == third
    assert all(first[name] == text for name, text in second.items() if name in first)


async def settle(one: Tab) -> None:
    await one.settle(FOR_FETCH, time.monotonic() + LIMIT_S)


async def back(one: Tab) -> None:
    await one.page.go_back(wait_until="commit")
    await settle(one)
