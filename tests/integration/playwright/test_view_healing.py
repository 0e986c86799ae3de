"""Elements that are gone: what stands in their place is taken where that is beyond doubt, and nothing else ever."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from actors.fetchers.playwright import view
from actors.fetchers.playwright.tab import Tab
from protocol.faults import Code, FaultError
from tests.integration.playwright.viewing import Viewing, viewing

pytestmark = [pytest.mark.browser]

TWO = "<header><button>{0}</button></header><main><h1>Box</h1><button>Keep</button></main>"
LIST = "<ul><li><b>Ann</b><button>Open file</button></li><li><b>Bob</b><button>Open file</button></li></ul>"


@pytest.fixture(scope="module")
def web() -> Generator[Viewing]:
    with viewing() as running:
        yield running


async def _healing(tab: Tab) -> str:
    return view.healing(tab)


def redraw(web: Viewing, html: str) -> None:
    """Draw all of the page anew."""
    web.run(f"document.body.innerHTML = {html!r}")


@pytest.mark.parametrize(
    ("before", "after", "asked", "found"),
    [
        (
            TWO.format("Show report"),
            "<footer><button>Show report</button></footer><p>Text</p>",
            "Show report",
            "Show report",
        ),
        (TWO.format("Show report"), "<footer><button>Show the report</button></footer><p>Text</p>", "Show report", ""),
        (TWO.format("Show report"), TWO.format("Delete report"), "Show report", ""),
        (TWO.format("Show report"), "<nav><a href=/r>Show report</a></nav>", "Show report", ""),
        (TWO.format("Go"), "<aside><button>Go</button></aside><footer><button>Go</button></footer>", "Go", ""),
        (TWO.format("Save"), "<main><h1>Box</h1><button>Keep</button></main>", "Save", ""),
        (LIST, "<ol><li><b>Bob</b><button>Open file</button></li></ol>", "Open file", ""),
    ],
    ids=["moved", "renamed", "grave", "link", "two", "neighbour", "row"],
)
def test_an_element_that_is_gone_is_found_again_only_beyond_doubt(
    web: Viewing, before: str, after: str, asked: str, found: str
) -> None:
    web.show(before)
    number = next(node.id for node in web.tree().nodes if node.name == asked)
    redraw(web, after)

    if found:
        assert web.at(number, "e => e.textContent") == found
    else:
        with pytest.raises(FaultError) as caught:
            web.at(number, "e => e.textContent")
        assert caught.value.fault.code is Code.ELEMENT_NOT_FOUND


def test_what_was_taken_for_an_element_is_said_once(web: Viewing) -> None:
    web.show("<header><button>Open</button></header><main><button>Keep</button></main>")
    number = next(node.id for node in web.tree().nodes if node.name == "Open")
    redraw(web, "<main><button>Keep</button></main><footer><button>Open</button></footer>")
    web.at(number, "e => e.textContent")

    assert web.do(_healing).startswith(f"{number} is gone; button_open")
    assert web.do(_healing) == ""
