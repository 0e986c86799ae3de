"""Ids of elements: whatever a page does to its nodes, an id stands for one thing, and for as long as that is there."""

from __future__ import annotations

import json
import random
from collections.abc import Generator
from typing import Any

import pytest

from protocol.faults import Code, FaultError
from tests.integration.playwright.viewing import Viewing, viewing

pytestmark = [pytest.mark.browser, pytest.mark.slow]

NAMES = ["Bread", "Butter", "Cheese", "Dates", "Eggs", "Figs", "Grapes", "Honey", "Ink", "Jam", "Kale", "Leek", "Milk"]
STEPS = 10
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
    """Tell what each id stands for."""
    return {name: str(web.at(name, "e => e.truth")) for name in web.elements() if name.startswith(prefix)}


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("markup", [NAMED, BARE], ids=["named", "bare"])
@pytest.mark.parametrize("way", ["keyed", "fresh", "unkeyed", "recycled", "whole"])
def test_an_id_stands_for_one_thing_for_as_long_as_that_is_there(web: Viewing, way: str, markup: str, seed: int) -> None:
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
