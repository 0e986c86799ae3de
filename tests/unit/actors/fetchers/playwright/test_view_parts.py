"""The parts of the page code: each is one that registers itself, and runs where an extension loads it, too."""

from __future__ import annotations

from importlib import resources

import pytest

from actors.fetchers.playwright.view.documents import PARTS

SCRIPTS = resources.files("actors.fetchers.playwright") / "scripts" / "view"


def test_every_script_of_the_view_runs() -> None:
    assert sorted(one.name for one in SCRIPTS.iterdir()) == sorted(f"{name}.js" for name in PARTS)


@pytest.mark.parametrize("name", PARTS[1:])
def test_a_part_registers_itself(name: str) -> None:
    text = (SCRIPTS / f"{name}.js").read_text(encoding="utf-8")
    code = "\n".join(line for line in text.splitlines() if not line.startswith("//"))

    assert code.startswith("weft.part((view) => {\n")
    assert code.endswith("});")
