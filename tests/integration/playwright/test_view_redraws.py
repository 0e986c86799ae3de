"""Numbers while frameworks draw a list again and again: none is given to another element, and hardly any is lost."""

from __future__ import annotations

import json
import random
from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any, Literal

import pytest

from protocol.faults import Code, FaultError
from tests.integration.playwright.viewing import Viewing, viewing
from tests.support.scale import first, sized

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.full]

FRAMEWORKS = ["react", "vue", "svelte", "angular"]
REDRAWS = sized(24, 252)
KEPT = 0.98
GONE = sized(3, 60)
NAMES = ["Bread", "Butter", "Cheese", "Dates", "Eggs", "Figs", "Grapes", "Honey", "Jam", "Kale", "Leek", "Milk", "Nuts"]
TRUTHS = (
    "Object.fromEntries([...document.querySelectorAll('[data-llm-id]')]"
    ".filter((e) => e.truth).map((e) => [e.dataset.llmId, e.truth]))"
)

Mode = Literal["keyed", "placed", "remade"]


@pytest.fixture(scope="module")
def web() -> Generator[Viewing]:
    with viewing() as running:
        yield running


@dataclass
class Store:
    """What is in the list, and what happens to it between two redraws."""

    chance: random.Random
    made: int = 0
    items: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    def insert(self) -> None:
        """Put in one more item, anywhere."""
        kind, batch = self.made % len(NAMES), self.made // len(NAMES)
        name = f"{NAMES[kind]} {chr(ord('A') + batch)}" if batch else NAMES[kind]
        item = {"id": self.made, "name": name, "note": f"Shelf {self.made % 3}", "used": self.made % 7, "ready": False}
        self.items.insert(self.chance.randrange(len(self.items) + 1), item)
        self.made += 1

    def step(self) -> None:
        """Let one thing happen."""
        one = self.chance.choice(self.items)
        match self.chance.choice(["insert", "remove", "sort", "reverse", "shuffle", "use", "tick", "none"]):
            case "insert":
                self.insert()
            case "remove" if len(self.items) > 4:
                self.items.remove(one)
            case "sort":
                self.items.sort(key=lambda item: str(item["name"]))
            case "reverse":
                self.items.reverse()
            case "shuffle":
                self.chance.shuffle(self.items)
            case "use":
                one["used"] += 1
            case "tick":
                one["ready"] = not one["ready"]
            case _:
                pass


@pytest.mark.parametrize("framework", first(1, FRAMEWORKS))
def test_a_number_stands_for_one_thing_however_often_it_is_drawn(web: Viewing, framework: str) -> None:
    web.open(f"/apps/{framework}-rows/")
    store = Store(random.Random(framework))
    for _ in range(8):
        store.insert()
    meant: dict[str, str] = {}
    before: dict[str, str] = {}
    same = again = others = 0
    modes: tuple[Mode, ...] = ("keyed", "placed", "remade")
    for redraw in range(REDRAWS):
        state = {"items": store.items, "mode": modes[redraw * len(modes) // REDRAWS], "round": redraw}
        assert web.run(f"draw({json.dumps(state)})") == len(store.items)
        nodes = {node.id for node in web.tree(everywhere=True, max_tokens=None).nodes}
        stamped = {number: truth for number, truth in web.run(TRUTHS).items() if number in nodes}
        now = {truth: number for number, truth in stamped.items()}
        assert len(now) == len(stamped) == 3 * len(store.items) + 3
        others += sum(meant.setdefault(number, truth) != truth for number, truth in stamped.items())
        same += sum(now[truth] == number for truth, number in before.items() if truth in now)
        again += sum(truth in now for truth in before)
        before = now
        store.step()
    truth, number = next(iter(before.items()))

    assert others == 0
    assert same >= KEPT * again > 0
    assert web.at(number, "e => e.truth") == truth
    for gone in [number for number, truth in meant.items() if truth not in before][-GONE:]:
        with pytest.raises(FaultError) as caught:
            web.at(gone, "e => e.truth")
        assert caught.value.fault.code is Code.ELEMENT_NOT_FOUND
